/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions: options, states, run directories, and programs that end in every way. */
#include <dirent.h>
#include <pthread.h>
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

#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"
#include "llmperf/sys/check.h"

static llmperf_session_options fake_options(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_FAKE;
    return options;
}

static llmperf_session *start(const llmperf_session_options *options)
{
    llmperf_session *session = NULL;

    if (llmperf_session_start(options, &session) < 0)
        fail_msg("start: %s", llmperf_last_error());
    return session;
}

static void check_refused(const llmperf_session_options *options, int status, const char *part)
{
    llmperf_session *session = NULL;

    assert_string_equal(llmperf_status_name(llmperf_session_start(options, &session)),
                        llmperf_status_name(status));
    assert_null(session);
    check_error(part);
}

static bool exists(const char *folder, const char *name)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int count_files(const char *folder)
{
    DIR *files = opendir(folder);
    int count = -2; /* . and .. */

    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

static void each_bad_option_is_one_clear_line(void **state)
{
    llmperf_session_options options = fake_options();

    (void)state;
    options.struct_size = 0;
    check_refused(&options, LLMPERF_EINVAL, "struct_size is not set");
    options = fake_options();
    options.tier = 99;
    check_refused(&options, LLMPERF_EINVAL, "tier is 99; it must be between 1 and 4");
    options = fake_options();
    options.tier = LLMPERF_TIER_COUNTERS;
    options.counters = "no_such_preset";
    check_refused(&options, LLMPERF_ENOENT, "no_such_preset");
    options.counters = "light replay=twice";
    check_refused(&options, LLMPERF_EINVAL, "replay=twice");
    options.counters = "light interval_us=soon";
    check_refused(&options, LLMPERF_EINVAL, "interval_us=soon");
    options.counters = "light include=regex:(";
    check_refused(&options, LLMPERF_EINVAL, "regex:(");
    options.counters = "light memory";
    check_refused(&options, LLMPERF_EINVAL, "unknown word \"memory\"");
    options.counters = "light interval_us=100";
    check_refused(&options, LLMPERF_EINVAL, "interval_us= is for presets pm and live");
    options.counters = "pm replay=user";
    check_refused(&options, LLMPERF_EINVAL, "replay= is for presets with range profiling");
    options.tier = LLMPERF_TIER_LIGHT;
    options.counters = "light";
    check_refused(&options, LLMPERF_EINVAL, "use preset live");
    options.counters = "light budget=0";
    check_refused(&options, LLMPERF_EINVAL, "budget=0\" needs a number from 1 to 1000");
    options.counters = "pm budget=5";
    check_refused(&options, LLMPERF_EINVAL, "budget= is for range profiling; sampling costs");
    options.counters = "light replay=kernel budget=5";
    check_refused(&options, LLMPERF_EINVAL, "budget= is for range profiling; with replay=kernel");
    options.counters = "interval_us=100";
    check_refused(&options, LLMPERF_EINVAL, "contains no preset");
    options = fake_options();
    options.device_source = 5;
    check_refused(&options, LLMPERF_EINVAL, "device_source is 5; it must be between 0 and 4");
    options.device_source = LLMPERF_SOURCE_REPLAY;
    check_refused(&options, LLMPERF_EINVAL, "set device_path");
    options = fake_options();
    options.keep_trace = 1;
    check_refused(&options, LLMPERF_EINVAL, "keep_trace needs a folder");
    options = fake_options();
    options.flags = LLMPERF_SESSION_NO_REPORTS | 16 | UINT32_C(0x80000000);
    check_refused(&options, LLMPERF_EINVAL, "unknown flags 0x80000010");
    options = fake_options();
    options.reserved = 1;
    check_refused(&options, LLMPERF_EINVAL, "reserved is 1 and must be 0");
    options = fake_options();
    options.config_path = "/no/such/config.yaml";
    check_refused(&options, LLMPERF_ENOENT, "/no/such/config.yaml");
    options = fake_options();
    options.device_path = "/no/such/script";
    check_refused(&options, LLMPERF_ENOENT, "/no/such/script");
    options.device_source = LLMPERF_SOURCE_REPLAY;
    check_refused(&options, LLMPERF_ENOENT, "/no/such/script");
    options = fake_options();
    options.record_path = "/no/such/folder/recording";
    check_refused(&options, LLMPERF_EIO, "/no/such/folder/recording");
}

static void each_bad_run_folder_is_one_clear_line(void **state)
{
    static const char *const bad_ids[] = { "", "a/b", ".", "..", "/" };
    llmperf_session_options options = fake_options();

    (void)state;
    options.out_dir = in_test_folder("runs");
    for (size_t i = 0; i < sizeof(bad_ids) / sizeof(bad_ids[0]); i++) {
        options.run_id = bad_ids[i];
        check_refused(&options, LLMPERF_EINVAL, "must be a folder name without a path");
    }
    options = fake_options();
    options.run_dir = "";
    check_refused(&options, LLMPERF_EIO, "cannot create folder");
    options.run_dir = write_test_file("a-file", "x", 1);
    check_refused(&options, LLMPERF_EIO, "a-file");
    options.run_dir = "/proc/no/such";
    check_refused(&options, LLMPERF_EIO, "cannot create folder /proc/no: ");
}

static void a_refused_session_leaves_room_for_the_next(void **state)
{
    llmperf_session_options options = fake_options();

    (void)state;
    options.device_path = "/no/such/script";
    check_refused(&options, LLMPERF_ENOENT, "/no/such/script");
    llmperf_profile_free(play_script("launch k\n"));
}

static void a_faulty_script_is_told_at_start(void **state)
{
    llmperf_session_options options = script_options("launch k\nlunch k\n");

    (void)state;
    check_refused(&options, LLMPERF_EFORMAT, "script.txt:2");
}

static void missing_arguments_are_refused(void **state)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    (void)state;
    assert_int_equal(llmperf_session_start(NULL, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_stop(NULL, &profile), LLMPERF_EINVAL);
    check_error("session is required");
    assert_int_equal(llmperf_session_pause(NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_resume(NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_flush(NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_snapshot(NULL, &profile), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_ledger(NULL, &ledger), LLMPERF_EINVAL);
    assert_null(llmperf_session_run_dir(NULL));
    assert_null(profile);
    llmperf_session_free(NULL);
}

static void no_options_are_the_defaults(void **state)
{
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    (void)state;
    unsetenv("LLMPERF_TIER");
    unsetenv("LLMPERF_OUT");
    assert_int_equal(llmperf_session_start(NULL, &session), 0);
    assert_null(llmperf_session_run_dir(session));
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "deep");
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void options_of_an_older_header_are_enough(void **state)
{
    llmperf_session_options options = script_options("launch k\n");
    llmperf_profile *profile;

    (void)state;
    options.struct_size = offsetof(llmperf_session_options, record_path);
    options.record_path = "/no/such/folder/recording"; /* not read */
    options.keep_trace = 1;
    profile = play_options(&options);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
}

static void without_a_driver_auto_says_why_there_is_no_device(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;

    (void)state;
    if (access("/dev/nvidiactl", F_OK) == 0)
        skip(); /* Here auto finds a device. */
    llmperf_region_begin("outside");
    profile = play_options(&options);
    llmperf_region_end();
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_string_equal(llmperf_profile_fact(profile, "source"), "none");
    assert_true(has_note(profile, "no device activity: "));
    assert_non_null(llmperf_profile_fact(profile, "source_reason"));
    llmperf_profile_free(profile);
    options.device_source = LLMPERF_SOURCE_CUPTI;
    check_refused(&options, LLMPERF_ENODEVICE, "");
}

static void source_none_has_host_times_only(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile = NULL;
    llmperf_region_stats region;
    llmperf_session *session;

    (void)state;
    options.device_source = LLMPERF_SOURCE_NONE;
    session = start(&options);
    for (int i = 0; i < 3; i++) {
        llmperf_region_begin("only");
        lp_fake_launch("ignored", 1, 10);
        llmperf_region_end();
    }
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_session_free(session);
    region = find_region(profile, "LLM@only", -1);
    assert_int_equal(region.instances, 3);
    assert_true(region.wall_sum_ms > 0);
    assert_true(region.gpu_busy_ms != region.gpu_busy_ms);
    assert_true(region.kernel_count == LLMPERF_UNKNOWN);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(has_note(profile, "source none: device activity was not collected"));
    llmperf_profile_free(profile);
}

static void tier_regions_has_host_times_only(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_REGIONS;
    profile = play_options(&options);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(has_note(profile, "tier regions"));
    llmperf_profile_free(profile);
}

static _Atomic int told;

static void hear(void *user, int32_t level, const char *line)
{
    (void)user;
    if (level == LLMPERF_LOG_WARN &&
        strstr(line, "regions marked by the program are not in this run"))
        told++;
}

static void regions_beside_a_script_are_told_once(void **state)
{
    llmperf_session_options scripted = script_options("begin LLM@prefill\nlaunch k\nend\n");
    llmperf_session_options live = fake_options();
    const llmperf_session_options *runs[] = { &scripted, &scripted, &live };

    (void)state;
    llmperf_log_set(hear, NULL, LLMPERF_LOG_WARN);
    for (size_t i = 0; i < 3; i++) {
        bool marks = i != 1, ignored = i == 0;
        llmperf_profile *profile = NULL;
        llmperf_session *session = start(runs[i]);

        told = 0;
        for (int n = 0; n < 3 && marks; n++) {
            llmperf_region_begin("LLM@own");
            llmperf_region_end();
        }
        assert_int_equal(llmperf_session_stop(session, &profile), 0);
        assert_int_equal(told, ignored);
        assert_int_equal(has_note(profile, "regions marked by the program are not in this run"),
                         ignored);
        assert_int_equal(has_region(profile, "LLM@own"), i == 2);
        llmperf_profile_free(profile);
        llmperf_session_free(session);
    }
    llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
}

static void a_second_session_is_refused_while_one_runs(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = start(&options);

    (void)state;
    check_refused(&options, LLMPERF_EBUSY, "a session is already running");
    assert_int_equal(llmperf_session_stop(session, NULL), 0);
    llmperf_session_free(start(&options)); /* The first one is stopped, not yet freed. */
    llmperf_session_free(session);
}

static void after_stop_nothing_but_free_is_left(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_session *session = start(&options);
    llmperf_profile *profile = NULL;

    (void)state;
    assert_int_equal(llmperf_session_stop(session, NULL), 0);
    assert_int_equal(llmperf_session_stop(session, &profile), LLMPERF_ESTATE);
    check_error("the session is stopped");
    assert_int_equal(llmperf_session_pause(session), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_resume(session), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_flush(session), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_snapshot(session, &profile), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_ledger(session, &ledger), LLMPERF_ESTATE);
    assert_null(profile);
    llmperf_session_free(session);
}

static void a_snapshot_has_what_is_complete_by_now(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = start(&options);
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    (void)state;
    for (int i = 1; i <= 3; i++) {
        llmperf_region_begin("snap");
        lp_fake_launch("k", 1, 10);
        llmperf_region_end();
        assert_int_equal(llmperf_session_snapshot(session, &profile), 0);
        assert_int_equal(find_region(profile, "LLM@snap", 0).instances, i);
        assert_int_equal(find_kernel(profile, "k", "LLM@snap").calls, i);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        llmperf_profile_free(profile);
    }
    assert_int_equal(llmperf_session_ledger(session, &ledger), 0);
    assert_int_equal(ledger.kernels_seen, 3);
    assert_int_equal(llmperf_session_ledger(session, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_snapshot(session, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_flush(session), 0);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void what_happens_in_a_pause_is_not_collected(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = start(&options);
    llmperf_profile *profile = NULL;

    (void)state;
    llmperf_region_begin("around");
    lp_fake_launch("k", 1, 10);
    assert_int_equal(llmperf_session_pause(session), 0);
    assert_int_equal(llmperf_session_pause(session), LLMPERF_ESTATE);
    check_error("already paused");
    llmperf_region_begin("paused");
    lp_fake_launch("k", 1, 10);
    llmperf_region_end();
    assert_int_equal(llmperf_session_resume(session), 0);
    assert_int_equal(llmperf_session_resume(session), LLMPERF_ESTATE);
    check_error("not paused");
    lp_fake_launch("k", 1, 10); /* The stack is still there. */
    llmperf_region_end();
    llmperf_region_begin("later");
    llmperf_region_end();
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_session_free(session);
    assert_int_equal(find_kernel(profile, "k", "LLM@around").calls, 2);
    assert_int_equal(find_region(profile, "LLM@around", 0).instances, 0);
    assert_int_equal(find_region(profile, "LLM@around", 0).truncated, 2);
    assert_int_equal(find_region(profile, "LLM@later", -1).instances, 1);
    assert_false(has_region(profile, "LLM@around/LLM@paused"));
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void a_paused_session_stops_as_any_other(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = start(&options);
    llmperf_profile *profile = NULL;

    (void)state;
    lp_fake_launch("k", 1, 10);
    assert_int_equal(llmperf_session_pause(session), 0);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void the_environment_decides_what_options_leave_open(void **state)
{
    llmperf_session_options options = script_options("launch k\n");
    llmperf_session *session;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_DEFAULT;
    setenv("LLMPERF_TIER", "light", 1);
    profile = play_options(&options);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "light");
    llmperf_profile_free(profile);
    setenv("LLMPERF_TIER", "loud", 1);
    check_refused(&options, LLMPERF_EINVAL,
                  "LLMPERF_TIER=loud is not one of regions, light, deep, counters");
    options.tier = LLMPERF_TIER_DEEP; /* An option wins. */
    llmperf_profile_free(play_options(&options));
    setenv("LLMPERF_TIER", "", 1);
    options.tier = LLMPERF_TIER_DEFAULT;
    profile = play_options(&options);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "deep");
    llmperf_profile_free(profile);
    unsetenv("LLMPERF_TIER");
    setenv("LLMPERF_OUT", in_test_folder("env-out"), 1);
    options.run_id = "named";
    options.flags = LLMPERF_SESSION_NO_REPORTS;
    session = start(&options);
    assert_string_equal(llmperf_session_run_dir(session), in_test_folder("env-out/named"));
    llmperf_session_free(session);
    assert_true(exists(in_test_folder("env-out/named"), "run.llmperf"));
    unsetenv("LLMPERF_OUT");
}

static void a_run_folder_holds_the_run_and_its_reports(void **state)
{
    static const char *const files[] = { "run.llmperf",    "report.md",    "stages.md",
                                         "kernels.md",     "operators.md", "metrics.json",
                                         "env.json",       "config.yaml",  "stakeholder_summary.md",
                                         "assumptions.md", "inputs.yaml",  "report.html",
                                         "regions" };
    const size_t count = sizeof(files) / sizeof(files[0]);
    llmperf_session_options options = script_options("begin LLM@prefill\nlaunch k\nend\n");
    llmperf_profile *profile, *again = NULL;
    char *metrics[2];

    (void)state;
    options.config_path = write_test_file("my.yaml", "a: 1\n", 5);
    options.run_dir = in_test_folder("deep/er/run");
    profile = play_options(&options);
    for (size_t i = 0; i < count; i++)
        if (!exists(options.run_dir, files[i]))
            fail_msg("no %s", files[i]);
    assert_int_equal(count_files(options.run_dir), count); /* no log, no temporary files */
    assert_int_equal(llmperf_validate(in_test_folder("deep/er/run/metrics.json"), NULL), 0);
    assert_int_equal(llmperf_profile_open(options.run_dir, &again), 0);
    metrics[0] = lasting_metrics(profile);
    metrics[1] = lasting_metrics(again);
    assert_string_equal(metrics[0], metrics[1]);
    free(metrics[0]);
    free(metrics[1]);
    llmperf_profile_free(again);
    llmperf_profile_free(profile);
}

static void without_reports_there_is_only_the_run_file(void **state)
{
    llmperf_session_options options = script_options("launch k\n");

    (void)state;
    options.run_dir = in_test_folder("bare");
    options.flags = LLMPERF_SESSION_NO_REPORTS;
    llmperf_profile_free(play_options(&options));
    assert_true(exists(options.run_dir, "run.llmperf"));
    assert_int_equal(count_files(options.run_dir), 1);
}

static void a_run_id_of_its_own_names_the_folder(void **state)
{
    llmperf_session_options options = script_options("launch k\n");
    llmperf_session *session;
    const char *name;

    (void)state;
    options.out_dir = in_test_folder("out");
    options.flags = LLMPERF_SESSION_NO_REPORTS;
    session = start(&options);
    name = strrchr(llmperf_session_run_dir(session), '/') + 1;
    assert_int_equal(strspn(name, "0123456789-"), strlen(name));
    assert_true(strlen(name) > 16 && name[8] == '-' && name[15] == '-');
    assert_int_equal(atoi(name + 16), getpid());
    llmperf_session_free(session);
}

static void *take_snapshots(void *session)
{
    llmperf_profile *profile;
    int status;

    while ((status = llmperf_session_snapshot(session, &profile)) == 0)
        llmperf_profile_free(profile);
    return (void *)(intptr_t)status;
}

static void others_may_ask_while_one_stops(void **state)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = start(&options);
    pthread_t threads[3];
    void *status;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_snapshots, session), 0);
    for (int i = 0; i < 100; i++)
        lp_fake_launch("k", 1, 10);
    assert_int_equal(llmperf_session_stop(session, NULL), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &status);
        assert_int_equal((intptr_t)status, LLMPERF_ESTATE);
    }
    llmperf_session_free(session);
}

static void sessions_follow_each_other(void **state)
{
    llmperf_session_options options = fake_options();

    (void)state;
    for (int i = 0; i < 20; i++) {
        llmperf_session *session = start(&options);
        llmperf_profile *profile = NULL;

        llmperf_region_begin("again");
        lp_fake_launch("k", 1, 10);
        llmperf_region_end();
        assert_int_equal(llmperf_session_stop(session, &profile), 0);
        assert_int_equal(find_kernel(profile, "k", "LLM@again").calls, 1);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        llmperf_profile_free(profile);
        llmperf_session_free(session);
    }
}

static void a_program_that_ends_without_stop_has_its_reports(void **state)
{
    llmperf_profile *profile = NULL;
    int status = run_self("forget", 0);

    (void)state;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_true(exists(in_test_folder("forgotten"), "report.md"));
    assert_int_equal(llmperf_profile_open(in_test_folder("forgotten"), &profile), 0);
    assert_int_equal(find_kernel(profile, "k", "LLM@left_open").calls, 5);
    assert_int_equal(ledger_of(profile).regions_truncated, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void a_killed_program_leaves_a_readable_run(void **state)
{
    llmperf_profile *profile = NULL;
    int status = run_self("spin", 2500); /* a commit each second */

    (void)state;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (llmperf_profile_open(in_test_folder("killed"), &profile) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_true(find_kernel(profile, "k", "LLM@spinning").calls > 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_true(has_problem(profile, "ended without stopping the session"));
    llmperf_profile_free(profile);
}

static void a_program_killed_at_once_leaves_a_readable_run_too(void **state)
{
    llmperf_profile *profile = NULL;
    int status = run_self("kill-self", 0);

    (void)state; /* The first commit is made before start returns. */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (llmperf_profile_open(in_test_folder("at-once"), &profile) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_true(has_problem(profile, "ended without stopping the session"));
    assert_int_not_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

/* What the program does when it is run again, `folder`: of the tests. */
static int play_role(const char *role, const char *folder)
{
    llmperf_session_options options = fake_options();
    llmperf_session *session = NULL;
    char path[512];
    bool forget = strcmp(role, "forget") == 0, spin = strcmp(role, "spin") == 0;

    snprintf(path, sizeof(path), "%s/%s", folder,
             forget ? "forgotten"
             : spin ? "killed"
                    : "at-once");
    options.run_dir = path;
    if (llmperf_session_start(&options, &session) < 0)
        return 2;
    llmperf_region_begin(forget ? "left_open" : "spinning");
    for (int i = 0; forget && i < 5; i++)
        lp_fake_launch("k", 1, 10);
    while (spin) {
        lp_fake_launch("k", 1, 10);
        usleep(1000);
    }
    if (!forget)
        raise(SIGKILL);
    exit(7);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bad_option_is_one_clear_line),
        cmocka_unit_test(each_bad_run_folder_is_one_clear_line),
        cmocka_unit_test(a_refused_session_leaves_room_for_the_next),
        cmocka_unit_test(a_faulty_script_is_told_at_start),
        cmocka_unit_test(missing_arguments_are_refused),
        cmocka_unit_test(no_options_are_the_defaults),
        cmocka_unit_test(options_of_an_older_header_are_enough),
        cmocka_unit_test(without_a_driver_auto_says_why_there_is_no_device),
        cmocka_unit_test(source_none_has_host_times_only),
        cmocka_unit_test(tier_regions_has_host_times_only),
        cmocka_unit_test(regions_beside_a_script_are_told_once),
        cmocka_unit_test(a_second_session_is_refused_while_one_runs),
        cmocka_unit_test(after_stop_nothing_but_free_is_left),
        cmocka_unit_test(a_snapshot_has_what_is_complete_by_now),
        cmocka_unit_test(what_happens_in_a_pause_is_not_collected),
        cmocka_unit_test(a_paused_session_stops_as_any_other),
        cmocka_unit_test(the_environment_decides_what_options_leave_open),
        cmocka_unit_test(a_run_folder_holds_the_run_and_its_reports),
        cmocka_unit_test(without_reports_there_is_only_the_run_file),
        cmocka_unit_test(a_run_id_of_its_own_names_the_folder),
        cmocka_unit_test(others_may_ask_while_one_stops),
        cmocka_unit_test(sessions_follow_each_other),
        cmocka_unit_test(a_program_that_ends_without_stop_has_its_reports),
        cmocka_unit_test(a_killed_program_leaves_a_readable_run),
        cmocka_unit_test(a_program_killed_at_once_leaves_a_readable_run_too),
    };

    if (argc > 2)
        return play_role(argv[1], argv[2]);
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
