/* SPDX-License-Identifier: Apache-2.0 */
/** Streams that the program captures right now. Ranges of the profiler would end such a capture,
 * and the program with it. */
#ifndef LP_CUPTI_CAPTURES_H
#define LP_CUPTI_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cupti/symbols.h"

/** From now on to the end of the subscription: captures are seldom, and one that ends between two
 * sessions has to be known of. */
void lp_cupti_captures_watch(const struct lp_cupti *cupti, lp_cupti_subscriber subscriber);

/** A driver callback that may be one of those. @threads any thread */
void lp_cupti_captures_call(uint32_t id, const struct lp_cupti_callback_data *data);

/** None is known of, as at the beginning of a subscription. */
void lp_cupti_captures_forget(void);

/** Is a stream being captured, as far as the CUPTI source watches captures? @threads any thread */
bool lp_cupti_capturing(void);

#endif
