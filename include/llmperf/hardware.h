/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of a GPU: dense peak rates by dtype, memory bandwidth and sizes, each with its source.
 *
 * A GPU is looked up by name in conf/hardware and checked against what the driver reports about it.
 * For a GPU that is not listed, or whose properties differ from its entry, values are computed (SMs
 * x rate x clock; 2 x memory clock x bus width). A value that is neither listed nor computable is
 * NaN with a reason. LLMPERF_PEAK_TFLOPS and LLMPERF_BANDWIDTH_GBS, then hardware.peak_tflops and
 * hardware.bandwidth_gbs of a configuration, override both.
 *
 * Peaks are dense (without 2:4 sparsity) with FP32 accumulation, in 10^12 operations a second; a
 * multiply-add counts as 2 operations. */
#ifndef LLMPERF_HARDWARE_H
#define LLMPERF_HARDWARE_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sources of a value. */
enum {
    LLMPERF_ORIGIN_NONE = 0,     /**< unknown: the value is NaN */
    LLMPERF_ORIGIN_TABLE = 1,    /**< published, from conf/hardware */
    LLMPERF_ORIGIN_COMPUTED = 2, /**< from the device's attributes; peaks within 10 % */
    LLMPERF_ORIGIN_USER = 3,     /**< from the environment or the configuration */
    LLMPERF_ORIGIN_DEVICE = 4    /**< reported by the driver */
};

/** Confidence in a value. */
enum {
    LLMPERF_CONFIDENCE_NONE = 0,
    LLMPERF_CONFIDENCE_LOW = 1,
    LLMPERF_CONFIDENCE_MEDIUM = 2,
    LLMPERF_CONFIDENCE_HIGH = 3
};

/** Quantities of a GPU besides its peaks. */
enum {
    LLMPERF_HARDWARE_BANDWIDTH_GBS = 1,    /**< device memory bandwidth, 10^9 bytes a second */
    LLMPERF_HARDWARE_MEMORY_GB = 2,        /**< device memory as sold; 10^9 bytes if not listed */
    LLMPERF_HARDWARE_L2_MB = 3,            /**< L2 cache, 2^20 bytes */
    LLMPERF_HARDWARE_SMS = 4,              /**< streaming multiprocessors */
    LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ = 5, /**< clock that the tensor core peaks assume */
    LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ = 6, /**< clock that fp32 and fp64 peaks assume: CUDA's */
    LLMPERF_HARDWARE_LINK_GBS = 7 /**< NVLink, sum of both directions, 10^9 bytes a second */
};

/** Limits of one GPU. */
typedef struct llmperf_hardware llmperf_hardware;

/** Properties of a GPU. 0 and NULL: unknown. */
typedef struct llmperf_hardware_query {
    size_t struct_size;
    const char *name;           /**< as the driver reports it, or a name of conf/hardware */
    uint64_t memory_bytes;      /**< device memory */
    int32_t cc_major, cc_minor; /**< compute capability */
    int32_t sm_count;           /**< streaming multiprocessors */
    int32_t clock_khz;          /**< CUDA's clock rate */
    int32_t memory_clock_khz;   /**< CUDA's memory clock rate */
    int32_t bus_width_bits;     /**< of device memory */
    int32_t l2_bytes;           /**< L2 cache */
    int32_t reserved;           /**< 0 */
    const char *uuid;   /**< "GPU-…"; with `driver`, measured peaks of this GPU are used */
    const char *driver; /**< driver version, "580.95.05" */
} llmperf_hardware_query;
#define LLMPERF_HARDWARE_QUERY_INIT LLMPERF_INIT(llmperf_hardware_query)

/** One value. Texts belong to the hardware object. */
typedef struct llmperf_hardware_value {
    size_t struct_size;
    double value;        /**< NaN: unknown */
    const char *source;  /**< source in words; NULL: unknown value */
    const char *reason;  /**< why it is unknown; NULL: it is known */
    uint32_t origin;     /**< LLMPERF_ORIGIN_… */
    uint32_t confidence; /**< LLMPERF_CONFIDENCE_… */
} llmperf_hardware_value;
#define LLMPERF_HARDWARE_VALUE_INIT LLMPERF_INIT(llmperf_hardware_value)

/** Look up a GPU by its properties.
 *
 * LLMPERF_PEAK_TFLOPS is one number for all dtypes, or one for each ("bf16=989,fp8=1979");
 * hardware.peak_tflops of a configuration is a number or a map likewise.
 *
 * @param query         Borrowed.
 * @param config        Borrowed; NULL: none.
 * @param hardware_out  Yours: llmperf_hardware_free().
 * @return LLMPERF_OK (also for an unlisted GPU, if its attributes or user values are given);
 * LLMPERF_ENOENT (neither listed nor described; the error names similar GPUs), LLMPERF_EINVAL (a
 * user value that is not a positive number, or a name that matches several GPUs), LLMPERF_EFORMAT
 * (a damaged data file), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_hardware_find(const llmperf_hardware_query *query,
                                      const llmperf_config *config,
                                      llmperf_hardware **hardware_out);

/** Look up a GPU of this machine. This initialises the CUDA driver (cuInit), so child processes
 * that are forked later cannot use CUDA.
 *
 * @param device        CUDA device ordinal, from 0.
 * @param config        Borrowed; NULL: none.
 * @param hardware_out  Yours: llmperf_hardware_free().
 * @return as llmperf_hardware_find(); LLMPERF_ENODEVICE (no driver or no GPU), LLMPERF_ENOENT (no
 * such device)
 * @threads any thread */
LLMPERF_API int llmperf_hardware_local(int32_t device, const llmperf_config *config,
                                       llmperf_hardware **hardware_out);

/** Free a hardware object.
 *
 * @param hardware  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_hardware_free(llmperf_hardware *hardware);

/** Name of the GPU.
 *
 * @return Its name in conf/hardware, else the name in the query, else "unknown GPU". Belongs to
 * `hardware`.
 * @threads any thread */
LLMPERF_API const char *llmperf_hardware_name(const llmperf_hardware *hardware);

/** Dense peak rate for a dtype, in TFLOP/s (int8: TOP/s).
 *
 * @param dtype      Dtype of the arithmetic: "fp64", "fp64_tc", "fp32", "tf32", "fp16", "bf16",
 * "fp8", "int8", "fp4", or another spelling ("bfloat16", "nvfp4"). Weights stored in int4, for
 * example, are computed in the dtype of the activations.
 * @param value_out  struct_size set by the caller. NaN with a reason for a dtype that the GPU
 * lacks.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such dtype, or one for storage only).
 * @threads any thread */
LLMPERF_API int llmperf_hardware_peak(const llmperf_hardware *hardware, const char *dtype,
                                      llmperf_hardware_value *value_out);

/** Another quantity of the GPU.
 *
 * @param quantity   LLMPERF_HARDWARE_…
 * @param value_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_hardware_quantity(const llmperf_hardware *hardware, uint32_t quantity,
                                          llmperf_hardware_value *value_out);

/** Warnings about the values, for example that the properties of the GPU differ from its entry.
 *
 * @param index  From 0.
 * @return One line, belongs to `hardware`; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_hardware_warning(const llmperf_hardware *hardware, size_t index);

#ifdef __cplusplus
}
#endif
#endif
