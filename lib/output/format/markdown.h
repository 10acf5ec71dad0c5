/* SPDX-License-Identifier: Apache-2.0 */
/** Pieces of Markdown that survive any text in them. A row is "|", cells, "\n"; each cell ends with
 * "|".
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_MARKDOWN_H
#define LP_OUTPUT_FORMAT_MARKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/profile/fields.h"

/** Stands where a value is not known. */
#define LP_MD_UNKNOWN "–"

/** One line of text with Markdown's signs escaped, in a cell or outside. */
void lp_md_text(struct lp_text *out, const char *string);

/** Code span that is safe in a cell: labels and kernel names keep their signs, and `a@b.c` becomes
 * no mail link. */
void lp_md_code(struct lp_text *out, const char *string);

/** Four significant digits, at most six decimals (a nanosecond in ms); NaN is LP_MD_UNKNOWN. */
void lp_md_number(struct lp_text *out, double value);
void lp_md_count(struct lp_text *out, uint64_t value);

/** The same as cells. NULL text is LP_MD_UNKNOWN. */
void lp_md_cell_text(struct lp_text *out, const char *string);
void lp_md_cell_code(struct lp_text *out, const char *string);
void lp_md_cell_number(struct lp_text *out, double value);
void lp_md_cell_count(struct lp_text *out, uint64_t value);
void lp_md_cell_device(struct lp_text *out, int32_t device);

/** A region path as a cell: "" is "(no region)", NULL "(unknown launch)". */
void lp_md_cell_region(struct lp_text *out, const char *path);

/** The same with its process behind it. @param process_id  0: not told */
void lp_md_cell_region_of(struct lp_text *out, const char *path, uint32_t process_id);

/** Cells of all percentiles of a row, and of their columns in the two lines that head a table.
 * @param row NULL: they are not known. */
void lp_md_percentiles(struct lp_text *out, enum lp_row_id id, const void *row);
void lp_md_percentile_heads(struct lp_text *out);
void lp_md_percentile_rules(struct lp_text *out);

#endif
