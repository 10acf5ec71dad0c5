/* SPDX-License-Identifier: Apache-2.0 */
/** Public structs, which begin with their size. Callers built against an older header have a
 * shorter struct: they set and get the fields that they know.
 * @threads any thread */
#ifndef LP_BASE_SIZED_H
#define LP_BASE_SIZED_H

#include <stddef.h>

/** Is the size of a caller's struct set? 0; LLMPERF_EINVAL: it is not, or the struct is NULL. */
int lp_sized_check(const void *caller);

/** Copy the caller's struct over the defaults in `whole`, which has `size` bytes; of NULL nothing.
 * 0, LLMPERF_EINVAL. */
int lp_sized_in(void *whole, const void *caller, size_t size);

/** Copy `whole` to the caller, except its size. 0, LLMPERF_EINVAL. */
int lp_sized_out(void *out, const void *whole, size_t size);

#endif
