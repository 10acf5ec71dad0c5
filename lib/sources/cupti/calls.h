/* SPDX-License-Identifier: Apache-2.0 */
/** Callbacks on the driver calls that start device work, on and off while threads launch.
 *
 * CUPTI (13.0, seen on an H200) tracks the call depth of each thread. If a call's enter was
 * reported and its exit was not, because the callback was switched off in between, that thread
 * stays in the call permanently: all that it launches later has that call's correlation id. So
 * callbacks go off only when no thread is in such a call, and whoever enters one too late to be
 * seen switches them on again for its exit. */
#ifndef LP_SOURCES_CUPTI_CALLS_H
#define LP_SOURCES_CUPTI_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/cupti/client.h"
#include "lib/record/record.h"

/** Sets of calls. */
#define LP_CUPTI_CALLS_LAUNCH 1u /* kernels and graphs */
#define LP_CUPTI_CALLS_MEMORY 2u /* copies and sets */

#define LP_CUPTI_CALL_IDS 1024u

/** Callback id -> enum lp_launch_kind; 0: starts nothing. */
extern uint8_t lp_cupti_call_kinds[LP_CUPTI_CALL_IDS];

/** Once for a subscription, with all callbacks off. */
void lp_cupti_calls_begin(const struct lp_cupti_client *client);

/** These sets are wanted, others are not: they go on now, and off now or when the last thread
 * leaves its call. Any thread, outside of callbacks. */
void lp_cupti_calls_want(uint32_t sets);

/** First and last in a callback on a call of lp_cupti_call_kinds: at its enter, at its exit. */
void lp_cupti_call_enter(uint32_t id);
void lp_cupti_call_exit(void);

#endif
