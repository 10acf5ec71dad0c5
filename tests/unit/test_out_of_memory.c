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

#include "lib/base/file.h"
#include "lib/base/text.h"
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

/* Do it until it is through without a failure. */
static void fail_each_allocation(int (*run)(void))
{
    bool failed = true;

    for (long at = 0; failed; at++) {
        int status;

        atomic_store(&has_failed, false);
        atomic_store(&left, at);
        status = run();
        atomic_store(&left, -1);
        failed = atomic_load(&has_failed);
        if (status < 0)
            assert_true(strlen(llmperf_last_error()) > 0);
        if (!failed && status < 0)
            fail_msg("without a failed allocation: %s", llmperf_last_error());
    }
}

static int compose(void)
{
    llmperf_config *config = NULL;
    int status = llmperf_config_compose("config", NULL, 0, &config);

    llmperf_config_free(config);
    return status;
}

static int open_run(void)
{
    llmperf_profile *profile = NULL;
    int status = llmperf_profile_open(run_path, &profile);

    llmperf_profile_free(profile);
    return status;
}

/* Opened before allocations fail: opening has a test of its own. */
static llmperf_profile *opened;

static int compare_runs(void)
{
    char *text = NULL;
    uint64_t slower = 0;
    int status = llmperf_compare(opened, opened, 5, LLMPERF_COMPARE_MD, &text, &slower);

    llmperf_text_free(text);
    return status;
}

static int report(void)
{
    char *text = NULL;
    int status = llmperf_document_text(opened, LLMPERF_DOCUMENT_REPORT_MD, &text);

    llmperf_text_free(text);
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
    fail_each_allocation(compose);
}

static void opening_a_run_survives(void **state)
{
    (void)state;
    fail_each_allocation(open_run);
}

static void comparing_runs_survives(void **state)
{
    (void)state;
    fail_each_allocation(compare_runs);
}

static void a_report_survives(void **state)
{
    (void)state;
    fail_each_allocation(report);
}

/* A rule of each kind: all of the usual file would be read again for each of its own allocations.
 */
static const char few_rules[] = "rules:\n"
                                "  - class: attention\n    in: function\n    patterns: [flash_*]\n"
                                "  - class: GEMM\n    patterns: [gemm, \"regex:k[0-9]+$\"]\n";
static char *usual_folder; /* NULL: the variable was not set */

static int make_run(void **state)
{
    char path[128];

    if (make_run_folder(state) < 0)
        return -1;
    save_rows(run_path, 2);
    snprintf(path, sizeof(path), "%s/kernel_classes.yaml", run_folder);
    usual_folder = lp_text_copy(getenv("LLMPERF_CONFIG_DIR"));
    if (lp_file_write(path, few_rules, strlen(few_rules)) < 0 ||
        setenv("LLMPERF_CONFIG_DIR", run_folder, 1) < 0)
        return -1;
    return llmperf_profile_open(run_path, &opened);
}

static int remove_run(void **state)
{
    llmperf_profile_free(opened);
    if (usual_folder)
        setenv("LLMPERF_CONFIG_DIR", usual_folder, 1);
    else
        unsetenv("LLMPERF_CONFIG_DIR");
    free(usual_folder);
    return remove_run_folder(state);
}

static void a_session_survives(void **state)
{
    (void)state;
    fail_each_allocation(run_session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composing_a_configuration_survives),
        cmocka_unit_test_setup_teardown(opening_a_run_survives, make_run, remove_run),
        cmocka_unit_test_setup_teardown(comparing_runs_survives, make_run, remove_run),
        cmocka_unit_test_setup_teardown(a_report_survives, make_run, remove_run),
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
