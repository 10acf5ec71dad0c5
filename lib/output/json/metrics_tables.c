/* SPDX-License-Identifier: Apache-2.0 */
/* Members of metrics.json about device work: captures, windows, ranks, kernel_roofline. */
#include "lib/output/format/metrics_put.h"
#include "lib/output/format/row_fields.h"

void lp_put_captures(struct lp_metrics *metrics)
{
    const struct lp_tables *tables = &metrics->findings->tables;

    lp_json_open(&metrics->json, "captures", '[');
    for (size_t i = 0; i < tables->captures.count; i++) {
        const struct lp_capture_finding *row = &tables->captures.items[i];

        lp_json_open(&metrics->json, NULL, '{');
        lp_put_row(metrics, LP_ROW_CAPTURE, NULL, &row->stats, row->calls);
        lp_put_number(metrics, "instance_ms", row->call_ms, LP_REASON_NO_INSTANCE);
        lp_json_close(&metrics->json, '}');
    }
    lp_json_close(&metrics->json, ']');
}

static void put_window_kernels(struct lp_json *json, const llmperf_profile *profile,
                               const struct lp_window_finding *window)
{
    lp_json_open(json, "kernels", '[');
    for (size_t i = 0; i < window->kernels; i++) {
        llmperf_window_kernel kernel = LLMPERF_WINDOW_KERNEL_INIT;

        llmperf_profile_window_kernel(profile, window->first_kernel + i, &kernel);
        lp_json_open(json, NULL, '{');
        lp_row_json(json, LP_ROW_WINDOW_KERNEL, &kernel);
        lp_json_string(json, "kind", llmperf_name(LLMPERF_NAME_ACTIVITY, kernel.kind));
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

void lp_put_windows(struct lp_metrics *metrics)
{
    const struct lp_tables *tables = &metrics->findings->tables;
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "windows", '[');
    for (size_t i = 0; i < tables->windows.count; i++) {
        lp_json_open(json, NULL, '{');
        lp_row_json(json, LP_ROW_WINDOW, &tables->windows.items[i].stats);
        put_window_kernels(json, metrics->findings->profile, &tables->windows.items[i]);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

void lp_put_ranks(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "ranks", '[');
    for (size_t i = 0; i < metrics->findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &metrics->findings->ranks.rows.items[i];

        lp_json_open(json, NULL, '{');
        lp_json_string(json, "region", rank->region);
        lp_json_count(json, "process_id", rank->process_id);
        lp_json_count(json, "device", (uint64_t)rank->device);
        lp_json_count(json, "instances", rank->instances);
        lp_put_number(metrics, "wall_ms", rank->wall_ms, LP_REASON_NO_INSTANCE);
        lp_json_number(json, "compute_ms", rank->compute_ms);
        lp_json_number(json, "collective_ms", rank->collective_ms);
        lp_json_number(json, "collective_count", rank->collective_count);
        lp_put_number(metrics, "waiting_ms", rank->waiting_ms, LP_REASON_UNLIKE_RANKS);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static void put_work(struct lp_json *json, const struct lp_kernel_work *work)
{
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "kernel_name", work->demangled);
    lp_json_string(json, "short_name", work->short_name);
    lp_json_count(json, "device", work->device < 0 ? LLMPERF_UNKNOWN : (uint64_t)work->device);
    lp_json_count(json, "calls", work->calls);
    lp_json_number(json, "total_ms", work->total_ms);
    lp_json_number(json, "share", work->share);
    lp_json_number(json, "flops", work->flops);
    lp_json_number(json, "bytes", work->bytes);
    lp_json_number(json, "time_ms", work->time_ms);
    lp_json_number(json, "intensity", work->intensity);
    lp_json_number(json, "achieved_tflops", work->achieved_tflops);
    lp_json_number(json, "attainable_tflops", work->attainable_tflops);
    lp_json_number(json, "achieved_gbs", work->achieved_gbs);
    lp_json_string(json, "dtype", work->dtype);
    lp_json_string(json, "source", work->source);
    lp_json_string(json, "reason", work->reason);
    lp_json_close(json, '}');
}

void lp_put_kernel_roofline(struct lp_metrics *metrics)
{
    const struct lp_kernel_works *works = &metrics->findings->kernel_works;

    lp_json_open(&metrics->json, "kernel_roofline", '[');
    for (size_t i = 0; i < works->rows.count; i++)
        put_work(&metrics->json, &works->rows.items[i]);
    lp_json_close(&metrics->json, ']');
}
