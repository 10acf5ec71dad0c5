/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of CUPTI's profiling interfaces with the toolkit's headers. Compiled
 * where the build finds them; generates no code. Headers before 13.0 have fewer names. */
#include <assert.h>

#include "lib/counters/abi.h"
#include "lib/cupti/cbids.h"

#include <cupti.h>

#if CUPTI_API_VERSION >= 130000
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#define SAME_FIELD(ours, our_field, theirs, their_field)                                           \
    static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&             \
                      sizeof(((struct ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
                  #ours "." #our_field)
/* The last field decides the size given to CUPTI. Newer headers have more fields after it, which
 * CUPTI does not access, by that size. */
#define SAME_SIZE(ours, last, theirs)                                                              \
    static_assert(LP_CUPTI_SIZE(ours, last) <= theirs##_STRUCT_SIZE, #ours)
#define SAME_NUMBER(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

SAME_FIELD(lp_cupti_profiler, priv, CUpti_Profiler_Initialize_Params, pPriv);
SAME_SIZE(lp_cupti_profiler, priv, CUpti_Profiler_Initialize_Params);

SAME_FIELD(lp_cupti_profiler, priv, CUpti_Profiler_DeInitialize_Params, pPriv);
SAME_SIZE(lp_cupti_profiler, priv, CUpti_Profiler_DeInitialize_Params);

SAME_FIELD(lp_cupti_device_supported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
SAME_FIELD(lp_cupti_device_supported, supported, CUpti_Profiler_DeviceSupported_Params,
           isSupported);
SAME_FIELD(lp_cupti_device_supported, architecture, CUpti_Profiler_DeviceSupported_Params,
           architecture);
SAME_FIELD(lp_cupti_device_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli);
SAME_FIELD(lp_cupti_device_supported, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
SAME_FIELD(lp_cupti_device_supported, confidential, CUpti_Profiler_DeviceSupported_Params,
           confidentialCompute);
SAME_FIELD(lp_cupti_device_supported, cmp, CUpti_Profiler_DeviceSupported_Params, cmp);
SAME_FIELD(lp_cupti_device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
SAME_FIELD(lp_cupti_device_supported, api, CUpti_Profiler_DeviceSupported_Params, api);
SAME_SIZE(lp_cupti_device_supported, api, CUpti_Profiler_DeviceSupported_Params);

SAME_FIELD(lp_cupti_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_FIELD(lp_cupti_chip_name, name, CUpti_Device_GetChipName_Params, pChipName);
SAME_SIZE(lp_cupti_chip_name, name, CUpti_Device_GetChipName_Params);

SAME_FIELD(lp_cupti_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME_FIELD(lp_cupti_availability, size, CUpti_Profiler_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_FIELD(lp_cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
           pCounterAvailabilityImage);
SAME_SIZE(lp_cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params);

SAME_FIELD(lp_cupti_pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params,
           deviceIndex);
SAME_FIELD(lp_cupti_pm_availability, size, CUpti_PmSampling_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_FIELD(lp_cupti_pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
           pCounterAvailabilityImage);
SAME_SIZE(lp_cupti_pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);

SAME_FIELD(lp_cupti_host_chips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME_FIELD(lp_cupti_host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME_SIZE(lp_cupti_host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params);

SAME_FIELD(lp_cupti_host_open, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_FIELD(lp_cupti_host_open, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_FIELD(lp_cupti_host_open, availability, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_FIELD(lp_cupti_host_open, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_SIZE(lp_cupti_host_open, host, CUpti_Profiler_Host_Initialize_Params);

SAME_FIELD(lp_cupti_host_close, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_SIZE(lp_cupti_host_close, host, CUpti_Profiler_Host_Deinitialize_Params);

SAME_FIELD(lp_cupti_host_metrics, host, CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject);
SAME_FIELD(lp_cupti_host_metrics, kind, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
SAME_FIELD(lp_cupti_host_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
SAME_FIELD(lp_cupti_host_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);
SAME_SIZE(lp_cupti_host_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params);

SAME_FIELD(lp_cupti_host_properties, host, CUpti_Profiler_Host_GetMetricProperties_Params,
           pHostObject);
SAME_FIELD(lp_cupti_host_properties, metric, CUpti_Profiler_Host_GetMetricProperties_Params,
           pMetricName);
SAME_FIELD(lp_cupti_host_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params,
           pDescription);
SAME_FIELD(lp_cupti_host_properties, hardware_unit, CUpti_Profiler_Host_GetMetricProperties_Params,
           pHwUnit);
SAME_FIELD(lp_cupti_host_properties, unit, CUpti_Profiler_Host_GetMetricProperties_Params,
           pDimUnit);
SAME_FIELD(lp_cupti_host_properties, kind, CUpti_Profiler_Host_GetMetricProperties_Params,
           metricType);
SAME_SIZE(lp_cupti_host_properties, kind, CUpti_Profiler_Host_GetMetricProperties_Params);

SAME_FIELD(lp_cupti_host_add, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME_FIELD(lp_cupti_host_add, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_FIELD(lp_cupti_host_add, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_SIZE(lp_cupti_host_add, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);

SAME_FIELD(lp_cupti_host_config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params,
           pHostObject);
SAME_FIELD(lp_cupti_host_config_size, size, CUpti_Profiler_Host_GetConfigImageSize_Params,
           configImageSize);
SAME_SIZE(lp_cupti_host_config_size, size, CUpti_Profiler_Host_GetConfigImageSize_Params);

SAME_FIELD(lp_cupti_host_config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME_FIELD(lp_cupti_host_config, size, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_FIELD(lp_cupti_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_SIZE(lp_cupti_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params);

SAME_FIELD(lp_cupti_host_passes, size, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME_FIELD(lp_cupti_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_FIELD(lp_cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_SIZE(lp_cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);

SAME_FIELD(lp_cupti_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           pHostObject);
SAME_FIELD(lp_cupti_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           pCounterDataImage);
SAME_FIELD(lp_cupti_host_evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           rangeIndex);
SAME_FIELD(lp_cupti_host_evaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           ppMetricNames);
SAME_FIELD(lp_cupti_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           numMetrics);
SAME_FIELD(lp_cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           pMetricValues);
SAME_SIZE(lp_cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);

SAME_FIELD(lp_cupti_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME_FIELD(lp_cupti_range_enable, object, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_SIZE(lp_cupti_range_enable, object, CUpti_RangeProfiler_Enable_Params);

SAME_FIELD(lp_cupti_range, object, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME_SIZE(lp_cupti_range, object, CUpti_RangeProfiler_Disable_Params);

SAME_FIELD(lp_cupti_range, object, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_SIZE(lp_cupti_range, object, CUpti_RangeProfiler_Start_Params);

SAME_FIELD(lp_cupti_range, object, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
SAME_SIZE(lp_cupti_range, object, CUpti_RangeProfiler_PopRange_Params);

SAME_FIELD(lp_cupti_range_config, object, CUpti_RangeProfiler_SetConfig_Params,
           pRangeProfilerObject);
SAME_FIELD(lp_cupti_range_config, config_size, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME_FIELD(lp_cupti_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME_FIELD(lp_cupti_range_config, data_size, CUpti_RangeProfiler_SetConfig_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME_FIELD(lp_cupti_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_FIELD(lp_cupti_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME_FIELD(lp_cupti_range_config, ranges_per_pass, CUpti_RangeProfiler_SetConfig_Params,
           maxRangesPerPass);
SAME_FIELD(lp_cupti_range_config, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME_FIELD(lp_cupti_range_config, first_level, CUpti_RangeProfiler_SetConfig_Params,
           minNestingLevel);
SAME_FIELD(lp_cupti_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME_FIELD(lp_cupti_range_config, level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME_SIZE(lp_cupti_range_config, level, CUpti_RangeProfiler_SetConfig_Params);

SAME_FIELD(lp_cupti_range_stop, object, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject);
SAME_FIELD(lp_cupti_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME_FIELD(lp_cupti_range_stop, level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME_FIELD(lp_cupti_range_stop, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME_SIZE(lp_cupti_range_stop, all_passes, CUpti_RangeProfiler_Stop_Params);

SAME_FIELD(lp_cupti_range_push, object, CUpti_RangeProfiler_PushRange_Params, pRangeProfilerObject);
SAME_FIELD(lp_cupti_range_push, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SAME_SIZE(lp_cupti_range_push, name, CUpti_RangeProfiler_PushRange_Params);

SAME_FIELD(lp_cupti_range_decode, object, CUpti_RangeProfiler_DecodeData_Params,
           pRangeProfilerObject);
SAME_FIELD(lp_cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params,
           numOfRangeDropped);
SAME_SIZE(lp_cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);

SAME_FIELD(lp_cupti_range_data_size, object, CUpti_RangeProfiler_GetCounterDataSize_Params,
           pRangeProfilerObject);
SAME_FIELD(lp_cupti_range_data_size, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params,
           pMetricNames);
SAME_FIELD(lp_cupti_range_data_size, count, CUpti_RangeProfiler_GetCounterDataSize_Params,
           numMetrics);
SAME_FIELD(lp_cupti_range_data_size, ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumOfRanges);
SAME_FIELD(lp_cupti_range_data_size, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumRangeTreeNodes);
SAME_FIELD(lp_cupti_range_data_size, size, CUpti_RangeProfiler_GetCounterDataSize_Params,
           counterDataSize);
SAME_SIZE(lp_cupti_range_data_size, size, CUpti_RangeProfiler_GetCounterDataSize_Params);

SAME_FIELD(lp_cupti_data_init, object, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           pRangeProfilerObject);
SAME_FIELD(lp_cupti_data_init, size, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_FIELD(lp_cupti_data_init, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           pCounterData);
SAME_SIZE(lp_cupti_data_init, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);

SAME_FIELD(lp_cupti_data_init, object, CUpti_PmSampling_CounterDataImage_Initialize_Params,
           pPmSamplingObject);
SAME_FIELD(lp_cupti_data_init, size, CUpti_PmSampling_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_FIELD(lp_cupti_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params,
           pCounterData);
SAME_SIZE(lp_cupti_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);

SAME_FIELD(lp_cupti_range_count, data, CUpti_RangeProfiler_GetCounterDataInfo_Params,
           pCounterDataImage);
SAME_FIELD(lp_cupti_range_count, size, CUpti_RangeProfiler_GetCounterDataInfo_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params,
           numTotalRanges);
SAME_SIZE(lp_cupti_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);

SAME_FIELD(lp_cupti_range_info, data, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           pCounterDataImage);
SAME_FIELD(lp_cupti_range_info, size, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_range_info, range, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           rangeIndex);
SAME_FIELD(lp_cupti_range_info, delimiter, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           rangeDelimiter);
SAME_FIELD(lp_cupti_range_info, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           rangeName);
SAME_SIZE(lp_cupti_range_info, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);

SAME_FIELD(lp_cupti_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_FIELD(lp_cupti_pm_enable, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME_SIZE(lp_cupti_pm_enable, object, CUpti_PmSampling_Enable_Params);

SAME_FIELD(lp_cupti_pm, object, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SAME_SIZE(lp_cupti_pm, object, CUpti_PmSampling_Disable_Params);

SAME_FIELD(lp_cupti_pm, object, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SAME_SIZE(lp_cupti_pm, object, CUpti_PmSampling_Start_Params);

SAME_FIELD(lp_cupti_pm, object, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
SAME_SIZE(lp_cupti_pm, object, CUpti_PmSampling_Stop_Params);

SAME_FIELD(lp_cupti_pm_config, object, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
SAME_FIELD(lp_cupti_pm_config, config_size, CUpti_PmSampling_SetConfig_Params, configSize);
SAME_FIELD(lp_cupti_pm_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME_FIELD(lp_cupti_pm_config, buffer_size, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME_FIELD(lp_cupti_pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME_FIELD(lp_cupti_pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_FIELD(lp_cupti_pm_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME_SIZE(lp_cupti_pm_config, append, CUpti_PmSampling_SetConfig_Params);

SAME_FIELD(lp_cupti_pm_data_size, object, CUpti_PmSampling_GetCounterDataSize_Params,
           pPmSamplingObject);
SAME_FIELD(lp_cupti_pm_data_size, metrics, CUpti_PmSampling_GetCounterDataSize_Params,
           pMetricNames);
SAME_FIELD(lp_cupti_pm_data_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME_FIELD(lp_cupti_pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_FIELD(lp_cupti_pm_data_size, size, CUpti_PmSampling_GetCounterDataSize_Params,
           counterDataSize);
SAME_SIZE(lp_cupti_pm_data_size, size, CUpti_PmSampling_GetCounterDataSize_Params);

SAME_FIELD(lp_cupti_pm_decode, object, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
SAME_FIELD(lp_cupti_pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME_FIELD(lp_cupti_pm_decode, size, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME_FIELD(lp_cupti_pm_decode, reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_FIELD(lp_cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SAME_SIZE(lp_cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params);

SAME_FIELD(lp_cupti_pm_count, data, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME_FIELD(lp_cupti_pm_count, size, CUpti_PmSampling_GetCounterDataInfo_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_pm_count, total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
SAME_FIELD(lp_cupti_pm_count, populated, CUpti_PmSampling_GetCounterDataInfo_Params,
           numPopulatedSamples);
SAME_FIELD(lp_cupti_pm_count, completed, CUpti_PmSampling_GetCounterDataInfo_Params,
           numCompletedSamples);
SAME_SIZE(lp_cupti_pm_count, completed, CUpti_PmSampling_GetCounterDataInfo_Params);

SAME_FIELD(lp_cupti_pm_info, object, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           pPmSamplingObject);
SAME_FIELD(lp_cupti_pm_info, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           pCounterDataImage);
SAME_FIELD(lp_cupti_pm_info, size, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           counterDataImageSize);
SAME_FIELD(lp_cupti_pm_info, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           sampleIndex);
SAME_FIELD(lp_cupti_pm_info, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           startTimestamp);
SAME_FIELD(lp_cupti_pm_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
SAME_SIZE(lp_cupti_pm_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);

SAME_NUMBER(LP_CUPTI_ERROR_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME_NUMBER(LP_CUPTI_ERROR_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
SAME_NUMBER(LP_CUPTI_ERROR_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(LP_CUPTI_ERROR_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(LP_CUPTI_ERROR_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(LP_CUPTI_ERROR_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(LP_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(LP_CUPTI_ERROR_VIRTUALIZED_PRIVILEGES,
            CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(LP_CUPTI_ERROR_CONFIDENTIAL_COMPUTING,
            CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_NUMBER(LP_CUPTI_ERROR_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(LP_CUPTI_ERROR_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME_NUMBER(LP_CUPTI_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_NUMBER(LP_CUPTI_PROFILER_PM, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_NUMBER(LP_CUPTI_SUPPORT_RANGE, CUPTI_PROFILER_RANGE_PROFILING);
SAME_NUMBER(LP_CUPTI_SUPPORT_PM, CUPTI_PROFILER_PM_SAMPLING);
SAME_NUMBER(LP_CUPTI_LEVEL_UNSUPPORTED, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
SAME_NUMBER(LP_CUPTI_LEVEL_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED);
SAME_NUMBER(LP_CUPTI_LEVEL_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
SAME_NUMBER(LP_CUPTI_METRIC_COUNTER, CUPTI_METRIC_TYPE_COUNTER);
SAME_NUMBER(LP_CUPTI_METRIC_RATIO, CUPTI_METRIC_TYPE_RATIO);
SAME_NUMBER(LP_CUPTI_METRIC_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT);
SAME_NUMBER(LP_CUPTI_RANGE_AUTO, CUPTI_AutoRange);
SAME_NUMBER(LP_CUPTI_RANGE_USER, CUPTI_UserRange);
SAME_NUMBER(LP_CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);
SAME_NUMBER(LP_CUPTI_REPLAY_USER, CUPTI_UserReplay);
SAME_NUMBER(LP_CUPTI_PM_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME_NUMBER(LP_CUPTI_PM_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_NUMBER(LP_CUPTI_PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME_NUMBER(LP_CUPTI_PM_STOP_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);

#endif
