/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a page: its JSON for the script, its Markdown for browsers without scripts. */
#include <jansson.h>

#include "lib/compare/text.h"
#include "lib/output/html/page.h"

int lp_compare_html(const struct lp_compared *compared, struct lp_text *out)
{
    struct lp_text json = { 0 }, plain = { 0 };
    json_t *comparison;
    int status;

    lp_compare_json(compared, &json);
    lp_compare_md(compared, &plain);
    out->failed |= json.failed || plain.failed;
    comparison = out->failed ? NULL : json_loads(json.bytes, 0, NULL);
    status = lp_page_write("comparison", plain.failed ? "" : plain.bytes,
                           json_pack("{s:o}", "compare", comparison), out);
    lp_text_clear(&json);
    lp_text_clear(&plain);
    return status;
}
