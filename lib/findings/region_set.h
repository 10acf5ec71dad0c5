/* SPDX-License-Identifier: Apache-2.0 */
/** Chosen regions with their kernels, and sums of them for one scope: what region reports are
 * about.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_REGION_SET_H
#define LP_FINDINGS_REGION_SET_H

#include "lib/findings/findings.h"
#include "lib/findings/region_options.h"

/** A kernel of a region and of the regions nested in it. */
struct lp_region_kernel {
    const char *name;
    int32_t device;
    uint64_t calls;
    double total_ms;
};

/** A region row as a report shows it. */
struct lp_region_part {
    const struct lp_region_finding *row;
    const struct lp_kernel_rule *rule; /* NULL: all kernels */
    LP_VECTOR(struct lp_region_kernel)
    kernels;             /* selected, by time, the longest first; cut at most_kernels */
    size_t kernels_left; /* selected ones that were cut */
    double left_ms;
    uint64_t calls, selected_calls; /* of all kernels, and of the selected ones */
    double total_ms, selected_ms;
};

/** The regions of a run that reports are about. */
struct lp_region_set {
    const struct lp_findings *findings;
    struct lp_region_options options;
    struct lp_counter_index counters;
    LP_VECTOR(struct lp_region_part) parts; /* in the order of the profile */
    size_t matched; /* rows that the patterns choose; parts are the longest of them */
    char generated_at[32];
};

/** What of a set a report shows. */
enum lp_region_scope { LP_SCOPE_AGGREGATE, LP_SCOPE_PROCESS, LP_SCOPE_DEVICE };

struct lp_region_filter {
    enum lp_region_scope scope;
    int64_t id;        /* of the process or device */
    const char *label; /* NULL: all labels */
};

/** 0 or the errors of lp_region_options_init(). Clear it afterwards in both cases. */
int lp_region_set_init(struct lp_region_set *set, const llmperf_profile *profile);
void lp_region_set_clear(struct lp_region_set *set);

/** Is this part in the report? */
bool lp_region_filter_shows(const struct lp_region_filter *filter,
                            const struct lp_region_part *part);

/** "aggregate", "process:4711", "device:0". */
void lp_region_scope_name(const struct lp_region_filter *filter, char *name, size_t size);

/** Sums over the parts of a report; what regions share counts once. */
struct lp_region_totals {
    size_t regions;
    uint64_t calls;
    double kernel_ms;
};

void lp_region_totals_of(const struct lp_region_set *set, const struct lp_region_filter *filter,
                         struct lp_region_totals *totals);

/** Why there is nothing to show, for a report without regions: static text. */
const char *lp_region_nothing(const struct lp_region_set *set);

#endif
