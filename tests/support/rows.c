/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"

void put_region_row(llmperf_profile *profile, const char *path, uint32_t process_id, int32_t device,
                    uint64_t instances, double mean_ms, double std_ms)
{
    struct lp_region_row row = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };
    const char *slash = strrchr(path, '/');

    row.stats.path = path;
    row.stats.label = slash ? slash + 1 : path;
    row.stats.depth = slash ? 1 : 0;
    row.stats.kind = LLMPERF_REGION_STAGE;
    row.stats.process_id = process_id;
    row.stats.device = device;
    row.stats.instances = instances;
    row.stats.wall_sum_ms = mean_ms * (double)instances;
    row.stats.wall_mean_ms = mean_ms;
    row.stats.wall_std_ms = instances > 1 ? std_ms : (double)NAN;
    assert_int_equal(lp_vector_push(&profile->regions, row), 0);
}

void put_kernel_row(llmperf_profile *profile, const char *name, const char *region, int32_t device,
                    uint64_t calls, double mean_ms, double spread_ms)
{
    struct lp_kernel_row row = { LLMPERF_KERNEL_STATS_INIT, { NULL, 0 } };

    row.stats.name = name;
    row.stats.region = region;
    row.stats.device = device;
    row.stats.kind = LLMPERF_ACTIVITY_KERNEL;
    row.stats.calls = calls;
    row.stats.mean_ms = mean_ms;
    row.stats.total_ms = mean_ms * (double)calls;
    row.stats.min_ms = row.stats.p50_ms = mean_ms;
    row.stats.p95_ms = row.stats.p99_ms = row.stats.max_ms = mean_ms + 1.645 * spread_ms;
    assert_int_equal(lp_vector_push(&profile->kernels, row), 0);
}

void finish_rows(llmperf_profile *profile)
{
    profile->ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    assert_int_equal(lp_profile_finish(profile), 0);
}
