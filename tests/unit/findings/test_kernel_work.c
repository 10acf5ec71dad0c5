/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs and bytes of single kernels: from quantities of presets, from metrics of ncu in each of
 * their forms, from regions that run one kernel; and null where they are not known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/findings/findings.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"

#define H200                                                                                       \
    "{\"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H200\", \"compute_capability\": \"9.0\","      \
    " \"sm_count\": 132, \"memory_bytes\": 150000000000}]}"

static llmperf_profile *make_profile(void)
{
    llmperf_profile *profile = lp_profile_create();

    assert_int_equal(lp_profile_set_fact(profile, "env", H200), 0);
    profile->ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    return profile;
}

static void add_kernel(llmperf_profile *profile, const char *name, const char *region,
                       uint64_t calls, double total_ms)
{
    struct lp_kernel_row row = { LLMPERF_KERNEL_STATS_INIT, { NULL, 0 } };

    row.stats.name = name;
    row.stats.region = region;
    row.stats.kind = LLMPERF_ACTIVITY_KERNEL;
    row.stats.calls = calls;
    row.stats.total_ms = total_ms;
    row.stats.mean_ms = total_ms / (double)calls;
    assert_int_equal(lp_vector_push(&profile->kernels, row), 0);
}

static void add_metric(llmperf_profile *profile, const char *kernel, const char *region,
                       const char *name, uint64_t count, double mean)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    metric.name = name;
    metric.unit = "";
    metric.source = strstr(name, "__") ? "ncu" : "range_profiler";
    metric.region = region;
    metric.kernel = kernel;
    metric.count = count;
    metric.mean = metric.min = metric.max = mean;
    metric.std = NAN;
    assert_int_equal(lp_profile_add_metric(profile, &metric), 0);
}

struct read {
    const struct lp_findings *findings;
};

static void read_profile(struct read *read, llmperf_profile *profile)
{
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(lp_findings_of(profile, &read->findings), 0);
}

static void clear(struct read *read, llmperf_profile *profile)
{
    (void)read;
    llmperf_profile_free(profile);
}

static const struct lp_kernel_work *work_of(const struct read *read, const char *name)
{
    for (size_t i = 0; i < read->findings->kernel_works.rows.count; i++)
        if (strcmp(read->findings->kernel_works.rows.items[i].name, name) == 0)
            return &read->findings->kernel_works.rows.items[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static void quantities_of_a_preset_place_a_kernel_without_times(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_kernel_work *work;
    struct read read;

    (void)state;
    /* Two regions: three calls of 2 us, one of 6 us. */
    for (int i = 0; i < 2; i++) {
        const char *region = i ? "LLM@b" : "LLM@a";

        add_metric(profile, "_Z4gemmPf", region, "gpu_time", i ? 1 : 3, i ? 6000 : 2000);
        add_metric(profile, "_Z4gemmPf", region, "tensor_flops_bf16", i ? 1 : 3, i ? 4e9 : 2e9);
        add_metric(profile, "_Z4gemmPf", region, "flops_fp32", i ? 1 : 3, 0);
        add_metric(profile, "_Z4gemmPf", region, "dram_read_bytes", i ? 1 : 3, 4e6);
        add_metric(profile, "_Z4gemmPf", region, "dram_write_bytes", i ? 1 : 3, 1e6);
    }
    read_profile(&read, profile);
    assert_int_equal(read.findings->kernel_works.rows.count, 1);
    work = work_of(&read, "_Z4gemmPf");
    assert_string_equal(work->short_name, "gemm");
    assert_int_equal(work->calls, 4);
    check_close(work->total_ms, 0.012);
    check_close(work->time_ms, 0.003);
    check_close(work->flops, 2.5e9);
    check_close(work->bytes, 5e6);
    check_close(work->intensity, 500);
    check_close(work->achieved_tflops, 2.5e9 / 3e-6 / 1e12);
    check_close(work->achieved_gbs, 5e6 / 3e-6 / 1e9);
    assert_string_equal(work->dtype, "bf16");
    assert_string_equal(work->source, "range_profiler");
    assert_null(work->reason);
    /* Right of the ridge of bf16: its peak. */
    assert_true(work->attainable_tflops > 900 && work->attainable_tflops < 1000);
    assert_true(lp_kernel_work_has_point(work));
    clear(&read, profile);
}

/* Older versions of ncu count them of an SM, newer ones of its four parts. */
static void a_fused_multiply_add_is_two_operations_however_it_is_counted(void **state)
{
    static const char *const units[] = { "sm", "smsp" }, *const types[] = { "f", "d" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static const struct {
            const char *op;
            double count;
        } ops[] = { { "fma", 1e6 }, { "add", 5e5 }, { "mul", 2e5 } };
        llmperf_profile *profile = make_profile();
        struct read read;
        char name[128];

        add_kernel(profile, "k", "", 1, 0.01);
        for (size_t k = 0; k < 3; k++) {
            snprintf(name, sizeof(name), "%s__sass_thread_inst_executed_op_%s%s_pred_on.sum",
                     units[i / 2], types[i % 2], ops[k].op);
            add_metric(profile, "k", "", name, 1, ops[k].count);
        }
        read_profile(&read, profile);
        check_close(work_of(&read, "k")->flops, 2 * 1e6 + 5e5 + 2e5);
        clear(&read, profile);
    }
}

static void metrics_of_ncu_are_taken_in_any_form(void **state)
{
    static const char ffma[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    static const char fadd[] = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
    static const char fmul[] = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
    llmperf_profile *profile = make_profile();
    const struct lp_kernel_work *plain, *rates;
    struct read read;
    char name[128];

    (void)state;
    add_kernel(profile, "plain", "", 2, 0.02);
    add_metric(profile, "plain", "", "gpu__time_duration.sum", 2, 10000);
    add_metric(profile, "plain", "", "dram__bytes_read.sum", 2, 3e6);
    add_metric(profile, "plain", "", "dram__bytes_write.sum", 2, 1e6);
    add_metric(profile, "plain", "", ffma, 2, 1e6);
    add_metric(profile, "plain", "", fadd, 2, 5e5);
    add_metric(profile, "plain", "", fmul, 2, 2e5);
    /* The maximum over units is another thing than the sum. */
    add_metric(profile, "plain", "", "dram__bytes_read.max", 2, 9e9);
    add_kernel(profile, "rates", "", 1, 0.01);
    add_metric(profile, "rates", "", "gpu__time_duration.sum", 1, 10000);
    add_metric(profile, "rates", "", "dram__bytes.sum.per_second", 1, 4e11);
    add_metric(profile, "rates", "", "smsp__cycles_elapsed.avg", 1, 1000);
    snprintf(name, sizeof(name), "%s.per_cycle_elapsed", ffma);
    add_metric(profile, "rates", "", name, 1, 1000);
    snprintf(name, sizeof(name), "%s.per_cycle_elapsed", fadd);
    add_metric(profile, "rates", "", name, 1, 500);
    snprintf(name, sizeof(name), "%s.per_cycle_elapsed", fmul);
    add_metric(profile, "rates", "", name, 1, 200);
    read_profile(&read, profile);
    plain = work_of(&read, "plain");
    rates = work_of(&read, "rates");
    check_close(plain->flops, 2 * 1e6 + 5e5 + 2e5);
    check_close(plain->bytes, 4e6);
    assert_string_equal(plain->dtype, "fp32");
    assert_string_equal(plain->source, "ncu");
    check_close(rates->flops, plain->flops);
    check_close(rates->bytes, plain->bytes);
    check_close(rates->achieved_tflops, plain->achieved_tflops);
    /* Left of the ridge: the bandwidth. */
    check_close(plain->attainable_tflops,
                plain->intensity * read.findings->limits.bandwidth.value / 1e3);
    clear(&read, profile);
}

static void what_was_not_counted_is_not_known(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_kernel_work *work;
    struct read read;

    (void)state;
    add_kernel(profile, "nothing", "", 1, 3);
    /* No bf16: but it may compute in fp32, which nobody counted. */
    add_kernel(profile, "half", "", 1, 2);
    add_metric(profile, "half", "", "tensor_flops_bf16", 1, 0);
    add_metric(profile, "half", "", "dram_read_bytes", 1, 1e6);
    add_metric(profile, "half", "", "dram_write_bytes", 1, 1e6);
    /* All kinds were counted: it does none. */
    add_kernel(profile, "copy", "", 1, 1);
    add_metric(profile, "copy", "", "tensor_flops_bf16", 1, 0);
    add_metric(profile, "copy", "", "flops_fp32", 1, 0);
    add_metric(profile, "copy", "", "dram_read_bytes", 1, 1e6);
    add_metric(profile, "copy", "", "dram_write_bytes", 1, 1e6);
    read_profile(&read, profile);
    work = work_of(&read, "nothing");
    assert_true(isnan(work->flops) && isnan(work->bytes) && isnan(work->achieved_tflops));
    assert_null(work->source);
    assert_non_null(strstr(work->reason, "replay=kernel"));
    work = work_of(&read, "half");
    assert_true(isnan(work->flops) && isnan(work->intensity));
    check_close(work->bytes, 2e6);
    assert_non_null(strstr(work->reason, "not all of its FLOPs"));
    work = work_of(&read, "copy");
    check_close(work->flops, 0);
    check_close(work->intensity, 0);
    check_close(work->achieved_gbs, 2);
    assert_null(work->reason);
    assert_false(lp_kernel_work_has_point(work));
    clear(&read, profile);
}

static void add_region(llmperf_profile *profile, const char *path, uint64_t kernels,
                       double kernel_ms)
{
    struct lp_region_row row = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };

    row.stats.path = row.stats.label = path;
    row.stats.kind = LLMPERF_REGION_STAGE;
    row.stats.instances = 2;
    row.stats.wall_sum_ms = row.stats.gpu_busy_ms = row.stats.kernel_ms = kernel_ms;
    row.stats.kernel_count = kernels;
    row.stats.flops = 4000000;
    row.stats.bytes = 2000000;
    row.stats.flops_origin = row.stats.bytes_origin = LLMPERF_WORK_PROGRAM;
    row.stats.tokens = LLMPERF_UNKNOWN;
    assert_int_equal(lp_vector_push(&profile->regions, row), 0);
}

static void a_region_of_one_kernel_gives_its_work(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_kernel_work *work;
    struct read read;

    (void)state;
    add_region(profile, "LLM@alone", 4, 0.4);
    add_region(profile, "LLM@mixed", 5, 0.5);
    add_kernel(profile, "alone", "LLM@alone", 4, 0.4);
    add_kernel(profile, "one", "LLM@mixed", 4, 0.4);
    add_kernel(profile, "other", "LLM@mixed", 1, 0.1);
    read_profile(&read, profile);
    work = work_of(&read, "alone");
    check_close(work->flops, 1e6);
    check_close(work->bytes, 5e5);
    check_close(work->time_ms, 0.1);
    assert_non_null(strstr(work->source, "program"));
    assert_null(work_of(&read, "one")->source);
    assert_null(work_of(&read, "other")->source);
    clear(&read, profile);
}

static void the_kernels_with_the_most_time_come_first_and_the_rest_is_left_out(void **state)
{
    llmperf_profile *profile = make_profile();
    struct read read;
    char name[16];

    (void)state;
    for (int i = 0; i < 2 * LP_KERNEL_WORK_MOST; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        add_kernel(profile, lp_profile_text(profile, name), "", 1, 1 + i);
    }
    read_profile(&read, profile);
    assert_int_equal(read.findings->kernel_works.rows.count, LP_KERNEL_WORK_MOST);
    assert_string_equal(read.findings->kernel_works.rows.items[0].name, "k39");
    assert_true(read.findings->kernel_works.rows.items[0].share < 40.0 / 800);
    clear(&read, profile);
}

static void documents_show_kernels_where_regions_have_no_work(void **state)
{
    llmperf_profile *profile = make_profile();
    char *html = NULL, *json = NULL, *md = NULL;
    json_t *root;

    (void)state;
    add_metric(profile, "<gemm>", "LLM@a", "gpu_time", 1, 1000);
    add_metric(profile, "<gemm>", "LLM@a", "tensor_flops_bf16", 1, 1e8);
    add_metric(profile, "<gemm>", "LLM@a", "dram_read_bytes", 1, 1e6);
    add_metric(profile, "<gemm>", "LLM@a", "dram_write_bytes", 1, 1e6);
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_HTML, &html), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &json), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &md), 0);
    assert_non_null(strstr(html, "\"kernel_roofline\":[{\"kernel_name\":\"\\u003cgemm>\""));
    assert_null(strstr(html, "<gemm>"));
    assert_non_null(strstr(md, "Top kernels on the roofline"));
    assert_non_null(root = json_loads(json, 0, NULL));
    check_close(json_number_value(json_object_get(
                    json_array_get(json_object_get(root, "kernel_roofline"), 0), "intensity")),
                50);
    json_decref(root);
    llmperf_text_free(html);
    llmperf_text_free(json);
    llmperf_text_free(md);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_of_a_preset_place_a_kernel_without_times),
        cmocka_unit_test(a_fused_multiply_add_is_two_operations_however_it_is_counted),
        cmocka_unit_test(metrics_of_ncu_are_taken_in_any_form),
        cmocka_unit_test(what_was_not_counted_is_not_known),
        cmocka_unit_test(a_region_of_one_kernel_gives_its_work),
        cmocka_unit_test(the_kernels_with_the_most_time_come_first_and_the_rest_is_left_out),
        cmocka_unit_test(documents_show_kernels_where_regions_have_no_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
