/* SPDX-License-Identifier: Apache-2.0 */
/** CUPTI's profiling calls, found at run time. Those of the host work without a driver and without
 * a GPU; the others need both. */
#ifndef LP_COUNTERS_SYMBOLS_H
#define LP_COUNTERS_SYMBOLS_H

#include "lib/counters/abi.h"

/* Name without "cupti", struct without "lp_cupti_". */
#define LP_COUNTERS_CALLS(CALL)                                                                    \
    CALL(ProfilerInitialize, profiler)                                                             \
    CALL(ProfilerDeInitialize, profiler)                                                           \
    CALL(ProfilerDeviceSupported, device_supported)                                                \
    CALL(DeviceGetChipName, chip_name)                                                             \
    CALL(ProfilerGetCounterAvailability, availability)                                             \
    CALL(ProfilerHostGetSupportedChips, host_chips)                                                \
    CALL(ProfilerHostInitialize, host_open)                                                        \
    CALL(ProfilerHostDeinitialize, host_close)                                                     \
    CALL(ProfilerHostGetBaseMetrics, host_metrics)                                                 \
    CALL(ProfilerHostGetMetricProperties, host_properties)                                         \
    CALL(ProfilerHostConfigAddMetrics, host_add)                                                   \
    CALL(ProfilerHostGetConfigImageSize, host_config_size)                                         \
    CALL(ProfilerHostGetConfigImage, host_config)                                                  \
    CALL(ProfilerHostGetNumOfPasses, host_passes)                                                  \
    CALL(ProfilerHostEvaluateToGpuValues, host_evaluate)                                           \
    CALL(RangeProfilerEnable, range_enable)                                                        \
    CALL(RangeProfilerDisable, range)                                                              \
    CALL(RangeProfilerSetConfig, range_config)                                                     \
    CALL(RangeProfilerStart, range)                                                                \
    CALL(RangeProfilerStop, range_stop)                                                            \
    CALL(RangeProfilerPushRange, range_push)                                                       \
    CALL(RangeProfilerPopRange, range)                                                             \
    CALL(RangeProfilerDecodeData, range_decode)                                                    \
    CALL(RangeProfilerGetCounterDataSize, range_data_size)                                         \
    CALL(RangeProfilerCounterDataImageInitialize, data_init)                                       \
    CALL(RangeProfilerGetCounterDataInfo, range_count)                                             \
    CALL(RangeProfilerCounterDataGetRangeInfo, range_info)                                         \
    CALL(PmSamplingEnable, pm_enable)                                                              \
    CALL(PmSamplingDisable, pm)                                                                    \
    CALL(PmSamplingGetCounterAvailability, pm_availability)                                        \
    CALL(PmSamplingSetConfig, pm_config)                                                           \
    CALL(PmSamplingStart, pm)                                                                      \
    CALL(PmSamplingStop, pm)                                                                       \
    CALL(PmSamplingGetCounterDataSize, pm_data_size)                                               \
    CALL(PmSamplingCounterDataImageInitialize, data_init)                                          \
    CALL(PmSamplingDecodeData, pm_decode)                                                          \
    CALL(PmSamplingGetCounterDataInfo, pm_count)                                                   \
    CALL(PmSamplingCounterDataGetSampleInfo, pm_info)                                              \
    CALL(PCSamplingEnable, pc)                                                                     \
    CALL(PCSamplingDisable, pc)                                                                    \
    CALL(PCSamplingStart, pc)                                                                      \
    CALL(PCSamplingStop, pc)                                                                       \
    CALL(PCSamplingSetConfigurationAttribute, pc_config)                                           \
    CALL(PCSamplingGetData, pc_get)                                                                \
    CALL(PCSamplingGetNumStallReasons, pc_count)                                                   \
    CALL(PCSamplingGetStallReasons, pc_reasons)                                                    \
    CALL(GetSassToSourceCorrelation, source_line)                                                  \
    CALL(GetCubinCrc, cubin_crc)

struct lp_counters_calls {
    char path[512]; /* of libcupti */
    int (*GetResultString)(int result, const char **text);
#define CALL(name, params) int (*name)(struct lp_cupti_##params * params_);
    LP_COUNTERS_CALLS(CALL)
#undef CALL
};

/** The calls of this process's libcupti, with the libnvperf_host from the same directory. 0 and
 * *calls_out (never freed); LLMPERF_ENOENT: no libcupti, one before 12.6, or no libnvperf_host.
 * @threads any thread */
int lp_counters_load(const struct lp_counters_calls **calls_out);

/** Text of a CUPTI result, for messages. */
const char *lp_counters_text(const struct lp_counters_calls *calls, int result);

#endif
