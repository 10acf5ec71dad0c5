/* SPDX-License-Identifier: Apache-2.0 */
/** Regions shown in a table: all stages, and of the other regions the longest of each kind. Layers
 * that differ only in their number are of one kind.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_SHOWN_REGIONS_H
#define LP_FINDINGS_SHOWN_REGIONS_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** Rows that are not stages, at most. */
#define LP_SHOWN_REGIONS 20u

struct lp_shown_regions {
    bool *shown; /* by index in findings->regions */
    size_t left; /* rows that are not shown */
};

/** Choose among the regions for which `has` is true. Clear `chosen` in any case.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_shown_regions_choose(struct lp_shown_regions *chosen, const struct lp_findings *findings,
                            bool (*has)(const struct lp_region_finding *region));
void lp_shown_regions_clear(struct lp_shown_regions *chosen);

/** The same for texts that differ in numbers only, such as "layer04" and "layer11". */
uint64_t lp_hash_without_numbers(const char *text);

/** Add a sentence about the rows that are not shown, if any. */
void lp_shown_regions_note(const struct lp_shown_regions *chosen, struct lp_text *out);

#endif
