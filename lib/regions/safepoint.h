/* SPDX-License-Identifier: Apache-2.0 */
/** Safepoint: the thread that uses the device stops at the begin of a sampled region while CUPTI is
 * detached from or attached to the process, because nothing may be launched meanwhile.
 * docs/explanation/light-tier.md has the table of states. */
#ifndef LP_REGIONS_SAFEPOINT_H
#define LP_REGIONS_SAFEPOINT_H

#include <stdbool.h>
#include <stdint.h>

enum lp_safepoint {
    LP_SAFEPOINT_NONE,      /* not requested */
    LP_SAFEPOINT_REQUESTED, /* the next thread that gets here stops */
    LP_SAFEPOINT_REACHED,   /* a thread checks whether it may stop */
    LP_SAFEPOINT_WAITING,   /* it has stopped, for at most 0.2 s */
    LP_SAFEPOINT_TAKEN,     /* it waits until it is released */
    LP_SAFEPOINT_MISSED     /* it continued: it could not stop, or the collector did not take it */
};

/** Request that the next thread stops. `ready` is called on that thread and may refuse (NULL:
 * never). @threads collector only */
void lp_safepoint_request(bool (*ready)(void));

enum lp_safepoint lp_safepoint_state(void);

/** Take the waiting thread: it waits until it is released. Log lines are delayed meanwhile, since
 * the thread may own what the log callback needs (in Python the interpreter's lock). false: no
 * thread waits. @threads collector only */
bool lp_safepoint_take(void);

/** Release the waiting thread and cancel the request.
 * @return how long threads have waited since the request. @threads collector only */
uint64_t lp_safepoint_release(void);

/** Stop here if requested; `wake` wakes the collector. @threads any thread */
void lp_safepoint_reach(void (*wake)(void));

#endif
