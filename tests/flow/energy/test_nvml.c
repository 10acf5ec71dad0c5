/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that read energy from a stand-in for NVML, also from one that fails or lies. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/mock/nvml.h"
#include "tests/support/driver.h"
#include "tests/support/text.h"

static void (*set_nvml)(const struct mock_nvml *wanted);
static int (*nvml_reads)(void);
static int (*nvml_open)(void);

static const struct mock_nvml plain = { .watts = 500,
                                        .power_mw = 500000,
                                        .sm_mhz = 1700,
                                        .memory_mhz = 2619,
                                        .celsius = 55,
                                        .reasons = 0x4,
                                        .used_bytes = 7 };

static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof(address));
}

/* Once it is loaded, the library finds it by its name. */
static void load_nvml(void)
{
    char path[1024];
    void *library;

    snprintf(path, sizeof(path), "%s/libnvidia-ml.so.1", getenv("LLMPERF_MOCK"));
    if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(library, "mock_nvml_set", &set_nvml);
    find(library, "mock_nvml_reads", &nvml_reads);
    find(library, "mock_nvml_open", &nvml_open);
}

/* GPU 0 has an active context from the start. */
static void begin(const struct mock_nvml *nvml)
{
    const struct mock_cuda cuda = { .gpus = 2, .active = 1 };

    reset_driver(NULL);
    set_cuda(&cuda);
    set_nvml(nvml);
}

static llmperf_profile *run_for(unsigned ms, const char *settings)
{
    llmperf_session_options options = deep_options();
    llmperf_session *session;

    options.settings = settings;
    session = start_with(&options);
    usleep(50000);
    llmperf_region_begin("LLM@prefill");
    launch(3);
    usleep(ms * 1000);
    launch(3);
    llmperf_region_end();
    usleep(50000);
    return stop_session(session);
}

static llmperf_profile *run_with(const struct mock_nvml *nvml)
{
    begin(nvml);
    return run_for(300, NULL);
}

static llmperf_energy energy_of(const llmperf_profile *profile)
{
    llmperf_energy energy = LLMPERF_ENERGY_INIT;

    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ENERGY), 1);
    assert_int_equal(llmperf_profile_energy(profile, 0, &energy), 0);
    return energy;
}

static void check_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%g is not %g within %g", value, expected, error);
}

static void energy_is_that_of_the_counter(void **state)
{
    llmperf_profile *profile = run_with(&plain);
    llmperf_energy energy = energy_of(profile);

    (void)state;
    assert_string_equal(energy.source, "counter");
    check_near(energy.power_w, 500, 10);
    check_near(energy.stages_j + energy.outside_j, energy.energy_j, 1e-6);
    check_near(find_region(profile, "LLM@prefill", 0).energy_j, energy.stages_j, 1e-6);
    assert_true(energy.stages_j > 0.25 * 500 && energy.outside_j > 0);
    check_near(energy.throttled_share, 1, 0);
    check_near(energy.sm_clock_mhz, 1700, 1e-6);
    check_near(energy.sm_clock_max_mhz, 1980, 0);
    check_near(energy.power_limit_w, 700, 0);
    check_near(energy.temperature_max_c, 55, 0);
    assert_int_equal(energy.memory_end_bytes, 7);
    assert_int_equal(nvml_reads(), energy.samples);
    assert_int_equal(nvml_open(), 0);
    llmperf_profile_free(profile);
}

static void only_gpus_in_use_are_read(void **state)
{
    const struct mock_cuda both = { .gpus = 2, .active = 3 };
    llmperf_profile *profile;

    (void)state;
    begin(&plain);
    set_cuda(&both);
    profile = run_for(100, NULL);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ENERGY), 2);
    llmperf_profile_free(profile);
}

static void a_session_can_leave_nvml_alone(void **state)
{
    llmperf_profile *profile;

    (void)state;
    begin(&plain);
    profile = run_for(100, "session.energy=false");
    assert_int_equal(nvml_reads(), 0);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ENERGY), 0);
    assert_text_has(llmperf_profile_fact(profile, "energy_reason"), "switched off");
    llmperf_profile_free(profile);
}

static void nvml_that_does_not_start_is_named(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_profile *profile;

    (void)state;
    nvml.init_result = 9;
    profile = run_with(&nvml);
    assert_text_has(llmperf_profile_fact(profile, "energy_reason"),
                    "nvmlInit failed with 9 (an error of the mock)");
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void a_gpu_that_nvml_does_not_know_is_named(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_profile *profile;

    (void)state;
    nvml.find_result = 4; /* no permission */
    profile = run_with(&nvml);
    assert_text_has(llmperf_profile_fact(profile, "energy_reason"), "NVML does not find GPU-a0a0");
    llmperf_profile_free(profile);
}

static void a_mig_instance_has_memory_only(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_profile *profile;
    llmperf_energy energy;

    (void)state;
    nvml.uuid = "MIG-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0";
    profile = run_with(&nvml);
    energy = energy_of(profile);
    assert_true(isnan(energy.energy_j) && isnan(energy.sm_clock_mhz));
    assert_text_has(energy.reason, "MIG");
    assert_int_equal(energy.memory_end_bytes, 7);
    assert_int_equal(nvml_reads(), 0);
    llmperf_profile_free(profile);
}

static void power_takes_the_place_of_a_missing_counter(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_profile *profile;
    llmperf_energy energy;

    (void)state;
    nvml.energy_result = 3;
    profile = run_with(&nvml);
    energy = energy_of(profile);
    assert_string_equal(energy.source, "power");
    check_near(energy.power_w, 500, 1e-6);
    assert_int_equal(energy.counter_begin_mj, LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
}

static void a_gpu_that_reports_nothing_has_reasons(void **state)
{
    struct mock_nvml nvml = {
        .energy_result = 3, .power_result = 3, .clock_result = 15, .memory_result = 999
    };
    llmperf_profile *profile = run_with(&nvml);
    llmperf_energy energy = energy_of(profile);

    (void)state;
    assert_text_has(energy.reason, "neither energy nor power");
    assert_true(isnan(energy.throttled_share) && isnan(energy.sm_clock_mhz) &&
                isnan(energy.temperature_max_c));
    assert_int_equal(energy.memory_peak_bytes, LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
}

static void a_counter_that_stands_still_is_no_energy(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_profile *profile;

    (void)state;
    nvml.still = 1;
    profile = run_with(&nvml);
    assert_text_has(energy_of(profile).reason, "the energy counter did not change");
    assert_true(isnan(find_region(profile, "LLM@prefill", 0).energy_j));
    llmperf_profile_free(profile);
}

static void a_counter_that_goes_back_is_bridged_and_noted(void **state)
{
    struct mock_nvml nvml = plain;
    llmperf_session_options options = deep_options();
    llmperf_profile *profile;
    llmperf_session *session;

    (void)state;
    begin(&nvml);
    session = start_with(&options);
    usleep(150000);
    nvml.offset_mj = -100000000;
    set_nvml(&nvml);
    usleep(150000);
    profile = stop_session(session);
    check_near(energy_of(profile).power_w, 500, 10);
    assert_int_equal(energy_of(profile).counter_begin_mj, LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "the energy counter went back"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_that_of_the_counter),
        cmocka_unit_test(only_gpus_in_use_are_read),
        cmocka_unit_test(a_session_can_leave_nvml_alone),
        cmocka_unit_test(nvml_that_does_not_start_is_named),
        cmocka_unit_test(a_gpu_that_nvml_does_not_know_is_named),
        cmocka_unit_test(a_mig_instance_has_memory_only),
        cmocka_unit_test(power_takes_the_place_of_a_missing_counter),
        cmocka_unit_test(a_gpu_that_reports_nothing_has_reasons),
        cmocka_unit_test(a_counter_that_stands_still_is_no_energy),
        cmocka_unit_test(a_counter_that_goes_back_is_bridged_and_noted),
    };

    load_driver();
    load_nvml();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
