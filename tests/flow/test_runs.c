/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of runs, and what a session leaves in them. */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "tests/support/memory.h"
#include "tests/support/play.h"

static llmperf_session_options host_options(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_NONE;
    return options;
}

static void sessions_of_one_second_have_folders_of_their_own(void **state)
{
    llmperf_session_options options = host_options();
    char *seen[4];

    (void)state;
    options.out_dir = in_test_folder("out");
    for (int i = 0; i < 4; i++) {
        llmperf_session *session = NULL;
        llmperf_profile *profile = NULL;

        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
        seen[i] = strdup(llmperf_session_run_dir(session));
        assert_int_equal(llmperf_session_stop(session, &profile), LLMPERF_OK);
        assert_non_null(strstr(seen[i], llmperf_profile_fact(profile, "run_id")));
        llmperf_profile_free(profile);
        llmperf_session_free(session);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(seen[i], seen[k]);
    }
    for (int i = 0; i < 4; i++) {
        llmperf_profile *profile = NULL;

        assert_int_equal(llmperf_profile_open(seen[i], &profile), LLMPERF_OK);
        llmperf_profile_free(profile);
        free(seen[i]);
    }
}

/* A replay has none: who replays a recording twice has one run twice. */
static void each_session_has_a_key_that_no_other_has(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_profile *profiles[2] = { NULL, NULL }, *read = NULL, *replayed;
    char path[200];

    (void)state;
    for (int i = 0; i < 2; i++) {
        options.run_dir = in_test_folder(i == 0 ? "first" : "second");
        profiles[i] = play_options(&options);
        assert_int_equal(strlen(llmperf_profile_fact(profiles[i], LP_RUN_KEY_FACT)), 16);
    }
    assert_string_not_equal(llmperf_profile_fact(profiles[0], LP_RUN_KEY_FACT),
                            llmperf_profile_fact(profiles[1], LP_RUN_KEY_FACT));
    assert_int_equal(llmperf_profile_open(in_test_folder("second"), &read), LLMPERF_OK);
    assert_string_equal(llmperf_profile_fact(profiles[1], LP_RUN_KEY_FACT),
                        llmperf_profile_fact(read, LP_RUN_KEY_FACT));
    snprintf(path, sizeof(path), "%s/h200/dummy_resnet.llmrec", getenv("LLMPERF_TEST_DATA"));
    options.run_dir = NULL;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = path;
    replayed = play_options(&options);
    assert_null(llmperf_profile_fact(replayed, LP_RUN_KEY_FACT));
    llmperf_profile_free(replayed);
    llmperf_profile_free(read);
    llmperf_profile_free(profiles[0]);
    llmperf_profile_free(profiles[1]);
}

static void a_folder_that_holds_a_run_is_refused(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    (void)state;
    options.run_dir = in_test_folder("taken");
    llmperf_profile_free(play_options(&options));
    options.run_dir = in_test_folder("taken");
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EBUSY);
    check_error("already contains a run");
    assert_int_equal(llmperf_profile_open(in_test_folder("taken"), &profile), LLMPERF_OK);
    llmperf_profile_free(profile);
}

static void a_start_that_fails_leaves_no_folder(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;

    (void)state;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = "/no/such/recording";
    options.run_dir = in_test_folder("failed");
    assert_true(llmperf_session_start(&options, &session) < 0);
    assert_int_equal(access(in_test_folder("failed"), F_OK), -1);
}

static void a_recording_without_a_device_replays_without_one(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.record_path = in_test_folder("host.llmrec");
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
    llmperf_region_begin("host only");
    llmperf_region_end();
    assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_OK);
    llmperf_session_free(session);
    options = host_options();
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("host.llmrec");
    profile = play_options(&options);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(ledger_of(profile).launches_expected == LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "without a device source"));
    assert_int_equal(find_region(profile, "LLM@host only", -1).instances, 1);
    llmperf_profile_free(profile);
}

/* The inner call is in the outer one's time. */
static void an_operator_inside_itself_counts_its_time_once(void **state)
{
    llmperf_profile *profile = play_script("begin block\n"
                                           "begin block\n"
                                           "launch k duration=5000\n"
                                           "end\n"
                                           "launch k duration=7000\n"
                                           "end\n");
    llmperf_operator_stats stats = find_operator(profile, "LLM@block", NULL);

    (void)state;
    assert_int_equal(stats.calls, 2);
    check_close(stats.cuda_time_ms, 0.012);
    check_close(stats.total_time_ms, find_region(profile, "LLM@block", 0).wall_sum_ms);
    llmperf_profile_free(profile);
}

static void amounts_stop_at_the_largest_number(void **state)
{
    llmperf_profile *profile = play_script("begin full\n"
                                           "repeat 30\n"
                                           "count flops 1000000000000000000\n"
                                           "done\n"
                                           "end\n");

    (void)state;
    assert_true(find_region(profile, "LLM@full", -1).flops == LLMPERF_UNKNOWN - 1);
    llmperf_profile_free(profile);
}

/* SQLite's locks may be held by the collector when the child is made. */
static void a_forked_child_is_refused_runs_instead_of_hanging(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;
    int status = -1;
    pid_t child;

    (void)state;
    options.run_dir = in_test_folder("forked");
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
    child = fork();
    if (child == 0) {
        llmperf_profile *profile = NULL;

        _exit(llmperf_profile_open(in_test_folder("forked"), &profile) == LLMPERF_ESTATE ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_OK);
    llmperf_session_free(session);
}

/* In a child: a test that is ended by a signal says nothing. */
static int run_below_a_size_limit(const char *bytes, const char *folder)
{
    const struct rlimit limit = { strtoul(bytes, NULL, 10), strtoul(bytes, NULL, 10) };
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;
    char saved[1024];
    int failures = 0;

    options.out_dir = folder;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (llmperf_session_start(&options, &session) < 0)
        return 1;
    for (int i = 0; i < 2000; i++) {
        char label[16];

        snprintf(label, sizeof(label), "r%d", i);
        llmperf_region_begin(label);
        llmperf_region_end();
    }
    failures += llmperf_session_stop(session, &profile) == LLMPERF_EIO;
    snprintf(saved, sizeof(saved), "%s/saved.llmperf", folder);
    failures += llmperf_profile_save(profile, saved) == LLMPERF_EIO;
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return failures == 2 ? 0 : 2;
}

static void a_limit_of_file_sizes_does_not_end_the_program(void **state)
{
    static const struct {
        const char *bytes;
        int status;
    } limits[] = { { "1000", 1 }, { "150000", 0 } }; /* too small to start; enough for that */
    const char *folder = in_test_folder("limited");

    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        int status;
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0) {
            setenv("LLMPERF_TEST_FOLDER", folder, 1);
            setenv("LLMPERF_TEST_LIMIT", limits[i].bytes, 1);
            execl("/proc/self/exe", "test_runs", (char *)NULL);
            _exit(99);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), limits[i].status);
    }
}

static void mark(const char *label)
{
    llmperf_region_begin(label);
    llmperf_region_end();
}

static void a_relative_folder_stays_where_it_was_when_the_program_moves(void **state)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;
    char *before = getcwd(NULL, 0), expected[1024];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chdir(in_test_folder("")), 0);
        options.run_dir = i == 0 ? "relative" : NULL;
        options.out_dir = i == 0 ? NULL : "relative-runs";
        options.run_id = "mine";
        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
        assert_int_equal(chdir("/"), 0);
        mark("LLM@elsewhere");
        assert_int_equal(llmperf_session_flush(session), LLMPERF_OK);
        assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_OK);
        snprintf(expected, sizeof(expected), "%s/report.md", llmperf_session_run_dir(session));
        assert_int_equal(access(expected, R_OK), 0);
        llmperf_session_free(session);
        assert_int_equal(access(in_test_folder(i == 0 ? "relative/metrics.json"
                                                      : "relative-runs/mine/metrics.json"),
                                R_OK),
                         0);
    }
    assert_int_equal(chdir(before), 0);
    free(before);
}

/* No file grows beyond it. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static llmperf_session *start_in(const char *folder)
{
    llmperf_session_options options = host_options();
    llmperf_session *session = NULL;

    options.run_dir = in_test_folder(folder);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
    mark("LLM@before");
    assert_int_equal(llmperf_session_flush(session), LLMPERF_OK);
    return session;
}

static void a_disk_that_was_full_for_a_while_costs_nothing(void **state)
{
    llmperf_session *session = start_in("full-for-a-while");
    llmperf_profile *profile = NULL;

    (void)state;
    mark("LLM@meanwhile");
    limit_files(8192);
    assert_int_equal(llmperf_session_flush(session), LLMPERF_EIO);
    limit_files(RLIM_INFINITY);
    assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_OK);
    llmperf_session_free(session);
    assert_int_equal(llmperf_profile_open(in_test_folder("full-for-a-while"), &profile), 0);
    assert_true(has_region(profile, "LLM@before") && has_region(profile, "LLM@meanwhile"));
    assert_null(llmperf_profile_problem(profile, 0));
    llmperf_profile_free(profile);
}

static void a_stop_on_a_full_disk_says_what_is_there(void **state)
{
    llmperf_session *session = start_in("full");
    llmperf_profile *profile = NULL, *read = NULL;

    (void)state;
    mark("LLM@lost");
    limit_files(8192);
    assert_int_equal(llmperf_session_stop(session, &profile), LLMPERF_EIO);
    limit_files(RLIM_INFINITY);
    check_error("full/run.llmperf lacks the last ");
    check_error(" s of the session (cannot write ");
    check_error("; files not written to ");
    check_error("full: metrics.json, report.html (");
    assert_null(strstr(llmperf_last_error(), "env.json"));
    assert_int_equal(access(in_test_folder("full/env.json"), R_OK), 0); /* It is small. */
    assert_true(has_region(profile, "LLM@lost"));
    assert_int_equal(llmperf_profile_open(in_test_folder("full"), &read), 0);
    assert_true(has_region(read, "LLM@before") && !has_region(read, "LLM@lost"));
    llmperf_profile_free(read);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void reports_that_cannot_be_written_are_named(void **state)
{
    llmperf_session *session = start_in("two-missing");

    (void)state;
    assert_int_equal(mkdir(in_test_folder("two-missing/kernels.md"), 0777), 0);
    assert_int_equal(mkdir(in_test_folder("two-missing/report.html"), 0777), 0);
    assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_EIO);
    check_error("run.llmperf is complete; files not written to ");
    check_error("two-missing: kernels.md, report.html (");
    check_error("then run llmperf report ");
    llmperf_session_free(session);
    assert_int_equal(access(in_test_folder("two-missing/metrics.json"), R_OK), 0);
    assert_int_equal(access(in_test_folder("two-missing/inputs.yaml"), R_OK), 0);
}

/* What atexit() keeps is never given back: its calls are counted on their way to the C library. */
static int handlers;

#ifndef SANITIZED
int __cxa_atexit(void (*run)(void *), void *argument, void *library);

int __cxa_atexit(void (*run)(void *), void *argument, void *library)
{
    int (*next)(void (*)(void *), void *, void *);
    void *address = dlsym(RTLD_NEXT, "__cxa_atexit");

    memcpy(&next, &address, sizeof(next));
    handlers++;
    return next(run, argument, library);
}
#endif

static void sessions_leave_nothing_behind(void **state)
{
    llmperf_session_options options = host_options();
    int handlers_before = 0;
    size_t before = 0;

    (void)state;
    for (int i = 0; i < scaled(300, 60); i++) {
        llmperf_session *session = NULL;

        before = i == scaled(100, 30) ? allocated_bytes() : before;
        handlers_before = i == 1 ? handlers : handlers_before;
        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_OK);
        mark("LLM@again");
        assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_OK);
        llmperf_session_free(session);
    }
    assert_int_equal(handlers, handlers_before);
    assert_in_range(allocated_bytes(), 0, before + 16384);
}

int main(void)
{
    const char *limit = getenv("LLMPERF_TEST_LIMIT");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_of_one_second_have_folders_of_their_own),
        cmocka_unit_test(each_session_has_a_key_that_no_other_has),
        cmocka_unit_test(a_folder_that_holds_a_run_is_refused),
        cmocka_unit_test(a_start_that_fails_leaves_no_folder),
        cmocka_unit_test(a_recording_without_a_device_replays_without_one),
        cmocka_unit_test(an_operator_inside_itself_counts_its_time_once),
        cmocka_unit_test(a_forked_child_is_refused_runs_instead_of_hanging),
        cmocka_unit_test(a_limit_of_file_sizes_does_not_end_the_program),
        cmocka_unit_test(amounts_stop_at_the_largest_number),
        cmocka_unit_test(a_relative_folder_stays_where_it_was_when_the_program_moves),
        cmocka_unit_test(a_disk_that_was_full_for_a_while_costs_nothing),
        cmocka_unit_test(a_stop_on_a_full_disk_says_what_is_there),
        cmocka_unit_test(reports_that_cannot_be_written_are_named),
        cmocka_unit_test(sessions_leave_nothing_behind),
    };

    if (limit)
        return run_below_a_size_limit(limit, getenv("LLMPERF_TEST_FOLDER"));
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
