/* SPDX-License-Identifier: Apache-2.0 */
/** Texts that live as long as their pool. @threads one at a time per object */
#ifndef LP_BASE_STRINGS_H
#define LP_BASE_STRINGS_H

#include <stddef.h>

struct lp_strings_block;

/** Zero-initialised: an empty pool. */
struct lp_strings {
    struct lp_strings_block *blocks;
};

/** Copy `text` into the pool. NULL: out of memory, or `text` is NULL. */
const char *lp_strings_add(struct lp_strings *pool, const char *text);
const char *lp_strings_add_bytes(struct lp_strings *pool, const char *bytes, size_t length);

void lp_strings_clear(struct lp_strings *pool);

#endif
