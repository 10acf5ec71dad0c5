/* SPDX-License-Identifier: Apache-2.0 */
/* What a ledger comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "lib/profile/verdict.h"

static llmperf_ledger good_ledger(void)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    ledger.sampled_fraction = 1;
    return ledger;
}

static void graphs_that_bring_nothing_are_dead_only_if_nothing_else_came(void **state)
{
    llmperf_ledger ledger = good_ledger();

    (void)state;
    ledger.graph_launches = ledger.graph_records_missing = 3;
    assert_int_equal(lp_ledger_verdict(&ledger), LLMPERF_VERDICT_DEAD);
    ledger.memory_seen = 1;
    assert_int_equal(lp_ledger_verdict(&ledger), LLMPERF_VERDICT_INCOMPLETE);
    ledger.memory_seen = 0;
    ledger.kernels_seen = 1;
    assert_int_equal(lp_ledger_verdict(&ledger), LLMPERF_VERDICT_INCOMPLETE);
}

static void each_fault_alone_makes_a_run_incomplete(void **state)
{
    llmperf_ledger ledger = good_ledger();
    uint64_t *const faults[] = {
        &ledger.launches_missing,     &ledger.kernels_unattributed,  &ledger.graph_records_missing,
        &ledger.records_invalid_time, &ledger.records_incomplete,    &ledger.records_duplicate,
        &ledger.records_dropped,      &ledger.records_before_launch,
    };

    (void)state;
    ledger.kernels_seen = 1;
    assert_int_equal(lp_ledger_verdict(&ledger), LLMPERF_VERDICT_COMPLETE);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        *faults[i] = 1;
        if (lp_ledger_verdict(&ledger) != LLMPERF_VERDICT_INCOMPLETE)
            fail_msg("fault %zu does not count", i);
        *faults[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_that_bring_nothing_are_dead_only_if_nothing_else_came),
        cmocka_unit_test(each_fault_alone_makes_a_run_incomplete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
