/* SPDX-License-Identifier: Apache-2.0 */
/** Markdown with any text in it. A table row is "
 * ", cells and "\n"; each cell ends with "
 * ".
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_MARKDOWN_H
#define LP_OUTPUT_FORMAT_MARKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/findings/interval.h"

/** Shown for unknown values. */
#define LP_MD_UNKNOWN "–"

/** One line of text, with Markdown characters escaped; also for cells. */
void lp_md_text(struct lp_text *out, const char *string);

/** Code span, also for cells: labels and kernel names are shown unchanged, and `a@b.c` does not
 * become a mail link. */
void lp_md_code(struct lp_text *out, const char *string);

/** Four significant digits and at most six decimals (1 ns in ms). NaN is LP_MD_UNKNOWN. */
void lp_md_number(struct lp_text *out, double value);
void lp_md_count(struct lp_text *out, uint64_t value);

/** Why something is unknown ("– in the table"), each reason once, at most four.
 * @param reason  Of the first row (NULL: none); that of the next one is `stride` bytes further. */
void lp_md_reasons(struct lp_text *out, const char *what, const char *const *reason, size_t count,
                   size_t stride);

/** With its 95 % confidence interval: "12.30 ± 0.41", or "12.30 (11.90–12.95)" if its sides differ;
 * the number alone if there is none. */
void lp_md_interval(struct lp_text *out, double value, struct lp_interval interval, int digits);

/** As cells. NULL is LP_MD_UNKNOWN. */
void lp_md_cell_text(struct lp_text *out, const char *string);
void lp_md_cell_code(struct lp_text *out, const char *string);
void lp_md_cell_number(struct lp_text *out, double value);
void lp_md_cell_count(struct lp_text *out, uint64_t value);
void lp_md_cell_device(struct lp_text *out, int32_t device);

/** Region path as a cell: "" is "(no region)", NULL is "(unknown launch)". */
void lp_md_cell_region(struct lp_text *out, const char *path);

#endif
