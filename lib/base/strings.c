/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/strings.h"

struct lp_strings_block {
    struct lp_strings_block *next;
    size_t used, size;
    char bytes[];
};

const char *lp_strings_add_bytes(struct lp_strings *pool, const char *bytes, size_t length)
{
    struct lp_strings_block *block = pool->blocks;
    char *copy;

    if (!block || block->size - block->used <= length) {
        size_t size = length + 1 > 16384 ? length + 1 : 16384;

        block = malloc(sizeof(*block) + size);
        if (!block)
            return NULL;
        *block = (struct lp_strings_block){ pool->blocks, 0, size };
        pool->blocks = block;
    }
    copy = block->bytes + block->used;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    block->used += length + 1;
    return copy;
}

const char *lp_strings_add(struct lp_strings *pool, const char *text)
{
    return text ? lp_strings_add_bytes(pool, text, strlen(text)) : NULL;
}

void lp_strings_clear(struct lp_strings *pool)
{
    while (pool->blocks) {
        struct lp_strings_block *next = pool->blocks->next;

        free(pool->blocks);
        pool->blocks = next;
    }
}
