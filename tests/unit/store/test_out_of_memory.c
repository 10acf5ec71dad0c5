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
#include "llmperf/sys.h"
#include "tests/support/compared.h"
#include "tests/support/play.h"
#include "tests/support/run_files.h"

#if defined(__GLIBC__) && !defined(SANITIZED)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

/* Allocations from now on until one fails; below 0: none does. */
static _Atomic long left = -1;
static _Atomic bool has_failed;
static _Atomic long live; /* allocations that nobody has freed */

static bool fails_now(void)
{
    bool now = atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;

    if (now)
        atomic_store(&has_failed, true);
    return now;
}

static void *count(void *memory)
{
    if (memory)
        atomic_fetch_add(&live, 1);
    return memory;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t number, size_t size)
{
    return fails_now() ? NULL : count(__libc_calloc(number, size));
}

void *realloc(void *memory, size_t size)
{
    if (fails_now())
        return NULL;
    return memory ? __libc_realloc(memory, size) : count(__libc_realloc(memory, size));
}

void free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&live, 1);
    __libc_free(memory);
}

/* What follows is the test's own work. */
static void fail_no_more(void)
{
    atomic_store(&left, -1);
}

/* One try. `result_out`: what it made, after fail_no_more(); llmperf_text_free(). NULL: nothing. */
typedef int (*attempt)(char **result_out);

enum { MAY_KEEP = 1 }; /* threads and pools of the process keep memory */

static int try_once(attempt run, long at, char **result_out)
{
    int status;

    *result_out = NULL;
    atomic_store(&has_failed, false);
    atomic_store(&left, at);
    status = run(result_out);
    fail_no_more();
    return status;
}

static void check_result(long at, const char *result, const char *expected)
{
    size_t same = 0;

    while (result && result[same] && result[same] == expected[same])
        same++;
    if (result && result[same] != expected[same])
        fail_msg("allocation %ld failed, and what succeeded has from byte %zu on\n%.200s\n--- not\n"
                 "%.200s",
                 at, same, result + same, expected + same);
}

/* Do it until it is through without a failure. What succeeds although an allocation failed has made
 * the same as without a failure, and nothing leaks either way. */
static void fail_each_allocation(attempt run, int flags)
{
    char *expected, *result;
    bool failed = true;

    if (try_once(run, -1, &expected) < 0)
        fail_msg("without a failed allocation: %s", llmperf_last_error());
    try_once(run, 0, &result); /* what a first error keeps */
    llmperf_text_free(result);
    for (long at = 0; failed; at++) {
        long before = atomic_load(&live);
        int status = try_once(run, at, &result);

        failed = atomic_load(&has_failed);
        if (status < 0)
            assert_true(failed && strlen(llmperf_last_error()) > 0);
        else
            check_result(at, result, expected);
        llmperf_text_free(result);
        if (!(flags & MAY_KEEP) && atomic_load(&live) != before)
            fail_msg("allocation %ld failed, and %ld are not freed", at,
                     atomic_load(&live) - before);
    }
    llmperf_text_free(expected);
}

static int compose(char **result_out)
{
    static const char *const overrides[] = { "run.stage=LLM@decode_step", "+a.b='a quoted text'",
                                             "+a.c=[1,two,\"3\",{k: 4}]" };
    llmperf_config *config = NULL;
    int status = llmperf_config_compose("config", overrides, 3, NULL, &config);

    fail_no_more();
    if (status == 0)
        assert_int_equal(llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, result_out), 0);
    llmperf_config_free(config);
    return status;
}

/* All that a profile holds. */
static char *text_of(const llmperf_profile *profile)
{
    char *text = NULL;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    return text;
}

static int open_run(char **result_out)
{
    llmperf_profile *profile = NULL;
    int status = llmperf_profile_open(run_path, &profile);

    fail_no_more();
    if (status == 0)
        *result_out = text_of(profile);
    llmperf_profile_free(profile);
    return status;
}

/* Opened before allocations fail: opening has a test of its own. */
static llmperf_profile *opened;

static int compare_runs(char **result_out)
{
    uint64_t slower = 0;

    return compare_pair(opened, opened, 5, LLMPERF_TEXT_PLAIN, result_out, &slower);
}

static int report(char **result_out)
{
    return llmperf_document_text(opened, LLMPERF_DOCUMENT_REPORT_MD, result_out);
}

/* Two ranks, each with a host and a GPU of its own. */
static llmperf_profile *ranks[2];

static int merge(char **result_out)
{
    llmperf_profile *profile = NULL;
    int status = llmperf_profile_merge((const llmperf_profile *const *)ranks, 2, &profile);

    fail_no_more();
    /* jansson does not say whether memory or a text is at fault: the note has to do. */
    if (status == 0 && !has_note(profile, "environment cannot be read"))
        *result_out = text_of(profile);
    llmperf_profile_free(profile);
    return status;
}

/* Times of no two sessions are the same: what a profile holds is compared by its counts, unless it
 * says itself that something is missing. */
static char *counts_of(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    char text[128];

    llmperf_profile_ledger(profile, &ledger);
    if (ledger.verdict != LLMPERF_VERDICT_COMPLETE)
        return NULL;
    snprintf(text, sizeof(text), "%llu kernels, %zu rows of regions, %zu of kernels",
             (unsigned long long)ledger.kernels_seen,
             llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS),
             llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS));
    return lp_text_copy(text);
}

static int run_session(char **result_out)
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
    fail_no_more();
    if (status == 0)
        *result_out = counts_of(profile);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return status;
}

static void composing_a_configuration_survives(void **state)
{
    (void)state;
    fail_each_allocation(compose, 0);
}

static void opening_a_run_survives(void **state)
{
    (void)state;
    fail_each_allocation(open_run, 0);
}

static void comparing_runs_survives(void **state)
{
    (void)state;
    fail_each_allocation(compare_runs, 0);
}

static void a_report_survives(void **state)
{
    (void)state;
    fail_each_allocation(report, 0);
}

/* Few rules: all of the usual file would be read again for each of its own allocations. No regular
 * expression: regcomp() of glibc leaks where an allocation fails. */
static const char few_rules[] = "rules:\n"
                                "  - class: attention\n    in: function\n    patterns: [flash_*]\n"
                                "  - class: GEMM\n    patterns: [gemm, k1]\n";
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

static int make_ranks(void **state)
{
    static const char *const env[] = {
        "{\"host\": {\"hostname\": \"one\"}, \"gpus\": [{\"device\": 0, \"uuid\": \"GPU-1\"}]}",
        "{\"host\": {\"hostname\": \"two\"}, \"gpus\": [{\"device\": 0, \"uuid\": \"GPU-2\"}]}"
    };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        ranks[i] = make_numbered_profile(1);
        assert_ok(lp_profile_set_fact(ranks[i], "env", env[i]));
        assert_ok(lp_profile_set_fact(ranks[i], "run_id", env[i]));
    }
    return 0;
}

static int free_ranks(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        llmperf_profile_free(ranks[i]);
    return 0;
}

static void merging_runs_survives(void **state)
{
    (void)state;
    fail_each_allocation(merge, 0);
}

static void a_session_survives(void **state)
{
    (void)state;
    fail_each_allocation(run_session, MAY_KEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composing_a_configuration_survives),
        cmocka_unit_test_setup_teardown(opening_a_run_survives, make_run, remove_run),
        cmocka_unit_test_setup_teardown(comparing_runs_survives, make_run, remove_run),
        cmocka_unit_test_setup_teardown(a_report_survives, make_run, remove_run),
        cmocka_unit_test_setup_teardown(merging_runs_survives, make_ranks, free_ranks),
        cmocka_unit_test(a_session_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("allocations fail on demand with glibc and without a sanitizer only");
    return 77;
}

#endif
