/* SPDX-License-Identifier: Apache-2.0 */
/** Forks of the process. @threads any thread */
#ifndef LP_BASE_FORKED_H
#define LP_BASE_FORKED_H

#include <stdbool.h>

/** Was this process forked from one that recorded? Such a child records nothing. @threads any
 * thread */
bool lp_capture_forked(void);

/** Detect forks from now on; `in_child` is called in the child. To be called once. */
void lp_capture_watch_forks(void (*in_child)(void));

#endif
