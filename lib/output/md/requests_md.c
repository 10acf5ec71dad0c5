/* SPDX-License-Identifier: Apache-2.0 */
/* The section of report.md about requests. */
#include <math.h>
#include <string.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/fields.h"

#define LOAD_ROWS 16u
#define SLOW_ROWS 5u

static void put_number(struct lp_text *out, const char *before, double value, const char *after)
{
    lp_text_puts(out, before);
    lp_md_number(out, value);
    lp_text_puts(out, after);
}

static void put_counts(const llmperf_requests *totals, struct lp_text *out)
{
    lp_text_printf(out, "%" PRIu64 " requests", totals->requests);
    put_number(out, " in ", totals->duration_ms / 1e3, " s: ");
    lp_text_printf(out,
                   "%" PRIu64 " finished, %" PRIu64 " aborted, %" PRIu64 " failed, %" PRIu64
                   " still open",
                   totals->finished, totals->aborted, totals->failed, totals->open);
    if (totals->abandoned > 0)
        lp_text_printf(out, ", %" PRIu64 " no longer followed", totals->abandoned);
    put_number(out, ". ", totals->requests_per_s, " requests/s finished; ");
    put_number(out, "", totals->prompt_tokens_per_s, " prompt tokens/s in, ");
    put_number(out, "", totals->output_tokens_per_s, " output tokens/s out.\n");
    if (totals->over_limit > 0)
        lp_text_printf(out,
                       "\n%" PRIu64
                       " more requests began while 65,536 others were open and are in no number: "
                       "check that llmperf_request_end() is called for each request.\n",
                       totals->over_limit);
}

static void put_goodput(const struct lp_serving_finding *serving, struct lp_text *out)
{
    const llmperf_requests *totals = serving->totals;

    if (isnan(serving->good_share))
        return;
    put_number(out, "\nGoodput: ", totals->goodput_per_s, " requests/s; ");
    put_number(out, "", 100 * serving->good_share, " % of the requests met the SLO (");
    if (!isnan(totals->slo_ttft_ms))
        put_number(out, "TTFT up to ", totals->slo_ttft_ms, " ms");
    if (!isnan(totals->slo_tpot_ms))
        put_number(out, isnan(totals->slo_ttft_ms) ? "TPOT up to " : ", TPOT up to ",
                   totals->slo_tpot_ms, " ms");
    lp_text_puts(out, ").\n");
}

static void put_latencies(const struct lp_serving_finding *serving, struct lp_text *out)
{
    lp_text_puts(out, "\n| | n | Mean ms | p50 ms | p90 ms | p99 ms | Max ms |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (int i = 0; i < LP_LATENCIES; i++) {
        const llmperf_latency *row = serving->latencies[i];

        if (!row)
            continue;
        lp_text_printf(out, "| %s |", lp_latency_words((enum lp_latency_id)i));
        lp_md_cell_count(out, row->count);
        lp_md_cell_number(out, row->mean_ms);
        lp_md_cell_number(out, row->p50_ms);
        lp_md_cell_number(out, row->p90_ms);
        lp_md_cell_number(out, row->p99_ms);
        lp_md_cell_number(out, row->max_ms);
        lp_text_puts(out, "\n");
    }
}

static void put_interference(const struct lp_serving_finding *serving, struct lp_text *out)
{
    if (isnan(serving->prefill_delay_ms))
        return;
    put_number(out, "\nPrefill delays decode: ", 100 * serving->prefill_share,
               " % of decode steps had a prefill inside or before them and ");
    put_number(out, "took ", fabs(serving->prefill_delay_ms), " ms");
    lp_text_puts(out, serving->prefill_delay_ms < 0 ? " less" : " more");
    lp_text_puts(out, " than the others, from the end of one step to the end of the next.\n");
}

static void put_cost(const struct lp_serving_finding *serving, struct lp_text *out)
{
    if (isnan(serving->per_million_tokens))
        return;
    put_number(out, "\nCost: ", serving->per_million_output, " per million output tokens, ");
    put_number(out, "", serving->per_million_tokens, " per million prompt and output tokens ");
    lp_text_printf(out, "(%" PRIu64 " GPUs", serving->gpus);
    put_number(out, " at ", serving->gpu_hour, " an hour).\n");
}

static void show_request(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_slow_request *request = row;

    (void)findings;
    lp_md_count(out, request->id == LLMPERF_UNKNOWN ? request->request : request->id);
}

static void put_slow(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN("Slowest in", llmperf_slow_request, slow_in),
        LP_COLUMN_NUMBER("Request", show_request),
        LP_COLUMN("Prompt", llmperf_slow_request, prompt_tokens),
        LP_COLUMN("Output", llmperf_slow_request, output_tokens),
        LP_COLUMN("Queue ms", llmperf_slow_request, queue_ms),
        LP_COLUMN("TTFT ms", llmperf_slow_request, ttft_ms),
        LP_COLUMN("TPOT ms", llmperf_slow_request, tpot_ms),
        LP_COLUMN("Longest ITL ms", llmperf_slow_request, itl_max_ms),
        LP_COLUMN("End-to-end ms", llmperf_slow_request, e2e_ms),
    };
    const llmperf_profile *profile = findings->profile;
    struct lp_table table = { LP_TABLE_COLUMNS(columns),
                              LP_TABLE_ROWS(profile, LP_ROW_SLOW_REQUEST) };
    const llmperf_slow_request *rows[SLOW_ROWS * LP_LATENCIES];
    size_t shown = 0, of_list = 0, count = table.row_count;

    for (size_t i = 0; i < count && shown < SLOW_ROWS * LP_LATENCIES; i++) {
        const llmperf_slow_request *row = lp_row_at(profile, LP_ROW_SLOW_REQUEST, i);

        of_list =
            shown > 0 && strcmp(rows[shown - 1]->slow_in, row->slow_in) == 0 ? of_list + 1 : 0;
        if (of_list < SLOW_ROWS)
            rows[shown++] = row;
    }
    table.rows = rows;
    table.row_size = 0;
    table.row_count = shown;
    lp_text_puts(out, "\n");
    lp_table_add(findings, &table, out);
}

/* Every so many intervals, so that there are few rows; metrics.json has all. */
static void put_load(const llmperf_profile *profile, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_LOAD);
    size_t stride = (count + LOAD_ROWS - 1) / LOAD_ROWS;
    const llmperf_load *first = count ? lp_row_at(profile, LP_ROW_LOAD, 0) : NULL;

    if (count == 0)
        return;
    put_number(out, "\nLoad in intervals of ", first->length_ms / 1e3, " s");
    lp_text_puts(out, ":\n\n| At s | Running | Batch | Context | Prompt tokens | Output tokens |\n"
                      "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i += stride) {
        const llmperf_load *row = lp_row_at(profile, LP_ROW_LOAD, i);

        lp_text_puts(out, "|");
        lp_md_cell_number(out, ((double)row->begin_ns - (double)first->begin_ns) / 1e9);
        lp_md_cell_count(out, row->running_max);
        lp_md_cell_number(out, row->batch_mean);
        lp_md_cell_number(out, row->context_mean);
        lp_md_cell_count(out, row->prompt_tokens);
        lp_md_cell_count(out, row->output_tokens);
        lp_text_puts(out, "\n");
    }
    if (stride > 1)
        lp_text_printf(out, "\nOne of %zu intervals; metrics.json has all %zu.\n", stride, count);
}

void lp_requests_md(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_serving_finding *serving = &findings->serving;

    if (!serving->totals)
        return;
    put_counts(serving->totals, out);
    put_goodput(serving, out);
    put_latencies(serving, out);
    put_interference(serving, out);
    put_cost(serving, out);
    put_slow(findings, out);
    put_load(findings->profile, out);
}
