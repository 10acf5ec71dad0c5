/* SPDX-License-Identifier: Apache-2.0 */
/* Energy, clocks and memory of GPUs against planted samples, from the script to the documents. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/text.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

#define MS UINT64_C(1000000)

struct plan {
    uint64_t counter_mj; /* at the first sample */
    const char *more;    /* of each sample */
    bool without_samples;
};

/* Idle at 100 W to 2 s, prefill at 600 W to 4 s, decode at 300 W to 10 s, idle to 11 s; power in
 * W at each 100 ms, throttled while it is 600. */
static unsigned watts_at(uint64_t ms)
{
    return ms < 2000 ? 100 : ms < 4000 ? 600 : ms < 10000 ? 300 : 100;
}

static void put_event(struct lp_text *script, uint64_t ms)
{
    if (ms == 2000)
        lp_text_puts(script, "begin LLM@prefill tokens=1000 flops=1000000000000000\n"
                             "launch gemm duration=1999000000\n");
    if (ms == 4000)
        lp_text_puts(script, "end\nbegin LLM@decode_all\n");
    if (ms >= 4000 && ms < 10000 && ms % 500 == 0)
        lp_text_printf(script, "%sbegin LLM@decode_step tokens=8\nlaunch gemv duration=499000000\n",
                       ms > 4000 ? "end\n" : "");
    if (ms == 10000)
        lp_text_puts(script, "end\nend\n");
}

static struct lp_text make_script(const struct plan *plan)
{
    struct lp_text script = { NULL, 0, 0, false };
    uint64_t mj = plan->counter_mj;

    lp_text_puts(&script, "gpu \"NVIDIA H100 80GB HBM3\"\n");
    for (uint64_t ms = 1000; ms <= 11000; ms += 100) {
        unsigned watts = watts_at(ms);

        lp_text_printf(&script, "at %llu\n", (unsigned long long)(ms * MS));
        if (!plan->without_samples)
            lp_text_printf(&script,
                           "nvml energy=%llu power=%u power_limit=700000 sm_clock=%u "
                           "sm_clock_max=1980 reasons=%u used=%llu total=85899345920%s\n",
                           (unsigned long long)mj, 1000 * watts,
                           watts == 100   ? 345
                           : watts == 600 ? 1464
                                          : 1830,
                           watts == 100   ? 1
                           : watts == 600 ? 4
                                          : 0,
                           (unsigned long long)(ms < 5000 ? ms << 20 : 3000u << 20),
                           plan->more ? plan->more : "");
        mj += watts * 100;
        put_event(&script, ms);
    }
    return script;
}

static llmperf_profile *play(const struct plan *plan)
{
    struct lp_text script = make_script(plan);
    llmperf_profile *profile;
    llmperf_session_options options = script_options(script.bytes);

    options.settings = "run.dtype=bf16";
    profile = play_options(&options);
    lp_text_clear(&script);
    return profile;
}

static llmperf_profile *play_plain(void)
{
    return play(&(struct plan){ .counter_mj = 7000 });
}

static llmperf_energy energy_of(const llmperf_profile *profile)
{
    llmperf_energy energy = LLMPERF_ENERGY_INIT;

    assert_int_equal(llmperf_profile_energy(profile, 0, &energy), 0);
    return energy;
}

static llmperf_stage stage_of(const llmperf_profile *profile, const char *path, size_t *row_out)
{
    llmperf_stage stage = LLMPERF_STAGE_INIT;

    for (*row_out = 0; *row_out < llmperf_profile_count(profile, LLMPERF_ROWS_STAGES); ++*row_out) {
        assert_int_equal(llmperf_profile_stage(profile, *row_out, &stage), 0);
        if (strcmp(stage.path, path) == 0)
            return stage;
    }
    fail_msg("no stage %s", path);
    return stage;
}

static void check_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%g is not %g within %g", value, expected, error);
}

static void energy_of_stages_and_outside_is_that_of_the_counter(void **state)
{
    llmperf_profile *profile = play_plain();
    llmperf_energy energy = energy_of(profile);
    double prefill = find_region(profile, "LLM@prefill", 0).energy_j;
    double decode = find_region(profile, "LLM@decode_all", 0).energy_j;
    double steps = find_region(profile, "LLM@decode_all/LLM@decode_step", 0).energy_j;

    (void)state;
    assert_string_equal(energy.source, "counter");
    assert_int_equal(energy.samples, 101);
    check_near(energy.energy_j, 100 + 1200 + 1800 + 100, 1e-6);
    check_near(prefill, 1200, 0.01);
    check_near(decode, 1800, 0.01);
    check_near(steps, 1800, 0.2);
    check_near(prefill + decode, energy.stages_j, 1e-6);
    check_near(energy.stages_j + energy.outside_j, energy.energy_j, 1e-6);
    check_near(energy.power_w, 320, 1e-6);
    assert_true(find_region(profile, "LLM@prefill", 0).energy_error_j > 0);
    assert_true(find_region(profile, "LLM@prefill", 0).energy_error_j < 0.1 * prefill);
    llmperf_profile_free(profile);
}

static void energy_of_a_token_and_mfu_at_the_clock_follow(void **state)
{
    llmperf_profile *profile = play_plain();
    size_t row;
    llmperf_stage prefill = stage_of(profile, "LLM@prefill", &row);
    llmperf_stage decode = stage_of(profile, "LLM@decode_all/LLM@decode_step", &row);

    (void)state;
    check_near(prefill.token_j, 1.2, 1e-4);
    check_near(decode.token_j, 1800.0 / (12 * 8), 0.01);
    check_near(prefill.sm_clock_mhz, 1464, 15); /* half of the last piece is of the next sample */
    check_near(decode.sm_clock_mhz, 1830, 15);
    /* The bf16 peak of an H100 is at 1830 MHz. */
    check_near(prefill.mfu_at_clock, prefill.mfu * 1830 / prefill.sm_clock_mhz, 1e-9);
    assert_null(llmperf_profile_stage_reason(profile, row, "energy_j"));
    llmperf_profile_free(profile);
}

static void clocks_and_memory_are_those_of_the_samples(void **state)
{
    llmperf_profile *profile = play_plain();
    llmperf_energy energy = energy_of(profile);

    (void)state;
    check_near(energy.active_ms, 8000, 1e-6);
    check_near(energy.throttled_share, 0.25, 1e-6);
    check_near(energy.power_cap_share, 0.25, 1e-6);
    check_near(energy.thermal_share, 0, 0);
    check_near(energy.sm_clock_mhz, (1464 * 2 + 1830 * 6) / 8.0, 1e-6);
    check_near(energy.sm_clock_min_mhz, 1464, 0);
    assert_true(isnan(energy.memory_clock_mhz) && isnan(energy.temperature_max_c));
    assert_int_equal(energy.memory_begin_bytes, 1000u << 20);
    assert_int_equal(energy.memory_peak_bytes, UINT64_C(4900) << 20);
    assert_int_equal(energy.memory_end_bytes, UINT64_C(3000) << 20);
    llmperf_profile_free(profile);
}

static char *document(const llmperf_profile *profile, uint32_t document)
{
    char *text = NULL;

    if (llmperf_document_text(profile, document, &text) < 0)
        fail_msg("%s", llmperf_last_error());
    return text;
}

static void documents_have_energy_and_clocks(void **state)
{
    llmperf_profile *profile = play_plain();
    char *text = document(profile, LLMPERF_DOCUMENT_REPORT_MD);

    (void)state;
    assert_text_has(text, "## Energy and clocks\n");
    assert_text_has(text, "3200 J ± ");
    assert_text_has(text, "**Clocks were throttled 25.00 % of the time**");
    assert_text_has(text, "4.785 GiB at most");
    llmperf_text_free(text);
    text = document(profile, LLMPERF_DOCUMENT_PROMETHEUS);
    assert_text_has(text, "llmperf_gpu_energy_joules_total{device=\"0\"} 3200");
    assert_text_has(text, "llmperf_region_energy_joules_total{region=\"LLM@prefill\"");
    assert_text_has(text, "llmperf_gpu_throttled_ratio{device=\"0\"} 0.25\n");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void a_recording_and_a_run_file_have_the_same_energy(void **state)
{
    struct lp_text script = make_script(&(struct plan){ .counter_mj = 1 });
    llmperf_session_options options = script_options(script.bytes);
    llmperf_profile *live;
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s", in_test_folder("energy.llmrec"));
    options.record_path = path;
    live = play_options(&options);
    lp_text_clear(&script);
    check_document(live, LLMPERF_DOCUMENT_METRICS_JSON, "joules_per_token");
    check_lasts(live, path);
    llmperf_profile_free(live);
}

static void a_run_without_samples_says_why(void **state)
{
    llmperf_profile *profile = play(&(struct plan){ .without_samples = true });
    size_t row;
    llmperf_stage prefill = stage_of(profile, "LLM@prefill", &row);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ENERGY), 0);
    assert_true(isnan(prefill.energy_j) && isnan(prefill.token_j) && isnan(prefill.sm_clock_mhz));
    assert_string_equal(llmperf_profile_stage_reason(profile, row, "energy_j"),
                        "NVML was not read in this run");
    assert_string_equal(llmperf_profile_stage_reason(profile, row, "mfu_at_clock"),
                        "NVML was not read in this run");
    llmperf_profile_free(profile);
}

static void a_gpu_that_is_divided_has_memory_only(void **state)
{
    llmperf_profile *profile =
        play_script("at 1000000000\nnvml mig=1 used=5 total=9\nbegin LLM@prefill\n"
                    "launch k duration=1000\nend\nat 2000000000\nnvml mig=1 used=7 total=9\n");
    llmperf_energy energy = energy_of(profile);

    (void)state;
    assert_true(isnan(energy.energy_j) && isnan(energy.sm_clock_mhz) && !energy.source);
    assert_text_has(energy.reason, "MIG");
    assert_int_equal(energy.memory_peak_bytes, 7);
    assert_true(isnan(find_region(profile, "LLM@prefill", 0).energy_j));
    llmperf_profile_free(profile);
}

static void calls_before_the_first_sample_have_no_energy(void **state)
{
    llmperf_profile *profile =
        play_script("begin LLM@prefill\nlaunch k duration=100000000\nat 500000000\nend\n"
                    "at 1000000000\nnvml energy=1\nbegin LLM@decode_step\n"
                    "launch k duration=1000000000\nat 2000000000\nend\nnvml energy=5001\n");
    size_t row;

    (void)state;
    stage_of(profile, "LLM@prefill", &row);
    assert_true(isnan(find_region(profile, "LLM@prefill", 0).energy_j));
    assert_text_has(llmperf_profile_stage_reason(profile, row, "energy_j"),
                    "energy was not read during all calls");
    check_near(find_region(profile, "LLM@decode_step", 0).energy_j, 5, 0.001);
    llmperf_profile_free(profile);
}

static void two_processes_count_their_gpu_once(void **state)
{
    llmperf_profile *parts[2] = { play(&(struct plan){ .counter_mj = 5000 }),
                                  play(&(struct plan){ .counter_mj = 205000 }) };
    llmperf_profile *merged = NULL;
    llmperf_energy energy;

    (void)state;
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    assert_int_equal(llmperf_profile_count(merged, LLMPERF_ROWS_ENERGY), 1);
    energy = energy_of(merged);
    check_near(energy.energy_j, 3400, 1e-6); /* from the first counter to the last */
    assert_true(isnan(energy.stages_j) && energy.process_id == 0);
    assert_true(isnan(find_region(merged, "LLM@prefill", 0).energy_j));
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
}

static void runs_one_after_the_other_add_up(void **state)
{
    llmperf_profile *parts[2] = { play(&(struct plan){ .counter_mj = 5000 }),
                                  play(&(struct plan){ .counter_mj = 9000000 }) };
    llmperf_profile *merged = NULL;
    llmperf_energy energy;

    (void)state;
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    energy = energy_of(merged);
    check_near(energy.energy_j, 6400, 1e-6);
    check_near(energy.stages_j + energy.outside_j, 6400, 1e-6);
    check_near(find_region(merged, "LLM@prefill", 0).energy_j, 1200, 0.01);
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
}

static void a_comparison_names_clocks_and_throttling(void **state)
{
    llmperf_profile *runs[2] = { play_plain(), play(&(struct plan){ .without_samples = true }) };
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_runs_compare((const llmperf_profile *const *)runs, 1,
                                          (const llmperf_profile *const *)(runs + 1), 1, 5,
                                          LLMPERF_TEXT_PLAIN, &text, NULL),
                     0);
    assert_text_has(text, " MHz, clocks were throttled 25.0 % of the time "
                          "(most by power cap)\n");
    llmperf_text_free(text);
    llmperf_profile_free(runs[0]);
    llmperf_profile_free(runs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_of_stages_and_outside_is_that_of_the_counter),
        cmocka_unit_test(energy_of_a_token_and_mfu_at_the_clock_follow),
        cmocka_unit_test(clocks_and_memory_are_those_of_the_samples),
        cmocka_unit_test(documents_have_energy_and_clocks),
        cmocka_unit_test(a_recording_and_a_run_file_have_the_same_energy),
        cmocka_unit_test(a_run_without_samples_says_why),
        cmocka_unit_test(a_gpu_that_is_divided_has_memory_only),
        cmocka_unit_test(calls_before_the_first_sample_have_no_energy),
        cmocka_unit_test(two_processes_count_their_gpu_once),
        cmocka_unit_test(a_comparison_names_clocks_and_throttling),
        cmocka_unit_test(runs_one_after_the_other_add_up),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
