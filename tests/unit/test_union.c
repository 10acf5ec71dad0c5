/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals against a bitmap that marks each nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/result/interval_union.h"

#define SPAN 8192

static uint8_t covered[SPAN];
static uint64_t seed;

static uint64_t random_below(uint64_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % bound;
}

static int start_bitmap(void **state)
{
    (void)state;
    memset(covered, 0, sizeof(covered));
    seed = 88172645463325252;
    return 0;
}

static uint64_t bitmap_length(void)
{
    uint64_t length = 0;

    for (size_t i = 0; i < SPAN; i++)
        length += covered[i];
    return length;
}

/* What lies before `folded_until` is closed: a late interval counts from there on. */
static void add(struct lp_interval_union *set, uint64_t start, uint64_t end)
{
    assert_int_equal(lp_union_add(set, start, end), 0);
    for (uint64_t i = start > set->folded_until ? start : set->folded_until; i < end; i++)
        covered[i] = 1;
}

static void assert_disjoint_ascending(const lp_intervals *list)
{
    for (size_t i = 0; i < list->count; i++) {
        assert_true(list->items[i].start < list->items[i].end);
        if (i > 0 && list->items[i].start <= list->items[i - 1].end)
            fail_msg("intervals %zu and %zu overlap, touch or are out of order", i - 1, i);
    }
}

static void merge(struct lp_interval_union *set)
{
    assert_int_equal(lp_union_merge(set), 0);
    assert_disjoint_ascending(&set->pending);
    assert_disjoint_ascending(&set->open);
    lp_union_settled(set);
}

static void assert_length_and_clear(struct lp_interval_union *set)
{
    merge(set);
    assert_int_equal(lp_union_length(set), bitmap_length());
    lp_union_clear(set);
    assert_null(set->open.items);
    assert_null(set->pending.items);
}

static void ordered_stream_stays_one_pending_interval(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        add(&set, i * 8, i * 8 + (i % 3 ? 8 : 12));
    assert_int_equal(set.pending.count, 1);
    assert_false(set.pending_sorted_not);
    assert_length_and_clear(&set);
}

static void gaps_between_ordered_intervals_do_not_count(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        add(&set, i * 8, i * 8 + 5);
    merge(&set);
    assert_int_equal(set.open.count, 1000);
    assert_length_and_clear(&set);
}

static void reversed_order_gives_the_same_length(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 1000; i-- > 0;)
        add(&set, i * 8, i * 8 + 5 + i % 7);
    assert_true(set.pending_sorted_not);
    assert_length_and_clear(&set);
}

static void nested_intervals_count_once(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 500; i++)
        add(&set, 2000 - i, 3000 + i);
    merge(&set);
    for (uint64_t i = 0; i < 500; i++)
        add(&set, 2000 + i, 3000 - i);
    assert_length_and_clear(&set);
}

static void identical_intervals_count_once(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        add(&set, 40, 70);
        add(&set, 10, 20);
    }
    merge(&set);
    assert_int_equal(set.open.count, 2);
    add(&set, 10, 20);
    merge(&set);
    assert_int_equal(set.open.count, 2);
    assert_length_and_clear(&set);
}

static void zero_length_intervals_count_nothing(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    add(&set, 5, 5);
    add(&set, 0, 0);
    assert_int_equal(lp_union_merge(&set), 0);
    assert_int_equal(lp_union_length(&set), 0);
    add(&set, 10, 20);
    add(&set, 15, 15);
    add(&set, 30, 30);
    assert_length_and_clear(&set);
}

static void touching_intervals_become_one(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    add(&set, 10, 20);
    merge(&set);
    add(&set, 30, 40);
    merge(&set);
    add(&set, 20, 30);
    merge(&set);
    assert_int_equal(set.open.count, 1);
    assert_length_and_clear(&set);
}

static void one_interval_can_close_many_gaps(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        add(&set, i * 10, i * 10 + 5);
    merge(&set);
    add(&set, 203, 777);
    add(&set, 995, 1005);
    assert_length_and_clear(&set);
}

static void times_at_the_end_of_the_range_do_not_overflow(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    assert_int_equal(lp_union_add(&set, UINT64_MAX - 5, UINT64_MAX), 0);
    assert_int_equal(lp_union_add(&set, 0, 5), 0);
    merge(&set);
    assert_int_equal(lp_union_length(&set), 10);
    lp_union_fold(&set, UINT64_MAX);
    assert_int_equal(lp_union_length(&set), 10);
    assert_int_equal(set.open.count, 0);
    lp_union_clear(&set);
}

static void folding_keeps_the_length(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        add(&set, i * 10, i * 10 + 5);
    merge(&set);
    for (uint64_t until = 0; until <= 1000; until++) {
        lp_union_fold(&set, until);
        assert_int_equal(lp_union_length(&set), bitmap_length());
    }
    assert_int_equal(set.open.count, 0);
    lp_union_fold(&set, 7); /* never backwards */
    assert_int_equal(set.folded_until, 1000);
    assert_length_and_clear(&set);
}

static void late_intervals_are_clipped_and_counted(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    lp_union_fold(&set, 100);
    add(&set, 10, 90);
    add(&set, 10, 100);
    assert_int_equal(set.pending.count, 0);
    add(&set, 90, 110);
    add(&set, 100, 120);
    assert_int_equal(set.late, 3);
    merge(&set);
    assert_int_equal(lp_union_length(&set), 20);
    assert_length_and_clear(&set);
}

static void merging_twice_changes_nothing(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 50; i++)
        add(&set, random_below(SPAN - 64), SPAN - 64);
    add(&set, 5, 9);
    assert_int_equal(lp_union_merge(&set), 0);
    assert_length_and_clear(&set);
}

static void due_after_256_and_after_an_eighth_of_the_open_ones(void **state)
{
    struct lp_interval_union set = { .late = 0 };

    (void)state;
    for (uint64_t i = 0; i < 255; i++)
        assert_int_equal(lp_union_add(&set, i * 10, i * 10 + 5), 0);
    assert_false(lp_union_due(&set));
    assert_int_equal(lp_union_add(&set, 2550, 2555), 0);
    assert_true(lp_union_due(&set));
    for (uint64_t i = 256; i < 8000; i++)
        assert_int_equal(lp_union_add(&set, i * 10, i * 10 + 5), 0);
    merge(&set);
    for (uint64_t i = 8000; i < 8999; i++)
        assert_int_equal(lp_union_add(&set, i * 10, i * 10 + 5), 0);
    assert_false(lp_union_due(&set));
    assert_int_equal(lp_union_add(&set, 89990, 89995), 0);
    assert_true(lp_union_due(&set));
    lp_union_clear(&set);
}

/* Several streams, each in order, arrive in blocks: what a device with concurrent kernels does. */
static void interleaved_streams_need_no_memory_in_steady_state(void **state)
{
    struct lp_interval_union set = { .late = 0 };
    size_t pending_capacity = 0, open_capacity = 0;

    (void)state;
    for (uint64_t block = 0; block < 200; block++) {
        for (uint64_t stream = 0; stream < 4; stream++)
            for (uint64_t i = 0; i < 100; i++) {
                uint64_t start = block * 4000 + i * 40 + stream * 9;

                assert_int_equal(lp_union_add(&set, start, start + 5), 0);
            }
        merge(&set);
        lp_union_fold(&set, block * 4000);
        assert_int_equal(lp_union_length(&set), (block + 1) * 400 * 5);
        if (block == 3) {
            pending_capacity = set.pending.capacity;
            open_capacity = set.open.capacity;
        }
    }
    assert_int_equal(set.late, 0);
    assert_int_equal(set.pending.capacity, pending_capacity);
    assert_int_equal(set.open.capacity, open_capacity);
    lp_union_clear(&set);
}

/* Adds that move forward by and by with jitter, merges and folds at random moments. */
static void random_round(uint64_t longest, uint64_t jitter, unsigned fold_one_in)
{
    struct lp_interval_union set = { .late = 0 };
    uint64_t late = 0;

    memset(covered, 0, sizeof(covered));
    for (unsigned i = 0; i < 600; i++) {
        uint64_t start = i * 8 + random_below(jitter);
        uint64_t end = start + random_below(longest);

        late += start < set.folded_until;
        add(&set, start, end < SPAN ? end : SPAN);
        if (random_below(20) == 0)
            merge(&set);
        if (fold_one_in && random_below(fold_one_in) == 0) {
            merge(&set);
            lp_union_fold(&set, i * 8 + random_below(jitter));
            assert_int_equal(lp_union_length(&set), bitmap_length());
        }
    }
    assert_int_equal(set.late, late);
    assert_length_and_clear(&set);
}

static void random_intervals_match_the_bitmap(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++)
        random_round(1 + random_below(60), 1 + random_below(3000), i % 4 ? 1 + i % 90 : 0);
}

#define CASE(name) cmocka_unit_test_setup(name, start_bitmap)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(ordered_stream_stays_one_pending_interval),
        CASE(gaps_between_ordered_intervals_do_not_count),
        CASE(reversed_order_gives_the_same_length),
        CASE(nested_intervals_count_once),
        CASE(identical_intervals_count_once),
        CASE(zero_length_intervals_count_nothing),
        CASE(touching_intervals_become_one),
        CASE(one_interval_can_close_many_gaps),
        CASE(times_at_the_end_of_the_range_do_not_overflow),
        CASE(folding_keeps_the_length),
        CASE(late_intervals_are_clipped_and_counted),
        CASE(merging_twice_changes_nothing),
        CASE(due_after_256_and_after_an_eighth_of_the_open_ones),
        CASE(interleaved_streams_need_no_memory_in_steady_state),
        CASE(random_intervals_match_the_bitmap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
