/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls of several GPUs are one collective, and the bus bandwidth of nccl-tests. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/kernels/collective_match.h"
#include "tests/support/play.h"

#define US UINT64_C(1000)

/* Calls of a GPU as start and end in us. */
static struct lp_rank_calls calls_of(struct lp_rank_call *calls, size_t count)
{
    struct lp_rank_calls out = { { calls, count, count } };

    for (size_t i = 0; i < count; i++) {
        calls[i].start_ns *= US;
        calls[i].end_ns *= US;
    }
    return out;
}

#define CALLS(...)                                                                                 \
    calls_of((struct lp_rank_call[]){ __VA_ARGS__ },                                               \
             sizeof((struct lp_rank_call[]){ __VA_ARGS__ }) / sizeof(struct lp_rank_call))

static void waiting_ends_when_the_last_gpu_starts(void **state)
{
    struct lp_rank_calls ranks[] = { CALLS({ 100, 200, 0 }, { 300, 420, 0 }),
                                     CALLS({ 150, 201, 1 }, { 290, 421, 1 }) };
    struct lp_matched sums[2] = { { .calls = 0 } };

    (void)state;
    lp_collectives_match(ranks, 2, sums);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sums[i].calls, 2);
        assert_int_equal(sums[i].ranks, 2);
        assert_int_equal(sums[i].last, 1);
    }
    assert_int_equal(sums[0].waiting_ns, 50 * US);
    assert_int_equal(sums[0].transfer_ns, (50 + 120) * US);
    assert_int_equal(sums[1].waiting_ns, 10 * US);
    assert_int_equal(sums[1].transfer_ns, (51 + 121) * US);
}

/* What is kept of each GPU begins and ends at another time. */
static void calls_without_a_partner_at_either_end_are_left_out(void **state)
{
    struct lp_rank_calls ranks[] = { CALLS({ 10, 20, 0 }, { 100, 200, 0 }, { 300, 400, 0 }),
                                     CALLS({ 150, 200, 1 }, { 310, 400, 1 }, { 500, 510, 1 },
                                           { 600, 610, 1 }) };
    struct lp_matched sums[2] = { { .calls = 0 } };

    (void)state;
    lp_collectives_match(ranks, 2, sums);
    assert_int_equal(sums[0].calls, 2);
    assert_int_equal(sums[0].waiting_ns, 60 * US);
    assert_int_equal(sums[1].waiting_ns, 0);
}

static void neighbours_that_communicate_in_pairs_are_matched_in_pairs(void **state)
{
    struct lp_rank_calls ranks[] = { CALLS({ 100, 200, 0 }, { 300, 400, 0 }),
                                     CALLS({ 130, 200, 1 }, { 320, 400, 1 }),
                                     CALLS({ 110, 290, 2 }, { 350, 500, 2 }),
                                     CALLS({ 120, 290, 3 }, { 360, 500, 3 }) };
    struct lp_matched sums[4] = { { .calls = 0 } };

    (void)state;
    lp_collectives_match(ranks, 4, sums);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sums[i].ranks, 2);
    assert_int_equal(sums[0].waiting_ns, 50 * US);
    assert_int_equal(sums[2].waiting_ns, 20 * US);
}

static void gpus_that_leave_at_other_times_are_not_matched(void **state)
{
    struct lp_rank_calls ranks[] = { CALLS({ 100, 200, 0 }, { 300, 400, 0 }),
                                     CALLS({ 130, 280, 1 }, { 330, 480, 1 }) };
    struct lp_matched sums[2] = { { .calls = 0 } };

    (void)state;
    lp_collectives_match(ranks, 2, sums);
    lp_collectives_match(ranks, 1, sums);
    assert_int_equal(sums[0].calls, 0);
    assert_int_equal(sums[1].calls, 0);
}

/* nccl-tests, doc/PERFORMANCE.md: factors 2 (n - 1) / n, (n - 1) / n and 1 of the size of all data.
 * A call of ncclAllGather() names the part of one GPU: 1 / n of it. */
static void bus_bandwidth_is_that_of_nccl_tests(void **state)
{
    (void)state;
    check_close(lp_bus_factor("all_reduce", 2), 1);
    check_close(lp_bus_factor("all_reduce", 8), 1.75);
    check_close(lp_bus_factor("all_gather", 8), 7);
    check_close(lp_bus_factor("reduce_scatter", 4), 3);
    check_close(lp_bus_factor("broadcast", 4), 1);
    check_close(lp_bus_factor("send_recv", 2), 1);
    assert_true(isnan(lp_bus_factor("all_reduce", 1)));
    assert_true(isnan(lp_bus_factor("barrier", 2)));
    assert_true(isnan(lp_bus_factor(NULL, 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_ends_when_the_last_gpu_starts),
        cmocka_unit_test(calls_without_a_partner_at_either_end_are_left_out),
        cmocka_unit_test(neighbours_that_communicate_in_pairs_are_matched_in_pairs),
        cmocka_unit_test(gpus_that_leave_at_other_times_are_not_matched),
        cmocka_unit_test(bus_bandwidth_is_that_of_nccl_tests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
