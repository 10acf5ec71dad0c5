/* SPDX-License-Identifier: Apache-2.0 */
/** Error text of this thread. @threads any thread */
#ifndef LP_BASE_STATUS_H
#define LP_BASE_STATUS_H

#include "llmperf/api.h"

/** Set this thread's error text; returns `status`, so that a failing function can `return
 * lp_error(…)`. */
int lp_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
