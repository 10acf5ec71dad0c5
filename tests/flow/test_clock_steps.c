/* SPDX-License-Identifier: Apache-2.0 */
/** The time of day is set while sessions run: forward, back, by an hour and more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "lib/session/life.h"
#include "tests/support/play.h"
#include "llmperf/sys/trace.h"

#ifdef SANITIZED /* They have functions of these names themselves. */

int main(void)
{
    printf("not under sanitizers: they replace clock_gettime() too\n");
    return 77;
}

#else

#define HOUR_S 3600

static atomic_long day_shift_s, monotonic_shift_s;
static atomic_bool jumps; /* the time of day, each time that it is read */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static atomic_uint reads;
    int failed = (int)syscall(SYS_clock_gettime, clock, time);

    if (failed == 0 && clock == CLOCK_MONOTONIC)
        time->tv_sec += atomic_load(&monotonic_shift_s);
    if (failed == 0 && clock == CLOCK_REALTIME) {
        time->tv_sec += atomic_load(&day_shift_s);
        if (atomic_load(&jumps))
            time->tv_sec += HOUR_S * (atomic_fetch_add(&reads, 1) % 5 - 2L);
    }
    return failed;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

static void steps_change_no_number(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    llmperf_profile *profile;
    llmperf_ledger ledger;

    (void)state;
    atomic_store(&jumps, true);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.run_dir = in_test_folder("stepped");
    options.keep_trace = 1;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 500; i++) {
        llmperf_decode_step_begin(1, 10);
        lp_fake_launch("k", 7, 1000);
        llmperf_decode_step_end();
        if (i % 100 == 0)
            assert_int_equal(llmperf_session_flush(session), 0);
    }
    profile = stop_session(session);
    atomic_store(&jumps, false);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger.kernels_attributed, 500);
    assert_int_equal(ledger.records_invalid_time, 0);
    assert_true(find_region(profile, "LLM@decode_step", 0).wall_sum_ms < 60000);
    assert_true(atof(llmperf_profile_fact(profile, "duration_ms")) < 60000);
    assert_int_equal(llmperf_trace_export(options.run_dir, LLMPERF_TRACE_CHROME,
                                          in_test_folder("trace.json"), &summary),
                     0);
    assert_int_equal(summary.kernels, 500);
    assert_true(summary.last_ns - summary.first_ns < UINT64_C(60000000000));
    llmperf_profile_free(profile);
}

/* The deadline is ten seconds ahead on a clock that runs on; half a second is enough to see it. */
static void an_exit_waits_no_longer_where_the_time_of_day_is_set_back(void **state)
{
    struct llmperf_session *session = (struct llmperf_session *)(uintptr_t)16; /* never looked at */
    struct timespec before, after;

    (void)state;
    lp_life_begin(session);
    assert_ptr_equal(lp_life_enter_exit(), session);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before);
    atomic_store(&day_shift_s, 30);
    atomic_store(&monotonic_shift_s, -9);
    lp_life_await_stop();
    atomic_store(&day_shift_s, 0);
    atomic_store(&monotonic_shift_s, 0);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &after);
    lp_life_leave_exit();
    lp_life_end();
    assert_true(after.tv_sec - before.tv_sec < 20);
}

/* In a process of its own: a session that runs until its standard input ends. */
static int run_session(const char *run_dir)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;
    char byte;

    options.run_dir = run_dir;
    options.device_source = LLMPERF_SOURCE_NONE;
    options.flags = LLMPERF_SESSION_NO_REPORTS;
    if (llmperf_session_start(&options, &session) < 0)
        return 1;
    if (write(STDOUT_FILENO, "r", 1) != 1)
        return 1;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
    return 0;
}

static void a_run_that_goes_on_is_kept_whatever_the_time_of_day(void **state)
{
    static const char config[] = "run: {id: new}\nartifacts: {dir: '%s', keep_runs: 1}\n";
    llmperf_session_options options = script_options("launch k\n");
    char text[600], running[300];
    int to[2], from[2], status;
    char byte;
    pid_t pid;

    (void)state;
    snprintf(running, sizeof(running), "%s", in_test_folder("kept/running"));
    assert_int_equal(pipe(to) + pipe(from), 0);
    if ((pid = fork()) == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        execl("/proc/self/exe", "test", running, (char *)NULL);
        _exit(1);
    }
    close(from[1]);
    close(to[0]);
    assert_int_equal(read(from[0], &byte, 1), 1);
    snprintf(text, sizeof(text), config, in_test_folder("kept"));
    options.config_path = write_test_file("keep.yaml", text, strlen(text));
    atomic_store(&day_shift_s, 24 * HOUR_S);
    llmperf_profile_free(play_options(&options));
    atomic_store(&day_shift_s, 0);
    assert_int_equal(access(in_test_folder("kept/new/run.llmperf"), F_OK), 0);
    assert_int_equal(access(in_test_folder("kept/running/run.llmperf"), F_OK), 0);
    close(to[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(from[0]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_change_no_number),
        cmocka_unit_test(an_exit_waits_no_longer_where_the_time_of_day_is_set_back),
        cmocka_unit_test(a_run_that_goes_on_is_kept_whatever_the_time_of_day),
    };

    if (argc > 1)
        return run_session(argv[1]);
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}

#endif
