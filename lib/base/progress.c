/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/progress.h"

#include <math.h>
#include <stdatomic.h>

#include "llmperf/sys/run.h"

static _Atomic(const char *) current;
static atomic_uint_fast64_t current_done, current_total;

void lp_progress(const char *what, uint64_t done, uint64_t total)
{
    atomic_store(&current, what);
    atomic_store(&current_done, done);
    atomic_store(&current_total, total);
}

const char *llmperf_progress(double *share_out)
{
    uint64_t done = atomic_load(&current_done), total = atomic_load(&current_total);

    if (share_out)
        *share_out = total > 0 && done <= total ? (double)done / (double)total : (double)NAN;
    return atomic_load(&current);
}
