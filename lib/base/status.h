/* SPDX-License-Identifier: Apache-2.0 */
/** Error text of this thread. @threads any thread */
#ifndef LP_BASE_STATUS_H
#define LP_BASE_STATUS_H

#include "llmperf/api.h"

/** Set this thread's error text and return `status`, for `return lp_error(…)` in a failing
 * function. A macro, so that compilers see that the status is negative and no result is used after
 * a failure. */
#define lp_error(status, ...) lp_status_after(lp_error_text(__VA_ARGS__), (status))

/** Implementation of lp_error; always 0. */
int lp_error_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline int lp_status_after(int text_set, int status)
{
    (void)text_set;
    return status;
}

static inline int lp_out_of_memory(void)
{
    return lp_error(LLMPERF_ENOMEM, "out of memory");
}

#endif
