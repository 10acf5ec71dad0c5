/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Lists of GPUs and dtypes, and peaks that were measured on a GPU. */
#ifndef LLMPERF_SYS_HARDWARE_H
#define LLMPERF_SYS_HARDWARE_H

#include "llmperf/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A peak that was measured on one GPU. Texts belong to the hardware object. */
typedef struct llmperf_measured_peak {
    size_t struct_size;
    double best;        /**< of the fastest repeat: TFLOP/s of a dtype, GB/s of "read" and of "copy"
                           (bytes read and written). "profiler_launch_us", "profiler_node_us": what
                           a session of tier deep adds to a launch and to a graph node, us, the
                           difference of medians. NaN: not known */
    double median;      /**< of all repeats, executed back to back: the sustained rate */
    double clock_mhz;   /**< SM clock during the measurement; NaN: not known */
    uint64_t repeats;   /**< number of repeats */
    const char *how;    /**< what was executed; NULL: not known */
    const char *reason; /**< why it is not known; NULL: it is known */
} llmperf_measured_peak;
#define LLMPERF_MEASURED_PEAK_INIT LLMPERF_INIT(llmperf_measured_peak)

/** Options of a measurement. Zero means default. */
typedef struct llmperf_measure_options {
    size_t struct_size;
    double seconds;        /**< of each measurement: 0.01 to 60; default 0.5 */
    uint64_t buffer_bytes; /**< of each of three buffers: 2^24 to 2^34; default 2^30, or a quarter
                              of the free memory if that is less */
} llmperf_measure_options;
#define LLMPERF_MEASURE_OPTIONS_INIT LLMPERF_INIT(llmperf_measure_options)

/** Compute capability of a GPU.
 *
 * @return Ten times the version: 90 for 9.0, 121 for 12.1; 0: not known.
 * @threads any thread */
LLMPERF_API int32_t llmperf_hardware_capability(const llmperf_hardware *hardware);

/** Names of the dtypes that llmperf_hardware_peak() knows.
 *
 * @param index  From 0.
 * @return Static text; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_hardware_dtype(size_t index);

/** Names of all GPUs in conf/hardware, sorted, one per line.
 *
 * @param names_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_hardware_names(char **names_out);

/** Names of the peaks that can be measured.
 *
 * @param index  From 0.
 * @return "copy", "read", a dtype, "profiler_launch_us" or "profiler_node_us". Static text; NULL
 * past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_measured_peak_name(size_t index);

/** A measured peak.
 *
 * @param what      A name of llmperf_measured_peak_name().
 * @param peak_out  struct_size set by the caller. NaN with a reason if it was not measured.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such peak).
 * @threads any thread */
LLMPERF_API int llmperf_hardware_measured_peak(const llmperf_hardware *hardware, const char *what,
                                               llmperf_measured_peak *peak_out);

/** Date and method of the measurement.
 *
 * @return One line, belongs to `hardware`; NULL: nothing was measured.
 * @threads any thread */
LLMPERF_API const char *llmperf_hardware_measured(const llmperf_hardware *hardware);

/** Measure the peaks of a GPU of this machine, and keep them for later look-ups of this GPU in
 * $XDG_CACHE_HOME/llmperf/UUID-DRIVER.yaml (default: ~/.cache).
 *
 * Takes some seconds, up to 3 GB of the GPU's memory, and all of its time: nothing else should run
 * on it. Initialises the CUDA driver, see llmperf_hardware_local(). Matrix rates need libcublasLt
 * (LLMPERF_CUBLASLT_PATH, else that of the process or of a CUDA toolkit); without it they are not
 * known, with the reason. The last part starts a session of tier deep: call it where no session
 * runs, and before CUPTI is used, because launches cost more from then on.
 *
 * @param device    CUDA device ordinal, from 0.
 * @param options   Borrowed; NULL: defaults.
 * @param path_out  File that was written. Yours: llmperf_text_free(). May be NULL.
 * @return LLMPERF_OK (also if single peaks could not be measured); LLMPERF_ENODEVICE (no driver or
 * GPU), LLMPERF_ENOENT (no such device), LLMPERF_EINVAL (an option), LLMPERF_ENOMEM (of the host or
 * the GPU), LLMPERF_EIO (the file cannot be written).
 * @threads one at a time */
LLMPERF_API int llmperf_hardware_measure(int32_t device, const llmperf_measure_options *options,
                                         char **path_out);

#ifdef __cplusplus
}
#endif
#endif
