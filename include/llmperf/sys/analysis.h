/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * The arithmetic of utilisation: how much of a GPU's peak some work reached, what bounds it, and
 * how fast it could be at best. Pure functions on numbers: no run and no GPU is needed.
 * docs/reference/metrics.md has the formulas and their sources.
 *
 * What cannot be known is NaN with a reason in words; nothing is clamped. A utilisation above 1 is
 * a fault of its inputs, so it is NaN with a reason, too.
 *
 * @threads any thread */
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
    LLMPERF_WARNING_L2_RESIDENT = 1, /**< a step moves less than twice the L2 cache: its bytes may
                                        never reach device memory */
    LLMPERF_WARNING_BUSY_UNKNOWN = 2 /**< without busy_share, launches and host are not looked at */
};

/** Work and the limits it is held against. 0 and NaN are "not known". */
typedef struct llmperf_utilisation_input {
    size_t struct_size;
    double flops;       /**< model FLOPs of all steps; a multiply-add is 2 */
    double bytes;       /**< compulsory traffic of device memory of all steps */
    double time_ms;     /**< device busy time of the same work: union of its intervals, all steps */
    double peak_tflops; /**< dense, of the dtype that is computed in; llmperf_peak_mixed() for
                           several */
    double bandwidth_gbs;   /**< of device memory */
    double busy_share;      /**< busy time / wall time, above 0, at most 1 */
    double serial_floor_ms; /**< llmperf_floor_serial() of all steps, if the operators are known */
    double link_bytes;      /**< sent between GPUs */
    double link_gbs;        /**< one direction */
    double l2_mb;           /**< L2 cache, 2^20 bytes */
    double steps;           /**< how often the work was repeated in time_ms; 0 is 1 */
    double devices;         /**< GPUs that share the work in time_ms (the slowest one's); 0 is 1 */
} llmperf_utilisation_input;
#define LLMPERF_UTILISATION_INPUT_INIT LLMPERF_INIT(llmperf_utilisation_input)

/** Utilisation. Reasons are static text, NULL where the value is known. */
typedef struct llmperf_utilisation {
    size_t struct_size;
    double mfu; /**< flops / (time x peak x devices), 0 to 1 */
    double mbu; /**< bytes / (time x bandwidth x devices), 0 to 1; with LLMPERF_WARNING_L2_RESIDENT
                   it may be more */
    double achieved_tflops;   /**< flops / time */
    double achieved_gbs;      /**< bytes / time */
    double intensity;         /**< flops / bytes */
    double ridge;             /**< peak / bandwidth: the intensity from which on compute bounds */
    double attainable_tflops; /**< min(peak, intensity x bandwidth) x devices */
    double mfu_limit;         /**< the most that MFU can be at this intensity: attainable / peak */
    double compute_floor_ms, memory_floor_ms, link_floor_ms; /**< of all steps */
    double time_floor_ms; /**< the serial floor if given, else the largest of the three; NaN if work
                             is known, but not its limit */
    double floor_ratio;   /**< time / floor, at least 1 */
    double wall_ratio;    /**< wall time / floor: time / (busy_share x floor) */
    const char *mfu_reason, *mbu_reason, *intensity_reason, *floor_reason, *ratio_reason,
        *bound_reason;
    uint32_t bound;    /**< LLMPERF_BOUND_… */
    uint32_t warnings; /**< LLMPERF_WARNING_… */
} llmperf_utilisation;
#define LLMPERF_UTILISATION_INIT LLMPERF_INIT(llmperf_utilisation)

/** Utilisation of some work. Without time_ms floors and bound are those of the work itself.
 *
 * @param input    Borrowed.
 * @param out      struct_size set by the caller. Values that cannot be known are NaN with a reason.
 * @return LLMPERF_OK; LLMPERF_EINVAL: a field is negative or infinite, or busy_share is above 1
 * (the error names it). */
LLMPERF_API int llmperf_utilisation_compute(const llmperf_utilisation_input *input,
                                            llmperf_utilisation *out);

/** Add work to a total, for utilisation over several regions or runs: Σ flops / Σ (time x peak),
 * never a mean of ratios.
 *
 * Sums of flops, bytes, times, serial floors and link bytes; peak, bandwidth and link are weighted
 * by time, busy_share is Σ busy / Σ wall. What is not known of a part is not known of the total.
 *
 * @param total  Starts as LLMPERF_UTILISATION_INPUT_INIT.
 * @param part   Borrowed; needs time_ms.
 * @return LLMPERF_OK; LLMPERF_EINVAL as llmperf_utilisation_compute(), or if devices or l2_mb
 * differ. */
LLMPERF_API int llmperf_utilisation_add(llmperf_utilisation_input *total,
                                        const llmperf_utilisation_input *part);

/** One peak for work in several dtypes: Σ flops / Σ (flops / peak), so that MFU is the compute
 * floor / time. NaN for no work, or a number that is not positive. @param flops, peaks_tflops
 * `count` each. */
LLMPERF_API double llmperf_peak_mixed(const double *flops, const double *peaks_tflops,
                                      size_t count);

/** Time of operators one after another, each at its own roof: Σ max(flops / peak, bytes /
 * bandwidth), in ms. An operator without FLOPs (or bytes) has 0 there. NaN for no operators, a
 * negative number, or a limit that is not positive.
 * @param flops, bytes, peaks_tflops  `count` each. */
LLMPERF_API double llmperf_floor_serial(const double *flops, const double *bytes,
                                        const double *peaks_tflops, size_t count,
                                        double bandwidth_gbs);

/** Batch at which reading the weights stops to dominate decoding with short contexts: ridge x bytes
 * / 2 for weights of that many bytes. NaN if a number is not positive. */
LLMPERF_API double llmperf_batch_critical(double ridge, double weight_bytes);

/** FLOPs a byte of decoding at `context` as the batch grows without end: (2 N + a c) / (kv c).
 *
 * @param active_parameters  N: weights multiplied for one token.
 * @param flops_per_pair     a: attention FLOPs of one (query, key) pair, all layers.
 * @param kv_bytes           Bytes of a token in the KV cache, all layers.
 * @return NaN if a number is not positive. */
LLMPERF_API double llmperf_intensity_limit(double active_parameters, double flops_per_pair,
                                           double kv_bytes, double context);

/** Context above which decoding is memory bound at any batch: 2 N / (ridge kv - a). Infinite if
 * there is none (ridge kv <= a). NaN if a number is not positive. Parameters as
 * llmperf_intensity_limit(). */
LLMPERF_API double llmperf_context_critical(double ridge, double active_parameters,
                                            double flops_per_pair, double kv_bytes);

/** Where decoding changes from memory bound to compute bound. Links are left out. */
typedef struct llmperf_decode_turn {
    size_t struct_size;
    /** Requests from which on a decode step at this context is compute bound: the smallest number
     * whose compute floor reaches the memory floor. Infinite: none does, the KV cache grows as fast
     * as the work does. */
    double batch;
    /** Positions above which decoding is memory bound however many requests there are: FLOPs / peak
     * of a request stay below its KV bytes / bandwidth. Infinite: there are none. */
    double context;
    const char *batch_reason, *context_reason; /**< why NaN; static text or the hardware's */
} llmperf_decode_turn;
#define LLMPERF_DECODE_TURN_INIT LLMPERF_INIT(llmperf_decode_turn)

/** Where decoding turns compute bound.
 *
 * @param step  A decode step; its first request is repeated, the number of requests does not
 * matter. Up to 2^17 requests and a context of 2^36 are tried.
 * @return as llmperf_model_work(); LLMPERF_EINVAL: another phase. LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_model_decode_turn(const llmperf_model *model, const llmperf_step *step,
                                          const llmperf_hardware *hardware, uint32_t limits,
                                          llmperf_decode_turn *out);

/** Bits an element, scales included; 0 for unknown ones. @threads any thread */
LLMPERF_API double llmperf_dtype_bits(uint32_t dtype);

/** All weights in a format, and a token of the KV cache in one; 0 is the model's own.
 * @return LLMPERF_OK, LLMPERF_EINVAL (no such format, or not one for the KV cache). */
LLMPERF_API int llmperf_model_weight_bytes(const llmperf_model *model, uint32_t dtype,
                                           uint64_t *bytes_out);
LLMPERF_API int llmperf_model_kv_bytes(const llmperf_model *model, uint32_t dtype,
                                       uint64_t *bytes_out);

/** Names of the conventions in which others count FLOPs: "exact-v1", "exact-all-v1", "vllm",
 * "megatron", "palm", "flop-counter", "fvcore", "two-n-active", "two-n-total". NULL past the end.
 * Static text. @threads any thread */
LLMPERF_API const char *llmperf_convention_name(size_t index);

/** One line about a convention: what it counts in another way. NULL for unknown ones. Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_convention_note(const char *convention);

/** FLOPs of a prefill or decode step as `convention` counts them; a multiply-add is 2 FLOPs but in
 * "fvcore". Shares (…_parallel), drafts and padding must be left at 0.
 * @return as llmperf_model_work(). */
LLMPERF_API int llmperf_model_flops(const llmperf_model *model, const llmperf_step *step,
                                    const char *convention, uint64_t *flops_out);

/** (query, key) pairs of `new_tokens` behind `cached_tokens` under a causal mask; a window counts
 * the token itself, 0: none.
 * @return LLMPERF_OK; LLMPERF_EINVAL: a number above 2^36. @threads any thread */
LLMPERF_API int llmperf_pairs_causal(uint64_t new_tokens, uint64_t cached_tokens, uint64_t window,
                                     uint64_t *pairs_out);

/** Experts that at least one of `tokens` is sent to, if each picks `chosen` of `experts` uniformly
 * and by itself: experts x (1 - (1 - chosen/experts)^tokens). NaN if chosen is 0 or above experts.
 * @threads any thread */
LLMPERF_API double llmperf_experts_expected(uint64_t experts, uint64_t chosen, uint64_t tokens);

/** Tokens that a step of speculation yields: (1 - a^(g+1)) / (1 - a), one more than the accepted
 * drafts. NaN if `acceptance` is not within 0 to 1. @threads any thread */
LLMPERF_API double llmperf_tokens_expected(double acceptance, uint32_t draft_tokens);

#ifdef __cplusplus
}
#endif
#endif
