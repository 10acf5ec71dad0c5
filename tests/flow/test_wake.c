/* SPDX-License-Identifier: Apache-2.0 */
/** A process that waits for `llmperf attach`: woken and put to sleep again, on the fake device and
 * through its socket. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/session/session.h"
#include "lib/sources/fake/fake.h"
#include "llmperf/sys/inject.h"
#include "tests/support/play.h"

#define CYCLES 100

static _Atomic bool ended;
static _Atomic unsigned steps;

static void *serve(void *unused)
{
    for (; !ended; steps++) {
        llmperf_decode_step_begin(1, 100);
        lp_fake_launch("gemm", 7, 500);
        llmperf_decode_step_end();
        usleep(200);
    }
    return unused;
}

static void run_steps(unsigned count)
{
    for (unsigned from = steps; steps < from + count;)
        usleep(200);
}

static size_t entries(const char *folder)
{
    DIR *stream = opendir(folder);
    size_t count = 0;

    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

static void wake(const char *run_dir)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.run_dir = run_dir;
    options.flags = LLMPERF_SESSION_NO_REPORTS | LLMPERF_SESSION_RELEASE;
    if (lp_inject_wake(&options) < 0)
        fail_msg("%s", llmperf_last_error());
}

static void a_hundred_cycles_beside_work_leave_nothing_behind(void **state)
{
    const char *folder = in_test_folder("last");
    size_t files = 0, threads = 0;
    char text[4096];
    llmperf_profile *profile;
    pthread_t server;

    (void)state;
    assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
    for (int i = 0; i < CYCLES; i++) {
        wake(i + 1 < CYCLES ? NULL : folder);
        run_steps(i + 1 < CYCLES ? 2 : 20);
        if (lp_inject_sleep(text, sizeof(text)) < 0)
            fail_msg("%s", llmperf_last_error());
        if (i == 0) {
            files = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
        }
    }
    assert_int_equal(entries("/proc/self/fd"), files);
    assert_int_equal(entries("/proc/self/task"), threads);
    ended = true;
    pthread_join(server, NULL);
    assert_string_equal(text, folder);
    assert_int_equal(llmperf_profile_open(folder, &profile), 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(find_region(profile, "LLM@decode_step", 0).kernel_count >= 10);
    llmperf_profile_free(profile);
}

static void its_socket_starts_and_stops_a_session(void **state)
{
    const uint32_t self = (uint32_t)getpid();
    char folder[4096], stopped[4096] = "";
    llmperf_profile *profile;

    (void)state;
    assert_non_null(realpath(in_test_folder(""), folder));
    strcat(folder, "/attached");
    assert_int_equal(llmperf_attach_stop(self, NULL, 0), LLMPERF_ESTATE);
    assert_int_equal(llmperf_attach_start(self, "relative", 0), LLMPERF_EINVAL);
    assert_int_equal(llmperf_attach_start(self, folder, LLMPERF_TIER_REGIONS), 0);
    assert_int_equal(llmperf_attach_start(self, folder, LLMPERF_TIER_REGIONS), LLMPERF_EBUSY);
    llmperf_region_begin("while attached");
    llmperf_region_end();
    assert_int_equal(llmperf_attach_stop(self, stopped, sizeof(stopped)), 0);
    assert_string_equal(stopped, folder);
    assert_int_equal(llmperf_profile_open(folder, &profile), 0);
    assert_int_equal(find_region(profile, "LLM@while attached", -1).instances, 1);
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_attach_start(self, folder, 0), LLMPERF_EBUSY); /* it holds a run */
}

static void a_session_of_the_program_ends_that_of_the_command(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    (void)state;
    wake(NULL);
    options.device_source = LLMPERF_SOURCE_NONE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    assert_int_equal(llmperf_attach_stop((uint32_t)getpid(), NULL, 0), LLMPERF_ESTATE);
    llmperf_profile_free(stop_session(session));
}

static void what_cannot_be_attached_to_is_explained(void **state)
{
    const uint32_t parent = (uint32_t)getppid();

    (void)state;
    assert_int_equal(llmperf_attach_start(INT32_MAX, "/x", 0), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "there is no process"));
    assert_int_equal(llmperf_attach_start(parent, "/x", 0), LLMPERF_ENOTSUP);
    assert_non_null(strstr(llmperf_last_error(), "start it again with LLMPERF_ATTACH=1"));
}

static int listen_first(void **state)
{
    setenv("LLMPERF_ATTACH", "1", 1);
    if (InitializeInjection() != 1)
        return -1;
    unsetenv("LLMPERF_ATTACH");
    return make_test_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_cycles_beside_work_leave_nothing_behind),
        cmocka_unit_test(its_socket_starts_and_stops_a_session),
        cmocka_unit_test(a_session_of_the_program_ends_that_of_the_command),
        cmocka_unit_test(what_cannot_be_attached_to_is_explained),
    };

    return cmocka_run_group_tests(tests, listen_first, remove_test_folder);
}
