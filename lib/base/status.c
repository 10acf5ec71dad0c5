/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/status.h"
#include "llmperf/version.h"

static __thread char last_error[1024];

int lp_error(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof(last_error), format, args);
    va_end(args);
    return status;
}

const char *llmperf_last_error(void)
{
    return last_error;
}

const char *llmperf_version(void)
{
    return LLMPERF_VERSION_STRING;
}

const char *llmperf_status_name(int status)
{
    static const char *const names[] = {
        "LLMPERF_OK",     "LLMPERF_EINVAL",    "LLMPERF_ENOMEM", "LLMPERF_EIO",
        "LLMPERF_EBUSY",  "LLMPERF_ENOTSUP",   "LLMPERF_ENOENT", "LLMPERF_EFORMAT",
        "LLMPERF_ESTATE", "LLMPERF_ENODEVICE",
    };
    const int count = (int)(sizeof(names) / sizeof(names[0]));

    return status <= 0 && status > -count ? names[-status] : "unknown status";
}
