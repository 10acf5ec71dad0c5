/* SPDX-License-Identifier: Apache-2.0 */
/** Public structs that start with their size. Callers built with an older header have a shorter
 * struct and use the fields that they know.
 * @threads any thread */
#ifndef LP_BASE_SIZED_H
#define LP_BASE_SIZED_H

#include <stddef.h>

/** Check the size of a caller's struct. 0; LLMPERF_EINVAL: not set, or the struct is NULL. */
int lp_sized_check(const void *caller);

/** Copy the caller's struct over the defaults in `whole` (`size` bytes); NULL changes nothing. 0 or
 * LLMPERF_EINVAL. */
int lp_sized_in(void *whole, const void *caller, size_t size);

/** Copy `whole` to the caller's struct, except its size. 0 or LLMPERF_EINVAL. */
int lp_sized_out(void *out, const void *whole, size_t size);

#endif
