/* SPDX-License-Identifier: Apache-2.0 */
/** Selected regions with their kernels, and sums for a scope: the content of region reports.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_REGION_SET_H
#define LP_FINDINGS_REGION_SET_H

#include "lib/findings/findings.h"
#include "lib/findings/reports/region_options.h"

/** A kernel, over a region and its nested regions. */
struct lp_region_kernel {
    const char *name;
    int32_t device;
    uint64_t calls;
    double total_ms;
};

/** A region row in a report. */
struct lp_region_part {
    const struct lp_region_finding *row;
    const struct lp_kernel_rule *rule; /* NULL: all kernels */
    LP_VECTOR(struct lp_region_kernel)
    kernels;             /* selected; longest first; at most most_kernels */
    size_t kernels_left; /* selected but over the limit */
    double left_ms;
    uint64_t calls, selected_calls; /* of all kernels; of the selected ones */
    double total_ms, selected_ms;
};

/** The selected regions of a run. */
struct lp_region_set {
    const struct lp_findings *findings;
    struct lp_region_options options;
    struct lp_counter_index counters;
    LP_VECTOR(struct lp_region_part) parts; /* in the order of the profile */
    size_t matched; /* rows that match the patterns; `parts` has the longest of them */
    char generated_at[32];
};

/** Which part of a set a report shows. */
enum lp_region_scope { LP_SCOPE_AGGREGATE, LP_SCOPE_PROCESS, LP_SCOPE_DEVICE };

struct lp_region_filter {
    enum lp_region_scope scope;
    int64_t id;        /* process id or device */
    const char *label; /* NULL: all labels */
};

/** 0 or an error of lp_region_options_init(). Clear `set` in any case. */
int lp_region_set_init(struct lp_region_set *set, const llmperf_profile *profile);
void lp_region_set_clear(struct lp_region_set *set);

/** Does the report include this part? */
bool lp_region_filter_shows(const struct lp_region_filter *filter,
                            const struct lp_region_part *part);

/** "aggregate", "process:4711", "device:0". */
void lp_region_scope_name(const struct lp_region_filter *filter, char *name, size_t size);

/** Sums over the parts of a report, with shared kernels counted once. */
struct lp_region_totals {
    size_t regions;
    uint64_t calls;
    double kernel_ms;
};

void lp_region_totals_of(const struct lp_region_set *set, const struct lp_region_filter *filter,
                         struct lp_region_totals *totals);

/** Why a report has no regions: static text. */
const char *lp_region_nothing(const struct lp_region_set *set);

#endif
