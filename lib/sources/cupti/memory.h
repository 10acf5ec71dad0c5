/* SPDX-License-Identifier: Apache-2.0 */
/** Records the device memory that calls of the driver allocate and free, from their parameters.
 * @threads any thread, in callbacks */
#ifndef LP_SOURCES_CUPTI_MEMORY_H
#define LP_SOURCES_CUPTI_MEMORY_H

#include "lib/cupti/symbols.h"

/** Begin or end of a call in LP_CUPTI_HOST_CALLS. */
void lp_cupti_memory_call(const struct lp_cupti *cupti, uint32_t id,
                          const struct lp_cupti_callback_data *data);

#endif
