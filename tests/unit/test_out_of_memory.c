/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation fails once, one after the other: nothing may crash, and what does not succeed
 * says why. The allocator is glibc's with a counter in front; sanitizers bring their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/llmperf.h"
#include "tests/support/run_files.h"

#if defined(__GLIBC__) && !defined(SANITIZED)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

/* Allocations from now on until one fails; below 0: none does. */
static _Atomic long left = -1;
static _Atomic bool has_failed;

static bool fails_now(void)
{
    bool now = atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;

    if (now)
        atomic_store(&has_failed, true);
    return now;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(memory, size);
}

/* Do it until it is through without a failure. `step`: how many allocations are passed over from
 * one try to the next. */
static void fail_each_allocation(int (*run)(void), long step)
{
    bool failed = true;

    for (long at = 0; failed; at += step) {
        int status;

        atomic_store(&has_failed, false);
        atomic_store(&left, at);
        status = run();
        atomic_store(&left, -1);
        failed = atomic_load(&has_failed);
        if (status < 0)
            assert_true(strlen(llmperf_last_error()) > 0);
        if (!failed)
            assert_int_equal(status, 0);
    }
}

static int compose(void)
{
    llmperf_config *config = NULL;
    int status = llmperf_config_compose("config", NULL, 0, &config);

    llmperf_config_free(config);
    return status;
}

static int compare_runs(void)
{
    llmperf_profile *profile = NULL, *other = NULL;
    char *text = NULL;
    uint64_t slower = 0;
    int status = llmperf_profile_open(run_path, &profile);

    if (status == 0)
        status = llmperf_profile_open(run_path, &other);
    if (status == 0)
        status = llmperf_compare(profile, other, 5, LLMPERF_COMPARE_MD, &text, &slower);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    llmperf_profile_free(other);
    return status;
}

static int report(void)
{
    llmperf_profile *profile = NULL;
    char *text = NULL;
    int status = llmperf_profile_open(run_path, &profile);

    if (status == 0)
        status = llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    return status;
}

static int run_session(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;
    char script[512];
    int status;

    snprintf(script, sizeof(script), "%s/fake/two_stages.txt", getenv("LLMPERF_TEST_DATA"));
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = script;
    if ((status = llmperf_session_start(&options, &session)) == 0)
        status = llmperf_session_stop(session, &profile);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return status;
}

static void composing_a_configuration_survives(void **state)
{
    (void)state;
    fail_each_allocation(compose, 1);
}

static void comparing_runs_survives(void **state)
{
    (void)state;
    save_rows(run_path, 2);
    fail_each_allocation(compare_runs, 1);
}

static void a_report_survives(void **state)
{
    (void)state;
    save_rows(run_path, 2);
    fail_each_allocation(report, 3);
}

static void a_session_survives(void **state)
{
    (void)state;
    fail_each_allocation(run_session, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composing_a_configuration_survives),
        cmocka_unit_test_setup_teardown(comparing_runs_survives, make_run_folder,
                                        remove_run_folder),
        cmocka_unit_test_setup_teardown(a_report_survives, make_run_folder, remove_run_folder),
        cmocka_unit_test(a_session_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* skipped */
}

#endif
