/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of torch.profiler as device sources: small ones through a session, damaged and large ones
 * from the source alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "tests/support/facts.h"
#include "tests/support/play.h"

/* Events of a trace in progress. */
static struct lp_text events;

static void put_event(const char *category, const char *name, const char *process, int thread,
                      const char *at, const char *length, int correlation)
{
    lp_text_printf(&events,
                   "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%s,\"tid\":%d,\"ts\":%s,"
                   "\"dur\":%s,\"args\":{\"correlation\":%d}}",
                   events.length > 0 ? ",\n" : "", category, name, process, thread, at, length,
                   correlation);
}

static void put_annotation(const char *name, int thread, const char *at, const char *length)
{
    put_event("user_annotation", name, "9", thread, at, length, 0);
}

static void put_call(const char *name, int thread, int correlation, const char *at,
                     const char *length)
{
    put_event("cuda_runtime", name, "9", thread, at, length, correlation);
}

static void put_kernel(const char *name, int correlation, const char *at, const char *length)
{
    put_event("kernel", name, "0", 7, at, length, correlation);
}

/* A kernel of 2 us, and its launch at the same time. */
static void put_launched(const char *name, int thread, int correlation, const char *at)
{
    put_call("cudaLaunchKernel", thread, correlation, at, "1");
    put_kernel(name, correlation, at, "2");
}

static void put_raw(const char *text)
{
    lp_text_printf(&events, "%s%s", events.length > 0 ? "," : "", text);
}

/* A run of the events. */
static llmperf_profile *play_events(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    struct lp_text text = { NULL, 0, 0, false };
    llmperf_profile *profile;

    lp_text_printf(&text, "{\"traceEvents\": [%s]}", events.bytes);
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_path = write_test_file("trace.json", text.bytes, text.length);
    profile = play_options(&options);
    lp_text_clear(&text);
    lp_text_clear(&events);
    return profile;
}

static void kernels_belong_to_the_region_that_was_open_on_the_launching_thread(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_launched("outside", 1, 5, "5");
    put_launched("of_b", 1, 4, "40");
    put_annotation("b", 1, "30", "20");
    put_annotation("a", 1, "10", "50");
    put_launched("of_a", 1, 3, "55");
    put_launched("other", 2, 6, "41");
    profile = play_events();
    find_kernel(profile, "of_a", "default@a");
    find_kernel(profile, "of_b", "default@a/default@b");
    find_kernel(profile, "other", "");
    find_kernel(profile, "outside", "");
    assert_int_equal(ledger_of(profile).kernels_attributed, 4);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    llmperf_profile_free(profile);
}

static void regions_of_equal_times_nest_in_the_order_of_the_file(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_annotation("a", 1, "10", "50");
    put_annotation("b", 1, "10", "50");
    put_annotation("empty", 1, "10", "0");
    put_launched("k", 1, 1, "20");
    put_annotation("next", 1, "60", "5");
    put_launched("l", 1, 2, "60");
    put_annotation("inner", 1, "70", "5");
    put_annotation("outer", 1, "70", "9");
    put_launched("m", 1, 3, "71");
    profile = play_events();
    find_kernel(profile, "k", "default@a/default@b");
    find_kernel(profile, "l", "default@next");
    find_kernel(profile, "m", "default@outer/default@inner");
    assert_int_equal(find_region(profile, "default@a/default@b/default@empty", -1).instances, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    llmperf_profile_free(profile);
}

static void region_that_outlives_the_one_around_it_ends_with_it(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_annotation("a", 1, "10", "20");
    put_annotation("b", 1, "20", "20");
    put_launched("k", 1, 1, "25");
    put_launched("l", 1, 2, "35");
    profile = play_events();
    find_kernel(profile, "k", "default@a/default@b");
    find_kernel(profile, "l", "");
    assert_int_equal(ledger_of(profile).regions_abandoned, 1);
    llmperf_profile_free(profile);
}

static void begin_and_end_events_of_skipped_kinds_pair_with_each_other(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_raw(
        "{\"ph\":\"B\",\"cat\":\"user_annotation\",\"name\":\"a\",\"pid\":9,\"tid\":1,\"ts\":10}");
    put_raw("{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"mm\",\"pid\":9,\"tid\":1,\"ts\":20}");
    put_raw("{\"ph\":\"E\",\"pid\":9,\"tid\":1,\"ts\":30}");
    put_launched("k", 1, 1, "35");
    put_raw("{\"ph\":\"E\",\"pid\":9,\"tid\":1,\"ts\":40}");
    put_launched("l", 1, 2, "45");
    put_raw("{\"ph\":\"E\",\"pid\":9,\"tid\":1,\"ts\":50}");
    profile = play_events();
    find_kernel(profile, "k", "default@a");
    find_kernel(profile, "l", "");
    assert_int_equal(find_region(profile, "default@a", 0).instances, 1);
    llmperf_profile_free(profile);
}

static void launches_under_capture_and_nested_calls_await_no_kernel(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_call("cudaStreamBeginCapture", 1, 1, "10", "1");
    put_call("cudaLaunchKernel", 1, 2, "20", "1");
    put_call("cudaStreamEndCapture_v10000", 1, 3, "30", "1");
    put_call("cudaGraphLaunch", 1, 4, "40", "9");
    put_call("cuGraphLaunch", 1, 4, "41", "7");
    put_kernel("k", 4, "50", "2");
    put_kernel("l", 4, "60", "2");
    profile = play_events();
    assert_int_equal(ledger_of(profile).launches_expected, 0);
    assert_int_equal(ledger_of(profile).launches_duplicate, 0);
    assert_int_equal(ledger_of(profile).graph_launches, 1);
    assert_int_equal(ledger_of(profile).kernels_attributed, 2);
    llmperf_profile_free(profile);
}

static void times_are_exact_to_the_nanosecond(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_call("cudaLaunchKernel", 1, 1, "1707417525509334.001", "0.001");
    put_kernel("a", 1, "1707417525509335.123", "0.007");
    put_call("cudaLaunchKernel", 1, 2, "1.7074175255093365e15", "1.0");
    put_kernel("b", 2, "1707417525509337.1234567", "12.3449999");
    put_call("cudaStreamSynchronize", 1, 3, "1707417525509338", "100.25");
    profile = play_events();
    check_close(find_kernel(profile, "a", "").total_ms, 7e-6);
    check_close(find_kernel(profile, "b", "").total_ms, 0.012345);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 1);
    llmperf_profile_free(profile);
}

static void collectives_have_the_bytes_of_their_messages(void **state)
{
    llmperf_profile *profile;
    llmperf_region_stats region;

    (void)state;
    put_raw("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":9,\"tid\":1,"
            "\"ts\":10,\"dur\":20,\"args\":{\"In msg nelems\":1000,\"Out msg nelems\":500,"
            "\"dtype\":\"BFloat16\",\"Collective name\":\"reduce_scatter_tensor\"}}");
    put_annotation("nccl:reduce_scatter", 1, "12", "5");
    put_launched("ncclDevKernel_ReduceScatter", 1, 1, "14");
    profile = play_events();
    find_kernel(profile, "ncclDevKernel_ReduceScatter", "NCCL@reduce_scatter_tensor");
    region = find_region(profile, "NCCL@reduce_scatter_tensor", 0);
    assert_int_equal(region.message_bytes, 1000);
    llmperf_profile_free(profile);
}

/* As SGLang joins the traces of its ranks. */
static void equal_ids_of_joined_traces_stay_apart(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_event("cuda_runtime", "cudaLaunchKernel", "\"[TP00] 9\"", 1, "10", "1", 1);
    put_event("cuda_runtime", "cudaLaunchKernel", "\"[TP01] 9\"", 1, "10", "1", 1);
    put_raw(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"[TP00] 0\",\"tid\":7,\"ts\":20,"
        "\"dur\":1,\"args\":{\"device\":0,\"correlation\":1}}");
    put_raw(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"[TP01] 1\",\"tid\":7,\"ts\":20,"
        "\"dur\":1,\"args\":{\"device\":1,\"correlation\":1}}");
    profile = play_events();
    assert_int_equal(ledger_of(profile).kernels_attributed, 2);
    assert_int_equal(ledger_of(profile).records_duplicate, 0);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    llmperf_profile_free(profile);
}

static void damaged_events_cost_nothing_but_themselves(void **state)
{
    static const char *const damaged[] = {
        "\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a \"quote\",\n\"ts\": 5}\n",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"ts\":NaN,\"dur\":1}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"ts\":1e300,\"dur\":1}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"ts\":1}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"x\",\"ts\":1,\"dur\":1}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"k\",\"pid\":9,\"ts\":1,\"dur\":-1}",
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\"}",
        "{\"ph\"}",
        "{\"a\":}",
    };
    llmperf_profile *profile;

    (void)state;
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        char name[16], at[16];

        snprintf(name, sizeof(name), "k%zu", i);
        snprintf(at, sizeof(at), "%zu", 10 + 10 * i);
        put_raw(damaged[i]);
        put_launched(name, 1, (int)i + 1, at);
        put_raw("{},[],7,\"x\",null,{\"ph\":{}}");
    }
    put_kernel("backwards", 100, "100", "-5");
    profile = play_events();
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        char name[16];

        snprintf(name, sizeof(name), "k%zu", i);
        find_kernel(profile, name, "");
    }
    assert_int_equal(ledger_of(profile).kernels_seen, sizeof(damaged) / sizeof(damaged[0]));
    assert_int_equal(ledger_of(profile).records_incomplete, sizeof(damaged) / sizeof(damaged[0]));
    assert_int_equal(ledger_of(profile).records_invalid_time, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

static void names_have_their_escapes_resolved(void **state)
{
    llmperf_profile *profile;

    (void)state;
    put_launched("a\\\"b\\u00e9\\/\\\\", 1, 1, "10");
    put_launched("bad \xff", 1, 2, "20");
    profile = play_events();
    find_kernel(profile, "a\"b\xc3\xa9/\\", "");
    find_kernel(profile, "bad \xef\xbf\xbd", "");
    llmperf_profile_free(profile);
}

/* The source alone */

static int deliver_trace(const char *path, struct facts *facts)
{
    const struct lp_device_options options = { .path = path, .names = &facts->names };
    const struct lp_device_sink sink = { .context = facts,
                                         .host = take_fact_host,
                                         .activities = take_fact_activities };
    struct lp_device_source *source;
    int status = lp_device_open_kineto(&options, &source);

    if (status < 0)
        return status;
    while ((status = source->ops->deliver(source, &sink)) > 0)
        continue;
    source->ops->stats(source, &facts->stats);
    source->ops->close(source);
    return status;
}

static void trace_cut_anywhere_keeps_the_events_before(void **state)
{
    struct lp_text whole = { NULL, 0, 0, false };
    size_t most = 0;

    (void)state;
    put_annotation("a\\\"", 1, "10", "90");
    put_launched("k", 1, 1, "20");
    put_launched("l", 1, 2, "30");
    lp_text_printf(&whole, "{\"schemaVersion\": 1, \"traceEvents\": [\n%s", events.bytes);
    for (size_t size = 0; size <= whole.length; size++) {
        struct facts facts = { .calls = 0 };

        if (deliver_trace(write_test_file("cut.json", whole.bytes, size), &facts) == 0) {
            assert_true(facts.stats.cut);
            assert_true(facts.activities.count >= most);
            most = facts.activities.count;
        }
        clear_facts(&facts);
    }
    assert_int_equal(most, 2);
    lp_text_clear(&whole);
    lp_text_clear(&events);
}

/* More facts than are kept in memory, the last ones first. */
static void more_facts_than_fit_into_memory_come_in_the_order_of_time(void **state)
{
    const uint32_t kernels = 150000;
    struct lp_text text = { NULL, 0, 0, false };
    struct facts facts = { .calls = 0 };

    (void)state;
    lp_text_puts(&text, "[");
    for (uint32_t i = kernels; i > 0; i--)
        lp_text_printf(&text,
                       "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
                       "\"pid\":9,\"tid\":1,\"ts\":%u,\"dur\":1,\"args\":{\"correlation\":%u}},"
                       "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"ts\":%u,"
                       "\"dur\":1,\"args\":{\"correlation\":%u}}",
                       i == kernels ? "" : ",", i * 10, i, i * 10 + 5, i);
    lp_text_puts(&text, "]");
    assert_int_equal(deliver_trace(write_test_file("large.json", text.bytes, text.length), &facts),
                     0);
    assert_int_equal(facts.activities.count, kernels);
    assert_int_equal(count_host_records(&facts, LP_RECORD_LAUNCH), kernels);
    assert_false(facts.stats.cut);
    for (uint32_t i = 0; i < kernels; i++)
        assert_int_equal(facts.activities.items[i].correlation, i + 1);
    lp_text_clear(&text);
    clear_facts(&facts);
}

/* A name of 20 MB, brackets a million deep. */
static void huge_events_are_skipped(void **state)
{
    struct lp_text text = { NULL, 0, 0, false };
    struct facts facts = { .calls = 0 };

    (void)state;
    lp_text_puts(&text, "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"");
    for (int i = 0; i < 2000000; i++)
        lp_text_puts(&text, "0123456789");
    lp_text_puts(&text, "\",\"ts\":1,\"dur\":1,\"pid\":0},");
    for (int i = 0; i < 1000000; i++)
        lp_text_puts(&text, "[");
    for (int i = 0; i < 1000000; i++)
        lp_text_puts(&text, "]");
    put_kernel("k", 1, "5", "5");
    lp_text_printf(&text, ",%s]", events.bytes);
    lp_text_clear(&events);
    assert_int_equal(deliver_trace(write_test_file("huge.json", text.bytes, text.length), &facts),
                     0);
    assert_int_equal(facts.activities.count, 1);
    assert_int_equal(facts.stats.records_incomplete, 1);
    lp_text_clear(&text);
    clear_facts(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_belong_to_the_region_that_was_open_on_the_launching_thread),
        cmocka_unit_test(regions_of_equal_times_nest_in_the_order_of_the_file),
        cmocka_unit_test(region_that_outlives_the_one_around_it_ends_with_it),
        cmocka_unit_test(begin_and_end_events_of_skipped_kinds_pair_with_each_other),
        cmocka_unit_test(launches_under_capture_and_nested_calls_await_no_kernel),
        cmocka_unit_test(times_are_exact_to_the_nanosecond),
        cmocka_unit_test(collectives_have_the_bytes_of_their_messages),
        cmocka_unit_test(equal_ids_of_joined_traces_stay_apart),
        cmocka_unit_test(damaged_events_cost_nothing_but_themselves),
        cmocka_unit_test(names_have_their_escapes_resolved),
        cmocka_unit_test(trace_cut_anywhere_keeps_the_events_before),
        cmocka_unit_test(more_facts_than_fit_into_memory_come_in_the_order_of_time),
        cmocka_unit_test(huge_events_are_skipped),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
