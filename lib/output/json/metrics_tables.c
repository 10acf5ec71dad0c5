/* SPDX-License-Identifier: Apache-2.0 */
/* Members of metrics.json about device work: captures, windows, waterfalls, and rows of findings.
 */
#include <math.h>

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

void lp_put_kernel_shapes(struct lp_metrics *metrics)
{
    const struct lp_kernel_shapes *shapes = &metrics->findings->kernel_shapes;

    lp_json_open(&metrics->json, "kernel_shapes", '[');
    for (size_t i = 0; i < shapes->rows.count; i++) {
        const llmperf_kernel_shape *row = &shapes->rows.items[i];

        lp_json_open(&metrics->json, NULL, '{');
        lp_put_row(metrics, LP_ROW_KERNEL_SHAPE, NULL, row, 1);
        lp_json_string(&metrics->json, "kind", llmperf_name(LLMPERF_NAME_ACTIVITY, row->kind));
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

/* Members that a kind of parts does not have are left out. */
/* Of sampled stages only. */
static void put_half(struct lp_json *json, double half_ms)
{
    if (half_ms > 0)
        lp_json_number(json, "half_interval_ms", half_ms);
}

static void put_part(struct lp_json *json, const struct lp_waterfall_part *part)
{
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "part", lp_part_names[part->kind].name);
    lp_json_number(json, "adds_ms", part->ms);
    put_half(json, part->half_ms);
    if (part->region)
        lp_json_string(json, "region", part->region);
    if (part->kernel_class)
        lp_json_string(json, "kernel_class", part->kernel_class);
    if (!isnan(part->busy_ms)) {
        lp_json_number(json, "duration_ms", part->busy_ms);
        lp_json_number(json, "kernels", part->calls);
    }
    if (!isnan(part->bound_ms))
        lp_json_number(json, "bound_ms", part->bound_ms);
    if (part->kernel) {
        lp_json_string(json, "longest_kernel", part->kernel);
        lp_json_number(json, "longest_kernel_ms", part->kernel_ms);
    }
    lp_json_close(json, '}');
}

void lp_put_waterfall(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "waterfall", '[');
    for (size_t i = 0; i < metrics->findings->waterfalls.rows.count; i++) {
        const struct lp_waterfall *row = &metrics->findings->waterfalls.rows.items[i];

        lp_json_open(json, NULL, '{');
        lp_json_string(json, "region", row->region);
        lp_json_number(json, "elapsed_ms", row->elapsed_ms);
        put_half(json, row->half_ms);
        if (row->bound_reason)
            lp_json_string(json, "bound_reason", row->bound_reason);
        lp_json_open(json, "parts", '[');
        for (size_t part = 0; part < row->parts.count; part++)
            put_part(json, &row->parts.items[part]);
        lp_json_close(json, ']');
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

void lp_put_rows(struct lp_metrics *metrics, const char *key, enum lp_row_id id, const void *rows,
                 size_t count)
{
    lp_json_open(&metrics->json, key, '[');
    for (size_t i = 0; i < count; i++) {
        lp_json_open(&metrics->json, NULL, '{');
        lp_put_row(metrics, id, NULL, (const char *)rows + i * lp_row_kinds[id].row_size, 1);
        lp_json_close(&metrics->json, '}');
    }
    lp_json_close(&metrics->json, ']');
}
