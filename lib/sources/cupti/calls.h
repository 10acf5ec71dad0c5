/* SPDX-License-Identifier: Apache-2.0 */
/** Enables and disables callbacks on the driver calls that launch device work, and on others whose
 * length is recorded, while threads make them.
 *
 * CUPTI (13.0, seen on an H200) tracks the call depth of each thread. If it reports a call's enter
 * but not its exit, because the callback was disabled in between, the thread stays in that call for
 * CUPTI: all its later launches have that call's correlation id. So callbacks are disabled only
 * when no thread is in such a call. A thread that enters one too late to be noticed enables them
 * again for its exit. */
#ifndef LP_SOURCES_CUPTI_CALLS_H
#define LP_SOURCES_CUPTI_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/cupti/client.h"
#include "lib/record/record.h"

/** Sets of calls. */
#define LP_CUPTI_CALLS_LAUNCH 1u /* kernels and graphs */
#define LP_CUPTI_CALLS_MEMORY 2u /* memcpy and memset */
#define LP_CUPTI_CALLS_HOST   4u /* LP_CUPTI_HOST_CALLS */

#define LP_CUPTI_CALL_IDS 1024u

/** Callback id -> enum lp_launch_kind; 0: launches no device work. */
extern uint8_t lp_cupti_call_kinds[LP_CUPTI_CALL_IDS];

/** Callback id -> number of lib/record/host_calls.h; 0: its length is not recorded. */
extern uint8_t lp_cupti_host_calls[LP_CUPTI_CALL_IDS];

/** Call it once per subscription, with all callbacks disabled. */
void lp_cupti_calls_begin(const struct lp_cupti_client *client);

/** Enable callbacks of these sets now; disable the others, now or when the last thread leaves its
 * call. Any thread, outside of callbacks. */
void lp_cupti_calls_want(uint32_t sets);

/** Is the callback in one of the sets? Those of graphs are always enabled. */
bool lp_cupti_call_switches(uint32_t id);

/** Call them first and last in a callback that is in one of the sets: at enter and at exit. */
void lp_cupti_call_enter(uint32_t id);
void lp_cupti_call_exit(uint32_t id);

#endif
