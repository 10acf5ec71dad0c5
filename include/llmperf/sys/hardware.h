/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Lists of GPUs and dtypes, and peaks that were measured on a GPU.
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_SYS_HARDWARE_H
#define LLMPERF_SYS_HARDWARE_H

#include "llmperf/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most that was measured of something on one GPU. Text lives as long as its hardware. */
typedef struct llmperf_ceiling {
    size_t struct_size;
    double best; /**< of the fastest repeat: TFLOP/s of a dtype, GB/s of "read" and "copy" (read and
                    written bytes); NaN: not known */
    double median;    /**< of all repeats, back to back: what the GPU holds */
    double clock_mhz; /**< of the SMs while they ran; NaN: not known */
    uint64_t repeats;
    const char *how;    /**< what ran; NULL if not known */
    const char *reason; /**< why it is not known; NULL if it is */
} llmperf_ceiling;
#define LLMPERF_CEILING_INIT LLMPERF_INIT(llmperf_ceiling)

/** How to measure; zero is the default. */
typedef struct llmperf_measure_options {
    size_t struct_size;
    double seconds;        /**< of each ceiling: 0.01 to 60; default 0.5 */
    uint64_t buffer_bytes; /**< of each of three buffers: 2^24 to 2^34; default 2^30, less where a
                              quarter of the free memory is less */
} llmperf_measure_options;
#define LLMPERF_MEASURE_OPTIONS_INIT LLMPERF_INIT(llmperf_measure_options)

/** Compute capability x 10 ("9.0" is 90, "12.1" is 121); 0: not known. */
LLMPERF_API int32_t llmperf_hardware_capability(const llmperf_hardware *hardware);

/** Names of the dtypes that peaks exist for; NULL past the end. Static text. @threads any thread */
LLMPERF_API const char *llmperf_hardware_dtype(size_t index);

/** A ceiling that was measured on this GPU.
 *
 * @param what         "copy", "read", or a dtype as for llmperf_hardware_peak().
 * @param ceiling_out  struct_size set by the caller. What was not measured is NaN with a reason.
 * @return LLMPERF_OK; LLMPERF_EINVAL: there is no such ceiling. */
LLMPERF_API int llmperf_hardware_ceiling(const llmperf_hardware *hardware, const char *what,
                                         llmperf_ceiling *ceiling_out);

/** Names of the ceilings that can be measured; NULL past the end. Static text. @threads any thread
 */
LLMPERF_API const char *llmperf_ceiling_name(size_t index);

/** When the ceilings were measured and with what: one line; NULL: they were not. Lives as long as
 * `hardware`. */
LLMPERF_API const char *llmperf_hardware_measured(const llmperf_hardware *hardware);

/** Measure the ceilings of GPU `device` of this machine, and keep them in a file of this user:
 * $XDG_CACHE_HOME/llmperf/UUID-DRIVER.yaml (without the variable ~/.cache), which every look-up of
 * this GPU reads.
 *
 * Needs the driver; matrix rates need libcublasLt too (LLMPERF_CUBLASLT_PATH, else where a CUDA
 * toolkit or a process's own copy is), without it they are not known, with the reason. Takes
 * seconds, up to three gigabytes of the GPU's memory, and all of the GPU: nothing else should run
 * on it. Starts the driver (see llmperf_hardware_local()).
 *
 * @param options   Borrowed; NULL: defaults.
 * @param path_out  The file. Yours: llmperf_text_free(). NULL is fine.
 * @return LLMPERF_OK, also if single ceilings could not be measured; LLMPERF_ENODEVICE: no driver
 * or GPU; LLMPERF_ENOENT: no such device; LLMPERF_EINVAL: an option; LLMPERF_ENOMEM: too little
 * memory, here or on the GPU; LLMPERF_EIO: the file cannot be written. @threads one at a time */
LLMPERF_API int llmperf_hardware_measure(int32_t device, const llmperf_measure_options *options,
                                         char **path_out);

/** Names of all GPUs of the table, sorted, one a line.
 * @param names_out  Yours: llmperf_text_free(). @return LLMPERF_OK, LLMPERF_ENOENT,
 * LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_hardware_names(char **names_out);

#ifdef __cplusplus
}
#endif
#endif
