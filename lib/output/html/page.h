/* SPDX-License-Identifier: Apache-2.0 */
/** A self-contained page: data, and a script that shows them.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_HTML_PAGE_H
#define LP_OUTPUT_HTML_PAGE_H

#include "lib/base/text.h"

struct json_t;

/** Style and script of the page, made from the files in page/ by the build. */
extern const char lp_page_style[], lp_page_script[];

/** Write a page.
 * @param plain  What browsers without scripts show.
 * @param data   Of jansson, taken; NULL: out of memory. With the member "compare" the page shows a
 *               comparison, else a report.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_page_write(const char *title, const char *plain, struct json_t *data, struct lp_text *out);

#endif
