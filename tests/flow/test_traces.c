/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions that keep a trace: what is in it, where it ends, and what is said of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"
#include "llmperf/sys/trace.h"

static const uint32_t formats[] = { LLMPERF_TRACE_PERFETTO, LLMPERF_TRACE_CHROME,
                                    LLMPERF_TRACE_NSYS_SQLITE };
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const char steps[] = "begin LLM@decode_all\nrepeat 2000\nbegin LLM@decode_step\n"
                            "launch a\nlaunch b\ncopy htod bytes=4\nend\ndone\nend\n";

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static uint64_t size_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return (uint64_t)info.st_size;
}

/* Export to each format; all say the same. */
static llmperf_trace_summary export_all(const char *source)
{
    llmperf_trace_summary first = LLMPERF_TRACE_SUMMARY_INIT;

    for (size_t i = 0; i < FORMATS; i++) {
        llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
        const char *path = in_test_folder(llmperf_trace_file_name(formats[i]));

        if (llmperf_trace_export(source, formats[i], path, &summary) < 0)
            fail_msg("%s: %s", path, llmperf_last_error());
        assert_true(size_of(path) > 0);
        if (i == 0)
            first = summary;
        assert_memory_equal(&first, &summary, sizeof(first));
    }
    return first;
}

static llmperf_profile *play_traced(const char *script, const char *folder, uint64_t trace_bytes)
{
    llmperf_session_options options = script_options(script);

    options.run_dir = in_test_folder(folder);
    options.keep_trace = 1;
    options.trace_bytes = trace_bytes;
    return play_options(&options);
}

static void a_trace_holds_what_the_profile_counts(void **state)
{
    llmperf_profile *profile = play_traced(steps, "whole", 0);
    llmperf_trace_summary summary = export_all(in_test_folder("whole"));
    llmperf_ledger ledger = ledger_of(profile);

    (void)state;
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(summary.kernels, 4000);
    assert_int_equal(summary.memory, 2000);
    assert_int_equal(summary.regions, 2001);
    assert_int_equal(summary.launches, 6000);
    assert_int_equal(summary.missing_from_ns, 0);
    assert_int_equal(summary.cut, 0);
    assert_true(summary.last_ns > summary.first_ns);
    assert_memory_equal(
        &summary, (llmperf_trace_summary[]){ export_all(in_test_folder("whole/run.llmperf")) },
        sizeof(summary));
    assert_false(has_note(profile, "trace"));
    llmperf_profile_free(profile);
}

static void a_trace_that_reaches_its_limit_says_from_when_on(void **state)
{
    llmperf_profile *profile = play_traced(steps, "limited", 20000), *replayed;
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_trace_summary summary = export_all(in_test_folder("limited"));

    (void)state;
    assert_true(has_note(profile, "The trace ends 0.0"));
    assert_true(has_note(profile, "trace_bytes = 20000"));
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger_of(profile).kernels_seen, 4000);
    assert_true(summary.kernels > 0 && summary.kernels < 4000);
    assert_true(summary.missing_from_ns > summary.first_ns);
    assert_int_equal(summary.cut, 0);
    assert_true(size_of(in_test_folder("limited/trace.llmrec")) < 2 * 20000);
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_path = in_test_folder("limited/trace.llmrec");
    replayed = play_options(&options);
    assert_int_equal(ledger_of(replayed).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_true(has_problem(replayed, "the recording reached its size limit"));
    llmperf_profile_free(replayed);
    llmperf_profile_free(profile);
}

static void environment_and_configuration_ask_for_a_trace(void **state)
{
    static const char asks[] = "artifacts: {keep_trace: true, trace_bytes: 20000, warn_bytes: 1}\n";
    llmperf_session_options options = script_options(steps);
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.config_path = write_test_file("session.yaml", asks, strlen(asks));
    options.run_dir = in_test_folder("configured");
    profile = play_options(&options);
    assert_true(has_note(profile, "trace_bytes = 20000"));
    assert_true(has_note(profile, "more than artifacts.warn_bytes"));
    llmperf_profile_free(profile);
    setenv("LLMPERF_TRACE", "0", 1);
    options.run_dir = in_test_folder("declined");
    llmperf_profile_free(play_options(&options));
    assert_false(exists(in_test_folder("declined/trace.llmrec")));
    setenv("LLMPERF_TRACE", "1", 1);
    llmperf_profile_free(play_script("launch k\n")); /* no folder: nothing to keep it in */
    options = script_options("launch k\n");
    options.run_dir = in_test_folder("asked");
    llmperf_profile_free(play_options(&options));
    assert_int_equal(export_all(in_test_folder("asked")).kernels, 1);
    setenv("LLMPERF_TRACE", "yes", 1);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error("LLMPERF_TRACE=yes: give 1 or 0");
    unsetenv("LLMPERF_TRACE");
}

static void a_trace_and_a_recording_are_kept_side_by_side(void **state)
{
    llmperf_session_options options = script_options(steps);

    (void)state;
    options.run_dir = in_test_folder("both");
    options.keep_trace = 1;
    options.trace_bytes = 20000;
    options.record_path = in_test_folder("both.llmrec");
    llmperf_profile_free(play_options(&options));
    assert_true(export_all(in_test_folder("both")).kernels < 4000);
    assert_int_equal(export_all(in_test_folder("both.llmrec")).kernels, 4000);
}

static void launches_that_failed_are_in_no_trace(void **state)
{
    llmperf_trace_summary summary;

    (void)state;
    llmperf_profile_free(play_traced("begin a\nlaunch_fail k\ncapture k\nlaunch k\ngraph a,b,c\n"
                                     "end\n",
                                     "failed", 0));
    summary = export_all(in_test_folder("failed"));
    assert_int_equal(summary.launches, 2);
    assert_int_equal(summary.kernels, 4);
}

static void a_session_that_does_not_start_leaves_no_trace(void **state)
{
    llmperf_session_options options = script_options("launch k\n");
    llmperf_session *session = NULL;

    (void)state;
    options.run_dir = in_test_folder("taken");
    options.keep_trace = 1;
    assert_int_equal(lp_folder_make(options.run_dir), 0);
    assert_int_equal(lp_folder_make(in_test_folder("taken/trace.llmrec")), 0);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EIO);
    check_error("trace.llmrec");
    assert_false(exists(in_test_folder("taken/run.llmperf")));
}

static void what_cannot_be_exported_is_one_clear_line(void **state)
{
    const char *path = in_test_folder("out");
    llmperf_trace_summary old = { .struct_size = 0 };

    (void)state;
    assert_int_equal(llmperf_trace_export(NULL, 1, path, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_trace_export("x", 9, path, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_trace_export("x", 1, path, &old), LLMPERF_EINVAL);
    assert_int_equal(llmperf_trace_export("/no/such", 1, path, NULL), LLMPERF_ENOENT);
    assert_int_equal(llmperf_trace_export(write_test_file("text", "hello", 5), 1, path, NULL),
                     LLMPERF_EFORMAT);
    check_error("is neither a run nor a recording");
    llmperf_profile_free(play_traced("launch k\n", "fine", 0));
    for (size_t i = 0; i < FORMATS; i++) {
        assert_int_equal(
            llmperf_trace_export(in_test_folder("fine"), formats[i], "/no/such/folder/file", NULL),
            LLMPERF_EIO);
        check_error("cannot write /no/such/folder/file");
    }
    assert_false(exists(path));
}

static void a_killed_program_leaves_a_trace_that_opens(void **state)
{
    int status = run_self("spin", 2500); /* the trace is handed to the system each second */
    llmperf_trace_summary summary;

    (void)state;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    summary = export_all(in_test_folder("killed"));
    assert_true(summary.kernels > 0);
    assert_true(summary.regions == 1);
    assert_int_equal(summary.cut, 1);
}

static int play_role(const char *folder)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/killed", folder);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.run_dir = path;
    options.keep_trace = 1;
    if (llmperf_session_start(&options, &session) < 0)
        return 2;
    llmperf_region_begin("spinning");
    for (;;) {
        lp_fake_launch("k", 1, 10);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_holds_what_the_profile_counts),
        cmocka_unit_test(a_trace_that_reaches_its_limit_says_from_when_on),
        cmocka_unit_test(environment_and_configuration_ask_for_a_trace),
        cmocka_unit_test(a_trace_and_a_recording_are_kept_side_by_side),
        cmocka_unit_test(launches_that_failed_are_in_no_trace),
        cmocka_unit_test(a_session_that_does_not_start_leaves_no_trace),
        cmocka_unit_test(what_cannot_be_exported_is_one_clear_line),
        cmocka_unit_test(a_killed_program_leaves_a_trace_that_opens),
    };

    if (argc == 3)
        return play_role(argv[2]);
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
