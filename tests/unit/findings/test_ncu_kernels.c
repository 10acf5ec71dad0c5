/* SPDX-License-Identifier: Apache-2.0 */
/* What ncu measured of kernels: columns, the Speed of Light rule, stall reasons, advice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "lib/findings/ncu/ncu_table.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"

#define STALLED(state) "smsp__average_warps_issue_stalled_" state "_per_issue_active.ratio"

static void add_metric(llmperf_profile *profile, const char *kernel, const char *name, double mean)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    metric.name = name;
    metric.unit = "";
    metric.source = "ncu";
    metric.region = "LLM@prefill";
    metric.kernel = kernel;
    metric.count = 2;
    metric.mean = metric.min = metric.max = mean;
    metric.std = NAN;
    assert_int_equal(lp_profile_add_metric(profile, &metric), 0);
}

/* A latency-bound kernel that registers keep from a higher occupancy, and a shorter one. */
static llmperf_profile *make_profile(void)
{
    static const struct {
        const char *name;
        double mean;
    } metrics[] = { { "gpu__time_duration.sum", 50000 },
                    { "sm__throughput.avg.pct_of_peak_sustained_elapsed", 21 },
                    { "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 43 },
                    { "dram__bytes_read.sum", 40e6 },
                    { "dram__bytes_write.sum", 10e6 },
                    { "l1tex__t_sector_hit_rate.pct", 12 },
                    { "lts__t_sector_hit_rate.pct", 60 },
                    { "sm__maximum_warps_per_active_cycle_pct", 25 },
                    { "sm__warps_active.avg.pct_of_peak_sustained_active", 22 },
                    { "launch__registers_per_thread", 255 },
                    { "launch__waves_per_multiprocessor", 0.5 },
                    { "launch__occupancy_limit_registers", 2 },
                    { "launch__occupancy_limit_shared_mem", 3 },
                    { "launch__occupancy_limit_warps", 8 },
                    { "launch__occupancy_limit_blocks", 32 },
                    { "device__attribute_warp_size", 32 },
                    { STALLED("selected"), 1 },
                    { STALLED("long_scoreboard"), 6 },
                    { STALLED("long_scoreboard_not_issued"), 5 },
                    { STALLED("barrier"), 2 },
                    { STALLED("wait"), 1 } };
    llmperf_profile *profile = lp_profile_create();

    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        add_metric(profile, "_Z4gemmPf", metrics[i].name, metrics[i].mean);
    add_metric(profile, "_Z3addPf", "gpu__time_duration.sum", 10000);
    assert_int_equal(lp_profile_set_fact(profile, "source", "ncu"), 0);
    lp_profile_ledger_edit(profile)->verdict = LLMPERF_VERDICT_INCOMPLETE;
    assert_int_equal(lp_profile_problem(profile, "ncu measures a choice of kernels"), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    return profile;
}

static const struct lp_findings *findings_of(const llmperf_profile *profile)
{
    const struct lp_findings *findings;

    assert_int_equal(lp_findings_of(profile, &findings), 0);
    return findings;
}

static void a_kernel_has_its_columns(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_ncu_kernels *kernels = &findings_of(profile)->ncu_kernels;
    const struct lp_ncu_kernel *gemm = &kernels->rows.items[0], *add = &kernels->rows.items[1];

    (void)state;
    assert_int_equal(kernels->rows.count, 2);
    assert_string_equal(gemm->short_name, "gemm");
    assert_int_equal(gemm->results, 2);
    assert_float_equal(gemm->duration_ms, 0.05, 1e-6f);
    assert_float_equal(gemm->total_ms, 0.1, 1e-6f);
    assert_float_equal(gemm->share, 100.0 / 120, 1e-4f);
    assert_string_equal(gemm->bound, "latency");
    assert_float_equal(gemm->dram_gbs, 1000, 1e-4f); /* 50 MB in 50 us */
    assert_float_equal(gemm->occupancy_limit_percent, 25, 1e-4f);
    assert_float_equal(gemm->registers, 255, 1e-4f);
    assert_null(gemm->reason);
    assert_true(isnan(add->sm_percent));
    assert_null(add->bound);
    assert_string_equal(add->reason, "sections not collected: SpeedOfLight, "
                                     "MemoryWorkloadAnalysis, Occupancy, WarpStateStats, "
                                     "LaunchStats");
    llmperf_profile_free(profile);
}

static void stall_reasons_are_shares_of_all_cycles_of_a_warp(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_ncu_kernel *gemm = &findings_of(profile)->ncu_kernels.rows.items[0];

    (void)state;
    assert_string_equal(gemm->stalls, "long scoreboard 60 %, barrier 20 %, wait 10 %");
    assert_float_equal(gemm->issue_cycles, 10, 1e-4f);
    llmperf_profile_free(profile);
}

static void the_bound_follows_the_speed_of_light_rule(void **state)
{
    (void)state;
    assert_string_equal(lp_ncu_bound(59.9, 30), "latency");
    assert_string_equal(lp_ncu_bound(60, 30), "compute");
    assert_string_equal(lp_ncu_bound(30, 60), "memory");
    assert_string_equal(lp_ncu_bound(70, 79), "compute and memory");
    assert_string_equal(lp_ncu_bound(75, 85), "memory"); /* above 80 % it is not balanced */
    assert_string_equal(lp_ncu_bound(85, 80), "compute");
    assert_null(lp_ncu_bound(NAN, 90));
    assert_null(lp_ncu_bound(90, NAN));
}

static void the_first_advice_is_what_the_counters_say(void **state)
{
    llmperf_profile *profile = make_profile();
    const struct lp_recommendations *advice = &findings_of(profile)->advice;
    const char *text = advice->rows.items[0].text;

    (void)state;
    assert_int_equal(advice->rows.count, 1);
    assert_string_equal(advice->rows.items[0].advice.id, "measured_kernel");
    assert_non_null(strstr(text, "gemm takes 83.3 % of the time that ncu measured (50.0 us a call, "
                                 "in LLM@prefill)."));
    assert_non_null(strstr(text, "latency-bound: compute 21.0 %, memory 43.0 % of peak"));
    assert_non_null(strstr(text, "fill 0.500 of a wave"));
    assert_non_null(strstr(text, "Occupancy is 22.0 % of at most 25.0 %, limited by registers (255 "
                                 "a thread)."));
    assert_non_null(strstr(text, "60.0 % of the 10.0 cycles between two instructions waiting for "
                                 "data of global or local memory: load earlier"));
    llmperf_profile_free(profile);
}

static void advice_says_nothing_that_was_not_counted(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    const struct lp_recommendations *advice;

    (void)state;
    add_metric(profile, "_Z3addPf", "gpu__time_duration.sum", 10000);
    assert_int_equal(lp_profile_set_fact(profile, "source", "ncu"), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    advice = &findings_of(profile)->advice;
    assert_int_equal(advice->rows.count, 1);
    assert_string_equal(advice->rows.items[0].text,
                        "add takes 100 % of the time that ncu measured (10.0 us a call, in "
                        "LLM@prefill). What limits it was not measured: collect the sections "
                        "SpeedOfLight, Occupancy and WarpStateStats (ncu --section).");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_has_its_columns),
        cmocka_unit_test(stall_reasons_are_shares_of_all_cycles_of_a_warp),
        cmocka_unit_test(the_bound_follows_the_speed_of_light_rule),
        cmocka_unit_test(the_first_advice_is_what_the_counters_say),
        cmocka_unit_test(advice_says_nothing_that_was_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
