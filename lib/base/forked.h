/* SPDX-License-Identifier: Apache-2.0 */
/** Forks of the process. @threads any thread */
#ifndef LP_BASE_FORKED_H
#define LP_BASE_FORKED_H

#include <stdbool.h>

/** Is this process a forked child of one that captured? Such a child records nothing. @threads any
 * thread */
bool lp_capture_forked(void);

/** From now on forks are noticed; `in_child` is called in the child. To be called once. */
void lp_capture_watch_forks(void (*in_child)(void));

#endif
