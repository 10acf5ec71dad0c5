/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "lib/device/buffers.h"

#define BYTES   4096u
#define THREADS 4
#define ROUNDS  3000

static void a_pool_refuses_above_its_limit_and_counts(void **state)
{
    static struct lp_buffer_pool pool;
    struct lp_buffer *buffers[3];

    (void)state;
    lp_buffer_pool_init(&pool, BYTES, 3 * BYTES);
    for (int i = 0; i < 3; i++)
        assert_non_null(buffers[i] = lp_buffer_get(&pool, false));
    assert_null(lp_buffer_get(&pool, false));
    assert_null(lp_buffer_get(&pool, false));
    assert_int_equal(atomic_load(&pool.refused), 2);
    assert_non_null(lp_buffer_get(&pool, true));
    assert_int_equal(atomic_load(&pool.refused), 2);
    lp_buffer_recycle(&pool, buffers[1]);
    assert_ptr_equal(lp_buffer_get(&pool, false), buffers[1]);
    assert_null(lp_buffer_get(&pool, false));
    lp_buffer_pool_init(&pool, BYTES, 5 * BYTES); /* One more than are out. */
    assert_non_null(lp_buffer_get(&pool, false));
    assert_null(lp_buffer_get(&pool, false));
}

static void the_smallest_pool_has_two_buffers(void **state)
{
    static struct lp_buffer_pool pool;

    (void)state;
    lp_buffer_pool_init(&pool, BYTES, 0);
    assert_non_null(lp_buffer_get(&pool, false));
    assert_non_null(lp_buffer_get(&pool, false));
    assert_null(lp_buffer_get(&pool, false));
    lp_buffer_pool_init(&pool, BYTES, UINT64_MAX);
    assert_int_equal(atomic_load(&pool.limit), LP_BUFFER_LIMIT);
}

static void completed_buffers_come_oldest_first_and_zero_again(void **state)
{
    static struct lp_buffer_pool pool;
    static const uint8_t zero[BYTES];
    struct lp_buffer *buffers[3], *taken;

    (void)state;
    lp_buffer_pool_init(&pool, BYTES, 3 * BYTES);
    assert_null(lp_buffer_take(&pool));
    for (int i = 0; i < 3; i++) {
        buffers[i] = lp_buffer_get(&pool, false);
        assert_ptr_equal(lp_buffer_of(buffers[i]->bytes), buffers[i]);
        assert_int_equal((uintptr_t)buffers[i]->bytes % 8, 0); /* as CUPTI wants it */
        assert_memory_equal(buffers[i]->bytes, zero, BYTES);
        memset(buffers[i]->bytes, 0xab, (size_t)i * 100);
        lp_buffer_complete(&pool, buffers[i], (size_t)i * 100);
    }
    taken = lp_buffer_take(&pool);
    assert_null(lp_buffer_take(&pool));
    for (int i = 0; i < 3; i++) {
        struct lp_buffer *next = taken->next;

        assert_ptr_equal(taken, buffers[i]);
        assert_int_equal(taken->valid, i * 100);
        lp_buffer_recycle(&pool, taken);
        assert_memory_equal(buffers[i]->bytes, zero, BYTES);
        taken = next;
    }
    assert_null(taken);
}

static struct lp_buffer_pool shared;

static void *fill_buffers(void *made)
{
    for (int i = 0; i < ROUNDS;) {
        struct lp_buffer *buffer = lp_buffer_get(&shared, false);

        if (!buffer) {
            sched_yield();
            continue;
        }
        for (size_t k = 0; k < 64; k++)
            if (buffer->bytes[k] != 0)
                return NULL; /* somebody else has it too, or it was not cleared */
        memset(buffer->bytes, 1 + i % 100, 64);
        lp_buffer_complete(&shared, buffer, 64);
        i++;
    }
    return made;
}

static void buffers_go_round_between_threads(void **state)
{
    pthread_t threads[THREADS];
    int seen = 0;

    (void)state;
    lp_buffer_pool_init(&shared, BYTES, 8 * BYTES);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill_buffers, &shared), 0);
    while (seen < THREADS * ROUNDS) {
        struct lp_buffer *buffer = lp_buffer_take(&shared), *next;

        for (; buffer; buffer = next, seen++) {
            next = buffer->next;
            assert_int_equal(buffer->valid, 64);
            assert_int_equal(buffer->bytes[0], buffer->bytes[63]);
            lp_buffer_recycle(&shared, buffer);
        }
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        void *good;

        pthread_join(threads[i], &good);
        assert_ptr_equal(good, &shared);
    }
    assert_true(atomic_load(&shared.made) <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_refuses_above_its_limit_and_counts),
        cmocka_unit_test(the_smallest_pool_has_two_buffers),
        cmocka_unit_test(completed_buffers_come_oldest_first_and_zero_again),
        cmocka_unit_test(buffers_go_round_between_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
