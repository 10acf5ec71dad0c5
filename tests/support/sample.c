/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/statistics/histogram.h"
#include "llmperf/output.h"
#include "tests/support/sample.h"

static const char env[] =
    "{\"driver\": {\"kernel_version\": \"580.1\", \"cuda_version\": \"13.0\"},"
    " \"host\": {\"cpu_model\": \"a processor\", \"hostname\": \"host\"},"
    " \"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H200\", \"compute_capability\": \"9.0\","
    " \"sm_count\": 132, \"memory_bytes\": 150120759296, \"clock_khz\": 1980000,"
    " \"memory_clock_khz\": 3201000, \"bus_width_bits\": 6144, \"l2_bytes\": 62914560}]}";

/* A test without memory cannot go on. */
static void need(int status)
{
    if (status < 0)
        abort();
}

llmperf_region_stats *sample_region(llmperf_profile *profile, const char *path, const char *parent,
                                    uint64_t instances, double wall_ms, double busy_ms)
{
    struct lp_region_row row = { .stats = LLMPERF_REGION_STATS_INIT };
    llmperf_region_stats *stats = &row.stats;
    const char *slash = strrchr(path, '/');

    stats->path = lp_profile_text(profile, path);
    stats->label = lp_profile_text(profile, slash ? slash + 1 : path);
    stats->parent = lp_profile_text(profile, parent);
    stats->stage = stats->label;
    stats->depth = parent != NULL;
    stats->kind = LLMPERF_REGION_STAGE;
    stats->process_id = 7;
    stats->instances = instances;
    stats->wall_sum_ms = wall_ms * (double)instances;
    stats->wall_mean_ms = stats->wall_min_ms = stats->wall_max_ms = wall_ms;
    stats->wall_p50_ms = stats->wall_p95_ms = stats->wall_p99_ms = wall_ms;
    stats->wall_std_ms = instances > 1 ? 0 : (double)NAN;
    stats->gpu_busy_ms = stats->exclusive_gpu_busy_ms = busy_ms * (double)instances;
    stats->kernel_ms = stats->exclusive_kernel_ms = stats->gpu_busy_ms;
    stats->idle_ms = fmax(0, stats->wall_sum_ms - stats->gpu_busy_ms);
    stats->active_ms = stats->collected_wall_ms = NAN;
    stats->tokens = stats->sequences = stats->context = LLMPERF_UNKNOWN;
    stats->flops = stats->bytes = LLMPERF_UNKNOWN;
    LP_NO_ESTIMATE(&row.stats);
    need(lp_vector_push(&profile->regions, row));
    return &profile->regions.items[profile->regions.count - 1].stats;
}

void sample_kernel(llmperf_profile *profile, const char *name, const char *region, uint32_t kind,
                   uint64_t calls, double total_ms)
{
    struct lp_kernel_row row = { .stats = LLMPERF_KERNEL_STATS_INIT };
    llmperf_kernel_stats *stats = &row.stats;

    stats->name = lp_profile_text(profile, name);
    stats->region = lp_profile_text(profile, region);
    stats->kind = kind;
    stats->calls = calls;
    stats->total_ms = total_ms;
    stats->mean_ms = stats->min_ms = stats->max_ms = total_ms / (double)calls;
    stats->p50_ms = stats->p95_ms = stats->p99_ms = stats->mean_ms;
    LP_NO_ESTIMATE(&row.stats);
    need(lp_vector_push(&profile->kernels, row));
}

llmperf_region_stats *sample_find(llmperf_profile *profile, const char *path)
{
    for (size_t i = 0; i < profile->regions.count; i++)
        if (strcmp(profile->regions.items[i].stats.path, path) == 0)
            return &profile->regions.items[i].stats;
    abort();
}

static void add_regions(llmperf_profile *profile)
{
    llmperf_region_stats *region = sample_region(profile, "LLM@prefill", NULL, 1, 50, 46);

    region->tokens = 2048;
    region->sequences = 1;
    region->flops = UINT64_C(29688401494016);
    region->bytes = UINT64_C(15278424064);
    region->flops_origin = region->bytes_origin = LLMPERF_WORK_MODEL;
    region->kernel_count = 400;
    sample_region(profile, "LLM@prefill/LLM@vision", "LLM@prefill", 1, 12, 11)->kernel_count = 90;
    sample_region(profile, "LLM@decode_all", NULL, 1, 3100, 1200)->kernel_count =
        SAMPLE_STEPS * UINT64_C(500);
    region = sample_region(profile, SAMPLE_STEP, "LLM@decode_all", SAMPLE_STEPS, 10, 4);
    region->wall_std_ms = 2.5;
    region->wall_max_ms = 31;
    region->wall_p50_ms = 9.8;
    region->wall_p99_ms = 30;
    region->kernel_count = SAMPLE_STEPS * UINT64_C(500);
    region->tokens = region->sequences = SAMPLE_STEPS * UINT64_C(8);
    region->context = SAMPLE_STEPS * UINT64_C(16384);
    region->flops = SAMPLE_STEPS * UINT64_C(128664469504);
    region->bytes = SAMPLE_STEPS * UINT64_C(17158447104);
    region->flops_origin = LLMPERF_WORK_MODEL;
    region->bytes_origin = LLMPERF_WORK_PROGRAM;
}

static void add_kernels(llmperf_profile *profile)
{
    const uint32_t kernel = LLMPERF_ACTIVITY_KERNEL;

    sample_kernel(profile, "nvjet_gemm_a", "LLM@prefill", kernel, 300, 30);
    sample_kernel(profile, "flash_fwd", "LLM@prefill", kernel, 10, 5);
    sample_kernel(profile, "conv2d_patch", "LLM@prefill/LLM@vision", kernel, 90, 11);
    sample_kernel(profile, "nvjet_gemm_b", SAMPLE_STEP, kernel, 60000, 700);
    sample_kernel(profile, "flash_decode", SAMPLE_STEP, kernel, 9600, 300);
    sample_kernel(profile, "rms_norm", SAMPLE_STEP, kernel, 80400, 170);
    sample_kernel(profile, "[memcpy DtoH]", SAMPLE_STEP, LLMPERF_ACTIVITY_MEMCPY, 300, 30);
}

static void add_iterations(llmperf_profile *profile)
{
    for (uint64_t i = 0; i < SAMPLE_STEPS; i++) {
        llmperf_iteration row = LLMPERF_ITERATION_INIT;

        row.region = lp_profile_text(profile, SAMPLE_STEP);
        row.sequence = i + 1;
        row.begin_ns = UINT64_C(1000000000) + i * 10500000;
        row.activities = 501;
        row.tokens = row.sequences = 8;
        row.context = 16384;
        row.flops = UINT64_C(128664469504);
        row.bytes = UINT64_C(17158447104);
        row.wall_ms = i % 100 == 99 ? 31 : 9.8;
        row.span_ms = 9;
        row.busy_ms = 4;
        row.idle_ms = 5;
        row.idle_launch_ms = 4;
        row.idle_host_ms = 0;
        row.idle_wait_ms = 1;
        row.class_ms[0] = 2.5;
        row.class_ms[1] = 1;
        row.class_ms[2] = 0.5;
        need(lp_vector_push(&profile->iterations, row));
    }
    need(lp_profile_set_fact(profile, LP_CLASS_FACT "0", "GEMM"));
    need(lp_profile_set_fact(profile, LP_CLASS_FACT "1", "attention"));
    need(lp_profile_set_fact(profile, LP_CLASS_FACT "2", "norm"));
}

static struct lp_blob step_histogram(llmperf_profile *profile)
{
    struct lp_histogram histogram = { 0 };
    struct lp_text text = { NULL, 0, 0, false };
    struct lp_blob blob;

    for (int i = 0; i < SAMPLE_STEPS; i++)
        need(lp_histogram_add(&histogram, i % 100 == 99 ? 31000000 : 9800000));
    lp_histogram_encode(&histogram, &text);
    blob = (struct lp_blob){ lp_strings_add_bytes(&profile->pool, text.bytes, text.length),
                             text.length };
    lp_text_clear(&text);
    lp_histogram_clear(&histogram);
    return blob;
}

static void add_stats(llmperf_profile *profile, const char *quantity, uint32_t is_class,
                      double mean_ms)
{
    struct lp_iteration_stats_row row = { .stats = LLMPERF_ITERATION_STATS_INIT };
    llmperf_iteration_stats *stats = &row.stats;

    stats->region = lp_profile_text(profile, SAMPLE_STEP);
    stats->quantity = lp_profile_text(profile, quantity);
    stats->is_class = is_class;
    stats->count = SAMPLE_STEPS;
    stats->sum_ms = mean_ms * SAMPLE_STEPS;
    stats->mean_ms = stats->min_ms = stats->max_ms = mean_ms;
    stats->p50_ms = stats->p95_ms = stats->p99_ms = mean_ms;
    if (strcmp(quantity, "wall") == 0) {
        stats->p50_ms = stats->p95_ms = stats->min_ms = 9.8;
        stats->p99_ms = stats->max_ms = 31;
        stats->std_ms = 2.1;
        row.histogram = step_histogram(profile);
    }
    need(lp_vector_push(&profile->iteration_stats, row));
}

static void add_facts(llmperf_profile *profile)
{
    need(lp_profile_set_fact(profile, "run_id", "20260101-120000-7"));
    need(lp_profile_set_fact(profile, "created_at", "2026-01-01T12:00:00Z"));
    need(lp_profile_set_fact(profile, "llmperf_version", "0.1.0"));
    need(lp_profile_set_fact(profile, "tier", "deep"));
    need(lp_profile_set_fact(profile, "source", "fake"));
    need(lp_profile_set_fact(profile, "duration_ms", "3300.5"));
    need(lp_profile_set_fact(profile, "dtype", "bf16"));
    need(lp_profile_set_fact(profile, "env", env));
}

static void set_ledger(llmperf_profile *profile)
{
    llmperf_ledger *ledger = &profile->ledger;

    ledger->launches_expected = ledger->kernels_seen = ledger->kernels_attributed = 150400;
    ledger->memory_calls = ledger->memory_seen = 300;
    ledger->tracing_overhead_ms = NAN;
    ledger->sampled_fraction = 1;
    ledger->attributed_gpu_time_share = 1;
    ledger->verdict = LLMPERF_VERDICT_COMPLETE;
}

llmperf_profile *sample_rows(void)
{
    llmperf_profile *profile = lp_profile_create();

    if (!profile)
        abort();
    add_facts(profile);
    set_ledger(profile);
    add_regions(profile);
    add_kernels(profile);
    add_iterations(profile);
    add_stats(profile, "wall", 0, 10);
    add_stats(profile, "elapsed", 0, 10);
    add_stats(profile, "before", 0, 0.5);
    add_stats(profile, "span", 0, 9);
    add_stats(profile, "busy", 0, 4);
    add_stats(profile, "idle", 0, 5);
    add_stats(profile, "idle_launch", 0, 4);
    add_stats(profile, "idle_host", 0, 0);
    add_stats(profile, "idle_wait", 0, 1);
    add_stats(profile, "after", 0, 0.5);
    add_stats(profile, "GEMM", 1, 2.5);
    add_stats(profile, "attention", 1, 1);
    add_stats(profile, "norm", 1, 0.5);
    return profile;
}

llmperf_profile *sample_profile(void)
{
    llmperf_profile *profile = sample_rows();

    need(lp_profile_finish(profile));
    return profile;
}

char *sample_report_md(llmperf_profile *profile)
{
    char *text = NULL;

    need(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text));
    llmperf_profile_free(profile);
    return text;
}
