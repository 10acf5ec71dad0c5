/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernel_work.h"
#include "lib/output/format/metrics_put.h"

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
