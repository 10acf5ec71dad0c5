/* SPDX-License-Identifier: Apache-2.0 */
/** Holding the one thread that uses the device, at the begin of a sampled region, while the
 * driver's profiler is taken out of the process or brought back: nothing may be launched meanwhile.
 */
#ifndef LP_REGIONS_HOLD_H
#define LP_REGIONS_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum lp_hold {
    LP_HOLD_NOBODY, /* is asked */
    LP_HOLD_ASKED,  /* the next one that comes is held */
    LP_HOLD_CAME,   /* it looks whether it can be */
    LP_HOLD_HELD,   /* it waits, for 0.2 s at most */
    LP_HOLD_WORK,   /* it waits as long as it takes */
    LP_HOLD_BUSY    /* it came and went on: it could not be held, or nobody took it */
};

/** The next thread that comes is held, if `ready` (NULL: always), which is called on it, says so.
 * @threads collector only */
void lp_hold_ask(bool (*ready)(void));

enum lp_hold lp_hold_look(void);

/** From now on it waits until it is freed, and lines of the log do, too: it may hold what the
 * function of the program wants (in Python the interpreter's lock). false: none waits. @threads
 * collector only */
bool lp_hold_take(void);

/** It goes on, and nobody is asked any more. For how long one was held. @threads collector only */
uint64_t lp_hold_free(void);

/** Wait here if that is asked for; `wake` wakes the collector. */
void lp_hold_here(void (*wake)(void));

#endif
