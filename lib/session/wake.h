/* SPDX-License-Identifier: Apache-2.0 */
/** Waking the collector thread. For lib/session only. */
#ifndef LP_SESSION_WAKE_H
#define LP_SESSION_WAKE_H

#include <stdint.h>

/** Wake the collector. @threads any thread, also on the hot path */
void lp_wake_post(void);

/** Sleep until somebody posts, at most `ns`. @threads collector only */
void lp_wake_wait(uint64_t ns);

#endif
