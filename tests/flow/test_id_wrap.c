/* SPDX-License-Identifier: Apache-2.0 */
/** Correlation ids have 32 bits. A server that launches 10,000 kernels a second comes to their end
 * after five days. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/attribution/correlate.h"
#include "lib/sources/fake/fake.h"
#include "lib/device/launch_ids.h"
#include "tests/support/play.h"
#include "llmperf/sys/trace.h"

#define ROUNDS 1000u

static void launch_across(uint32_t first_id)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;
    llmperf_ledger ledger;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.run_dir = in_test_folder("run");
    options.keep_trace = 1;
    atomic_store(&lp_launch_base, first_id);
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        llmperf_region_begin(i % 2 ? "odd" : "even");
        lp_fake_launch(i % 2 ? "odd_kernel" : "even_kernel", 7, 10);
        llmperf_region_end();
    }
    profile = stop_session(session);
    atomic_store(&lp_launch_base, 0);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger.kernels_seen, ROUNDS);
    assert_int_equal(ledger.kernels_attributed, ROUNDS);
    assert_int_equal(ledger.launches_duplicate, 0);
    assert_int_equal(find_kernel(profile, "odd_kernel", "LLM@odd").calls, ROUNDS / 2);
    assert_int_equal(find_kernel(profile, "even_kernel", "LLM@even").calls, ROUNDS / 2);
    llmperf_profile_free(profile);
}

static void ids_that_wrap_lose_nothing_and_mix_up_nothing(void **state)
{
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;

    (void)state;
    launch_across(UINT32_MAX - ROUNDS / 2);
    assert_int_equal(llmperf_trace_export(in_test_folder("run"), LLMPERF_TRACE_CHROME,
                                          in_test_folder("trace.json"), &summary),
                     0);
    assert_int_equal(summary.kernels, ROUNDS);
    assert_int_equal(summary.launches, ROUNDS);
}

static void no_id_becomes_none_and_no_two_become_one(void **state)
{
    const uint32_t base = UINT32_MAX - 2;

    (void)state;
    atomic_store(&lp_launch_base, base);
    assert_int_equal(lp_launch_id(LP_CORRELATION_NONE), LP_CORRELATION_NONE);
    assert_int_equal(lp_launch_id(1), UINT32_MAX - 1);
    assert_int_equal(lp_launch_id(2), UINT32_MAX);
    assert_int_equal(lp_launch_id(3), 1);
    assert_int_equal(lp_launch_id(4), 2);
    assert_int_equal(lp_launch_id(UINT32_MAX), base);
    atomic_store(&lp_launch_base, 0);
    assert_int_equal(lp_launch_id(UINT32_MAX), UINT32_MAX);
}

static void a_launch_without_an_id_is_found_by_no_record(void **state)
{
    struct lp_correlation *correlation = calloc(1, sizeof(*correlation));

    (void)state;
    assert_non_null(correlation);
    assert_null(lp_correlation_add(correlation, LP_CORRELATION_NONE));
    assert_null(lp_correlation_find(correlation, LP_CORRELATION_NONE));
    assert_false(correlation->failed);
    lp_correlation_clear(correlation);
    free(correlation);
}

static size_t count_pages(const struct lp_correlation *correlation)
{
    size_t count = 0;

    for (size_t i = 0; i < LP_CORRELATION_PAGES; i++)
        count += correlation->pages[i] != NULL;
    return count;
}

static void pages_from_before_the_wrap_are_given_back(void **state)
{
    struct lp_correlation *correlation = calloc(1, sizeof(*correlation));
    uint32_t id = (uint32_t) - (int32_t)(300 * LP_CORRELATION_PAGE);

    (void)state;
    assert_non_null(correlation);
    for (uint32_t page = 0; page < 700; page++, id += LP_CORRELATION_PAGE) {
        struct lp_launch *launch = lp_correlation_add(correlation, id + 1);

        assert_non_null(launch);
        launch->kind = LP_LAUNCH_KERNEL;
        launch->seen = 1;
        lp_correlation_retire(correlation, page);
        assert_true(count_pages(correlation) <= LP_CORRELATION_KEPT + 1);
        assert_ptr_equal(lp_correlation_find(correlation, id + 1), launch);
    }
    assert_int_equal(correlation->forgotten, 0);
    lp_correlation_clear(correlation);
    free(correlation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_that_wrap_lose_nothing_and_mix_up_nothing),
        cmocka_unit_test(no_id_becomes_none_and_no_two_become_one),
        cmocka_unit_test(a_launch_without_an_id_is_found_by_no_record),
        cmocka_unit_test(pages_from_before_the_wrap_are_given_back),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
