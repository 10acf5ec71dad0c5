/* SPDX-License-Identifier: Apache-2.0 */
/** Log lines to the user's function, or to standard error if LLMPERF_LOG asks for it. @threads any
 * thread, never the hot path */
#ifndef LP_BASE_LOG_H
#define LP_BASE_LOG_H

#include "llmperf/api.h"

void lp_log(int32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Keep this thread's first lines until lp_log_deliver(). For code that blocks a thread of the
 * program for which the user's function may wait. @threads one at a time */
void lp_log_defer(void);
void lp_log_deliver(void);

#endif
