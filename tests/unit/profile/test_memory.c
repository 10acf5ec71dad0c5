/* SPDX-License-Identifier: Apache-2.0 */
/** The balance of device memory, also of calls that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/profile/host/memory.h"

#define A 3 /* paths */
#define B 4

static void put(struct lp_memory *memory, uint32_t thread, uint64_t time_ns, uint32_t node,
                enum lp_memory_step step, enum lp_memory_space space, uint32_t device,
                uint64_t value)
{
    struct lp_record record = { time_ns, value, node, LP_RECORD_MEMORY,
                                lp_memory_detail(step, space, device) };

    lp_memory_record(memory, thread, &record);
}

static void allocate_on(struct lp_memory *memory, uint32_t device, uint64_t time_ns, uint32_t node,
                        uint64_t address, uint64_t bytes)
{
    put(memory, 0, time_ns, node, LP_MEMORY_BYTES, LP_MEMORY_ADDRESS, device, bytes);
    put(memory, 0, time_ns, node, LP_MEMORY_ALLOCATED, LP_MEMORY_ADDRESS, device, address);
}

static void allocate(struct lp_memory *memory, uint64_t time_ns, uint32_t node, uint64_t address,
                     uint64_t bytes)
{
    allocate_on(memory, 0, time_ns, node, address, bytes);
}

static void release(struct lp_memory *memory, uint64_t time_ns, uint32_t node, uint64_t address)
{
    put(memory, 0, time_ns, node, LP_MEMORY_FREED, LP_MEMORY_ADDRESS, 0, address);
}

static const struct lp_memory_total *row_of(const struct lp_memory *memory, uint32_t node)
{
    for (size_t i = 0; i < memory->rows.count; i++)
        if (memory->rows.items[i].node == node)
            return &memory->rows.items[i];
    fail_msg("no row of path %u", (unsigned)node);
    return NULL;
}

static void a_free_of_unknown_memory_changes_no_balance(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    release(&memory, 1, A, 500);
    allocate(&memory, 2, A, 100, 10);
    release(&memory, 3, B, 100);
    release(&memory, 4, B, 100); /* again */
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].live_bytes, 0);
    assert_int_equal(memory.devices[0].peak_bytes, 10);
    assert_int_equal(memory.devices[0].peak_ns, 2);
    assert_int_equal(row_of(&memory, A)->frees, 1);
    assert_int_equal(row_of(&memory, A)->unmatched, 1);
    assert_int_equal(row_of(&memory, A)->live_bytes, 0);
    assert_int_equal(row_of(&memory, B)->frees, 2);
    assert_int_equal(row_of(&memory, B)->unmatched, 1);
    assert_int_equal(row_of(&memory, B)->freed_bytes, 10);
    lp_memory_clear(&memory);
}

static void an_address_is_used_again(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        allocate(&memory, 10 * i, A, 100 + i % 3, 10);
        release(&memory, 10 * i + 5, A, 100 + i % 3);
    }
    allocate(&memory, 90000, A, 100, 30);
    allocate(&memory, 90001, B, 100, 40); /* the free in between was not seen */
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].live_bytes, 40);
    assert_int_equal(memory.devices[0].peak_bytes, 40);
    assert_int_equal(row_of(&memory, A)->unmatched, 0);
    assert_int_equal(row_of(&memory, A)->live_bytes, 0);
    assert_int_equal(row_of(&memory, B)->unmatched, 1);
    assert_true(memory.allocations.count <= 2);
    lp_memory_clear(&memory);
}

static void addresses_that_never_come_back_need_no_memory(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    for (uint64_t i = 1; i <= 200000; i++) {
        allocate(&memory, 10 * i, A, 512 * i, 1);
        release(&memory, 10 * i + 5, A, 512 * i);
        lp_memory_settle(&memory, 10 * i + 5);
    }
    assert_int_equal(memory.allocations.count, 1);
    assert_true(memory.index.capacity <= 4096);
    assert_true(memory.devices[0].levels.count < LP_MEMORY_LEVELS);
    lp_memory_clear(&memory);
}

static void handles_and_addresses_are_apart(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    allocate(&memory, 1, A, 100, 10);
    put(&memory, 0, 2, A, LP_MEMORY_BYTES, LP_MEMORY_HANDLE, 0, 5);
    put(&memory, 0, 2, A, LP_MEMORY_ALLOCATED, LP_MEMORY_HANDLE, 0, 100);
    put(&memory, 0, 3, A, LP_MEMORY_FREED, LP_MEMORY_HANDLE, 0, 100);
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].live_bytes, 10);
    assert_int_equal(row_of(&memory, A)->unmatched, 0);
    lp_memory_clear(&memory);
}

/* NCCL retains the handles of memory that it shares, and releases them again. */
static void a_retained_handle_is_freed_once_more(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    put(&memory, 0, 1, A, LP_MEMORY_RETAINED, LP_MEMORY_HANDLE, 0, 9); /* unknown */
    put(&memory, 0, 2, A, LP_MEMORY_BYTES, LP_MEMORY_HANDLE, 0, 5);
    put(&memory, 0, 2, A, LP_MEMORY_ALLOCATED, LP_MEMORY_HANDLE, 0, 100);
    put(&memory, 0, 3, A, LP_MEMORY_RETAINED, LP_MEMORY_HANDLE, 0, 100);
    put(&memory, 0, 4, B, LP_MEMORY_FREED, LP_MEMORY_HANDLE, 0, 100);
    lp_memory_settle(&memory, 4);
    assert_int_equal(memory.devices[0].live_bytes, 5);
    put(&memory, 0, 5, B, LP_MEMORY_FREED, LP_MEMORY_HANDLE, 0, 100);
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].live_bytes, 0);
    assert_int_equal(row_of(&memory, B)->frees, 1);
    assert_int_equal(row_of(&memory, B)->unmatched, 0);
    lp_memory_clear(&memory);
}

/* Rings are read one after the other: the free of one thread may come before the allocation of
 * another. */
static void records_of_threads_are_put_in_order(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    put(&memory, 1, 20, B, LP_MEMORY_FREED, LP_MEMORY_ADDRESS, 0, 100);
    lp_memory_settle(&memory, 15);
    allocate(&memory, 10, A, 100, 10);
    lp_memory_settle(&memory, 30);
    assert_int_equal(memory.devices[0].live_bytes, 0);
    assert_int_equal(memory.devices[0].peak_bytes, 10);
    assert_int_equal(row_of(&memory, B)->unmatched, 0);
    lp_memory_clear(&memory);
}

static void an_allocation_without_its_size_is_left_out(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    put(&memory, 0, 1, A, LP_MEMORY_ALLOCATED, LP_MEMORY_ADDRESS, 0, 100);
    put(&memory, 0, 2, A, LP_MEMORY_BYTES, LP_MEMORY_ADDRESS, 0, 7);
    put(&memory, 1, 3, A, LP_MEMORY_ALLOCATED, LP_MEMORY_ADDRESS, 0, 200); /* another thread */
    put(&memory, 0, 4, A, LP_MEMORY_ALLOCATED, LP_MEMORY_ADDRESS, 0, 300);
    put(&memory, 0, 5, A, LP_MEMORY_ALLOCATED, LP_MEMORY_ADDRESS, 0, 400);
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].live_bytes, 7);
    assert_int_equal(row_of(&memory, A)->allocations, 1);
    lp_memory_clear(&memory);
}

static void a_stage_has_the_peak_while_it_is_open(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    allocate(&memory, 1, A, 100, 10);
    lp_memory_begin(&memory, 7, B, 2);
    lp_memory_begin(&memory, 8, A, 3); /* of another thread, or nested */
    allocate(&memory, 4, A, 200, 20);
    lp_memory_end(&memory, 8, A, 5, 0);
    allocate(&memory, 6, A, 300, 30);
    release(&memory, 7, A, 200);
    lp_memory_end(&memory, 7, B, 8, 60);
    allocate(&memory, 9, A, 400, 1000);
    lp_memory_begin(&memory, 9, B, 10);      /* stays open */
    lp_memory_end(&memory, 11, A, 11, 1000); /* was not seen to begin */
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(row_of(&memory, B)->peak_bytes, 60);
    assert_int_equal(row_of(&memory, A)->peak_bytes, 30);
    assert_int_equal(row_of(&memory, B)->context_tokens, 60);
    assert_int_equal(row_of(&memory, A)->context_tokens, 0);
    assert_int_equal(memory.devices[0].peak_bytes, 1040);
    assert_int_equal(lp_memory_kept(&memory, 0), 10);
    assert_int_equal(memory.open.count, 1);
    lp_memory_clear(&memory);
}

static void pool(struct lp_memory *memory, uint64_t time_ns, uint64_t handle, uint64_t reserved,
                 uint64_t used)
{
    put(memory, 0, time_ns, A, LP_MEMORY_POOL, LP_MEMORY_ADDRESS, 0, handle);
    put(memory, 0, time_ns, A, LP_MEMORY_POOL_RESERVED, LP_MEMORY_ADDRESS, 0, reserved);
    put(memory, 0, time_ns, A, LP_MEMORY_POOL_USED, LP_MEMORY_ADDRESS, 0, used);
}

static void pools_of_a_device_are_added_up(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    pool(&memory, 1, 77, 100, 40);
    allocate(&memory, 2, A, 100, 10);
    pool(&memory, 3, 88, 50, 50);
    pool(&memory, 4, 77, 20, 15); /* was trimmed */
    pool(&memory, 5, 88, 60, 60);
    put(&memory, 1, 6, A, LP_MEMORY_POOL_USED, LP_MEMORY_ADDRESS, 0, 9999); /* others were lost */
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.devices[0].reserved_bytes, 150);
    assert_int_equal(memory.devices[0].used_bytes, 90);
    assert_int_equal(memory.devices[0].live_bytes, 10);
    assert_int_equal(memory.pools.count, 2);
    lp_memory_clear(&memory);
}

static void more_than_can_be_followed_is_counted(void **state)
{
    struct lp_memory memory = { .failed = false };

    (void)state;
    for (uint64_t i = 1; i <= LP_MEMORY_LIVE + 5; i++)
        allocate(&memory, i, A, 512 * i, 2);
    for (uint32_t i = 0; i < LP_MEMORY_DEVICES + 3; i++)
        allocate_on(&memory, i, 10000000 + i, A, i + 1, 2);
    lp_memory_settle(&memory, UINT64_MAX);
    assert_int_equal(memory.device_count, LP_MEMORY_DEVICES);
    assert_int_equal(memory.over_limit, 5 + LP_MEMORY_DEVICES + 3);
    assert_int_equal(memory.devices[0].live_bytes, 2 * LP_MEMORY_LIVE);
    assert_false(memory.failed);
    lp_memory_clear(&memory);
}

static void the_curve_keeps_the_highest_points(void **state)
{
    struct lp_memory memory = { .failed = false };
    uint64_t highest = 0;

    (void)state;
    for (uint64_t i = 1; i <= 20000; i++) {
        allocate(&memory, 1000000 * i, A, 512 * i, i == 7777 ? 900 : 1);
        release(&memory, 1000000 * i + 10, A, 512 * i);
    }
    lp_memory_settle(&memory, UINT64_MAX);
    assert_true(memory.devices[0].levels.count < LP_MEMORY_LEVELS);
    assert_true(memory.devices[0].levels.count > LP_MEMORY_LEVELS / 4);
    for (size_t i = 0; i < memory.devices[0].levels.count; i++) {
        const struct lp_memory_level *level = &memory.devices[0].levels.items[i];

        assert_true(i == 0 || level->time_ns > level[-1].time_ns);
        highest = level->bytes > highest ? level->bytes : highest;
    }
    assert_int_equal(highest, 900);
    assert_int_equal(memory.devices[0].peak_ns, UINT64_C(7777) * 1000000);
    lp_memory_clear(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_of_unknown_memory_changes_no_balance),
        cmocka_unit_test(an_address_is_used_again),
        cmocka_unit_test(addresses_that_never_come_back_need_no_memory),
        cmocka_unit_test(handles_and_addresses_are_apart),
        cmocka_unit_test(a_retained_handle_is_freed_once_more),
        cmocka_unit_test(records_of_threads_are_put_in_order),
        cmocka_unit_test(an_allocation_without_its_size_is_left_out),
        cmocka_unit_test(a_stage_has_the_peak_while_it_is_open),
        cmocka_unit_test(pools_of_a_device_are_added_up),
        cmocka_unit_test(more_than_can_be_followed_is_counted),
        cmocka_unit_test(the_curve_keeps_the_highest_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
