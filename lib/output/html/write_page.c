/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/output/html/page.h"

/* Text in an element. */
static void add_escaped(struct lp_text *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            lp_text_puts(out, "&lt;");
        else if (*text == '&')
            lp_text_puts(out, "&amp;");
        else
            lp_text_add(out, text, 1);
}

/* JSON in a script element, which "</script" and "<!--" would end or change: '<' stands only in
 * strings. */
static void add_json(struct lp_text *out, const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

    if (!text) {
        out->failed = true;
        return;
    }
    for (const char *rest = text; *rest; rest++)
        if (*rest == '<')
            lp_text_puts(out, "\\u003c");
        else
            lp_text_add(out, rest, 1);
    free(text);
}

int lp_page_write(const char *title, const char *plain, struct json_t *data, struct lp_text *out)
{
    lp_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                      "<title>llmperf: ");
    add_escaped(out, title);
    lp_text_puts(out, "</title>\n<style>\n");
    lp_text_puts(out, lp_page_style);
    lp_text_puts(out, "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n<noscript><pre>");
    add_escaped(out, plain);
    lp_text_puts(out, "</pre></noscript>\n<script type=\"application/json\" id=\"data\">");
    if (data)
        add_json(out, data);
    lp_text_puts(out, "</script>\n<script>\n");
    lp_text_puts(out, lp_page_script);
    lp_text_puts(out, "</script>\n</body>\n</html>\n");
    out->failed |= !data;
    json_decref(data);
    return out->failed ? lp_error(LLMPERF_ENOMEM, "out of memory") : 0;
}
