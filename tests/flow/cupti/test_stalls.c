/* SPDX-License-Identifier: Apache-2.0 */
/** PC sampling from end to end, over a stand-in for CUPTI: which calls of regions are sampled, and
 * what becomes of the samples. */
#include <elf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/counters/abi.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "tests/support/driver.h"

static int context; /* its address */

/* Sampled calls; it is started once more at set-up. */
static unsigned started(void)
{
    unsigned count = cupti->count("PCSamplingStart");

    return count > 0 ? count - 1 : 0;
}

static unsigned stopped(void)
{
    unsigned count = cupti->count("PCSamplingStop");

    return count > 0 ? count - 1 : 0;
}

static llmperf_session *start_in(void *of_thread, const char *words)
{
    llmperf_session_options options = deep_options();

    options.tier = LLMPERF_TIER_COUNTERS;
    options.counters = words;
    set_context(of_thread);
    return start_with(&options);
}

static llmperf_session *start_stalls(const char *words)
{
    return start_in(&context, words);
}

/* Sampled calls of a region follow one another once the collector has read the samples. */
static void await_window(unsigned windows)
{
    for (int i = 0; i < 500 && started() < windows; i++) {
        llmperf_region_begin("LLM@step");
        llmperf_region_end();
        usleep(10000);
    }
    assert_true(started() >= windows);
}

static void work(const char *name, unsigned samples)
{
    cupti->stall(name, 0x50, MOCK_LONG_SCOREBOARD, samples * 6);
    cupti->stall(name, 0x50, MOCK_NOT_ISSUED, samples * 5);
    cupti->stall(name, 0x60, MOCK_WAIT, samples * 3);
    cupti->stall(name, 0x70, MOCK_SELECTED, samples);
}

static void run_region(const char *label, const char *name, unsigned samples)
{
    llmperf_region_begin(label);
    work(name, samples);
    llmperf_region_end();
}

static const struct lp_stall *find_stall(const llmperf_profile *profile, const char *region,
                                         const char *name, const char *reason)
{
    for (size_t i = 0; i < profile->stalls.count; i++) {
        const struct lp_stall *row = &profile->stalls.items[i];

        if (!strcmp(row->region, region) && !strcmp(row->name, name) &&
            !strcmp(row->reason, reason))
            return row;
    }
    fail_msg("no samples of %s, %s, %s", region, name, reason);
    return NULL;
}

static void samples_become_rows_by_region_kernel_and_reason(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    const struct lp_hot_instruction *hot;
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@step");
    work("_Z6gatherPf", 100);
    run_region("LLM@nested", "copy", 7);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_stall(profile, "LLM@step", "copy", "wait")->samples, 21);
    assert_int_equal(find_stall(profile, "LLM@step", "_Z6gatherPf", "selected")->samples, 100);
    assert_int_equal(profile->stalls.count, 6); /* what was not issued is in the other six */
    assert_string_equal(profile->stalls.items[0].short_name, "gather");
    assert_string_equal(profile->stalls.items[0].reason, "long_scoreboard");
    assert_int_equal(profile->stalls.items[0].kernel_samples, 1000);
    assert_float_equal(profile->stalls.items[0].share, 0.6, 1e-9);
    assert_int_equal(profile->hot_instructions.count, 6);
    hot = &profile->hot_instructions.items[0];
    assert_int_equal(hot->offset, 0x50);
    assert_string_equal(hot->reason, "long_scoreboard");
    assert_float_equal(hot->share, 0.6, 1e-9);
    assert_null(hot->source);
    assert_int_equal(cupti->count("PCSamplingDisable"), 1);
    llmperf_profile_free(profile);
}

static void work_outside_of_sampled_calls_is_not_sampled(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    work("before", 1);
    run_region("LLM@step", "kernel", 1);
    work("after", 1);
    run_region("LLM@other", "other", 1);
    profile = stop_session(session);
    assert_int_equal(profile->stalls.count, 3);
    assert_string_equal(profile->stalls.items[0].name, "kernel");
    llmperf_profile_free(profile);
}

/* A region inside another one is sampled alone, when the outer one had its turn. */
static void regions_take_turns(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step include=LLM@inner budget=100");
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 500 && stopped() < 2; i++) {
        llmperf_region_begin("LLM@step");
        work("outer", 1);
        run_region("LLM@inner", "inner", 1);
        llmperf_region_end();
        usleep(10000);
    }
    profile = stop_session(session);
    assert_int_equal(find_stall(profile, "LLM@step", "outer", "wait")->samples, 3);
    assert_int_equal(find_stall(profile, "LLM@step", "inner", "wait")->samples, 3);
    assert_int_equal(find_stall(profile, "LLM@step/LLM@inner", "inner", "wait")->samples, 3);
    assert_int_equal(profile->stalls.count, 9);
    llmperf_profile_free(profile);
}

/* One percent of the time: after a call of 50 ms none is sampled for five seconds. */
static void the_budget_limits_the_time_of_windows(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step");

    (void)state;
    llmperf_region_begin("LLM@step");
    usleep(50000);
    llmperf_region_end();
    for (int i = 0; i < 70; i++) {
        run_region("LLM@step", "kernel", 1);
        usleep(10000);
    }
    assert_int_equal(started(), 1);
    llmperf_profile_free(stop_session(session));
}

/* Half of the time: after a call of 300 ms the next as long fits 900 ms later. */
static void a_window_waits_until_it_fits_into_the_budget(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=50");

    (void)state;
    llmperf_region_begin("LLM@step");
    usleep(300000);
    llmperf_region_end();
    for (int i = 0; i < 70; i++) {
        run_region("LLM@step", "kernel", 1);
        usleep(10000);
    }
    assert_int_equal(started(), 1);
    llmperf_profile_free(stop_session(session));
}

static void a_long_call_is_read_while_it_runs(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@step");
    work("kernel", 1);
    for (int i = 0; i < 500 && cupti->count("PCSamplingGetData") < 2; i++)
        usleep(10000);
    assert_true(cupti->count("PCSamplingGetData") >= 2);
    assert_int_equal(stopped(), 0);
    work("kernel", 1);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_stall(profile, "LLM@step", "kernel", "wait")->samples, 6);
    llmperf_profile_free(profile);
}

/* To wait for the device would end a stream capture. */
static void a_region_that_captures_is_not_sampled(void **state)
{
    static const struct mock_call begin = { .id = CAPTURE_BEGIN }, end = { .id = CAPTURE_END };
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@step");
    work("captured", 1);
    driver->call(&begin);
    llmperf_region_end();
    assert_int_equal(stopped(), 1);
    driver->call(&end);
    await_window(2);
    run_region("LLM@step", "kernel", 1);
    profile = stop_session(session);
    for (size_t i = 0; i < profile->stalls.count; i++)
        assert_string_not_equal(profile->stalls.items[i].name, "captured");
    llmperf_profile_free(profile);
}

/* As nvcc -lineinfo makes it, as far as it is looked at. */
static void load_code(const char *section)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Shdr names;
        char text[32];
    } cubin = { .head = { .e_ident = ELFMAG, .e_shoff = sizeof(Elf64_Ehdr) },
                .names = { .sh_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr), .sh_size = 32 } };

    snprintf(cubin.text, sizeof(cubin.text), "%s", section);
    driver->load(&cubin, sizeof(cubin));
    cubin.head.e_shoff = UINT64_MAX; /* damaged */
    driver->load(&cubin, sizeof(cubin));
}

static void line_information_gives_source_lines(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    load_code(".debug_line");
    run_region("LLM@step", "kernel", 1);
    profile = stop_session(session);
    assert_string_equal(profile->hot_instructions.items[0].source, "/src/kernel.cu:5");
    assert_int_equal(cupti->count("GetSassToSourceCorrelation"), 3);
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON, "/src/kernel.cu:5");
    llmperf_profile_free(profile);

    session = start_stalls("stalls include=LLM@step budget=100");
    load_code(".text");
    run_region("LLM@step", "kernel", 1);
    profile = stop_session(session);
    assert_null(profile->hot_instructions.items[0].source);
    llmperf_profile_free(profile);
}

static void check_same(const llmperf_profile *one, const llmperf_profile *other)
{
    assert_int_equal(one->stalls.count, other->stalls.count);
    assert_int_equal(one->hot_instructions.count, other->hot_instructions.count);
    for (size_t i = 0; i < one->stalls.count; i++) {
        const struct lp_stall *a = &one->stalls.items[i], *b = &other->stalls.items[i];

        assert_string_equal(a->region, b->region);
        assert_string_equal(a->short_name, b->short_name);
        assert_string_equal(a->reason, b->reason);
        assert_int_equal(a->samples, b->samples);
        assert_float_equal(a->share, b->share, 0);
    }
    for (size_t i = 0; i < one->hot_instructions.count; i++) {
        assert_int_equal(one->hot_instructions.items[i].offset,
                         other->hot_instructions.items[i].offset);
        assert_string_equal(one->hot_instructions.items[i].source,
                            other->hot_instructions.items[i].source);
    }
}

static void recordings_and_run_files_have_the_same_rows(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_profile *profile, *again;
    llmperf_session *session;

    (void)state;
    options.tier = LLMPERF_TIER_COUNTERS;
    options.counters = "stalls include=LLM@step budget=100";
    options.record_path = in_test_folder("stalls.llmrec");
    set_context(&context);
    session = start_with(&options);
    load_code(".debug_line");
    llmperf_region_begin("LLM@step");
    work("first", 10);
    work("second", 20);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(profile->stalls.count, 6);

    options = (llmperf_session_options)LLMPERF_SESSION_OPTIONS_INIT;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("stalls.llmrec");
    again = play_options(&options);
    check_same(profile, again);
    llmperf_profile_free(again);
    assert_int_equal(llmperf_profile_save(profile, in_test_folder("stalls.llmperf")), LLMPERF_OK);
    assert_int_equal(llmperf_profile_open(in_test_folder("stalls.llmperf"), &again), LLMPERF_OK);
    check_same(profile, again);
    llmperf_profile_free(again);
    llmperf_profile_free(profile);
}

static void reports_explain_the_top_kernel(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@decode_step budget=100");
    llmperf_profile *profile;

    (void)state;
    load_code(".debug_line");
    llmperf_region_begin("LLM@decode_step");
    launch(3);
    work("kernel", 10);
    llmperf_region_end();
    profile = stop_session(session);
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "## Stall reasons");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "| `kernel` | `LLM@decode_step` | 100 | long_scoreboard 60.0 %, wait 30.0 %, "
                   "selected 10.0 % | `/src/kernel.cu:5`, 60.0 %, long_scoreboard |");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "- long_scoreboard: the warp waits for data of global or local memory");
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON,
                   "kernel takes 100 % of the device time of LLM@decode_step, and in 60.0 % of its "
                   "samples a warp waits for data of global or local memory (long_scoreboard), "
                   "most often at /src/kernel.cu:5: load earlier");
    llmperf_profile_free(profile);
}

/* A program may launch before it opens a region. */
static void sampling_is_enabled_with_the_context(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step");

    (void)state;
    assert_int_equal(cupti->count("PCSamplingEnable"), 1);
    run_region("LLM@step", "kernel", 1);
    assert_int_equal(cupti->count("PCSamplingEnable"), 1);
    llmperf_profile_free(stop_session(session));
    assert_int_equal(cupti->count("PCSamplingDisable"), 1);

    cupti->reset();
    session = start_in(NULL, "stalls include=LLM@step");
    assert_int_equal(cupti->count("PCSamplingEnable"), 0);
    driver->tell_resource(LP_CUPTI_RESOURCE_CONTEXT_CREATED, NULL);
    assert_int_equal(cupti->count("PCSamplingEnable"), 1);
    set_context(&context); /* another one, which the region determines */
    run_region("LLM@step", "kernel", 1);
    assert_int_equal(cupti->count("PCSamplingEnable"), 2);
    assert_int_equal(cupti->count("PCSamplingDisable"), 1);
    llmperf_profile_free(stop_session(session));
    assert_int_equal(cupti->count("PCSamplingDisable"), 2);
}

/* Nothing is sampled after an overflow until PC sampling is enabled again. */
static void an_overflow_makes_the_period_longer(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;
    uint32_t before;

    (void)state;
    cupti->set_failure("PCSamplingGetData", LP_CUPTI_ERROR_OUT_OF_MEMORY);
    run_region("LLM@step", "lost", 1);
    before = cupti->period();
    for (int i = 0; i < 500 && cupti->count("PCSamplingDisable") == 0; i++)
        usleep(10000);
    cupti->set_failure("PCSamplingGetData", 0);
    for (int i = 0; i < 500 && cupti->count("PCSamplingEnable") < 2; i++) {
        run_region("LLM@step", "kernel", 1);
        usleep(10000);
    }
    assert_int_equal(cupti->period(), before + 1);
    profile = stop_session(session);
    assert_int_equal(find_stall(profile, "LLM@step", "kernel", "wait")->samples, 3);
    assert_true(has_note(profile, "the GPU's sample buffer overflowed 1 times"));
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

/* CUPTI refuses to switch records on while PC sampling is enabled. */
static void a_paused_session_can_be_resumed(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    run_region("LLM@step", "first", 1);
    assert_int_equal(llmperf_session_pause(session), LLMPERF_OK);
    run_region("LLM@step", "paused", 1);
    assert_int_equal(llmperf_session_resume(session), LLMPERF_OK);
    launch(3);
    for (int i = 0; i < 500 && cupti->count("PCSamplingEnable") < 2; i++) {
        run_region("LLM@step", "second", 1);
        usleep(10000);
    }
    profile = stop_session(session);
    assert_int_equal(find_stall(profile, "LLM@step", "first", "wait")->samples, 3);
    assert_int_equal(find_stall(profile, "LLM@step", "second", "wait")->samples, 3);
    assert_int_equal(profile->stalls.count, 6);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    llmperf_profile_free(profile);
}

static _Atomic bool over;

static void *open_regions(void *unused)
{
    set_context(&context);
    while (!atomic_load(&over))
        run_region("LLM@step", "kernel", 1);
    return unused;
}

/* The collector closes windows that another thread opens and ends at that moment. */
static void a_session_can_be_paused_while_regions_run(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    pthread_t thread;

    (void)state;
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, open_regions, NULL), 0);
    for (int i = 0; i < 50; i++) {
        usleep(2000);
        assert_int_equal(llmperf_session_pause(session), LLMPERF_OK);
        assert_int_equal(llmperf_session_resume(session), LLMPERF_OK);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    llmperf_profile_free(stop_session(session));
    assert_int_equal(cupti->count("PCSamplingEnable"), cupti->count("PCSamplingDisable"));
    assert_int_equal(cupti->count("PCSamplingStart"), cupti->count("PCSamplingStop"));
}

static void samples_of_unknown_kernels_are_reported(void **state)
{
    llmperf_session *session = start_stalls("stalls include=LLM@step budget=100");
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@step");
    work("kernel", 1);
    work(NULL, 2);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(profile->stalls.count, 3);
    assert_true(has_note(profile, "30 of 40 samples are of kernels that CUPTI does not know"));
    llmperf_profile_free(profile);
}

static void a_refusal_is_one_line_and_the_session_goes_on(void **state)
{
    static const char *const calls[] = { "ProfilerDeviceSupported",
                                         "PCSamplingEnable",
                                         "PCSamplingGetNumStallReasons",
                                         "PCSamplingGetStallReasons",
                                         "PCSamplingSetConfigurationAttribute",
                                         "PCSamplingStart",
                                         "PCSamplingStop",
                                         "PCSamplingGetData" };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        llmperf_session *session;
        llmperf_profile *profile;

        cupti->reset();
        cupti->set_failure(calls[i], 35);
        session = start_stalls("stalls include=LLM@step budget=100");
        run_region("LLM@step", "kernel", 1);
        launch(3);
        profile = stop_session(session);
        if (!has_note(profile, "no hardware counters: ") || !has_note(profile, "--cap-add"))
            fail_msg("%s: no note", calls[i]);
        assert_int_equal(ledger_of(profile).kernels_seen, 3);
        llmperf_profile_free(profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(samples_become_rows_by_region_kernel_and_reason, reset_driver),
        cmocka_unit_test_setup(work_outside_of_sampled_calls_is_not_sampled, reset_driver),
        cmocka_unit_test_setup(regions_take_turns, reset_driver),
        cmocka_unit_test_setup(the_budget_limits_the_time_of_windows, reset_driver),
        cmocka_unit_test_setup(a_window_waits_until_it_fits_into_the_budget, reset_driver),
        cmocka_unit_test_setup(a_long_call_is_read_while_it_runs, reset_driver),
        cmocka_unit_test_setup(a_region_that_captures_is_not_sampled, reset_driver),
        cmocka_unit_test_setup(line_information_gives_source_lines, reset_driver),
        cmocka_unit_test_setup(recordings_and_run_files_have_the_same_rows, reset_driver),
        cmocka_unit_test_setup(reports_explain_the_top_kernel, reset_driver),
        cmocka_unit_test_setup(sampling_is_enabled_with_the_context, reset_driver),
        cmocka_unit_test_setup(an_overflow_makes_the_period_longer, reset_driver),
        cmocka_unit_test_setup(a_paused_session_can_be_resumed, reset_driver),
        cmocka_unit_test_setup(a_session_can_be_paused_while_regions_run, reset_driver),
        cmocka_unit_test_setup(samples_of_unknown_kernels_are_reported, reset_driver),
        cmocka_unit_test_setup(a_refusal_is_one_line_and_the_session_goes_on, reset_driver),
    };

    load_driver();
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
