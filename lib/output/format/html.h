/* SPDX-License-Identifier: Apache-2.0 */
/** Pieces of HTML that survive any text in them: kernel names are written by others. A number says
 * in data-metric which value of metrics.json it is (a JSON pointer, RFC 6901).
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_HTML_H
#define LP_OUTPUT_FORMAT_HTML_H

#include <stdint.h>

#include "lib/base/text.h"

/** Text, escaped for elements and for attributes in double quotes; invalid UTF-8 is replaced. NULL
 * is a dash. */
void lp_html_text(struct lp_text *out, const char *string);

/** The same; a line may break behind each '/'. */
void lp_html_path(struct lp_text *out, const char *path);

/** Room for a pointer. */
#define LP_POINTER_BYTES 256

/** "/regions/3/mbu" in a buffer that lives as long as the block around the call. `%s` stands for
 * words without '/' and '~'. */
const char *lp_pointer(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define LP_POINTER(...) lp_pointer((char[LP_POINTER_BYTES]){ 0 }, __VA_ARGS__)

/** A word as a part of a pointer. */
const char *lp_pointer_word(char *out, const char *word);

/** A number of metrics.json, a dash if it is not known; `percent` shows a share times 100. */
void lp_html_number(struct lp_text *out, const char *pointer, double value);
void lp_html_percent(struct lp_text *out, const char *pointer, double value);
void lp_html_count(struct lp_text *out, const char *pointer, uint64_t value);

/** The same as cells of a table, with what to sort by. In a row of lp_html_row_open() no pointer is
 * given: row and column say which number it is. */
void lp_html_cell_number(struct lp_text *out, const char *pointer, double value);
void lp_html_cell_percent(struct lp_text *out, const char *pointer, double value);
void lp_html_cell_count(struct lp_text *out, const char *pointer, uint64_t value);
void lp_html_cell_text(struct lp_text *out, const char *text);
void lp_html_cell_code(struct lp_text *out, const char *text);

/** Head of a sortable table: headings up to NULL, those with a leading '#' are of numbers. */
void lp_html_table_open(struct lp_text *out, const char *caption, const char *const *headings);

/** A column of a long table, whose rows each are a row of metrics.json. */
struct lp_html_column {
    const char *title;
    const char *metric; /* pointer below that of the row, without its first '/'; NULL: a text */
};

/** Head of such a table, with columns up to one without a title; and a row of it. What is the same
 * in a whole row or column is said there once. */
void lp_html_rows_open(struct lp_text *out, const char *caption,
                       const struct lp_html_column *columns);
void lp_html_row_open(struct lp_text *out, const char *pointer);

void lp_html_table_close(struct lp_text *out);

/** The raw value as metrics.json has it. */
void lp_html_raw(struct lp_text *out, double value);

/** Style and script of the page. */
extern const char lp_html_style[], lp_html_print_style[], lp_html_script[];

#endif
