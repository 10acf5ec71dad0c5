/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: metrics.json and the sentences of report.md. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"
#include "lib/output/format/documents.h"
#include "lib/output/html/page.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/sections_md.h"
#include "lib/findings/bounds.h"
#include "lib/profile/profile.h"

/* Longest lists of the page, with the member whose largest values stay; the others are in
 * metrics.json. */
static const struct cut {
    const char *list, *by;
    size_t most;
} cuts[] = {
    { "regions", "gpu_busy_ms", 1000 }, { "stages", "gpu_busy_ms", 1000 },
    { "kernels", "total_ms", 1000 },    { "kernel_shapes", "total_ms", 1000 },
    { "metrics", NULL, 4000 },          { "captures", "total_ms", 500 },
    { "windows", NULL, 200 },
};

static int compare_down(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a < b) - (a > b);
}

/* The value that the first `most` of a list reach; -1: all do. */
static double least_kept(const json_t *list, const struct cut *cut)
{
    size_t count = json_array_size(list);
    double *values = count > cut->most && cut->most > 0 ? calloc(count, sizeof(*values)) : NULL;
    double least = -1;

    if (!values)
        return -1;
    for (size_t i = 0; cut->by && i < count; i++)
        values[i] = json_number_value(json_object_get(json_array_get(list, i), cut->by));
    qsort(values, count, sizeof(*values), compare_down);
    least = values[cut->most - 1];
    free(values);
    return least;
}

/* Rows stay in their order. */
static void cut_list(json_t *list, const struct cut *cut)
{
    json_t *kept = json_array();
    double least = least_kept(list, cut);

    for (size_t i = 0; i < json_array_size(list) && json_array_size(kept) < cut->most; i++) {
        json_t *row = json_array_get(list, i);

        if (!cut->by || json_number_value(json_object_get(row, cut->by)) >= least)
            json_array_append(kept, row);
    }
    json_array_clear(list);
    json_array_extend(list, kept);
    json_decref(kept);
}

/* Shorten the longest lists. Returns their lengths before. */
static json_t *cut_lists(json_t *metrics)
{
    json_t *lengths = json_object();

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        json_t *list = json_object_get(metrics, cuts[i].list);

        if (json_array_size(list) <= cuts[i].most)
            continue;
        json_object_set_new(lengths, cuts[i].list, json_integer((json_int_t)json_array_size(list)));
        cut_list(list, &cuts[i]);
    }
    return lengths;
}

/* Lines of report.md. */
static json_t *lines_of(const struct lp_findings *findings,
                        void (*add)(const struct lp_findings *findings, struct lp_text *out))
{
    struct lp_text text = { 0 };
    json_t *lines = json_array();
    char *rest, *line;

    add(findings, &text);
    rest = text.bytes;
    while ((line = strsep(&rest, "\n")))
        json_array_append_new(lines, json_string(line));
    lp_text_clear(&text);
    return lines;
}

/* Names of the parts of a waterfall, as in report.md. */
static json_t *part_names(void)
{
    json_t *names = json_object();

    for (size_t i = 0; i < LP_PART_KINDS; i++)
        json_object_set_new(names, lp_part_names[i].name, json_string(lp_part_names[i].heading));
    return names;
}

/* Headings of the times of a call, as in report.md. */
static json_t *time_names(void)
{
    json_t *names = json_object();

    for (size_t i = 0; i < LP_TIMES; i++)
        json_object_set_new(names, lp_time_names[i].member, json_string(lp_time_names[i].heading));
    return names;
}

/* Intervals of kept calls in the page, about 30 bytes each. */
#define KEPT_EVENTS 40000

/* Of several processes each has one; a damaged one is left out by the page. */
static void add_call(const struct lp_findings *findings, json_t *calls, size_t stage, json_t *call)
{
    json_int_t process = json_integer_value(json_object_get(call, "process_id"));
    json_int_t rank = lp_profile_rank(findings->profile, (uint32_t)process);
    json_t *entry = json_pack("{s:i, s:o, s:O}", "stage", (int)stage, "rank",
                              rank < 0 ? json_null() : json_integer(rank), "call", call);

    json_array_append_new(calls, entry);
}

/* Long calls lose their last intervals, so that the page stays small. */
static void cut_calls(json_t *calls)
{
    size_t count = json_array_size(calls), most = count ? KEPT_EVENTS / count : 0;

    for (size_t i = 0; i < count; i++) {
        json_t *call = json_object_get(json_array_get(calls, i), "call");
        json_t *events = json_object_get(call, "events");

        while (json_array_size(events) > most)
            json_array_remove(events, json_array_size(events) - 1);
    }
}

/* The calls whose device work was kept, with the number of their stage in iterations[]. */
static json_t *kept_calls(const struct lp_findings *findings)
{
    json_t *calls = json_array(), *call;
    size_t k;

    for (size_t i = 0; i < findings->stages.count; i++) {
        struct lp_text key = { 0 };
        const char *text;
        json_t *fact;

        lp_text_printf(&key, "%s%s", LP_KEPT_CALL_FACT, findings->stages.items[i].region);
        text = key.failed ? NULL : llmperf_profile_fact(findings->profile, key.bytes);
        fact = text ? json_loads(text, 0, NULL) : NULL;
        if (json_is_object(fact))
            add_call(findings, calls, i, fact);
        json_array_foreach(fact, k, call) add_call(findings, calls, i, call);
        json_decref(fact);
        lp_text_clear(&key);
    }
    cut_calls(calls);
    return calls;
}

/* Ids, titles and text in the order of report.md. */
static json_t *sections(const struct lp_findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < lp_section_count; i++)
        json_array_append_new(
            list,
            json_pack("[s, s, o]", lp_sections[i].id, lp_sections[i].title,
                      lp_sections[i].add ? lines_of(findings, lp_sections[i].add) : json_array()));
    return list;
}

/* The stage of the summary; NULL: there is none. */
static json_t *main_stage(const struct lp_findings *findings)
{
    const struct lp_region_finding *row = findings->withheld ? NULL : lp_main_stage(findings);
    const char *limit = row ? lp_limit_words(row) : NULL;

    return row ? json_pack("{s:s, s:I, s:i, s:s?, s:o?, s:o?}", "path", row->stats.path,
                           "process_id", (json_int_t)row->stats.process_id, "device",
                           (int)row->stats.device, "limit", limit, "bound_ms",
                           json_real(row->floor_call_ms), "busy_share", json_real(row->busy_share))
               : NULL;
}

static json_t *data_of(const struct lp_findings *findings)
{
    struct lp_text text = { 0 };
    json_t *metrics = NULL;

    if (lp_metrics_json(findings->profile, &text) == 0 && text.bytes)
        metrics = json_loads(text.bytes, 0, NULL);
    /* Times of a damaged file can be beyond 64 bits with a sign. */
    if (!metrics && text.bytes)
        metrics = json_loads(text.bytes, JSON_DECODE_INT_AS_REAL, NULL);
    lp_text_clear(&text);
    return json_pack("{s:s, s:o, s:o?, s:b, s:b, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "title", findings->about.title, "sections", sections(findings), "main",
                     main_stage(findings), "usual", lp_verdict_is_usual(findings), "withheld",
                     findings->withheld, "small_part", LP_SMALL_PART, "top",
                     (json_int_t)findings->top, "verdict", lines_of(findings, lp_verdict_md),
                     "headline", lines_of(findings, lp_headline_md), "parts", part_names(), "times",
                     time_names(), "calls", kept_calls(findings), "cut", cut_lists(metrics),
                     "metrics", metrics);
}

int lp_report_html(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    struct lp_text plain = { 0 };
    int status;

    if ((status = lp_findings_of(profile, &findings)) == 0 &&
        (status = lp_report_md(profile, &plain)) == 0)
        status = lp_page_write(findings->about.title, plain.bytes, data_of(findings), out);
    lp_text_clear(&plain);
    return status;
}
