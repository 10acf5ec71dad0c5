/* SPDX-License-Identifier: Apache-2.0 */
/** Is this a forked child of a process that captured? The question is capture.h's. */
#ifndef LP_CAPTURE_FORKED_H
#define LP_CAPTURE_FORKED_H

/** From now on forks are noticed; `in_child` is called in the child. To be called once. */
void lp_capture_watch_forks(void (*in_child)(void));

#endif
