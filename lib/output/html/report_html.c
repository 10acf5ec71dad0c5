/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: metrics.json and the sentences of report.md as data, and a script (page/) that shows
 * them. Browsers without scripts show report.md. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"
#include "lib/output/format/documents.h"
#include "lib/output/format/json_writer.h"
#include "lib/output/html/page.h"
#include "lib/output/md/headline_md.h"
#include "lib/profile/profile.h"

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
 * strings. Lines are joined and their indentation is left out. */
static void add_json(struct lp_text *out, const char *json)
{
    while (*json) {
        if (*json == '\n') {
            json++;
            while (*json == ' ')
                json++;
        } else if (*json == '<') {
            lp_text_puts(out, "\\u003c");
            json++;
        } else {
            lp_text_add(out, json++, 1);
        }
    }
}

/* Lines of report.md as a list. */
static void put_lines(struct lp_json *json, const char *key, const struct lp_findings *findings,
                      void (*add)(const struct lp_findings *findings, struct lp_text *out))
{
    struct lp_text text = { 0 };
    char *rest, *line;

    lp_json_open(json, key, '[');
    add(findings, &text);
    rest = text.bytes;
    while ((line = strsep(&rest, "\n")))
        lp_json_string(json, NULL, line);
    lp_json_close(json, ']');
    json->text.failed |= text.failed;
    lp_text_clear(&text);
}

/* Names of the parts of a waterfall as in report.md. */
static void put_part_names(struct lp_json *json)
{
    lp_json_open(json, "parts", '{');
    for (size_t i = 0; i < LP_PART_KINDS; i++)
        lp_json_string(json, lp_part_names[i].name, lp_part_names[i].heading);
    lp_json_close(json, '}');
}

/* Facts of a run file can be anything. */
static bool is_json(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);

    json_decref(root);
    return root != NULL;
}

/* The calls whose device work was kept, by stage. */
static void add_kept_calls(const struct lp_findings *findings, struct lp_text *out)
{
    const char *comma = "";

    for (size_t i = 0; i < findings->stages.count; i++) {
        char key[1024];
        const char *call;

        snprintf(key, sizeof(key), "%s%s", LP_KEPT_CALL_FACT, findings->stages.items[i].region);
        call = llmperf_profile_fact(findings->profile, key);
        if (!call || !is_json(call))
            continue;
        lp_text_printf(out, "%s{\"stage\":%zu,\"call\":", comma, i);
        add_json(out, call);
        lp_text_puts(out, "}");
        comma = ",";
    }
}

static int add_data(const struct lp_findings *findings, struct lp_text *out)
{
    const char *environment = llmperf_profile_fact(findings->profile, "env");
    struct lp_text metrics = { 0 };
    struct lp_json json = { 0 };
    int status = lp_metrics_json(findings->profile, &metrics);

    lp_json_open(&json, NULL, '{');
    lp_json_bool(&json, "withheld", findings->withheld);
    put_lines(&json, "verdict", findings, lp_verdict_md);
    put_lines(&json, "headline", findings, lp_headline_md);
    put_part_names(&json);
    lp_text_puts(out, "<script type=\"application/json\" id=\"data\">{\"report\":");
    lp_json_close(&json, '}');
    if (!json.text.failed && !metrics.failed && status == 0) {
        add_json(out, json.text.bytes);
        lp_text_puts(out, ",\n\"environment\":");
        add_json(out, environment && findings->machine ? environment : "null");
        lp_text_puts(out, ",\n\"calls\":[");
        add_kept_calls(findings, out);
        lp_text_puts(out, "],\n\"metrics\":");
        add_json(out, metrics.bytes);
    }
    lp_text_puts(out, "}</script>\n");
    out->failed |= json.text.failed || metrics.failed;
    lp_text_clear(&json.text);
    lp_text_clear(&metrics);
    return status;
}

static int add_without_script(const llmperf_profile *profile, struct lp_text *out)
{
    struct lp_text report = { 0 };
    int status = lp_report_md(profile, &report);

    lp_text_puts(out, "<noscript><pre>");
    if (report.bytes)
        add_escaped(out, report.bytes);
    lp_text_puts(out, "</pre></noscript>\n");
    out->failed |= report.failed;
    lp_text_clear(&report);
    return status;
}

static void add_head(const struct lp_findings *findings, struct lp_text *out)
{
    const char *run_id = llmperf_profile_fact(findings->profile, "run_id");

    lp_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                      "<title>llmperf report: ");
    add_escaped(out, run_id ? run_id : "unnamed run");
    lp_text_puts(out, "</title>\n<style>\n");
    lp_text_puts(out, lp_page_style);
    lp_text_puts(out, "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n");
}

int lp_report_html(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status = lp_findings_of(profile, &findings);

    if (status < 0)
        return status;
    add_head(findings, out);
    if ((status = add_without_script(profile, out)) < 0 || (status = add_data(findings, out)) < 0)
        return status;
    lp_text_puts(out, "<script>\n");
    lp_text_puts(out, lp_page_script);
    lp_text_puts(out, "</script>\n</body>\n</html>\n");
    return out->failed ? LLMPERF_ENOMEM : 0;
}
