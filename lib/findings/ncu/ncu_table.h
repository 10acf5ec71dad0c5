/* SPDX-License-Identifier: Apache-2.0 */
/** The metrics of ncu that reports show, by section, and the columns of ncu_kernels that come from
 * them. Other metrics (device attributes, launch parameters) are in metrics.json and run files.
 * @threads any thread */
#ifndef LP_FINDINGS_NCU_TABLE_H
#define LP_FINDINGS_NCU_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/record/stall_reasons.h"
#include "llmperf/profile.h"

/** A metric of a section. */
struct lp_ncu_metric_row {
    const char *section;    /* display name in ncu */
    const char *identifier; /* argument of ncu --section */
    const char *label;      /* name on ncu's page details */
    const char *metric;     /* name elsewhere */
    const char *unit;       /* shown */
    double factor;          /* from the metric's base unit */
    size_t column;          /* offset in struct lp_ncu_kernel; 0: none */
};

/** Ends with a row without a section. */
extern const struct lp_ncu_metric_row lp_ncu_table[];

/** Row of a metric that ncu measured; NULL: none. */
const struct lp_ncu_metric_row *lp_ncu_row_of(const llmperf_metric_stats *metric);

/** Is it the share of cycles that warps are in a state, such as
 * smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio?
 * @param reason_out  The state; NULL: an unknown one. */
bool lp_ncu_warp_state(const llmperf_metric_stats *metric,
                       const struct lp_stall_reason **reason_out);

#endif
