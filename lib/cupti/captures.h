/* SPDX-License-Identifier: Apache-2.0 */
/** Counts streams under capture. Ranges of the profiler would invalidate a capture and so end the
 * program. */
#ifndef LP_CUPTI_CAPTURES_H
#define LP_CUPTI_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cupti/symbols.h"

/** Enable the callbacks until the end of the subscription: captures are rare, and one may end
 * between two sessions. */
void lp_cupti_captures_watch(const struct lp_cupti *cupti, lp_cupti_subscriber subscriber);

/** Called in driver callbacks, of these calls and others. @threads any thread */
void lp_cupti_captures_call(uint32_t id, const struct lp_cupti_callback_data *data);

/** Reset, at the start of a subscription. */
void lp_cupti_captures_forget(void);

/** Is a stream under capture, as far as the CUPTI source has seen? @threads any thread */
bool lp_cupti_capturing(void);

#endif
