/* SPDX-License-Identifier: Apache-2.0 */
/* What the configuration of a run says about its GPU reaches the numbers of its reports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/limits/limits.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"

static llmperf_profile *make_run(const char *config)
{
    llmperf_profile *profile = lp_profile_create();

    assert_int_equal(
        lp_profile_set_fact(profile, "env",
                            "{\"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H200\"}]}"),
        0);
    assert_int_equal(lp_profile_set_fact(profile, "dtype", "bf16"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "config", config), 0);
    return profile;
}

static void read_limits(struct lp_limits *limits, const llmperf_profile *profile,
                        struct lp_machine **machine)
{
    *machine = lp_machine_open(profile);
    lp_limits_init(limits, profile, *machine, 0);
}

static void peaks_of_the_configuration_win(void **state)
{
    llmperf_profile *profile = make_run("hardware:\n  peak_tflops: {bf16: 640}\n"
                                        "  bandwidth_gbs: 3000\n");
    struct lp_machine *machine;
    struct lp_limits limits;

    (void)state;
    read_limits(&limits, profile, &machine);
    check_close(limits.peak.value, 640);
    check_close(limits.bandwidth.value, 3000);
    assert_int_equal(limits.peak.origin, LLMPERF_ORIGIN_USER);
    lp_limits_clear(&limits);
    lp_machine_free(machine);
    llmperf_profile_free(profile);
}

static void a_configuration_without_them_leaves_the_tables(void **state)
{
    llmperf_profile *profile = make_run("run: {mode: deep}\n");
    struct lp_machine *machine;
    struct lp_limits limits;

    (void)state;
    read_limits(&limits, profile, &machine);
    assert_true(limits.peak.value > 900 && limits.peak.value < 1000);
    assert_int_equal(limits.peak.origin, LLMPERF_ORIGIN_TABLE);
    lp_limits_clear(&limits);
    lp_machine_free(machine);
    llmperf_profile_free(profile);
}

static void a_wrong_peak_is_a_reason(void **state)
{
    llmperf_profile *profile = make_run("hardware: {peak_tflops: -5}\n");
    struct lp_machine *machine;
    struct lp_limits limits;

    (void)state;
    read_limits(&limits, profile, &machine);
    assert_true(isnan(limits.peak.value));
    assert_non_null(strstr(limits.hardware_reason, "peak_tflops"));
    lp_limits_clear(&limits);
    lp_machine_free(machine);
    llmperf_profile_free(profile);
}

/* 10 instances, 4 of them in windows; of the others half were collected. */
static void work_in_windows_is_not_scaled(void **state)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    llmperf_utilisation out;

    (void)state;
    region.instances = 10;
    region.window_instances = 4;
    region.skipped_fraction = 0.5;
    region.flops = 1000000000;
    region.window_flops = 400000000;
    region.bytes = region.window_bytes = LLMPERF_UNKNOWN;
    region.wall_sum_ms = 10;
    region.window_ms = 4;
    region.gpu_busy_ms = 3;
    lp_limits_apply(NULL, &region, true, &out);
    check_close(out.achieved_tflops, 300000000 / 3e9); /* (1000 - 400) * 0.5 million in 3 ms */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_of_the_configuration_win),
        cmocka_unit_test(a_configuration_without_them_leaves_the_tables),
        cmocka_unit_test(a_wrong_peak_is_a_reason),
        cmocka_unit_test(work_in_windows_is_not_scaled),
    };

    unsetenv("LLMPERF_DTYPE");
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
