/* SPDX-License-Identifier: Apache-2.0 */
/* The section of report.html about requests. */
#include <math.h>

#include "lib/output/format/html.h"
#include "lib/output/html/html_tables.h"
#include "lib/profile/fields.h"

#define COLUMNS_MOST 20

static void put_number(struct lp_text *out, const char *before, const char *pointer, double value,
                       const char *after)
{
    lp_text_puts(out, before);
    lp_html_number(out, pointer, value);
    lp_text_puts(out, after);
}

static void put_count(struct lp_text *out, const char *pointer, uint64_t value, const char *after)
{
    lp_html_count(out, pointer, value);
    lp_text_puts(out, after);
}

static void put_totals(const struct lp_serving_finding *serving, struct lp_text *out)
{
    const llmperf_requests *totals = serving->totals;

    lp_text_puts(out, "<p>");
    put_count(out, "/requests/requests", totals->requests, " requests: ");
    put_count(out, "/requests/finished", totals->finished, " finished, ");
    put_count(out, "/requests/aborted", totals->aborted, " aborted, ");
    put_count(out, "/requests/failed", totals->failed, " failed, ");
    put_count(out, "/requests/open", totals->open, " still open. ");
    put_number(out, "", "/requests/requests_per_s", totals->requests_per_s,
               " requests/s finished; ");
    put_number(out, "", "/requests/prompt_tokens_per_s", totals->prompt_tokens_per_s,
               " prompt tokens/s in, ");
    put_number(out, "", "/requests/output_tokens_per_s", totals->output_tokens_per_s,
               " output tokens/s out.");
    if (!isnan(serving->good_share)) {
        put_number(out, " Goodput: ", "/requests/goodput_per_s", totals->goodput_per_s,
                   " requests/s; ");
        put_number(out, "share of requests that met the SLO: ", "/requests/good_share",
                   serving->good_share, ".");
    }
    if (!isnan(serving->per_million_tokens))
        put_number(out, " Cost: ", "/requests/cost/per_million_output_tokens",
                   serving->per_million_output, " per million output tokens.");
    lp_text_puts(out, "</p>\n");
}

static void put_latencies(const struct lp_serving_finding *serving, struct lp_text *out)
{
    static const struct lp_html_column columns[] = { { "Latency", NULL },   { "n", "count" },
                                                     { "Mean ms", "mean" }, { "p50 ms", "p50" },
                                                     { "p90 ms", "p90" },   { "p99 ms", "p99" },
                                                     { "Max ms", "max" },   { NULL, NULL } };

    lp_html_rows_open(out, "Latencies of requests; decode steps from the end of one to the next.",
                      columns);
    for (int i = 0; i < LP_LATENCIES; i++) {
        const llmperf_latency *row = serving->latencies[i];

        if (!row)
            continue;
        lp_html_row_open(out, LP_POINTER("/requests/%s", lp_latency_names[i]));
        lp_html_cell_text(out, lp_latency_words((enum lp_latency_id)i));
        lp_html_cell_count(out, NULL, row->count);
        lp_html_cell_number(out, NULL, row->mean_ms);
        lp_html_cell_number(out, NULL, row->p50_ms);
        lp_html_cell_number(out, NULL, row->p90_ms);
        lp_html_cell_number(out, NULL, row->p99_ms);
        lp_html_cell_number(out, NULL, row->max_ms);
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
    if (!isnan(serving->prefill_delay_ms))
        put_number(out, "<p>Decode steps with a prefill took ", "/requests/prefill_delay_ms",
                   serving->prefill_delay_ms, " ms longer than those without.</p>\n");
}

/* A column for each member of the rows. */
static void put_rows(const llmperf_profile *profile, enum lp_row_id id, const char *member,
                     const char *caption, struct lp_text *out)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    struct lp_html_column columns[COLUMNS_MOST] = { { NULL, NULL } };

    for (size_t i = 0, count = 0; i < kind->count && count + 1 < COLUMNS_MOST; i++)
        if (kind->fields[i].json)
            columns[count++] =
                (struct lp_html_column){ kind->fields[i].json, kind->fields[i].type == LP_FIELD_NAME
                                                                   ? NULL
                                                                   : kind->fields[i].json };
    lp_text_printf(out, "<details><summary>%s</summary>\n", caption);
    lp_html_rows_open(out, caption, columns);
    for (size_t row = 0; row < lp_row_count(profile, id); row++) {
        const char *at = lp_row_at(profile, id, row);

        lp_html_row_open(out, LP_POINTER("/requests/%s/%zu", member, row));
        for (size_t i = 0; i < kind->count; i++) {
            const struct lp_row_field *field = &kind->fields[i];

            if (field->json && field->type == LP_FIELD_NAME)
                lp_html_cell_text(out, *(const char *const *)(const void *)(at + field->offset));
            else if (field->json)
                lp_html_cell_number(out, NULL, lp_field_value(field, at));
        }
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
    lp_text_puts(out, "</details>\n");
}

void lp_html_requests(const struct lp_findings *findings, struct lp_text *out)
{
    put_totals(&findings->serving, out);
    put_latencies(&findings->serving, out);
    put_rows(findings->profile, LP_ROW_SLOW_REQUEST, "slowest", "Slowest requests", out);
    put_rows(findings->profile, LP_ROW_LOAD, "load", "Load over time", out);
}
