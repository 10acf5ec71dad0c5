/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * The arithmetic behind reports: utilisation and bounds of some work, where decoding turns
 * compute-bound, other ways to count FLOPs. These functions need neither a run nor a GPU.
 * docs/reference/metrics.md has the formulas and their sources.
 *
 * Unknown values are NaN with a reason in words. Nothing is clamped: a utilisation above 1 means a
 * fault in its inputs, so it is NaN with a reason too. */
#ifndef LLMPERF_SYS_ANALYSIS_H
#define LLMPERF_SYS_ANALYSIS_H

#include "llmperf/hardware.h"
#include "llmperf/model.h"
#include "llmperf/roofline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of llmperf_utilisation.warnings. */
enum {
    LLMPERF_WARNING_L2_RESIDENT = 1 /**< a step moves less than twice the L2 cache: its bytes may
                                       not reach device memory */
};

/** Some work and the limits of the GPUs that did it. 0 and NaN are not known. */
typedef struct llmperf_utilisation_input {
    size_t struct_size;
    double flops;       /**< model FLOPs of all steps; a multiply-add is 2 */
    double bytes;       /**< compulsory traffic of device memory, all steps */
    double time_ms;     /**< device busy time of the same work, all steps */
    double peak_tflops; /**< dense peak of the dtype of the arithmetic; for several dtypes, the sum
                           of FLOPs / sum of (FLOPs / peak) */
    double bandwidth_gbs;   /**< device memory bandwidth, 10^9 bytes a second */
    double busy_share;      /**< busy time / host time, above 0, at most 1 */
    double serial_floor_ms; /**< sum over operators of max(FLOPs / peak, bytes / bandwidth) of all
                               steps, if the operators are known */
    double link_bytes;      /**< bytes sent between GPUs */
    double link_gbs;        /**< link bandwidth, one direction, 10^9 bytes a second */
    double l2_mb;           /**< L2 cache, 2^20 bytes */
    double steps;           /**< repetitions of the work in time_ms; 0 means 1 */
    double devices; /**< GPUs that share the work in time_ms (that of the slowest); 0 means 1 */
} llmperf_utilisation_input;
#define LLMPERF_UTILISATION_INPUT_INIT LLMPERF_INIT(llmperf_utilisation_input)

/** Utilisation. Reasons are static text, NULL if the value is known. */
typedef struct llmperf_utilisation {
    size_t struct_size;
    double mfu;               /**< flops / (time x peak x devices), 0 to 1 */
    double mbu;               /**< bytes / (time x bandwidth x devices), 0 to 1; may exceed 1 with
                                 LLMPERF_WARNING_L2_RESIDENT */
    double achieved_tflops;   /**< flops / time */
    double achieved_gbs;      /**< bytes / time */
    double intensity;         /**< arithmetic intensity: flops / bytes */
    double ridge;             /**< ridge point: peak / bandwidth */
    double attainable_tflops; /**< min(peak, intensity x bandwidth) x devices */
    double mfu_limit;         /**< highest possible MFU at this intensity: attainable / peak */
    double compute_floor_ms, memory_floor_ms, link_floor_ms; /**< of all steps */
    double time_floor_ms; /**< the serial floor if given, else the largest of the three; NaN if
                             there is work whose limit is not known */
    double floor_ratio;   /**< time / floor, at least 1 */
    double wall_ratio;    /**< host time / floor */
    const char *mfu_reason, *mbu_reason, *intensity_reason, *floor_reason, *ratio_reason,
        *bound_reason;  /**< why the value is not known; NULL: it is */
    uint32_t bound;     /**< LLMPERF_BOUND_… */
    uint32_t warnings;  /**< LLMPERF_WARNING_… */
    double mfu_elapsed; /**< mfu x busy_share: with device busy time as time, MFU over elapsed time,
                           as the field defines it; NaN if either is not known */
    double mbu_elapsed; /**< mbu x busy_share */
} llmperf_utilisation;
#define LLMPERF_UTILISATION_INIT LLMPERF_INIT(llmperf_utilisation)

/** Utilisation of some work. Without time_ms, only floors and bound are computed.
 *
 * @param input  Borrowed.
 * @param out    struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL (a member is negative or infinite, or busy_share above 1; the
 * error names it).
 * @threads any thread */
LLMPERF_API int llmperf_utilisation_compute(const llmperf_utilisation_input *input,
                                            llmperf_utilisation *out);

/** Where decoding changes from memory-bound to compute-bound. Communication is left out. */
typedef struct llmperf_decode_turn {
    size_t struct_size;
    double batch;   /**< smallest number of requests for which a decode step at this context is
                       compute-bound; infinite: there is none, because the KV cache grows as fast as
                       the work */
    double context; /**< context length above which decoding is memory-bound for any number of
                       requests; infinite: there is none */
    const char *batch_reason, *context_reason; /**< why NaN; static text or the hardware's */
} llmperf_decode_turn;
#define LLMPERF_DECODE_TURN_INIT LLMPERF_INIT(llmperf_decode_turn)

/** Find where decoding changes from memory-bound to compute-bound.
 *
 * @param step    A decode step. Its first request is repeated; the number of requests is ignored.
 * Up to 2^17 requests and a context of 2^36 are tried.
 * @param limits  LLMPERF_LIMITS_…
 * @param out     struct_size set by the caller.
 * @return as llmperf_model_work(); LLMPERF_EINVAL (another phase)
 * @threads any thread */
LLMPERF_API int llmperf_model_decode_turn(const llmperf_model *model, const llmperf_step *step,
                                          const llmperf_hardware *hardware, uint32_t limits,
                                          llmperf_decode_turn *out);

/** Size of all weights of a model in a format.
 *
 * @param dtype      LLMPERF_DTYPE_…; LLMPERF_DTYPE_DEFAULT: the model's own.
 * @param bytes_out  Bytes.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such format).
 * @threads any thread */
LLMPERF_API int llmperf_model_weight_bytes(const llmperf_model *model, uint32_t dtype,
                                           uint64_t *bytes_out);

/** Size of one token in the KV cache in a format, all layers.
 *
 * @param dtype      LLMPERF_DTYPE_…; LLMPERF_DTYPE_DEFAULT: the model's own.
 * @param bytes_out  Bytes.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such format, or not one for the KV cache).
 * @threads any thread */
LLMPERF_API int llmperf_model_kv_bytes(const llmperf_model *model, uint32_t dtype,
                                       uint64_t *bytes_out);

/** Names of conventions for counting FLOPs: "exact-v1", "exact-all-v1", "vllm", "megatron", "palm",
 * "flop-counter", "fvcore", "two-n-active", "two-n-total".
 *
 * @param index  From 0.
 * @return Static text; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_convention_name(size_t index);

/** What a convention counts differently.
 *
 * @param convention  As from llmperf_convention_name().
 * @return One line, static text; NULL for other texts.
 * @threads any thread */
LLMPERF_API const char *llmperf_convention_note(const char *convention);

/** FLOPs of a prefill or decode step by a convention. A multiply-add is 2 FLOPs, except in
 * "fvcore".
 *
 * @param step        Borrowed. Members for parallelism, drafts and padding must be 0.
 * @param convention  As from llmperf_convention_name().
 * @param flops_out   FLOPs.
 * @return as llmperf_model_work()
 * @threads any thread */
LLMPERF_API int llmperf_model_flops(const llmperf_model *model, const llmperf_step *step,
                                    const char *convention, uint64_t *flops_out);

/** Expected number of experts that at least one token is routed to, with uniform and independent
 * routing: experts x (1 - (1 - chosen / experts)^tokens).
 *
 * @param experts  Routed experts of a layer.
 * @param chosen   Experts per token.
 * @param tokens   Tokens.
 * @return NaN if `chosen` is 0 or above `experts`.
 * @threads any thread */
LLMPERF_API double llmperf_experts_expected(uint64_t experts, uint64_t chosen, uint64_t tokens);

#ifdef __cplusplus
}
#endif
#endif
