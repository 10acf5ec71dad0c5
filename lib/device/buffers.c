/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/mman.h>

#include "lib/device/buffers.h"

void lp_buffer_pool_init(struct lp_buffer_pool *pool, size_t buffer_bytes, uint64_t pool_bytes)
{
    uint64_t limit = pool_bytes / buffer_bytes;

    pool->buffer_bytes = buffer_bytes;
    atomic_store(&pool->limit, limit < 2                 ? 2
                               : limit > LP_BUFFER_LIMIT ? LP_BUFFER_LIMIT
                                                         : (uint32_t)limit);
}

static struct lp_buffer *pop_free(struct lp_buffer_pool *pool)
{
    uint64_t head = atomic_load_explicit(&pool->free_head, memory_order_acquire);

    while ((uint32_t)head != 0) {
        uint32_t index = (uint32_t)head - 1;
        uint64_t next = ((head >> 32) + 1) << 32 |
                        atomic_load_explicit(&pool->free_next[index], memory_order_relaxed);

        if (atomic_compare_exchange_weak_explicit(&pool->free_head, &head, next,
                                                  memory_order_acq_rel, memory_order_acquire))
            return atomic_load_explicit(&pool->buffers[index], memory_order_relaxed);
    }
    return NULL;
}

static struct lp_buffer *make_buffer(struct lp_buffer_pool *pool, uint32_t limit)
{
    uint32_t index = atomic_load(&pool->made);
    struct lp_buffer *buffer;

    do {
        if (index >= limit)
            return NULL;
    } while (!atomic_compare_exchange_weak(&pool->made, &index, index + 1));
    /* Pages are zero and cost memory only once they are written. */
    buffer = mmap(NULL, sizeof(*buffer) + pool->buffer_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        return NULL;
    buffer->index = index;
    atomic_store_explicit(&pool->buffers[index], buffer, memory_order_relaxed);
    return buffer;
}

struct lp_buffer *lp_buffer_get(struct lp_buffer_pool *pool, bool exceed)
{
    struct lp_buffer *buffer = pop_free(pool);

    if (!buffer)
        buffer =
            make_buffer(pool, exceed ? LP_BUFFER_LIMIT
                                     : atomic_load_explicit(&pool->limit, memory_order_relaxed));
    if (!buffer)
        atomic_fetch_add_explicit(&pool->refused, 1, memory_order_relaxed);
    return buffer;
}

struct lp_buffer *lp_buffer_of(uint8_t *bytes)
{
    return (struct lp_buffer *)(void *)(bytes - offsetof(struct lp_buffer, bytes));
}

void lp_buffer_complete(struct lp_buffer_pool *pool, struct lp_buffer *buffer, size_t valid)
{
    buffer->valid = valid;
    buffer->next = atomic_load_explicit(&pool->full, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&pool->full, &buffer->next, buffer,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

struct lp_buffer *lp_buffer_take(struct lp_buffer_pool *pool)
{
    struct lp_buffer *newest = atomic_exchange_explicit(&pool->full, NULL, memory_order_acquire);
    struct lp_buffer *oldest = NULL;

    while (newest) {
        struct lp_buffer *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

void lp_buffer_recycle(struct lp_buffer_pool *pool, struct lp_buffer *buffer)
{
    uint64_t head = atomic_load_explicit(&pool->free_head, memory_order_relaxed);
    uint64_t next;

    memset(buffer->bytes, 0, buffer->valid);
    buffer->valid = 0;
    do {
        atomic_store_explicit(&pool->free_next[buffer->index], (uint32_t)head,
                              memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (buffer->index + 1);
    } while (!atomic_compare_exchange_weak_explicit(&pool->free_head, &head, next,
                                                    memory_order_acq_rel, memory_order_relaxed));
}
