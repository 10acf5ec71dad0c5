/* SPDX-License-Identifier: Apache-2.0 */
/** Our own declarations of the part of CUPTI's profiling interfaces that we use: host (metrics of a
 * chip), range profiler, PM and PC sampling. Nearly every call takes one struct that begins with
 * its size (up to the last field, without trailing padding) and a NULL; check.c compares each line
 * of the two tables with the toolkit's headers where the build finds them. Facts: CUPTI 13.0; the
 * calls exist from CUPTI 12.6 on. */
#ifndef LP_COUNTERS_ABI_H
#define LP_COUNTERS_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Our name, the number, CUPTI's name. */
#define LP_CUPTI_PROFILER_NUMBERS(NUMBER)                                                          \
    NUMBER(LP_CUPTI_ERROR_INVALID_PARAMETER, 1, CUPTI_ERROR_INVALID_PARAMETER)                     \
    NUMBER(LP_CUPTI_ERROR_INVALID_OPERATION, 7, CUPTI_ERROR_INVALID_OPERATION)                     \
    NUMBER(LP_CUPTI_ERROR_OUT_OF_MEMORY, 8, CUPTI_ERROR_OUT_OF_MEMORY)                             \
    NUMBER(LP_CUPTI_ERROR_HARDWARE_BUSY, 26, CUPTI_ERROR_HARDWARE_BUSY)                            \
    NUMBER(LP_CUPTI_ERROR_NOT_SUPPORTED, 27, CUPTI_ERROR_NOT_SUPPORTED)                            \
    NUMBER(LP_CUPTI_ERROR_VIRTUALIZED_DEVICE, 33, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)    \
    NUMBER(LP_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)        \
    NUMBER(LP_CUPTI_ERROR_VIRTUALIZED_PRIVILEGES, 40,                                              \
           CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)                                 \
    NUMBER(LP_CUPTI_ERROR_CONFIDENTIAL_COMPUTING, 41,                                              \
           CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED)                                       \
    NUMBER(LP_CUPTI_ERROR_MIG_DEVICE, 43, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED)                    \
    NUMBER(LP_CUPTI_ERROR_INVALID_CHIP_NAME, 46, CUPTI_ERROR_INVALID_CHIP_NAME)                    \
    /* for the host */                                                                             \
    NUMBER(LP_CUPTI_PROFILER_RANGE, 0, CUPTI_PROFILER_TYPE_RANGE_PROFILER)                         \
    NUMBER(LP_CUPTI_PROFILER_PM, 1, CUPTI_PROFILER_TYPE_PM_SAMPLING)                               \
    /* for the device */                                                                           \
    NUMBER(LP_CUPTI_SUPPORT_RANGE, 0, CUPTI_PROFILER_RANGE_PROFILING)                              \
    NUMBER(LP_CUPTI_SUPPORT_PC, 1, CUPTI_PROFILER_PC_SAMPLING)                                     \
    NUMBER(LP_CUPTI_SUPPORT_PM, 3, CUPTI_PROFILER_PM_SAMPLING)                                     \
    NUMBER(LP_CUPTI_LEVEL_UNSUPPORTED, 1, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)                \
    NUMBER(LP_CUPTI_LEVEL_DISABLED, 2, CUPTI_PROFILER_CONFIGURATION_DISABLED)                      \
    NUMBER(LP_CUPTI_LEVEL_SUPPORTED, 3, CUPTI_PROFILER_CONFIGURATION_SUPPORTED)                    \
    NUMBER(LP_CUPTI_METRIC_COUNTER, 0, CUPTI_METRIC_TYPE_COUNTER)                                  \
    NUMBER(LP_CUPTI_METRIC_RATIO, 1, CUPTI_METRIC_TYPE_RATIO)                                      \
    NUMBER(LP_CUPTI_METRIC_THROUGHPUT, 2, CUPTI_METRIC_TYPE_THROUGHPUT)                            \
    NUMBER(LP_CUPTI_RANGE_AUTO, 1, CUPTI_AutoRange)                                                \
    NUMBER(LP_CUPTI_RANGE_USER, 2, CUPTI_UserRange)                                                \
    NUMBER(LP_CUPTI_REPLAY_KERNEL, 2, CUPTI_KernelReplay)                                          \
    NUMBER(LP_CUPTI_REPLAY_USER, 3, CUPTI_UserReplay)                                              \
    NUMBER(LP_CUPTI_PM_SYSCLK, 0, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL)              \
    NUMBER(LP_CUPTI_PM_TIME, 1, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)                  \
    NUMBER(LP_CUPTI_PM_KEEP_OLDEST, 0, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST)  \
    NUMBER(LP_CUPTI_PM_STOP_FULL, 1, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)       \
    NUMBER(LP_CUPTI_PC_CONTINUOUS, 1, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS)                \
    NUMBER(LP_CUPTI_PC_REASON_BYTES, 128, CUPTI_STALL_REASON_STRING_SIZE)

/* Attributes of PC sampling; our name and CUPTI's, without what they begin with. */
#define LP_CUPTI_PC_ATTRIBUTES(NUMBER)                                                             \
    NUMBER(PERIOD, 1, SAMPLING_PERIOD)                                                             \
    NUMBER(REASONS, 2, STALL_REASON)                                                               \
    NUMBER(SCRATCH, 3, SCRATCH_BUFFER_SIZE)                                                        \
    NUMBER(BUFFER, 4, HARDWARE_BUFFER_SIZE)                                                        \
    NUMBER(MODE, 5, COLLECTION_MODE)                                                               \
    NUMBER(CONTROL, 6, ENABLE_START_STOP_CONTROL)                                                  \
    NUMBER(DATA, 8, SAMPLING_DATA_BUFFER)                                                          \
    NUMBER(SLEEP, 9, WORKER_THREAD_PERIODIC_SLEEP_SPAN)

#define LP_CUPTI_ENUMERATOR(name, number, theirs)   name = number,
#define LP_CUPTI_PC_ATTRIBUTE(name, number, theirs) LP_CUPTI_PC_##name = number,
enum { LP_CUPTI_PROFILER_NUMBERS(LP_CUPTI_ENUMERATOR) };
enum { LP_CUPTI_PC_ATTRIBUTES(LP_CUPTI_PC_ATTRIBUTE) };
#undef LP_CUPTI_PC_ATTRIBUTE
#undef LP_CUPTI_ENUMERATOR

typedef void *lp_cupti_object; /* CUPTI's own, opaque */

/* STRUCT: our name, CUPTI's. FIELD: type, our name, CUPTI's. */
#define LP_CUPTI_PROFILER_STRUCTS(STRUCT, FIELD, LAST)                                             \
    STRUCT(lp_cupti_device_supported, CUpti_Profiler_DeviceSupported_Params)                       \
    FIELD(int, device, cuDevice)                                                                   \
    FIELD(uint32_t, supported, isSupported)                                                        \
    FIELD(uint32_t, architecture, architecture)                                                    \
    FIELD(uint32_t, sli, sli)                                                                      \
    FIELD(uint32_t, vgpu, vGpu)                                                                    \
    FIELD(uint32_t, confidential, confidentialCompute)                                             \
    FIELD(uint32_t, cmp, cmp)                                                                      \
    FIELD(uint32_t, wsl, wsl)                                                                      \
    LAST(uint32_t, api, api)                                                                       \
    STRUCT(lp_cupti_chip_name, CUpti_Device_GetChipName_Params)                                    \
    FIELD(size_t, device, deviceIndex)                                                             \
    LAST(const char *, name, pChipName)                                                            \
    STRUCT(lp_cupti_availability, CUpti_Profiler_GetCounterAvailability_Params)                    \
    FIELD(void *, context, ctx)                                                                    \
    FIELD(size_t, size, counterAvailabilityImageSize)                                              \
    LAST(uint8_t *, image, pCounterAvailabilityImage)                                              \
    STRUCT(lp_cupti_pm_availability, CUpti_PmSampling_GetCounterAvailability_Params)               \
    FIELD(size_t, device, deviceIndex)                                                             \
    FIELD(size_t, size, counterAvailabilityImageSize)                                              \
    LAST(uint8_t *, image, pCounterAvailabilityImage)                                              \
    STRUCT(lp_cupti_host_chips, CUpti_Profiler_Host_GetSupportedChips_Params)                      \
    FIELD(size_t, count, numChips)                                                                 \
    LAST(const char *const *, names, ppChipNames)                                                  \
    STRUCT(lp_cupti_host_open, CUpti_Profiler_Host_Initialize_Params)                              \
    FIELD(uint32_t, type, profilerType)                                                            \
    FIELD(const char *, chip, pChipName)                                                           \
    FIELD(const uint8_t *, availability, pCounterAvailabilityImage)                                \
    LAST(lp_cupti_object, host, pHostObject)                                                       \
    STRUCT(lp_cupti_host_close, CUpti_Profiler_Host_Deinitialize_Params)                           \
    LAST(lp_cupti_object, host, pHostObject)                                                       \
    STRUCT(lp_cupti_host_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params)                       \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    FIELD(uint32_t, kind, metricType)                                                              \
    FIELD(const char **, names, ppMetricNames)                                                     \
    LAST(size_t, count, numMetrics)                                                                \
    STRUCT(lp_cupti_host_properties, CUpti_Profiler_Host_GetMetricProperties_Params)               \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    FIELD(const char *, metric, pMetricName)                                                       \
    FIELD(const char *, description, pDescription)                                                 \
    FIELD(const char *, hardware_unit, pHwUnit)                                                    \
    FIELD(const char *, unit, pDimUnit)                                                            \
    LAST(uint32_t, kind, metricType)                                                               \
    STRUCT(lp_cupti_host_add, CUpti_Profiler_Host_ConfigAddMetrics_Params)                         \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    FIELD(const char **, metrics, ppMetricNames)                                                   \
    LAST(size_t, count, numMetrics)                                                                \
    STRUCT(lp_cupti_host_config_size, CUpti_Profiler_Host_GetConfigImageSize_Params)               \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    LAST(size_t, size, configImageSize)                                                            \
    STRUCT(lp_cupti_host_config, CUpti_Profiler_Host_GetConfigImage_Params)                        \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    FIELD(size_t, size, configImageSize)                                                           \
    LAST(uint8_t *, image, pConfigImage)                                                           \
    STRUCT(lp_cupti_host_passes, CUpti_Profiler_Host_GetNumOfPasses_Params)                        \
    FIELD(size_t, size, configImageSize)                                                           \
    FIELD(uint8_t *, image, pConfigImage)                                                          \
    LAST(size_t, passes, numOfPasses)                                                              \
    STRUCT(lp_cupti_host_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params)                 \
    FIELD(lp_cupti_object, host, pHostObject)                                                      \
    FIELD(const uint8_t *, data, pCounterDataImage)                                                \
    FIELD(size_t, data_size, counterDataImageSize)                                                 \
    FIELD(size_t, range, rangeIndex)                                                               \
    FIELD(const char **, metrics, ppMetricNames)                                                   \
    FIELD(size_t, count, numMetrics)                                                               \
    LAST(double *, values, pMetricValues)                                                          \
    STRUCT(lp_cupti_range_enable, CUpti_RangeProfiler_Enable_Params)                               \
    FIELD(void *, context, ctx)                                                                    \
    LAST(lp_cupti_object, object, pRangeProfilerObject)                                            \
    /* disable, start, pop */                                                                      \
    STRUCT(lp_cupti_range, CUpti_RangeProfiler_Disable_Params)                                     \
    LAST(lp_cupti_object, object, pRangeProfilerObject)                                            \
    STRUCT(lp_cupti_range_config, CUpti_RangeProfiler_SetConfig_Params)                            \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    FIELD(size_t, config_size, configSize)                                                         \
    FIELD(const uint8_t *, config, pConfig)                                                        \
    FIELD(size_t, data_size, counterDataImageSize)                                                 \
    FIELD(uint8_t *, data, pCounterDataImage)                                                      \
    FIELD(uint32_t, range, range)                                                                  \
    FIELD(uint32_t, replay, replayMode)                                                            \
    FIELD(size_t, ranges_per_pass, maxRangesPerPass)                                               \
    FIELD(uint16_t, levels, numNestingLevels)                                                      \
    FIELD(uint16_t, first_level, minNestingLevel)                                                  \
    FIELD(size_t, pass, passIndex)                                                                 \
    LAST(uint16_t, level, targetNestingLevel)                                                      \
    STRUCT(lp_cupti_range_stop, CUpti_RangeProfiler_Stop_Params)                                   \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    FIELD(size_t, pass, passIndex)                                                                 \
    FIELD(size_t, level, targetNestingLevel)                                                       \
    LAST(uint8_t, all_passes, isAllPassSubmitted)                                                  \
    STRUCT(lp_cupti_range_push, CUpti_RangeProfiler_PushRange_Params)                              \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    LAST(const char *, name, pRangeName)                                                           \
    STRUCT(lp_cupti_range_decode, CUpti_RangeProfiler_DecodeData_Params)                           \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    LAST(size_t, dropped, numOfRangeDropped)                                                       \
    STRUCT(lp_cupti_range_data_size, CUpti_RangeProfiler_GetCounterDataSize_Params)                \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    FIELD(const char **, metrics, pMetricNames)                                                    \
    FIELD(size_t, count, numMetrics)                                                               \
    FIELD(size_t, ranges, maxNumOfRanges)                                                          \
    FIELD(uint32_t, nodes, maxNumRangeTreeNodes)                                                   \
    LAST(size_t, size, counterDataSize)                                                            \
    /* of both profilers */                                                                        \
    STRUCT(lp_cupti_data_init, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)             \
    FIELD(lp_cupti_object, object, pRangeProfilerObject)                                           \
    FIELD(size_t, size, counterDataSize)                                                           \
    LAST(uint8_t *, data, pCounterData)                                                            \
    STRUCT(lp_cupti_range_count, CUpti_RangeProfiler_GetCounterDataInfo_Params)                    \
    FIELD(const uint8_t *, data, pCounterDataImage)                                                \
    FIELD(size_t, size, counterDataImageSize)                                                      \
    LAST(size_t, ranges, numTotalRanges)                                                           \
    STRUCT(lp_cupti_range_info, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params)               \
    FIELD(const uint8_t *, data, pCounterDataImage)                                                \
    FIELD(size_t, size, counterDataImageSize)                                                      \
    FIELD(size_t, range, rangeIndex)                                                               \
    FIELD(const char *, delimiter, rangeDelimiter)                                                 \
    LAST(const char *, name, rangeName)                                                            \
    STRUCT(lp_cupti_pm_enable, CUpti_PmSampling_Enable_Params)                                     \
    FIELD(size_t, device, deviceIndex)                                                             \
    LAST(lp_cupti_object, object, pPmSamplingObject)                                               \
    /* disable, start, stop */                                                                     \
    STRUCT(lp_cupti_pm, CUpti_PmSampling_Disable_Params)                                           \
    LAST(lp_cupti_object, object, pPmSamplingObject)                                               \
    STRUCT(lp_cupti_pm_config, CUpti_PmSampling_SetConfig_Params)                                  \
    FIELD(lp_cupti_object, object, pPmSamplingObject)                                              \
    FIELD(size_t, config_size, configSize)                                                         \
    FIELD(const uint8_t *, config, pConfig)                                                        \
    FIELD(size_t, buffer_size, hardwareBufferSize)                                                 \
    FIELD(uint64_t, interval, samplingInterval)                                                    \
    FIELD(uint32_t, trigger, triggerMode)                                                          \
    LAST(uint32_t, append, hwBufferAppendMode)                                                     \
    STRUCT(lp_cupti_pm_data_size, CUpti_PmSampling_GetCounterDataSize_Params)                      \
    FIELD(lp_cupti_object, object, pPmSamplingObject)                                              \
    FIELD(const char **, metrics, pMetricNames)                                                    \
    FIELD(size_t, count, numMetrics)                                                               \
    FIELD(uint32_t, samples, maxSamples)                                                           \
    LAST(size_t, size, counterDataSize)                                                            \
    STRUCT(lp_cupti_pm_decode, CUpti_PmSampling_DecodeData_Params)                                 \
    FIELD(lp_cupti_object, object, pPmSamplingObject)                                              \
    FIELD(uint8_t *, data, pCounterDataImage)                                                      \
    FIELD(size_t, size, counterDataImageSize)                                                      \
    FIELD(uint32_t, reason, decodeStopReason)                                                      \
    LAST(uint8_t, overflow, overflow)                                                              \
    STRUCT(lp_cupti_pm_count, CUpti_PmSampling_GetCounterDataInfo_Params)                          \
    FIELD(const uint8_t *, data, pCounterDataImage)                                                \
    FIELD(size_t, size, counterDataImageSize)                                                      \
    FIELD(size_t, total, numTotalSamples)                                                          \
    FIELD(size_t, populated, numPopulatedSamples)                                                  \
    LAST(size_t, completed, numCompletedSamples)                                                   \
    STRUCT(lp_cupti_pm_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params)                    \
    FIELD(lp_cupti_object, object, pPmSamplingObject)                                              \
    FIELD(const uint8_t *, data, pCounterDataImage)                                                \
    FIELD(size_t, size, counterDataImageSize)                                                      \
    FIELD(size_t, sample, sampleIndex)                                                             \
    FIELD(uint64_t, start, startTimestamp)                                                         \
    LAST(uint64_t, end, endTimestamp)

/* PC sampling. Its headers name the size of a struct in another way. */
#define LP_CUPTI_PC_STRUCTS(STRUCT, FIELD, LAST)                                                   \
    /* enable, disable, start, stop */                                                             \
    STRUCT(lp_cupti_pc, CUpti_PCSamplingEnableParams)                                              \
    LAST(void *, context, ctx)                                                                     \
    STRUCT(lp_cupti_pc_config, CUpti_PCSamplingConfigurationInfoParams)                            \
    FIELD(void *, context, ctx)                                                                    \
    FIELD(size_t, count, numAttributes)                                                            \
    LAST(struct lp_cupti_pc_attribute *, attributes, pPCSamplingConfigurationInfo)                 \
    STRUCT(lp_cupti_pc_get, CUpti_PCSamplingGetDataParams)                                         \
    FIELD(void *, context, ctx)                                                                    \
    LAST(void *, data, pcSamplingData)                                                             \
    STRUCT(lp_cupti_pc_count, CUpti_PCSamplingGetNumStallReasonsParams)                            \
    FIELD(void *, context, ctx)                                                                    \
    LAST(size_t *, count, numStallReasons)                                                         \
    STRUCT(lp_cupti_pc_reasons, CUpti_PCSamplingGetStallReasonsParams)                             \
    FIELD(void *, context, ctx)                                                                    \
    FIELD(size_t, count, numStallReasons)                                                          \
    FIELD(uint32_t *, indices, stallReasonIndex)                                                   \
    LAST(char **, names, stallReasons)

struct lp_cupti_pc_attribute {
    uint32_t type;
    int status; /* set by CUPTI */
    union {
        uint64_t words[3];
        uint32_t number;
        size_t size;
        void *data;
        struct {
            size_t count;
            uint32_t *indices;
        } reasons;
    } value;
};

struct lp_cupti_pc_reason {
    uint32_t index, samples;
};

/* Samples of an instruction. */
struct lp_cupti_pc_record {
    size_t struct_size;
    uint64_t cubin_crc, offset;
    uint32_t function, pad;
    char *name; /* of the function; CUPTI may give the same text again, so it is never freed */
    size_t reason_count;
    struct lp_cupti_pc_reason *reasons;
    uint32_t correlation;
};

struct lp_cupti_pc_data {
    size_t struct_size, most; /* room in `records` */
    uint64_t samples, dropped;
    size_t count, remaining;
    uint64_t range;
    struct lp_cupti_pc_record *records;
    uint64_t other_samples; /* of kernels that are not the program's */
    uint8_t buffer_full;
};

struct lp_cupti_source_line {
    size_t struct_size;
    const void *cubin;
    const char *function;
    size_t cubin_size;
    uint32_t line;
    uint64_t offset;
    char *file, *folder; /* to be freed */
};

struct lp_cupti_cubin_crc {
    size_t struct_size, size;
    const void *cubin;
    uint64_t crc;
};

#define LP_CUPTI_STRUCT(ours, theirs)                                                              \
    struct ours {                                                                                  \
        size_t struct_size;                                                                        \
        void *priv;
#define LP_CUPTI_FIELD(type, name, theirs) type name;
#define LP_CUPTI_LAST(type, name, theirs)                                                          \
    type name;                                                                                     \
    char tail[];                                                                                   \
    }                                                                                              \
    ;
LP_CUPTI_PROFILER_STRUCTS(LP_CUPTI_STRUCT, LP_CUPTI_FIELD, LP_CUPTI_LAST)
LP_CUPTI_PC_STRUCTS(LP_CUPTI_STRUCT, LP_CUPTI_FIELD, LP_CUPTI_LAST)
#undef LP_CUPTI_STRUCT
#undef LP_CUPTI_FIELD
#undef LP_CUPTI_LAST

struct lp_cupti_profiler { /* initialise, deinitialise */
    size_t struct_size;
    void *priv;
    char tail[];
};

/* What goes into struct_size: CUPTI checks it, and it is not sizeof. */
#define LP_CUPTI_SIZE(type) offsetof(struct type, tail)

#endif
