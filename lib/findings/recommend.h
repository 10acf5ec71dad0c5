/* SPDX-License-Identifier: Apache-2.0 */
/** Advice from rules over the numbers of a run. A rule whose numbers are not known is skipped.
 * docs/reference/metrics.md has the thresholds.
 * @threads any thread */
#ifndef LP_FINDINGS_RECOMMEND_H
#define LP_FINDINGS_RECOMMEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/findings/waterfall.h"
#include "llmperf/findings.h"

struct lp_findings;
struct lp_stall;
struct lp_hot_instruction;

/** The driver call that fills most of the gaps of a stage. */
struct lp_idle_call {
    const llmperf_host_call *row; /* NULL: none is known */
    double ms;                    /* how much of them */
};

/** Memcpys of one direction. */
struct lp_copies {
    const char *name; /* "[memcpy DtoH]"; NULL: none */
    double ms, calls, bytes;
};
#define LP_COPY_NAMES 10

/** Of memcpys of one direction: those whose size, within a factor of two, has most time. */
struct lp_copy_size {
    double share, calls_share; /* of all of the direction; share 0: sizes are not known */
    double each_bytes, each_ms;
    double least_bytes, most_bytes; /* of all of the direction */
};

/** Numbers of a stage over all its calls. Times are ms. NaN, NULL: not known. */
struct lp_stage_facts {
    const char *region, *label; /* path; its last label */
    const char *around;         /* path of the innermost stage of the list around it; NULL: none */
    bool holds_stages;          /* of the list */
    bool decode;                /* a decode step */
    uint64_t instances;
    double wall_ms, busy_ms; /* of complete calls; busy: union on the busiest device */
    double wall_p50_ms, wall_p99_ms;
    double step_ms; /* sum over the iterations of the next six: elapsed time; if calls were sampled,
                       wall time of all */
    double before_ms, after_ms, span_ms, idle_ms, idle_launch_ms, idle_host_ms, idle_wait_ms;
    const char *gap; /* "2.98 ms before sample_kernel in LLM@head"; NULL: not known */
    double steady_calls, steady_ms;   /* calls after warm-up, and the mean of their wall time */
    double warm_up_calls, warm_up_ms; /* calls that are warm-up, and their wall time; 0: none */
    const struct lp_waterfall_part *worst;   /* kernels that lose most against their bound; NULL: no
                                                bounds of operators are known */
    const llmperf_kernel_shape *worst_shape; /* of its longest kernel; NULL: unknown */
    double elapsed_ms, elapsed_calls;        /* mean of a call; calls that savings are for */
    double floor_ms, floor_ratio,
        wall_ratio; /* floor_ratio: busy / floor, wall_ratio: wall / floor */
    double compute_floor_ms, memory_floor_ms, mbu;
    uint32_t bound;        /* LLMPERF_BOUND_… */
    double batch;          /* sequences per step */
    double critical_batch; /* for weights of the run's dtype, dense and without context */
    /* From the model: the mean batch, and the one at which the bound of a step is LP_BATCH_GROWTH
     * times as long, at this context. NaN: no model. */
    double model_batch, cheap_batch, model_context;
    const char *dtype;
    double kernel_ms, kernel_count, memcpy_ms, memcpy_count;
    struct lp_copies copies[LP_COPY_NAMES];
    const llmperf_kernel_shape *copy; /* memory and call of most of these; NULL: not known */
    struct lp_copy_size copy_size;
    /* The kernel that loses most because its grid fills few of the SMs; NULL: none. Its loss is the
     * time above the least of a kernel on SMs that stay empty. */
    const llmperf_kernel_shape *narrow;
    const char *narrow_name, *narrow_class; /* its short name */
    double narrow_ms, narrow_calls, narrow_loss_ms;
    double launches;     /* of kernels, memcpys and memsets, one by one; nested stages included */
    double layers;       /* in a call; NaN: not known */
    const char *softmax; /* a kernel of attention that is not fused; NULL: none */
    double softmax_ms, softmax_calls, attention_calls; /* these; kernels of class attention */
    /* Collectives on its GPU; _least: each as long as the fastest of its kernel. */
    double collective_ms, collective_calls, collective_least_ms;
    double tokens_per_s; /* as documents show it */
    /* Of what belongs to this stage and to none of the list inside it, sums of durations. */
    double device_ms;
    const char *top_class, *top_kernel;
    double top_class_ms, top_kernel_ms;
    double classes_ms; /* part of device_ms: kernels that are no collectives, all classes */
    /* Samples of top_kernel: the most frequent stall, and the instruction with most of them. NULL:
     * none. */
    const struct lp_stall *top_stall;
    const struct lp_hot_instruction *top_instruction;
    double copy_cast_ms; /* part of device_ms */
    double small_ms;     /* part of device_ms: norm, elementwise, copy/cast, reduction */
    double memory_calls, memory_call_ms;           /* driver calls that allocate, map or free */
    const char *memory_call;                       /* the one with most time */
    struct lp_idle_call around_call, between_call; /* in its gaps before, after; between kernels */
    double waiting_ms;             /* in collectives, of the GPU that waits longest */
    double last_share;             /* NaN: waiting_ms is a lower bound */
    const char *straggler_cause;   /* why last_gpu arrives last; NULL: not known */
    int32_t waiting_gpu, last_gpu; /* that GPU, and the one that it waits for */
};

/** Numbers of the run. */
struct lp_run_facts {
    const char *problem; /* the first problem of an incomplete or dead ledger; NULL: none */
    const struct lp_ncu_kernel
        *measured;      /* by ncu, the kernel with most time, else such a range; NULL: none */
    bool device_usable; /* device times are good enough for advice */
    bool host_usable;   /* wall times are, too */
    double device_ms, outside_ms; /* sums of durations; outside of regions */
    bool marked;                  /* there are stages to advise on */
    bool found;                   /* stages were searched, as none was marked */
    bool imported;                /* from files of another profiler: nothing can be called */
    /* All devices together, inside and outside of regions; NaN: not known. See lp_device_time. */
    double span_ms, busy_ms, idle_launch_ms, idle_wait_ms, idle_host_ms, activities;
    double graph_share;     /* kernels in CUDA graphs / kernels */
    const char *rare_stage; /* the one with most time of those with too few calls; NULL: none */
    uint64_t rare_calls;
    double rare_ms;
};

#define LP_EVIDENCE_MOST 8

/** Advice and the numbers and words on which it is based. */
struct lp_recommendation {
    llmperf_advice advice; /* saving_ms: without what could be gained in stages inside */
    double tokens_per_s;   /* of the stage, as documents show it */
    bool of_kernels;       /* the saving is device time of kernels and memcpys */
    llmperf_evidence evidence[LP_EVIDENCE_MOST];
    char *text; /* owned; advice.text points to it */
};

/** Zero-initialised: empty. */
struct lp_recommendations {
    LP_VECTOR(struct lp_recommendation) rows; /* most severe first */
};

/** Does this region, or one that is nested in it, belong to the stage and to none of the list
 * inside it? */
bool lp_stage_owns(const struct lp_findings *findings, const char *region,
                   const struct lp_stage_facts *facts);

/** Set what the kernels and memcpys of a stage say.
 * @param part  The row's part of a sum over the processes that share its GPU.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_stage_kernels_set(const struct lp_findings *findings, const llmperf_region_stats *stats,
                         double part, struct lp_stage_facts *facts);

/** Apply the rules.
 * @param stages  Their times do not include each other; must outlive `out`.
 * @return 0 or LLMPERF_ENOMEM; clear `out` in any case. */
int lp_recommend(const struct lp_run_facts *run, const struct lp_stage_facts *stages, size_t count,
                 struct lp_recommendations *out);
void lp_recommendations_clear(struct lp_recommendations *recommendations);

/** The direction of memcpys with most time; NULL: none. */
const struct lp_copies *lp_top_copies(const struct lp_stage_facts *stage);

/** Below this lp_shape_filled() a kernel leaves SMs empty. */
#define LP_NARROW 0.5

/** Is attention in separate kernels worth a word? */
bool lp_is_unfused(const struct lp_stage_facts *stage);

#define LP_BATCH_GROWTH 1.5

/** Are some calls much slower than the median? */
bool lp_has_tail(const struct lp_stage_facts *stage);

/** "high", "medium" or "low". @param severity  LLMPERF_SEVERITY_… */
const char *lp_severity_name(uint32_t severity);

/* Tables of rules */

/** Each check returns whether the rule has something to say. It then has set the evidence and added
 * the text. A comparison with NaN is false: what is not known says nothing. */
enum lp_rule_kind {
    LP_OF_DEVICE = 0,
    LP_OF_HOST = 1,    /* needs no device times */
    LP_OF_KERNELS = 2, /* saves device time of kernels and memcpys */
    LP_OF_REST = 4,    /* the same, without what the rules before it save of the stage */
    LP_ONCE = 8        /* saves nothing in later calls */
};

struct lp_stage_rule {
    const char *id;
    unsigned kind; /* LP_OF_…, LP_ONCE */
    bool (*check)(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                  struct lp_text *text);
    double (*saving)(const struct lp_stage_facts *stage); /* ms; NULL: not known */
    bool inclusive; /* it holds the same saving of stages inside */
};

/** These set saving_ms and the severity, too. */
struct lp_run_rule {
    const char *id;
    bool (*check)(const struct lp_run_facts *run, struct lp_recommendation *out,
                  struct lp_text *text);
};

/** Each ends with an id of NULL. */
extern const struct lp_run_rule lp_run_rules[];
extern const struct lp_stage_rule lp_idle_rules[], lp_kernel_rules[];

#endif
