/* SPDX-License-Identifier: Apache-2.0 */
/** Lower bounds on the time of a model's step on a GPU, from the work of model.h and the peaks of
 * hardware.h. Nothing runs.
 *
 * A floor is a lower bound: no implementation that does this work can take less time. The roofline
 * floor lets everything overlap, the serial floor runs one operator after another.
 * docs/reference/metrics.md has the formulas and their sources.
 *
 * @threads any thread, while nobody changes the model or the hardware */
#ifndef LLMPERF_ROOFLINE_H
#define LLMPERF_ROOFLINE_H

#include "llmperf/api.h"
#include "llmperf/hardware.h"
#include "llmperf/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What keeps work from being faster. */
enum {
    LLMPERF_BOUND_UNKNOWN = 0,       /**< see bound_reason */
    LLMPERF_BOUND_COMPUTE = 1,       /**< compute floor above 1.2 x memory floor */
    LLMPERF_BOUND_MEMORY = 2,        /**< memory floor above 1.2 x compute floor */
    LLMPERF_BOUND_BALANCED = 3,      /**< between these two */
    LLMPERF_BOUND_COMMUNICATION = 4, /**< link floor above both */
    LLMPERF_BOUND_LAUNCH = 5 /**< wall time above 3 x the floor, and the GPU busy for less than half
                                of it: launches, host */
};

/** "compute", "memory", "balanced", "communication", "launch" or "unknown". Static text. */
LLMPERF_API const char *llmperf_bound_name(uint32_t bound);

/** What a floor is held against. */
enum {
    LLMPERF_LIMITS_IN_USE = 0, /**< peaks and bandwidth of llmperf_hardware_peak(), …_quantity():
                                  the user's, published or computed */
    LLMPERF_LIMITS_MEASURED =
        1 /**< ceilings that were measured on this GPU: llmperf_hardware_ceiling() */
};

/** Floors of a step on one GPU (with parallelism: of its share). Times are ms. What cannot be known
 * is NaN with a reason; reasons are static text or belong to the hardware. */
typedef struct llmperf_step_floor {
    size_t struct_size;
    double compute_ms;  /**< Σ model FLOPs / peak of the dtype that each operator computes in */
    double memory_ms;   /**< bytes / bandwidth */
    double link_ms;     /**< bytes sent / link, one direction; 0: nothing is sent */
    double roofline_ms; /**< the largest of the three */
    double
        serial_ms; /**< Σ over operators of the largest of their three; never below roofline_ms */
    double peak_tflops;   /**< of the step's mix of dtypes: FLOPs / compute_ms */
    double bandwidth_gbs; /**< of device memory */
    double link_gbs;      /**< one direction; NaN: not known */
    double intensity;     /**< FLOPs / bytes */
    double ridge;        /**< peak_tflops / bandwidth: the intensity from which on compute bounds */
    double mfu_limit;    /**< the most that MFU can be: compute_ms / roofline_ms */
    double mbu_limit;    /**< the most that MBU can be: memory_ms / roofline_ms */
    double tokens_per_s; /**< expected tokens of the step / roofline_ms: of one replica (and one
                            pipeline stage) */
    const char *compute_reason, *memory_reason, *link_reason;
    const char *bound_reason;
    uint32_t bound;         /**< LLMPERF_BOUND_… compute, memory, balanced, communication or
                               unknown */
    uint32_t missing_dtype; /**< LLMPERF_DTYPE_… that the GPU has no known peak for; 0: none */
} llmperf_step_floor;
#define LLMPERF_STEP_FLOOR_INIT LLMPERF_INIT(llmperf_step_floor)

/** Floors of a step.
 *
 * @param hardware  Borrowed; reasons live as long as it.
 * @param limits    LLMPERF_LIMITS_…
 * @param out       struct_size set by the caller.
 * @return as llmperf_model_work(); LLMPERF_EINVAL: limits that do not exist. */
LLMPERF_API int llmperf_model_floor(const llmperf_model *model, const llmperf_step *step,
                                    const llmperf_hardware *hardware, uint32_t limits,
                                    llmperf_step_floor *out);

#ifdef __cplusplus
}
#endif
#endif
