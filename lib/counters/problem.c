/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on why hardware counters cannot be used, with what to do about it. */
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/counters/run.h"

static const char *remedy_of(int result)
{
    switch (result) {
    case LP_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case LP_CUPTI_ERROR_VIRTUALIZED_PRIVILEGES:
        return "hardware counters need administrator rights on this machine; load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0 (in /etc/modprobe.d, then reboot), or run as "
               "root, with CAP_SYS_ADMIN, or in a container started with --cap-add=SYS_ADMIN";
    case LP_CUPTI_ERROR_MIG_DEVICE:
        return "the GPU is partitioned with MIG and this CUPTI supports counters on whole GPUs "
               "only; use a GPU without MIG";
    case LP_CUPTI_ERROR_HARDWARE_BUSY:
    case LP_CUPTI_ERROR_INVALID_OPERATION:
        return "another profiler uses the counters of this GPU; stop ncu, nsys with GPU metrics or "
               "a second session, and pause DCGM with dcgmi profile --pause";
    case LP_CUPTI_ERROR_VIRTUALIZED_DEVICE:
        return "the GPU is virtual and its host does not allow counters";
    case LP_CUPTI_ERROR_CONFIDENTIAL_COMPUTING:
        return "confidential computing is enabled, which disables hardware counters";
    case LP_CUPTI_ERROR_NOT_SUPPORTED:
        return "not supported by this GPU or driver";
    case LP_CUPTI_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    default:
        return NULL;
    }
}

static int status_of(int result)
{
    if (result == LP_CUPTI_ERROR_HARDWARE_BUSY || result == LP_CUPTI_ERROR_INVALID_OPERATION)
        return LLMPERF_EBUSY;
    return remedy_of(result) ? LLMPERF_ENOTSUP : LLMPERF_EIO;
}

int lp_counter_explain(const struct lp_counters_calls *calls, const char *what, int result)
{
    const char *remedy = remedy_of(result);

    if (result == 0)
        return 0;
    if (remedy)
        return lp_error(status_of(result), "no hardware counters: %s (%s: %d)", remedy, what,
                        result);
    return lp_error(LLMPERF_EIO, "no hardware counters: %s failed: %s (%d)", what,
                    lp_counters_text(calls, result), result);
}

void lp_counters_fail(struct lp_counters *counters)
{
    pthread_mutex_lock(&counters->problem_lock);
    if (!counters->problem[0])
        snprintf(counters->problem, sizeof(counters->problem), "%s", llmperf_last_error());
    pthread_mutex_unlock(&counters->problem_lock);
    atomic_store(&counters->phase, LP_COUNTERS_OVER);
    lp_log(LLMPERF_LOG_WARN, "%s", llmperf_last_error());
}
