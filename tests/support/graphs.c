/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/graphs.h"
#include "tests/support/play.h"

llmperf_kernel_stats find_captured(const llmperf_profile *profile, const char *name,
                                   const char *region, const char *captured)
{
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        assert_int_equal(llmperf_profile_kernel(profile, i, &stats), 0);
        if (!strcmp(stats.name, name) && stats.region && !strcmp(stats.region, region) &&
            (!captured ? !stats.captured_in
                       : stats.captured_in && !strcmp(stats.captured_in, captured)))
            return stats;
    }
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_profile_kernel(profile, i, &stats);
        print_error("%s in %s x %s: %llu\n", stats.name, stats.region ? stats.region : "(unseen)",
                    stats.captured_in ? stats.captured_in : "(none)",
                    (unsigned long long)stats.calls);
    }
    fail_msg("no %s in %s x %s", name, region, captured ? captured : "(none)");
    return stats;
}

uint64_t captured_calls(const llmperf_profile *profile, const char *name, const char *region,
                        const char *captured)
{
    return find_captured(profile, name, region, captured).calls;
}

void check_captured(const char *script, uint64_t unmapped, const struct captured *kernels)
{
    llmperf_profile *profile = play_script(script);

    for (; kernels->name; kernels++) {
        uint64_t calls = captured_calls(profile, kernels->name, kernels->region, kernels->captured);

        if (calls != kernels->calls)
            fail_msg("%s has %llu calls in %s", kernels->name, (unsigned long long)calls,
                     kernels->captured ? kernels->captured : "no graph");
    }
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, unmapped);
    llmperf_profile_free(profile);
}
