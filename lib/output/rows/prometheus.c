/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/rows/prometheus.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/json_writer.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

void lp_prometheus_label(struct lp_text *out, const char *name, const char *value)
{
    struct lp_text clean = { NULL, 0, 0, false };

    lp_text_printf(out, "%s%s=\"", out->bytes[out->length - 1] == '{' ? "" : ",", name);
    lp_text_clean(&clean, value ? value : "");
    for (const char *at = clean.bytes; at && *at; at++) {
        if (*at == '\\' || *at == '"')
            lp_text_puts(out, "\\");
        lp_text_add(out, at, 1);
    }
    lp_text_puts(out, "\"");
    out->failed |= clean.failed;
    lp_text_clear(&clean);
}

void lp_prometheus_value(struct lp_text *out, double value)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_number(&json, NULL, value);
    lp_text_printf(out, "} %s\n", json.text.bytes ? json.text.bytes : "NaN");
    out->failed |= json.text.failed;
    lp_text_clear(&json.text);
}

/* Limits of the buckets of stages, from 0.1 ms to 70 s: these steps, in us, times powers of ten. */
static const unsigned bucket_steps[] = { 100, 150, 200, 300, 500, 700 };
#define BUCKET_STEPS  (sizeof(bucket_steps) / sizeof(bucket_steps[0]))
#define BUCKET_POWERS 6

/* A histogram bucket that contains a limit is counted by its middle, always in the same way, so
 * that counters never decrease. */
static uint64_t count_below(const struct lp_bucket *buckets, size_t count, double limit_ms)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        if ((buckets[i].low_ms + buckets[i].high_ms) / 2 <= limit_ms)
            sum += buckets[i].count;
    return sum;
}

/* A family of histograms; `region`: of the samples, NULL: they have no such label. */
struct histogram {
    const char *family, *region;
    double power; /* of the first limits */
    uint64_t count;
    double sum_ms;
};

static void put_line(struct lp_text *out, const struct histogram *histogram, const char *suffix,
                     const char *limit, double value)
{
    lp_text_printf(out, "llmperf_%s_%s{", histogram->family, suffix);
    if (histogram->region)
        lp_prometheus_label(out, "region", histogram->region);
    if (limit)
        lp_prometheus_label(out, "le", limit);
    lp_prometheus_value(out, value);
}

typedef LP_VECTOR(struct lp_bucket) bucket_list;

static void add_buckets(const llmperf_profile *profile, enum lp_row_id id, size_t row,
                        bucket_list *list)
{
    struct lp_bucket *buckets = NULL;
    size_t count = 0;

    lp_profile_row_histogram(profile, id, row, &buckets, &count);
    for (size_t i = 0; i < count && lp_vector_push(list, buckets[i]) == 0; i++)
        ;
    free(buckets);
}

static void put_histogram(const bucket_list *list, const struct histogram *histogram,
                          struct lp_text *out)
{
    double power = histogram->power;

    if (list->count == 0)
        return;
    for (int p = 0; p < BUCKET_POWERS; p++, power *= 10)
        for (size_t i = 0; i < BUCKET_STEPS; i++) {
            double limit = bucket_steps[i] * power;

            put_line(out, histogram, "bucket", LP_NUMBER(limit, 2),
                     (double)count_below(list->items, list->count, limit * 1e3));
        }
    put_line(out, histogram, "bucket", "+Inf", (double)histogram->count);
    put_line(out, histogram, "sum", NULL, histogram->sum_ms * 1e-3);
    put_line(out, histogram, "count", NULL, (double)histogram->count);
}

/* All calls: counters must not decrease when calls turn out to be warm-up. */
static void put_stage(const llmperf_profile *profile, const llmperf_iteration_stats *steady,
                      const char *family, struct lp_text *out)
{
    struct histogram all = { family, steady->region, 1e-6, 0, 0 };
    bucket_list list = { NULL, 0, 0 };

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_SPREAD); i++) {
        const llmperf_iteration_stats *row = lp_row_at(profile, LP_ROW_SPREAD, i);

        if (row->is_class || strcmp(row->region, steady->region) != 0 ||
            strcmp(row->quantity, steady->quantity) != 0 || row->count == 0)
            continue;
        all.count += row->count;
        all.sum_ms += row->sum_ms;
        add_buckets(profile, LP_ROW_SPREAD, i, &list);
    }
    put_histogram(&list, &all, out);
    lp_vector_clear(&list);
}

static void put_stages(const llmperf_profile *profile, const char *quantity, const char *family,
                       const char *text, struct lp_text *out)
{
    lp_text_printf(out, "# HELP llmperf_%s %s\n# TYPE llmperf_%s histogram\n", family, text,
                   family);
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_SPREAD); i++) {
        const llmperf_iteration_stats *row = lp_row_at(profile, LP_ROW_SPREAD, i);

        if (!row->is_class && !row->warm_up && strcmp(row->quantity, quantity) == 0)
            put_stage(profile, row, family, out);
    }
}

void lp_prometheus_stages(const llmperf_profile *profile, struct lp_text *out)
{
    put_stages(profile, "wall", "stage_wall_seconds", "Host time per call of a stage.", out);
    put_stages(profile, "elapsed", "stage_elapsed_seconds",
               "Time per call of a stage until its device work has ended, of the collected calls.",
               out);
}

/* Histograms of the latencies that a reader waits for, 1 ms to 700 s. */
void lp_prometheus_requests(const llmperf_profile *profile, struct lp_text *out)
{
    static const char *const families[][2] = {
        { "queue", "request_queue_seconds" }, { "ttft", "request_ttft_seconds" },
        { "tpot", "request_tpot_seconds" },   { "itl", "request_itl_seconds" },
        { "e2e", "request_e2e_seconds" },
    };
    bucket_list list = { NULL, 0, 0 };

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_LATENCY); i++) {
        const llmperf_latency *row = lp_row_at(profile, LP_ROW_LATENCY, i);

        for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
            if (strcmp(families[f][0], row->quantity) != 0)
                continue;
            lp_text_printf(out,
                           "# HELP llmperf_%s Latency of requests: %s.\n"
                           "# TYPE llmperf_%s histogram\n",
                           families[f][1], families[f][0], families[f][1]);
            add_buckets(profile, LP_ROW_LATENCY, i, &list);
            put_histogram(
                &list, &(struct histogram){ families[f][1], NULL, 1e-5, row->count, row->sum_ms },
                out);
            lp_vector_clear(&list);
        }
    }
}

static bool is_of_rule(const llmperf_profile *profile, size_t index,
                       const llmperf_window_stats *window)
{
    llmperf_window_stats other = LLMPERF_WINDOW_STATS_INIT;

    return llmperf_profile_window(profile, index, &other) == 0 &&
           other.process_id == window->process_id &&
           strcmp(other.rule ? other.rule : "", window->rule ? window->rule : "") == 0;
}

void lp_prometheus_windows(const llmperf_profile *profile, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_WINDOW);

    lp_text_puts(out, "# HELP llmperf_windows_total Windows that a rule triggered.\n"
                      "# TYPE llmperf_windows_total counter\n");
    for (size_t i = 0; i < count; i++) {
        llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;
        char process[16];
        size_t before = 0, all = 0;

        if (llmperf_profile_window(profile, i, &window) < 0)
            continue;
        for (size_t k = 0; k < count; k++) {
            before += k < i && is_of_rule(profile, k, &window);
            all += is_of_rule(profile, k, &window);
        }
        if (before > 0)
            continue;
        snprintf(process, sizeof(process), "%u", window.process_id);
        lp_text_puts(out, "llmperf_windows_total{");
        lp_prometheus_label(out, "rule", window.rule ? window.rule : "");
        lp_prometheus_label(out, "process", process);
        lp_prometheus_value(out, (double)all);
    }
}
