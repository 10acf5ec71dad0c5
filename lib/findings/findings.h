/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile means: utilisation, lower bounds on time, kernel classes, ranks, cost centres,
 * advice. Computed once per profile and const from then on. Documents, comparisons and the public
 * API read it.
 * @threads any thread, all functions */
#ifndef LP_FINDINGS_FINDINGS_H
#define LP_FINDINGS_FINDINGS_H

#include <inttypes.h>
#include <stdbool.h>

#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/findings/bounds.h"
#include "lib/findings/collectives.h"
#include "lib/findings/cost_centres.h"
#include "lib/findings/interval.h"
#include "lib/findings/limits/facts.h"
#include "lib/findings/limits/limits.h"
#include "lib/findings/limits/measured.h"
#include "lib/findings/limits/memory.h"
#include "lib/findings/profiler_cost.h"
#include "lib/findings/ranks.h"
#include "lib/findings/stage_iterations.h"
#include "lib/findings/stages.h"
#include "lib/findings/tables.h"
#include "lib/findings/waterfall.h"
#include "lib/findings/whole.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/findings/kernel_shapes.h"
#include "lib/findings/kernel_work.h"
#include "lib/findings/ncu/ncu_kernels.h"
#include "lib/profile/profile.h"
#include "lib/profile/serving/serving_figures.h"
#include "lib/findings/recommend.h"

/** An incomplete profile with less coverage has no headline. */
#define LP_HEADLINE_COVERAGE 0.95

/** A region row and its utilisation. NaN: not known. Reasons are NULL if the value is known. */
struct lp_region_finding {
    llmperf_region_stats stats;
    /* The row as documents show it: wall times are NaN without a complete call, and device numbers
     * unknown if no device was observed. */
    llmperf_region_stats known;
    llmperf_utilisation use; /* mbu is at most 1 here */
    const char *mfu_reason, *mbu_reason, *bound_reason, *floor_reason, *ratio_reason;
    const char *mfu_elapsed_reason, *mbu_elapsed_reason;
    /* mfu and mbu relative to the measured peaks of this GPU. */
    double mfu_measured, mbu_measured;
    const char *mfu_measured_reason, *mbu_measured_reason;
    struct lp_measured measured; /* from hardware counters */
    double token_j;              /* energy per token */
    double mfu_at_clock;         /* MFU relative to the peak at the mean clock of the stage */
    const char *energy_reason, *token_j_reason, *clock_reason;
    double scale; /* wall time of all calls / of the collected calls; 1: all were collected */
    uint64_t collected_calls; /* with device work; LLMPERF_UNKNOWN: only part of each, or unknown */
    double busy_share; /* of collected_ms; above 1: the host left before, and the end of the calls
                          on the device is not known */
    struct lp_time_spent spent;    /* of the calls that were followed, without warm-up */
    double floor_call_ms;          /* lower bound (roofline) on the device time of a call */
    double flops_call, bytes_call; /* per call */
    struct lp_profiler_cost profiler;
    uint32_t clock;         /* LLMPERF_CLOCK_…: of call_ms */
    double call_ms;         /* time of a call, mean; without warm_up_ms */
    uint64_t warm_up_calls; /* first calls that are warm-up; 0: none are known */
    double warm_up_ms;      /* their time, which call_ms leaves out; NaN: there are none */
    struct lp_interval busy_error, call_error; /* of device busy time and of call_ms, because calls
                                                  are sampled; 1: there is none */
    double active_ms;                          /* time in which at least one call was in progress */
    double collected_ms;                       /* the part of active_ms that device times are of */
    double at_once;      /* calls in progress at a time, mean; 1: one after another */
    uint32_t rate;       /* LLMPERF_RATE_…: what tokens_per_s counts */
    double tokens_per_s; /* tokens / active_ms, both without warm-up */
    double variation;    /* std / mean of the times of calls, on their clock */
    bool advised; /* advice uses this row for its stage: the busiest row of a stage that is not
                     mostly one nested stage (such as decode_all, of decode steps) */
    const char *around; /* path of the innermost enclosing stage with `advised`; NULL: none */
};

struct lp_findings {
    struct lp_kept kept; /* must be first: kept with the profile */
    const llmperf_profile *profile;
    llmperf_ledger ledger;
    struct lp_machine *machine;
    size_t gpu; /* for lp_machine_gpu_text(): the first GPU in the profile's rows */
    struct lp_limits limits;
    struct lp_kernel_classes *classes;      /* NULL: the table could not be read */
    LP_VECTOR(const char *) kernel_classes; /* by kernel row; empty without the table */
    struct lp_class_totals class_totals;
    struct lp_aggregates sums;
    LP_VECTOR(struct lp_region_finding) regions; /* in the order of the profile */
    LP_VECTOR(struct lp_stage_iterations) stages;
    struct lp_stage_rows stage_rows;
    struct lp_about about;
    struct lp_overall overall;
    struct lp_collectives_found collectives;
    struct lp_ranks ranks;
    struct lp_waterfalls waterfalls;
    struct lp_serving_finding serving;
    struct lp_kernel_works kernel_works;
    struct lp_ncu_kernels ncu_kernels;
    struct lp_kernel_shapes kernel_shapes;
    struct lp_memory_held memory;
    struct lp_tables tables;
    struct lp_cost_centres cost_centres;
    struct lp_recommendations advice;
    int64_t top;       /* rows in tables of the longest (report.top); 0: default of each table */
    bool device_known; /* device times are valid */
    bool withheld;     /* coverage is too low for a headline */
    struct lp_profiler_rates profiler_rates;
    const char *profiler_reason; /* why no stage has a cost of profiling; NULL: one has */
};

/** The findings of a profile, made at the first call and kept until the profile changes. 0 or
 * LLMPERF_ENOMEM. */
int lp_findings_of(const llmperf_profile *profile, const struct lp_findings **findings_out);

/** Mark the regions that advice is about. 0 or LLMPERF_ENOMEM. */
int lp_stages_mark(struct lp_findings *findings);

/** Add advice; everything else must be there. 0 or LLMPERF_ENOMEM. */
int lp_advice_add(struct lp_findings *findings);
int lp_regions_add(struct lp_findings *findings);

/** Energy per token, and MFU at the clock that the GPU had. */
void lp_regions_set_energy(struct lp_findings *findings);

/** What throttled the clocks of a GPU most, in words; NULL: nothing did. */
const char *lp_throttle_words(const llmperf_energy *gpu);

/** Utilisation over elapsed time, once it is known which stages overlapped. */
void lp_regions_set_elapsed(struct lp_findings *findings);

/** Set clock, time per call and rate of all regions, once their stages are known. */
void lp_clocks_set(struct lp_findings *findings);

/** "host time", "GPU time": what the time of a call is measured by. */
const char *lp_clock_words(uint32_t clock);

/** Sums over the rows of a stage, which has one for each process and GPU. */
struct lp_stage_sum {
    size_t rows, processes;
    uint64_t instances;      /* sum over processes */
    double wall_ms;          /* sum over processes */
    double collected_ms;     /* wall time of the calls whose device work was collected */
    double time_ms;          /* sum over rows of the time in which calls were in progress */
    double busy_ms, idle_ms; /* sums over rows where known */
};

/** Sum of the rows of a path.
 * @param device  Only this GPU; below 0: all. */
struct lp_stage_sum lp_stage_sum_of(const struct lp_findings *findings, const char *path,
                                    int32_t device);

/** Smallest and largest value over the rows of a stage; NaN: not known in any row. */
struct lp_spread {
    double least, most;
};

struct lp_stage_spread {
    uint64_t least_calls, most_calls;
    struct lp_spread call_ms, tokens_per_s, wall_ratio, busy_ms, busy_share;
    struct lp_spread mbu, mfu, mbu_elapsed, mfu_elapsed;
    const char *bound; /* lp_bound_words() of the first row */
};

/** Over the rows of a path that have a complete call. */
struct lp_stage_spread lp_stage_spread_of(const struct lp_findings *findings, const char *path);

/** Iterations of the stage with this path; NULL: none were collected. */
static inline const struct lp_stage_iterations *lp_findings_iterations(
    const struct lp_findings *findings, const char *path)
{
    return lp_stage_iterations_find(findings->stages.items, findings->stages.count, path);
}

/** Did calls of the stage with this path run on the device at the same time? */
static inline bool lp_findings_overlaps(const struct lp_findings *findings, const char *path)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, path);

    return stage && stage->overlaps;
}

/** The rows of a path, one for each process and GPU: the first, and the one after a row. NULL:
 * there is none. @param path  NULL: of no region. */
const struct lp_region_finding *lp_rows_of(const struct lp_findings *findings, const char *path);
const struct lp_region_finding *lp_rows_next(const struct lp_findings *findings,
                                             const struct lp_region_finding *row);

/** Is this row the first of its path? A path has one for each process and GPU. */
bool lp_findings_is_first(const struct lp_findings *findings, size_t region);

/** Do the calls of this stage vary by more than 10 % (std / mean)? */
bool lp_findings_varies(const struct lp_region_finding *region);

/** A sentence about it, with the path. */
void lp_variation_text(const struct lp_region_finding *region, struct lp_text *out);

/** "program" or "model"; NULL: FLOPs or bytes are not known. */
const char *lp_work_origin(uint32_t origin);

/** Are findings->limits those of this device? GPUs of a run may differ. */
bool lp_findings_describes(const struct lp_findings *findings, int32_t device);

/** Number of rows in a table of the longest, with this default. */
static inline size_t lp_findings_top(const struct lp_findings *findings, size_t usual)
{
    return findings->top > 0 ? (size_t)findings->top : usual;
}

/** Did the program open no region and use no device, as far as is known? */
bool lp_findings_is_empty(const struct lp_findings *findings);

#endif
