/* SPDX-License-Identifier: Apache-2.0 */
/** HTML with any text in it: kernel names come from other programs. The attribute data-metric of a
 * number is its JSON pointer (RFC 6901) in metrics.json.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_HTML_H
#define LP_OUTPUT_FORMAT_HTML_H

#include <stdint.h>

#include "lib/base/text.h"

/** Text escaped for elements and double-quoted attributes. Invalid UTF-8 is replaced; NULL is a
 * dash. */
void lp_html_text(struct lp_text *out, const char *string);

/** As above; lines may break after each '/'. */
void lp_html_path(struct lp_text *out, const char *path);

/** Size of a buffer for a pointer. */
#define LP_POINTER_BYTES 256

/** Format a pointer such as "/regions/3/mbu" into a buffer that lives as long as the enclosing
 * block. Arguments for `%s` must not contain '/' or '~'. */
const char *lp_pointer(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define LP_POINTER(...) lp_pointer((char[LP_POINTER_BYTES]){ 0 }, __VA_ARGS__)

/** Escape a text for use in a pointer. */
const char *lp_pointer_word(char *out, const char *word);

/** A number of metrics.json; NaN is a dash. */
void lp_html_number(struct lp_text *out, const char *pointer, double value);
void lp_html_count(struct lp_text *out, const char *pointer, uint64_t value);

/** As cells of a table, with a sort key; `percent`: multiplied by 100. In a row of
 * lp_html_row_open() `pointer` is NULL: row and column give it. */
void lp_html_cell_number(struct lp_text *out, const char *pointer, double value);
void lp_html_cell_percent(struct lp_text *out, const char *pointer, double value);
void lp_html_cell_count(struct lp_text *out, const char *pointer, uint64_t value);
void lp_html_cell_text(struct lp_text *out, const char *text);
void lp_html_cell_code(struct lp_text *out, const char *text);

/** Start a sortable table. Headings end with NULL; a leading '#' marks a column of numbers. */
void lp_html_table_open(struct lp_text *out, const char *caption, const char *const *headings);

/** Column of a long table with one row for each row of metrics.json. */
struct lp_html_column {
    const char *title;
    const char *metric; /* pointer relative to the row's, without the first '/'; NULL: a text */
};

/** Start such a table (columns end with one without a title), and a row of it. Attributes that a
 * whole row or column shares are written once. */
void lp_html_rows_open(struct lp_text *out, const char *caption,
                       const struct lp_html_column *columns);
void lp_html_row_open(struct lp_text *out, const char *pointer);

void lp_html_table_close(struct lp_text *out);

/** The exact value, as in metrics.json. */
void lp_html_raw(struct lp_text *out, double value);

/** Style and script of the page. */
extern const char lp_html_style[], lp_html_print_style[], lp_html_script[];

#endif
