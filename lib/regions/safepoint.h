/* SPDX-License-Identifier: Apache-2.0 */
/** A safepoint: the one thread that uses the device stops at the begin of a sampled region while
 * CUPTI is taken out of the process or brought back, because nothing may be launched meanwhile.
 * docs/explanation/light-tier.md has the table of its states. */
#ifndef LP_REGIONS_SAFEPOINT_H
#define LP_REGIONS_SAFEPOINT_H

#include <stdbool.h>
#include <stdint.h>

enum lp_safepoint {
    LP_SAFEPOINT_NONE,      /* is requested */
    LP_SAFEPOINT_REQUESTED, /* the next thread that reaches it stops */
    LP_SAFEPOINT_REACHED,   /* a thread looks whether it may stop */
    LP_SAFEPOINT_WAITING,   /* it has stopped, for 0.2 s at most */
    LP_SAFEPOINT_TAKEN,     /* it waits until it is released */
    LP_SAFEPOINT_MISSED     /* it continued: it could not stop, or the collector did not take it */
};

/** The next thread that reaches it stops, if `ready` (NULL: always), which is called on that
 * thread, says so. @threads collector only */
void lp_safepoint_request(bool (*ready)(void));

enum lp_safepoint lp_safepoint_state(void);

/** Keep the thread that waits until it is released. Log lines wait, too: the thread may own what
 * the log callback needs (in Python the interpreter's lock). false: none waits. @threads collector
 * only
 */
bool lp_safepoint_take(void);

/** A waiting thread continues, and nothing is requested any more. @return how long threads have
 * waited since the request. @threads collector only */
uint64_t lp_safepoint_release(void);

/** Stop here if that is requested; `wake` wakes the collector. @threads any thread */
void lp_safepoint_reach(void (*wake)(void));

#endif
