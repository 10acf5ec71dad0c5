/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of a profile with the sums, means and shares that documents show.
 * @threads any thread */
#ifndef LP_FINDINGS_TABLES_H
#define LP_FINDINGS_TABLES_H

#include <stdbool.h>

#include "lib/base/vector.h"
#include "lib/profile/fields.h"

struct lp_findings;

/** Work in CUDA graphs that one region launched and another one captured. */
struct lp_capture_finding {
    llmperf_capture_stats stats;
    double total_ms; /* kernels, memcpy and memset */
    uint64_t calls;  /* complete calls of the launching region; 0: not known */
    double call_ms;  /* per call; NaN: not known */
    bool first;      /* the first row of its launching region and device */
};

/** A triggered window. Times are means per call; NaN: no call was collected. */
struct lp_window_finding {
    llmperf_window_stats stats;
    double wall_ms, busy_ms, idle_ms;
    double per_call;              /* 1 / number of its calls */
    size_t first_kernel, kernels; /* rows of llmperf_profile_window_kernel() */
};

/** Kernels with one short name, over all regions and devices. */
struct lp_kernel_total {
    const char *name;
    uint64_t calls, rows;
    double total_ms, mean_ms, share; /* share: of all device time */
};

/** Zero-initialised: empty. */
struct lp_class_totals {
    LP_VECTOR(struct lp_class_total) rows; /* by stage, then longest first */
};

/** Sum up a profile. 0 or LLMPERF_ENOMEM. Clear `totals` in any case.
 * @param kernel_classes  By kernel row. */
int lp_class_totals_init(struct lp_class_totals *totals, const llmperf_profile *profile,
                         const char *const *kernel_classes);
void lp_class_totals_clear(struct lp_class_totals *totals);

/** Zero-initialised: none. */
struct lp_tables {
    LP_VECTOR(struct lp_capture_finding) captures; /* in the order of the profile, like windows */
    LP_VECTOR(struct lp_window_finding) windows;
    LP_VECTOR(struct lp_kernel_total) kernels; /* longest first */
};

/** 0 or LLMPERF_ENOMEM. Clear `tables` in any case. */
int lp_tables_init(struct lp_tables *tables, const llmperf_profile *profile);
void lp_tables_clear(struct lp_tables *tables);

#endif
