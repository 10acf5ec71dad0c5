/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile means: how fast each stage was, what bounds it, how fast it could be, and what to
 * do first. The numbers are those of metrics.json and of the reports.
 *
 * They are worked out at the first call about a profile, once, from its rows, the data of its GPU
 * and, where work is known, the FLOPs and bytes of its regions or model. Later changes of
 * environment variables and configuration files do not change them; llmperf_profile_apply_model()
 * does.
 *
 * A double that cannot be known is NaN, never 0, and llmperf_profile_stage_reason() says why. Times
 * are milliseconds. Text belongs to the profile and lives as long as it does, or until
 * llmperf_profile_apply_model().
 *
 * @threads any thread, at the same time too, while nobody changes or frees the profile */
#ifndef LLMPERF_FINDINGS_H
#define LLMPERF_FINDINGS_H

#include "llmperf/hardware.h"
#include "llmperf/profile.h"
#include "llmperf/roofline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What tokens_per_s of a stage is. */
enum {
    LLMPERF_RATE_UNKNOWN = 0, /**< it is not known */
    LLMPERF_RATE_STAGE = 1,   /**< tokens / host time in the stage */
    LLMPERF_RATE_HOST = 2,    /**< the same, but the device still works when the host leaves the
                                 stage: the program as a whole is slower than this */
    LLMPERF_RATE_THREAD = 3   /**< calls ran at the same time: mean rate of one of them */
};

/** A stage in one process on one GPU. A stage that used several GPUs has a row for each; calls,
 * tokens and wall times repeat in them.
 *
 * In tier light device work is collected for a share of the calls. Device times and floors here
 * stand for all calls: what was collected x wall time of all calls / wall time of the collected
 * ones. (Those of llmperf_region_stats and metrics.json are of the collected calls only.) MFU, MBU
 * and ratios need no scaling: work and time are of the same calls. */
typedef struct llmperf_stage {
    size_t struct_size;
    const char *path;  /**< "LLM@decode_all/LLM@decode_step" */
    const char *label; /**< "LLM@decode_step" */
    uint64_t region;   /**< its row in llmperf_profile_region(): more numbers of it */
    uint32_t process_id;
    int32_t device;      /**< CUDA device ordinal; -1: no device activity */
    uint64_t calls;      /**< complete ones */
    uint64_t tokens;     /**< of all calls; LLMPERF_UNKNOWN: not counted */
    double wall_ms;      /**< host time, sum of all calls */
    double call_ms;      /**< host time of a call, mean */
    double tokens_per_s; /**< see rate */
    double mfu;          /**< model FLOPs / (device busy time x peak), 0 to 1 */
    double mbu;          /**< bytes / (device busy time x bandwidth), 0 to 1 */
    double busy_ms;      /**< time in which the device worked for it, all calls */
    double
        busy_low_ms; /**< 95 % confidence interval of busy_ms, Student's t over collected calls; */
    double busy_high_ms; /**< both are busy_ms where all calls were collected */
    double idle_ms;      /**< wall_ms - busy_ms, not below 0 */
    double floor_ms;     /**< roofline lower bound on busy_ms: FLOPs / peak or bytes / bandwidth,
                            whichever is larger */
    double floor_ratio;  /**< busy_ms / floor_ms, at least 1 */
    double wall_ratio;   /**< wall_ms / floor_ms */
    double collected;    /**< share of its work whose device side was collected, 0 to 1 */
    uint32_t rate;       /**< LLMPERF_RATE_… */
    uint32_t bound;      /**< LLMPERF_BOUND_… of roofline.h */
    uint32_t confidence; /**< LLMPERF_CONFIDENCE_… of the GPU's peak and bandwidth, the lower one:
                            how far mfu, mbu, floor and bound can be trusted */
    uint32_t reserved;
} llmperf_stage;
#define LLMPERF_STAGE_INIT LLMPERF_INIT(llmperf_stage)

/** How much of the time of all stages advice is about. */
enum {
    LLMPERF_SEVERITY_HIGH = 1,   /**< a quarter or more */
    LLMPERF_SEVERITY_MEDIUM = 2, /**< a twentieth or more */
    LLMPERF_SEVERITY_LOW = 3
};

/** One piece of advice. */
typedef struct llmperf_advice {
    size_t struct_size;
    const char *id;    /**< of the rule: "launch_bound"; docs/reference/metrics.md has them all */
    const char *text;  /**< sentences for people */
    const char *stage; /**< path; NULL: about the run */
    double saving_ms;  /**< possible saving: the most that all calls together could take less; NaN:
                          not known */
    uint64_t evidence; /**< numbers and words that it rests on: llmperf_profile_evidence() */
    uint32_t severity; /**< LLMPERF_SEVERITY_… */
    uint32_t reserved;
} llmperf_advice;
#define LLMPERF_ADVICE_INIT LLMPERF_INIT(llmperf_advice)

/** A number, or a word, that advice rests on. */
typedef struct llmperf_evidence {
    size_t struct_size;
    const char *name; /**< "idle_share" */
    const char *unit; /**< "ms", "us"; "": a plain number or a share from 0 to 1 */
    const char *text; /**< a word ("GEMM"); NULL: value holds a number */
    double value;     /**< NaN where text is given */
} llmperf_evidence;
#define LLMPERF_EVIDENCE_INIT LLMPERF_INIT(llmperf_evidence)

/** A GPU that the program could use. */
typedef struct llmperf_gpu {
    size_t struct_size;
    const char *name;      /**< "NVIDIA H200"; NULL: not known */
    const char *uuid;      /**< "GPU-…"; NULL: not known */
    int32_t device;        /**< CUDA device ordinal, as in the rows; -1: not known */
    uint32_t process_id;   /**< of the process that used it; 0: none or several did */
    uint64_t memory_bytes; /**< LLMPERF_UNKNOWN: not known */
} llmperf_gpu;
#define LLMPERF_GPU_INIT LLMPERF_INIT(llmperf_gpu)

/** Number of rows: stages in the order of paths, advice with the most to gain first, GPUs as the
 * driver lists them. 0 without a profile, or out of memory. */
LLMPERF_API size_t llmperf_profile_stage_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_advice_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_gpu_count(const llmperf_profile *profile);

/** Row `index`. @param …_out  struct_size set by the caller; text Borrowed from the profile.
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_profile_stage(const llmperf_profile *profile, size_t index,
                                      llmperf_stage *stage_out);
LLMPERF_API int llmperf_profile_advice(const llmperf_profile *profile, size_t index,
                                       llmperf_advice *advice_out);
LLMPERF_API int llmperf_profile_gpu(const llmperf_profile *profile, size_t index,
                                    llmperf_gpu *gpu_out);

/** Why a number of a stage is not known.
 * @param field  Name of a field: "mfu", "bound", "busy_high_ms".
 * @return One sentence without a full stop, Borrowed from the profile; NULL: the field is known, or
 * there is no such stage or field. */
LLMPERF_API const char *llmperf_profile_stage_reason(const llmperf_profile *profile, size_t index,
                                                     const char *field);

/** What advice rests on, number `index` of it. @return as llmperf_profile_advice(). */
LLMPERF_API int llmperf_profile_evidence(const llmperf_profile *profile, size_t advice,
                                         size_t index, llmperf_evidence *evidence_out);

#ifdef __cplusplus
}
#endif
#endif
