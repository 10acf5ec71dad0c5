/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile means: utilisation, lower bounds on time, classes, ranks, cost centres, advice.
 * It is worked out once for a profile and is const from then on; documents, comparisons and the
 * public API read it.
 * @threads any thread, all functions */
#ifndef LP_FINDINGS_FINDINGS_H
#define LP_FINDINGS_FINDINGS_H

#include <inttypes.h>
#include <stdbool.h>

#include "lib/base/vector.h"
#include "lib/findings/cost_centres.h"
#include "lib/findings/facts.h"
#include "lib/findings/limits.h"
#include "lib/findings/measured.h"
#include "lib/findings/ranks.h"
#include "lib/findings/stage_iterations.h"
#include "lib/findings/stages.h"
#include "lib/findings/tables.h"
#include "lib/findings/kernel_class.h"
#include "lib/findings/kernel_work.h"
#include "lib/profile/profile.h"
#include "lib/findings/recommend.h"

/** An incomplete profile that accounts for less than this has no headline. */
#define LP_HEADLINE_COVERAGE 0.95

/** A region row and its utilisation; NaN where that is not known. A reason is NULL where its value
 * is known. */
struct lp_region_finding {
    llmperf_region_stats stats;
    /* The same as documents show it: wall times are NaN where no call was complete, device numbers
     * are not known where no device was observed. */
    llmperf_region_stats known;
    llmperf_utilisation use; /* mbu is never above 1 here */
    const char *mfu_reason, *mbu_reason, *bound_reason, *floor_reason, *ratio_reason;
    /* The same against the measured peaks of this GPU. */
    double mfu_measured, mbu_measured;
    const char *mfu_measured_reason, *mbu_measured_reason;
    struct lp_measured measured; /* by hardware counters */
    double scale; /* all calls / those whose device work was collected, by host time; 1: all were */
    uint64_t collected_calls; /* with device work; LLMPERF_UNKNOWN: only part of each, or unknown */
    double busy_share;        /* of the host time of the collected calls; may be above 1 */
    double floor_call_ms;     /* roofline bound on the device time of a call */
    double flops_call, bytes_call; /* of a call */
    uint32_t rate;                 /* LLMPERF_RATE_…: what tokens_per_s is */
    double tokens_per_s;           /* by host time */
    double variation;              /* std / mean of its wall times */
    bool advised; /* it stands for its stage: the busiest of its rows, and not only the frame of
                     another stage (decode_all of its steps) */
    const char *around; /* path of the innermost advised stage that holds it; NULL: none */
};

struct lp_findings {
    struct lp_kept kept; /* first: it is kept with the profile */
    const llmperf_profile *profile;
    llmperf_ledger ledger;
    struct lp_machine *machine;
    size_t gpu; /* that the profile is about, for lp_machine_gpu_text(): the first in its rows */
    struct lp_limits limits;
    struct lp_kernel_classes *classes;      /* NULL: the table could not be read */
    LP_VECTOR(const char *) kernel_classes; /* of the profile's kernel rows; empty without table */
    struct lp_class_totals class_totals;
    struct lp_aggregates sums;
    LP_VECTOR(struct lp_region_finding) regions; /* as in the profile */
    LP_VECTOR(struct lp_stage_iterations) stages;
    struct lp_stage_rows stage_rows;
    struct lp_ranks ranks;
    struct lp_kernel_works kernel_works;
    struct lp_tables tables;
    struct lp_cost_centres cost_centres;
    struct lp_recommendations advice;
    int64_t top;       /* rows of the tables of longest ones (report.top); 0: each has its own */
    bool device_known; /* device times mean something */
    bool withheld;     /* too little is accounted for to lead with a number */
};

/** The findings of a profile. They are made at the first call, and kept with the profile until it
 * changes. 0 or LLMPERF_ENOMEM. */
int lp_findings_of(const llmperf_profile *profile, const struct lp_findings **findings_out);

/** Fill regions, and from all the rest advice. 0 or LLMPERF_ENOMEM. */
int lp_advice_add(struct lp_findings *findings);
int lp_regions_add(struct lp_findings *findings);

/** A stage over all of its rows: it has one for each process and GPU. */
struct lp_stage_sum {
    size_t rows, processes;
    uint64_t instances;  /* Σ over processes */
    double wall_ms;      /* the same */
    double collected_ms; /* the same, of the calls whose device work was collected */
    double time_ms; /* Σ over rows: the longer one of wall and busy time; busy time of instances
                       that ran at once */
    double busy_ms, idle_ms; /* Σ over rows that know it */
};

/** Add up the rows of this path. @param device  Of this GPU only; below 0: of all. */
struct lp_stage_sum lp_stage_sum_of(const struct lp_findings *findings, const char *path,
                                    int32_t device);

/** The least and the most of a number in the rows of a stage; NaN both: no row knows it. */
struct lp_spread {
    double least, most;
};

struct lp_stage_spread {
    uint64_t least_calls, most_calls;
    struct lp_spread call_ms, tokens_per_s, wall_ratio, mbu, mfu, busy_ms, busy_share;
    bool compute; /* the floor of a row is one of arithmetic */
};

/** Over the rows of this path that have a complete call. */
struct lp_stage_spread lp_stage_spread_of(const struct lp_findings *findings, const char *path);

/** Iterations of the stage with this path; NULL: none were followed. */
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

/** Is this row the first one of its path? It has one for each process and GPU. */
bool lp_findings_is_first(const struct lp_findings *findings, size_t region);

/** Do the instances of this stage differ by more than 10 % (std / mean)? */
bool lp_findings_varies(const struct lp_region_finding *region);

/** How documents say so: path, instances, percent. */
#define LP_VARIATION_FORMAT                                                                        \
    "%s: wall times of its %" PRIu64 " instances differ, std / mean is %.0f %%; look at the "      \
    "percentiles, not at the mean."

/** "program" or "model"; NULL: FLOPs (bytes) are not known. */
const char *lp_work_origin(uint32_t origin);

/** Do the limits describe this device? A run may use GPUs that are not alike. */
bool lp_findings_describes(const struct lp_findings *findings, int32_t device);

/** Rows of a table of longest ones that usually has so many. */
static inline size_t lp_findings_top(const struct lp_findings *findings, size_t usual)
{
    return findings->top > 0 ? (size_t)findings->top : usual;
}

/** A run of a program that opened no region and used no device, as far as was seen. */
bool lp_findings_is_empty(const struct lp_findings *findings);

#endif
