/* SPDX-License-Identifier: Apache-2.0 */
/** What a GPU can do at most: dense peaks by dtype, memory bandwidth, sizes, and ceilings measured
 * on it. Each value says where it comes from.
 *
 * Looked up in conf/hardware by name, checked against what the device says about itself. A GPU that
 * is not listed, or that disagrees, gets computed values (SMs x rate x clock; 2 x memory clock x
 * bus width); what cannot be known is NaN with a reason. Nothing is guessed. The user's word wins
 * over both: LLMPERF_PEAK_TFLOPS, LLMPERF_BANDWIDTH_GBS, then a configuration file.
 *
 * Peaks are dense (never 2:4 sparse), with FP32 accumulation, in 10^12 operations a second; a
 * multiply-add is 2.
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_HARDWARE_H
#define LLMPERF_HARDWARE_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a value comes from. */
enum {
    LLMPERF_ORIGIN_NONE = 0,     /**< not known: the value is NaN */
    LLMPERF_ORIGIN_TABLE = 1,    /**< published, from conf/hardware */
    LLMPERF_ORIGIN_COMPUTED = 2, /**< from the device's attributes; peaks within 10 % */
    LLMPERF_ORIGIN_USER = 3,     /**< environment or configuration */
    LLMPERF_ORIGIN_DEVICE = 4    /**< what the driver says */
};

/** How far a value can be trusted. */
enum {
    LLMPERF_CONFIDENCE_NONE = 0,
    LLMPERF_CONFIDENCE_LOW = 1,
    LLMPERF_CONFIDENCE_MEDIUM = 2,
    LLMPERF_CONFIDENCE_HIGH = 3
};

/** Quantities besides the peaks. */
enum {
    LLMPERF_HARDWARE_BANDWIDTH_GBS = 1, /**< device memory, 10^9 bytes a second */
    LLMPERF_HARDWARE_MEMORY_GB = 2,     /**< as sold; of a device that is not listed 10^9 bytes */
    LLMPERF_HARDWARE_L2_MB = 3,         /**< L2 cache, 2^20 bytes */
    LLMPERF_HARDWARE_SMS = 4,           /**< streaming multiprocessors */
    LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ = 5, /**< clock of the peaks of tensor dtypes */
    LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ = 6, /**< clock of fp32 and fp64; what CUDA reports */
    LLMPERF_HARDWARE_LINK_GBS = 7          /**< NVLink, both directions together */
};

typedef struct llmperf_hardware llmperf_hardware;

/** What is known about a GPU; 0 and NULL are "not known". */
typedef struct llmperf_hardware_query {
    size_t struct_size;
    const char *name; /**< as the driver gives it, or a name of the table */
    uint64_t memory_bytes;
    int32_t cc_major, cc_minor; /**< compute capability */
    int32_t sm_count;
    int32_t clock_khz; /**< CUDA's clock rate */
    int32_t memory_clock_khz;
    int32_t bus_width_bits;
    int32_t l2_bytes;
    int32_t reserved;
    const char *uuid;   /**< "GPU-…": ceilings measured on this very GPU are read; see
                           llmperf_hardware_measure() */
    const char *driver; /**< version of the driver, "580.95.05"; needed for them, too */
} llmperf_hardware_query;
#define LLMPERF_HARDWARE_QUERY_INIT LLMPERF_INIT(llmperf_hardware_query)

/** One value. Text lives as long as its hardware. */
typedef struct llmperf_hardware_value {
    size_t struct_size;
    double value;        /**< NaN: not known */
    const char *source;  /**< where it comes from, in words; NULL if not known */
    const char *reason;  /**< why it is not known; NULL if it is */
    uint32_t origin;     /**< LLMPERF_ORIGIN_… */
    uint32_t confidence; /**< LLMPERF_CONFIDENCE_… */
} llmperf_hardware_value;
#define LLMPERF_HARDWARE_VALUE_INIT LLMPERF_INIT(llmperf_hardware_value)

/** Look a GPU up.
 *
 * User values are in decimal notation: LLMPERF_PEAK_TFLOPS is one number for every dtype, or
 * "bf16=989,fp8=1979" for single ones; hardware.peak_tflops of a configuration likewise, as a
 * number or a map.
 *
 * @param query         Borrowed.
 * @param config        Borrowed; hardware.peak_tflops and hardware.bandwidth_gbs are looked up in
 * it. NULL: none.
 * @param hardware_out  Yours: llmperf_hardware_free().
 * @return LLMPERF_OK, also for a GPU that is not listed if its attributes or user values are given;
 * LLMPERF_ENOENT: neither listed nor described (the error names similar ones); LLMPERF_EINVAL: a
 * user value that is no positive number, or a name that fits several GPUs; LLMPERF_EFORMAT: a
 * damaged data file; LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_hardware_find(const llmperf_hardware_query *query,
                                      const llmperf_config *config,
                                      llmperf_hardware **hardware_out);

/** Look up GPU `device` of this machine. Starts the driver (cuInit), so a process that forks
 * afterwards has no CUDA in the child.
 *
 * @param config        Borrowed, or NULL.
 * @param hardware_out  Yours: llmperf_hardware_free().
 * @return as llmperf_hardware_find(); LLMPERF_ENODEVICE: no driver or no GPU at all;
 * LLMPERF_ENOENT: no such device. */
LLMPERF_API int llmperf_hardware_local(int32_t device, const llmperf_config *config,
                                       llmperf_hardware **hardware_out);

/** NULL is fine. */
LLMPERF_API void llmperf_hardware_free(llmperf_hardware *hardware);

/** Name in the table, else the name that was asked for; "unknown GPU" without one. Lives as long as
 * `hardware`. */
LLMPERF_API const char *llmperf_hardware_name(const llmperf_hardware *hardware);

/** Dense peak of a dtype in TFLOP/s (INT8: TOP/s).
 *
 * @param dtype      "fp64", "fp64_tc", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", or
 * another spelling of one ("bfloat16", "nvfp4", "fp8_block128"). It is the dtype that is computed
 * in: weights in int4 compute in their activations'.
 * @param value_out  struct_size set by the caller. A dtype that the GPU lacks is NaN with a reason.
 * @return LLMPERF_OK; LLMPERF_EINVAL: no such dtype, or one that is for storage only. */
LLMPERF_API int llmperf_hardware_peak(const llmperf_hardware *hardware, const char *dtype,
                                      llmperf_hardware_value *value_out);

/** Another quantity. @param quantity  LLMPERF_HARDWARE_… @return LLMPERF_OK, LLMPERF_EINVAL. */
LLMPERF_API int llmperf_hardware_quantity(const llmperf_hardware *hardware, uint32_t quantity,
                                          llmperf_hardware_value *value_out);

/** What a reader of the numbers should know, one line each; NULL past the end. Lives as long as
 * `hardware`. */
LLMPERF_API const char *llmperf_hardware_warning(const llmperf_hardware *hardware, size_t index);

/** "table", "computed", "user", "device", or "none". Static text. @threads any thread */
LLMPERF_API const char *llmperf_origin_name(uint32_t origin);

/** "high", "medium", "low", or "none". Static text. @threads any thread */
LLMPERF_API const char *llmperf_confidence_name(uint32_t confidence);

#ifdef __cplusplus
}
#endif
#endif
