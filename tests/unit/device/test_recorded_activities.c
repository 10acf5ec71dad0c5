/* SPDX-License-Identifier: Apache-2.0 */
/* Each field of an activity survives a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/regions/capture.h"
#include "lib/sources/replay/recording.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "tests/support/facts.h"
#include "tests/support/play.h"
#include "lib/device/device.h"

#define COUNT 5

static void write_activities(const char *path, const struct lp_names *names,
                             const struct lp_activity *given)
{
    struct facts heard = { 0 };
    const struct lp_device_sink listener = { .context = &heard,
                                             .host = take_fact_host,
                                             .activities = take_fact_activities };
    const struct lp_device_stats stats = { 0 };
    struct lp_activity activities[COUNT];
    struct lp_recorder *recorder;
    struct lp_device_sink sink;

    memcpy(activities, given, sizeof(activities));
    assert_int_equal(
        lp_recorder_open(path, names, &(struct lp_recorder_options){ .limit_bytes = 0 }, &recorder),
        0);
    sink = lp_recorder_sink(recorder, &listener);
    sink.activities(sink.context, activities, COUNT);
    assert_int_equal(lp_recorder_close(recorder, &stats, "{}"), 0);
    clear_facts(&heard);
}

static void read_activities(const char *path, struct facts *facts)
{
    const struct lp_device_sink sink = { .context = facts,
                                         .host = take_fact_host,
                                         .activities = take_fact_activities };
    struct lp_device_options options = { .path = path, .names = &facts->names };
    struct lp_device_source *source;

    assert_int_equal(lp_device_open_replay(&options, &source), 0);
    while (source->ops->deliver(source, &sink) > 0)
        ;
    source->ops->close(source);
}

static void each_field_of_an_activity_survives(void **state)
{
    struct lp_activity given[COUNT] = {
        { .start_ns = 1000, .end_ns = 1500, .correlation = 7, .kind = LLMPERF_ACTIVITY_KERNEL },
        { .start_ns = 1400,
          .end_ns = 1600,
          .correlation = 7,
          .device_launched = 1,
          .kind = LLMPERF_ACTIVITY_KERNEL },
        { .start_ns = 900,
          .end_ns = 1700,
          .correlation = 6,
          .device = 3,
          .context = 4,
          .stream = 5,
          .bytes = 4096,
          .kind = LLMPERF_ACTIVITY_MEMCPY },
        { .start_ns = 2000,
          .end_ns = 2001,
          .correlation = UINT32_MAX,
          .graph = 9,
          .graph_node = UINT64_C(9) << 32 | 2,
          .device = 3,
          .stream = 5,
          .kind = LLMPERF_ACTIVITY_KERNEL },
        { .start_ns = 2500,
          .end_ns = 2600,
          .correlation = 8,
          .bytes = UINT64_C(1) << 40,
          .kind = LLMPERF_ACTIVITY_MEMSET },
    };
    const char *path = in_test_folder("activities.llmrec");
    struct lp_names names = { 0 };
    struct facts facts = { 0 };

    (void)state;
    lp_names_intern(&names, "k");
    write_activities(path, &names, given);
    read_activities(path, &facts);
    assert_int_equal(facts.activities.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const struct lp_activity *read = &facts.activities.items[i];

        assert_true(read->start_ns == given[i].start_ns && read->end_ns == given[i].end_ns);
        assert_int_equal(read->correlation, given[i].correlation);
        assert_int_equal(read->kind, given[i].kind);
        assert_int_equal(read->device_launched, given[i].device_launched);
        assert_int_equal(read->device, given[i].device);
        assert_int_equal(read->context, given[i].context);
        assert_int_equal(read->stream, given[i].stream);
        assert_int_equal(read->bytes, given[i].bytes);
        assert_int_equal(read->graph, given[i].graph);
        assert_int_equal(read->graph_node, given[i].graph_node);
        assert_string_equal(fact_name(&facts, i), "k");
    }
    lp_names_clear(&names);
    clear_facts(&facts);
}

/* Two regions of a thread, each in a chunk of its own. */
static void write_regions(const char *path, uint64_t limit_bytes)
{
    const uint32_t node = lp_path_intern(LP_PATH_ROOT, "step");
    struct facts heard = { 0 };
    const struct lp_device_sink listener = { .context = &heard,
                                             .host = take_fact_host,
                                             .activities = take_fact_activities };
    const struct lp_device_stats stats = { 0 };
    struct lp_names names = { 0 };
    struct lp_recorder *recorder;
    struct lp_device_sink sink;

    assert_int_equal(lp_recorder_open(path, &names,
                                      &(struct lp_recorder_options){ .limit_bytes = limit_bytes },
                                      &recorder),
                     0);
    sink = lp_recorder_sink(recorder, &listener);
    for (uint64_t at = 1000; at <= 2000; at += 1000) {
        const struct lp_record records[] = { { at, 0, node, LP_RECORD_REGION_BEGIN, 0 },
                                             { at + 10, 0, node, LP_RECORD_REGION_END, 0 } };

        sink.host(sink.context, 0, records, 2);
    }
    assert_int_equal(lp_recorder_close(recorder, &stats, "{}"), 0);
    clear_facts(&heard);
}

static void a_recording_that_reached_its_limit_plays_incomplete(void **state)
{
    const char *path = in_test_folder("limited.llmrec");
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session_state status = LLMPERF_SESSION_STATE_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_path = path;
    write_regions(path, 0);
    profile = play_options(&options);
    assert_int_equal(find_region(profile, "LLM@step", -1).instances, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
    write_regions(path, 50); /* That is reached with the first region: all of it is there. */
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 500 && status.verdict != LLMPERF_VERDICT_INCOMPLETE; i++) {
        usleep(10000);
        assert_int_equal(llmperf_session_status(session, &status), 0);
    }
    assert_int_equal(status.verdict, LLMPERF_VERDICT_INCOMPLETE); /* while it plays, too */
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_session_free(session);
    assert_int_equal(find_region(profile, "LLM@step", -1).instances, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_true(has_problem(profile, "the recording reached its size limit"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_of_an_activity_survives),
        cmocka_unit_test(a_recording_that_reached_its_limit_plays_incomplete),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
