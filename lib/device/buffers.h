/* SPDX-License-Identifier: Apache-2.0 */
/** Pool of zero-filled buffers that a driver fills on any thread and the collector empties. Getting
 * and returning a buffer take no lock, because both happen on launching threads. Buffers are never
 * freed: the driver may keep one indefinitely. */
#ifndef LP_DEVICE_BUFFERS_H
#define LP_DEVICE_BUFFERS_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LP_BUFFER_LIMIT 4096u /* maximum number of buffers in a pool */

struct lp_buffer {
    struct lp_buffer *next; /* list of completed buffers */
    uint32_t index;
    size_t valid; /* bytes that hold records */
    _Alignas(64) uint8_t bytes[];
};

struct lp_buffer_pool {
    size_t buffer_bytes;    /* size of each buffer, constant */
    _Atomic uint32_t limit; /* maximum number of buffers */
    _Atomic uint32_t made;
    _Atomic uint64_t
        free_head; /* tag << 32 | index + 1; the tag makes a reused index a different value */
    _Atomic uint64_t refused;         /* requests that found the pool at its limit */
    _Atomic(struct lp_buffer *) full; /* newest first */
    _Atomic(struct lp_buffer *) buffers[LP_BUFFER_LIMIT];
    _Atomic uint32_t free_next[LP_BUFFER_LIMIT]; /* index + 1 of the next free one */
};

/** Set up a static pool, or change the limit of one in use. If more buffers than the limit exist
 * already, no new ones are allocated. */
void lp_buffer_pool_init(struct lp_buffer_pool *pool, size_t buffer_bytes, uint64_t pool_bytes);

/** A zero-filled buffer; NULL at the limit (counted). With `exceed`, NULL only when out of memory
 * or at LP_BUFFER_LIMIT.
 * @threads any thread */
struct lp_buffer *lp_buffer_get(struct lp_buffer_pool *pool, bool exceed);

/** The buffer whose bytes start at `bytes`. */
struct lp_buffer *lp_buffer_of(uint8_t *bytes);

/** Return a buffer that holds `valid` bytes of records. @threads any thread */
void lp_buffer_complete(struct lp_buffer_pool *pool, struct lp_buffer *buffer, size_t valid);

/** All completed buffers, oldest first, linked by next. @threads collector only */
struct lp_buffer *lp_buffer_take(struct lp_buffer_pool *pool);

/** Make a buffer free again, zeroed here rather than on a launching thread. @threads collector only
 */
void lp_buffer_recycle(struct lp_buffer_pool *pool, struct lp_buffer *buffer);

#endif
