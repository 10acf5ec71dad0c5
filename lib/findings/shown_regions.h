/* SPDX-License-Identifier: Apache-2.0 */
/** Regions that a table for people has room for: stages, and of the others those with the most
 * time, one of each kind, because layers differ in a number only.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_SHOWN_REGIONS_H
#define LP_FINDINGS_SHOWN_REGIONS_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** Rows that are no stage. */
#define LP_SHOWN_REGIONS 20u

struct lp_shown_regions {
    bool *shown; /* at the index of findings->regions */
    size_t left; /* rows of the table that are not shown */
};

/** Choose among the regions that `has` a value for the table.
 * 0 or LLMPERF_ENOMEM. Clear it afterwards in both cases. */
int lp_shown_regions_choose(struct lp_shown_regions *chosen, const struct lp_findings *findings,
                            bool (*has)(const struct lp_region_finding *region));
void lp_shown_regions_clear(struct lp_shown_regions *chosen);

/** How many rows are not shown, and where they stand; nothing if all are. */
void lp_shown_regions_tell(const struct lp_shown_regions *chosen, struct lp_text *out);

#endif
