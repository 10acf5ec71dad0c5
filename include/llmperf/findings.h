/* SPDX-License-Identifier: Apache-2.0 */
/** Findings: how fast each stage was, what limits it, how fast it could be, and what to improve
 * first. The numbers are those of the reports and of metrics.json.
 *
 * Findings are computed once, at the first call for a profile, from its rows, the limits of its
 * GPU, and the FLOPs and bytes of its regions or model. Later changes of environment variables and
 * configuration files have no effect on them; llmperf_profile_apply_model() computes them again.
 *
 * Times are milliseconds. Unknown numbers are NaN, never 0; llmperf_profile_stage_reason() has
 * the reason. Texts belong to the profile and live as long as it does, or until
 * llmperf_profile_apply_model(). */
#ifndef LLMPERF_FINDINGS_H
#define LLMPERF_FINDINGS_H

#include "llmperf/hardware.h"
#include "llmperf/profile.h"
#include "llmperf/roofline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Meaning of llmperf_stage.tokens_per_s. */
enum {
    LLMPERF_RATE_UNKNOWN = 0, /**< not known */
    LLMPERF_RATE_STAGE = 1,   /**< tokens / active_ms: calls follow one another */
    LLMPERF_RATE_HOST = 2,    /**< tokens / host time, but the device is still busy when the host
                                 leaves the stage, and when it ends is not known: the program as a
                                 whole is slower than this */
    LLMPERF_RATE_TOTAL = 3    /**< tokens / active_ms: all threads together */
};

/** What the time of a call is measured by. */
enum {
    LLMPERF_CLOCK_HOST = 1,  /**< host time, from begin to end of the region */
    LLMPERF_CLOCK_DEVICE = 2 /**< the host launches ahead: llmperf_iteration.elapsed_ms, until the
                                device work has ended */
};

/** A stage in one process on one GPU. A stage that used several GPUs has a row for each; calls,
 * tokens and host times repeat in them.
 *
 * In tier light, device work is collected for a share of the calls. Device times and floors here
 * are scaled to all calls: value of the collected calls x host time of all calls / host time of the
 * collected ones. (Those of llmperf_region_stats and metrics.json are not scaled.) MFU, MBU and
 * ratios need no scaling. */
typedef struct llmperf_stage {
    size_t struct_size;
    const char *path;    /**< "LLM@decode_all/LLM@decode_step" */
    const char *label;   /**< "LLM@decode_step" */
    uint64_t region;     /**< its row in llmperf_profile_region(), which has more numbers */
    uint32_t process_id; /**< operating system's process id */
    int32_t device;      /**< CUDA device ordinal; -1: no device activity */
    uint64_t calls;      /**< complete calls */
    uint64_t tokens;     /**< sum of all calls; LLMPERF_UNKNOWN: not counted */
    double wall_ms;      /**< host time, sum of all calls */
    double call_ms;      /**< host time per call, mean */
    double tokens_per_s; /**< see rate */
    double mfu;          /**< MFU while busy: model FLOPs / (device busy time x peak), 0 to 1 */
    double mbu;          /**< MBU while busy: bytes / (device busy time x bandwidth), 0 to 1 */
    double busy_ms;      /**< device busy time, sum of all calls */
    double busy_low_ms, busy_high_ms; /**< 95 % confidence interval of busy_ms from the collected
                                         calls (docs/explanation/sampling.md); busy_ms if all calls
                                         were collected */
    double idle_ms;                   /**< wall_ms - busy_ms, not below 0 */
    double floor_ms;     /**< roofline lower bound on busy_ms: FLOPs / peak or bytes / bandwidth,
                            whichever is larger */
    double floor_ratio;  /**< busy_ms / floor_ms, at least 1 */
    double wall_ratio;   /**< active_ms / floor_ms */
    double collected;    /**< share of the work whose device records were collected, 0 to 1 */
    uint32_t rate;       /**< LLMPERF_RATE_… */
    uint32_t bound;      /**< LLMPERF_BOUND_… of roofline.h */
    uint32_t confidence; /**< LLMPERF_CONFIDENCE_… of the GPU's peak or bandwidth, whichever is
                            lower; mfu, mbu, floor and bound depend on these */
    uint32_t reserved;   /**< 0 */
    double mfu_elapsed; /**< MFU: model FLOPs / (elapsed time x peak), 0 to 1. Elapsed is the longer
                           of host time and device busy time; of active_ms where that is known */
    double mbu_elapsed; /**< MBU: bytes / (elapsed time x bandwidth), 0 to 1 */
    double time_ms;     /**< time per call on `clock`, mean; without warm-up */
    double active_ms;   /**< time in which at least one call was in progress, on host or device */
    uint32_t clock;     /**< LLMPERF_CLOCK_… */
    uint32_t reserved2; /**< 0 */
    double energy_j;    /**< energy of the GPU during the calls, all calls together */
    double energy_error_j; /**< bound of its error */
    double token_j;        /**< energy_j / tokens */
    double sm_clock_mhz;   /**< mean SM clock during the calls */
    double mfu_at_clock;   /**< mfu relative to the peak at that clock instead of the clock that the
                              peak assumes */
    double mfu_low, mfu_high; /**< 95 % confidence interval of mfu, from that of the device busy
                                 time of all calls; mfu if all calls were collected */
    double mbu_low, mbu_high; /**< of mbu */
    double time_low_ms, time_high_ms; /**< of time_ms: time_ms on the host's clock, which is known
                                         of all calls */
    double tokens_per_s_low, tokens_per_s_high; /**< of tokens_per_s */
} llmperf_stage;
#define LLMPERF_STAGE_INIT LLMPERF_INIT(llmperf_stage)

/** Severity of advice, by its share of the time of all stages. */
enum {
    LLMPERF_SEVERITY_HIGH = 1,   /**< a quarter or more */
    LLMPERF_SEVERITY_MEDIUM = 2, /**< a twentieth or more */
    LLMPERF_SEVERITY_LOW = 3     /**< less */
};

/** A recommendation. */
typedef struct llmperf_advice {
    size_t struct_size;
    const char *id;   /**< name of its rule: "launch_bound"; docs/reference/metrics.md lists them */
    const char *text; /**< what to do and why, in sentences */
    const char *stage; /**< path of the stage; NULL: the whole run */
    double saving_ms;  /**< possible saving, all calls together: an upper limit; NaN: not known */
    uint64_t evidence; /**< number of rows of llmperf_profile_evidence() */
    uint32_t severity; /**< LLMPERF_SEVERITY_… */
    uint32_t once; /**< 1: saved once per process start, not in each call: compare saving_ms with
                      that of no other advice */
    double saving_call_ms; /**< saving_ms / calls of the stage; NaN: not known, or saved once */
    double mended_tokens_per_s; /**< tokens/s of the stage if this alone was mended; NaN: not
                                   known */
} llmperf_advice;
#define LLMPERF_ADVICE_INIT LLMPERF_INIT(llmperf_advice)

/** A number or a word that advice is based on. */
typedef struct llmperf_evidence {
    size_t struct_size;
    const char *name; /**< "idle_share" */
    const char *unit; /**< "ms", "us"; "": a number without a unit, or a share from 0 to 1 */
    const char *text; /**< a word ("GEMM"); NULL: it is a number */
    double value;     /**< the number; NaN for a word */
} llmperf_evidence;
#define LLMPERF_EVIDENCE_INIT LLMPERF_INIT(llmperf_evidence)

/** A GPU that is visible to the program. */
typedef struct llmperf_gpu {
    size_t struct_size;
    const char *name;      /**< "NVIDIA H200"; NULL: not known */
    const char *uuid;      /**< "GPU-…"; NULL: not known */
    int32_t device;        /**< CUDA device ordinal, as in the rows; -1: not known */
    uint32_t process_id;   /**< process that used it; 0: none, or several */
    uint64_t memory_bytes; /**< LLMPERF_UNKNOWN: not known */
} llmperf_gpu;
#define LLMPERF_GPU_INIT LLMPERF_INIT(llmperf_gpu)

/** Utilisation by the model as a whole: all stages together, on all GPUs.
 *
 * Of the stages that no other stage contains; the work and time of a stage in another one is part
 * of that one. A stage that is mostly one nested stage, such as decode_all of its decode steps, is
 * replaced by that. A stage in several processes or on several GPUs counts with each of them. Time
 * outside of stages is not part of it. */
typedef struct llmperf_overall {
    size_t struct_size;
    double mfu;         /**< MFU while busy: model FLOPs of the stages / (busy_ms x peak), 0 to 1 */
    double mbu;         /**< MBU while busy: bytes of the stages / (busy_ms x bandwidth), 0 to 1 */
    double mfu_elapsed; /**< model FLOPs of the stages / (elapsed_ms x peak), 0 to 1 */
    double mbu_elapsed; /**< bytes of the stages / (elapsed_ms x bandwidth), 0 to 1 */
    double busy_ms;     /**< GPU busy time of the stages: the sum over stages and GPUs */
    double elapsed_ms;  /**< elapsed time of the stages: the sum over stages and GPUs */
    const char *mfu_reason, *mbu_reason; /**< why mfu and mfu_elapsed, or mbu and mbu_elapsed, are
                                            not known: the first stage with an unknown value; NULL:
                                            they are known */
    const char *elapsed_reason;          /**< why elapsed_ms is not known; NULL: it is */
} llmperf_overall;
#define LLMPERF_OVERALL_INIT LLMPERF_INIT(llmperf_overall)

/** What a profile is of. Texts are NULL if not known. */
typedef struct llmperf_about {
    size_t struct_size;
    const char *title; /**< "serve.py · llama_3_8b · NVIDIA H200 × 2 · batch 8 · bf16": what is
                          known of it; the id of the run if nothing is. Never NULL */
    const char *program; /**< file name of the program */
    const char *model;   /**< name of the model */
    const char *gpu;     /**< name of the GPU */
    const char *dtype;   /**< dtype that the program computes in */
    uint64_t gpus;       /**< GPUs that regions used, of all processes */
    double batch;        /**< sequences of a decode step, mean; NaN: not known */
} llmperf_about;
#define LLMPERF_ABOUT_INIT LLMPERF_INIT(llmperf_about)

/** What a profile is of.
 *
 * @param about_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_about(const llmperf_profile *profile, llmperf_about *about_out);

/** A stage.
 *
 * @param index      Row, from 0 to llmperf_profile_count(profile, LLMPERF_ROWS_STAGES) - 1.
 * @param stage_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_stage(const llmperf_profile *profile, size_t index,
                                      llmperf_stage *stage_out);

/** Reason why a number of a stage is unknown.
 *
 * @param index  Row, as for llmperf_profile_stage().
 * @param field  Name of a member of llmperf_stage: "mfu", "bound", "busy_high_ms".
 * @return One sentence without a full stop, text of the profile; NULL: the member is known, or
 * there is no such stage or member.
 * @threads any thread */
LLMPERF_API const char *llmperf_profile_stage_reason(const llmperf_profile *profile, size_t index,
                                                     const char *field);

/** Utilisation by the model as a whole.
 *
 * @param overall_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_overall(const llmperf_profile *profile,
                                        llmperf_overall *overall_out);

/** A piece of advice.
 *
 * @param index       Row, from 0 to llmperf_profile_count(profile, LLMPERF_ROWS_ADVICE) - 1.
 * @param advice_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_advice(const llmperf_profile *profile, size_t index,
                                       llmperf_advice *advice_out);

/** A number or a word that advice is based on.
 *
 * @param advice        Row, as for llmperf_profile_advice().
 * @param index         From 0 to llmperf_advice.evidence - 1.
 * @param evidence_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_evidence(const llmperf_profile *profile, size_t advice,
                                         size_t index, llmperf_evidence *evidence_out);

/** A GPU.
 *
 * @param index    Row, from 0 to llmperf_profile_count(profile, LLMPERF_ROWS_GPUS) - 1.
 * @param gpu_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_gpu(const llmperf_profile *profile, size_t index,
                                    llmperf_gpu *gpu_out);

#ifdef __cplusplus
}
#endif
#endif
