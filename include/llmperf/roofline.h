/* SPDX-License-Identifier: Apache-2.0 */
/** Roofline bounds: the least time that a step of a model can take on a GPU, from its work
 * (model.h) and the GPU's limits (hardware.h). Nothing is executed.
 *
 * A floor is a lower bound on time: no implementation of the same work is faster. The roofline
 * floor assumes that computation, memory traffic and communication overlap completely; the serial
 * floor assumes that operators run one after another. docs/reference/metrics.md has formulas and
 * sources. */
#ifndef LLMPERF_ROOFLINE_H
#define LLMPERF_ROOFLINE_H

#include "llmperf/api.h"
#include "llmperf/hardware.h"
#include "llmperf/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What limits the speed of some work. Of work alone, the largest of its floors. Compute floor:
 * FLOPs / peak. Memory floor: bytes / bandwidth. Link floor: bytes sent / link bandwidth. Of a
 * stage whose calls were measured, these hold where its kernels take half of the elapsed time or
 * more; otherwise the largest of the other parts of that time. */
enum {
    LLMPERF_BOUND_UNKNOWN = 0,       /**< unknown; the struct has a reason */
    LLMPERF_BOUND_COMPUTE = 1,       /**< compute floor above 1.2 x memory floor */
    LLMPERF_BOUND_MEMORY = 2,        /**< memory floor above 1.2 x compute floor */
    LLMPERF_BOUND_BALANCED = 3,      /**< compute and memory floor within a factor of 1.2 */
    LLMPERF_BOUND_COMMUNICATION = 4, /**< link floor above both; measured: collectives */
    LLMPERF_BOUND_LAUNCH = 5,        /**< launch-bound: the GPU waits for the host to launch */
    LLMPERF_BOUND_GAPS = 6, /**< gap-bound: gaps before work that the host has launched already */
    LLMPERF_BOUND_RANK = 7, /**< collectives that wait for another rank */
    LLMPERF_BOUND_HOST = 8, /**< the host's other work, before the first and after the last kernel
                               of a call */
    LLMPERF_BOUND_COPY = 9  /**< copies between host and device while no kernel runs */
};

/** Limits that a floor is computed from. */
enum {
    LLMPERF_LIMITS_IN_USE = 0,  /**< llmperf_hardware_peak() and llmperf_hardware_quantity(): given
                                   by the user, published or computed */
    LLMPERF_LIMITS_MEASURED = 1 /**< peaks that were measured on this GPU (`llmperf hardware
                                   --measure`) */
};

/** Floors of a step on one GPU (with parallelism: for its share of the work). Times are
 * milliseconds. Unknown values are NaN with a reason. Reasons are static text or belong to the
 * hardware. */
typedef struct llmperf_step_floor {
    size_t struct_size;
    double compute_ms;  /**< sum over operators of FLOPs / peak of their dtype; latent attention:
                           hardware FLOPs of the cheaper form */
    double memory_ms;   /**< bytes / bandwidth */
    double link_ms;     /**< bytes sent / link bandwidth; 0: nothing is sent */
    double roofline_ms; /**< the largest of these three */
    double serial_ms; /**< sum over operators of the largest of these three floors of each operator;
                         at least roofline_ms */
    double peak_tflops;   /**< peak for the mix of dtypes of the step: FLOPs / compute_ms */
    double bandwidth_gbs; /**< of device memory, 10^9 bytes a second */
    double link_gbs;      /**< one direction, 10^9 bytes a second; NaN: unknown */
    double intensity;     /**< arithmetic intensity: FLOPs / bytes */
    double ridge;         /**< ridge point: the intensity above which compute is the limit,
                             peak / bandwidth */
    double mfu_limit;     /**< highest possible MFU: model FLOPs / peaks / roofline_ms */
    double mbu_limit;     /**< highest possible MBU: memory_ms / roofline_ms */
    double tokens_per_s;  /**< highest possible rate of one replica (and one pipeline stage):
                             expected tokens of the step / roofline_ms */
    const char *compute_reason, *memory_reason, *link_reason; /**< NULL: the value is known */
    const char *bound_reason;                                 /**< NULL: the bound is known */
    uint32_t bound; /**< LLMPERF_BOUND_COMPUTE, _MEMORY, _BALANCED, _COMMUNICATION or _UNKNOWN */
    uint32_t missing_dtype; /**< LLMPERF_DTYPE_… whose peak is unknown on this GPU; 0: none */
} llmperf_step_floor;
#define LLMPERF_STEP_FLOOR_INIT LLMPERF_INIT(llmperf_step_floor)

/** Floors of a step.
 *
 * @param model     Borrowed.
 * @param step      Borrowed.
 * @param hardware  Borrowed; reasons in the result may belong to it.
 * @param limits    LLMPERF_LIMITS_…
 * @param out       struct_size set by the caller.
 * @return as llmperf_model_work(); LLMPERF_EINVAL (no such limits)
 * @threads any thread */
LLMPERF_API int llmperf_model_floor(const llmperf_model *model, const llmperf_step *step,
                                    const llmperf_hardware *hardware, uint32_t limits,
                                    llmperf_step_floor *out);

#ifdef __cplusplus
}
#endif
#endif
