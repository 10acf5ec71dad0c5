/* SPDX-License-Identifier: Apache-2.0 */
/** Where the time of a call of a stage goes: from its lower bound to the time that it took.
 * @threads any thread */
#ifndef LP_FINDINGS_WATERFALL_H
#define LP_FINDINGS_WATERFALL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/vector.h"
#include "lib/findings/limits/achievable.h"
#include "llmperf/profile.h"

struct lp_findings;

/** Parts of the time of a call, in the order of documents: P(CONSTANT, name, heading). */
#define LP_WATERFALL_PARTS(P)                                                                      \
    P(BOUND, "bound", "Roofline bound")                                                            \
    P(SERIAL, "serial", "Operators one after another")                                             \
    P(KERNELS, "kernels", "Kernels")                                                               \
    P(NESTED, "nested", "Nested stage")                                                            \
    P(OVERLAP, "overlap", "Kernels that ran at the same time")                                     \
    P(GAPS, "gaps", "Gaps between kernels")                                                        \
    P(LAUNCH, "launch", "GPU idle, waiting for launches")                                          \
    P(HOST, "host", "GPU idle, waiting for other work of the host")                                \
    P(BEFORE, "before", "Before the first kernel")                                                 \
    P(AFTER, "after", "After the last kernel")                                                     \
    P(PROFILER, "profiler", "Profiling itself")

#define LP_WATERFALL_CONSTANT(constant, ...) LP_PART_##constant,
enum lp_part_kind { LP_WATERFALL_PARTS(LP_WATERFALL_CONSTANT) LP_PART_KINDS };

struct lp_part_name {
    const char *name, *heading;
};
extern const struct lp_part_name lp_part_names[LP_PART_KINDS];

/** What a part adds to the time of a call. Times are means over the collected calls, ms. */
struct lp_waterfall_part {
    enum lp_part_kind kind;
    const char *region;       /* KERNELS: label of the region inside the stage, NESTED: path of the
                                 stage; NULL: none */
    const char *kernel_class; /* KERNELS; NULL: not known */
    double ms;                /* KERNELS: above their lower bound; below 0 for OVERLAP */
    double half_ms; /* half of the 95 % interval of ms and busy_ms: the sum of those of its kernels;
                       0: all calls were collected; NaN: no interval */
    double busy_ms; /* KERNELS, NESTED: duration; NaN: other parts */
    double bound_ms;    /* KERNELS: lower bound of the model's operators that they are; NaN:
                           no operator is known to be theirs */
    double cached_ms;   /* the same if all activations stay in caches */
    double own_kernels; /* of operators whose own kernels these are, if none was fused */
    double good_ms; /* KERNELS with a bound: at the rates that good kernels reach (achievable.h) */
    const char *source; /* where these rates are from; NULL: 80 % of the bound, assumed */
    double calls;       /* KERNELS, NESTED: how many ran */
    const char *kernel; /* KERNELS: the one with most time */
    double kernel_ms, kernel_calls;
};

/** Kernels of one name in a part of kind KERNELS, also memcpys and memsets. Means a call. */
struct lp_waterfall_kernel {
    const char *region, *kernel_class; /* of the part */
    const char *name;
    double ms, calls, bytes; /* bytes: of memcpys and memsets */
    double
        error_ms; /* standard error of ms, if the kernels of a call vary together; NaN: one ran */
};

/** Standard deviation of single kernels, from percentiles: profiles keep no sum of squares. NaN:
 * one ran. */
double lp_kernel_spread(const llmperf_kernel_stats *kernel);

/** Documents show parts below this share of the elapsed time as one. */
#define LP_SMALL_PART 0.02

/** The parts add up to elapsed_ms. */
struct lp_waterfall {
    const char *region;         /* path of the stage */
    size_t finding;             /* its row in findings->regions */
    double elapsed_ms, half_ms; /* as of a part */
    const char *bound_reason;   /* why no lower bound of operators is known; NULL: it is */
    LP_VECTOR(struct lp_waterfall_part) parts; /* by kind; of each the longest first */
    LP_VECTOR(struct lp_waterfall_kernel) kernels;
};

/** Are the kernels so short at the rates of the GPU that these do not limit them? */
bool lp_part_is_small(const struct lp_waterfall_part *part);

/** Time a call that kernels lose against what good kernels reach, ms; NaN: their bound is not
 * known. */
double lp_part_loss(const struct lp_waterfall_part *part);

/** Label of the innermost region below a stage that launched or captured a kernel; NULL: none that
 * says what it does. */
const char *lp_label_in_stage(const char *region, const char *captured_in, const char *stage);

/** How well the label of a region says that an operator of a model runs in it; 0: not at all. */
int lp_operator_points(const char *operator_name, const char *label);

/** Zero-initialised: none. */
struct lp_waterfalls {
    LP_VECTOR(struct lp_waterfall) rows; /* in the order of regions */
};

/** Of each stage that advice is about, from the rest of the findings. 0 or LLMPERF_ENOMEM. Clear
 * them afterwards in both cases. */
int lp_waterfalls_init(struct lp_waterfalls *waterfalls, const struct lp_findings *findings);

/** The waterfall of the stage with this path; NULL: none. */
const struct lp_waterfall *lp_waterfall_of(const struct lp_waterfalls *waterfalls,
                                           const char *path);

void lp_waterfalls_clear(struct lp_waterfalls *waterfalls);

#endif
