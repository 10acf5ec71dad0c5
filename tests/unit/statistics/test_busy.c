/* SPDX-License-Identifier: Apache-2.0 */
/* Busy times of a tree of rows against bitmaps that mark each nanosecond of each row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/statistics/busy.h"

#define SPAN 8192u
#define ROWS 7u
#define MOST (UINT64_C(1) << (LP_BUSY_LENGTH_BITS + 2))

static uint8_t own[ROWS][SPAN], all[ROWS][SPAN];
static struct lp_busy busy;
static uint64_t seed, late;

static uint64_t random_below(uint64_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % bound;
}

/* Rows 0 to 4 are one device's, 5 and 6 another's:  0 - 1 - 2,  0 - 1 - 3,  0 - 4,  5 - 6. */
static void begin(size_t batch, size_t kept)
{
    static const uint32_t parents[ROWS] = { LP_BUSY_TOP, 0, 1, 1, 0, LP_BUSY_TOP, 5 };

    memset(own, 0, sizeof(own));
    memset(all, 0, sizeof(all));
    late = 0;
    lp_busy_clear(&busy);
    lp_busy_init(&busy, batch, kept);
    for (uint32_t row = 0; row < ROWS; row++)
        assert_int_equal(lp_busy_add_row(&busy, parents[row], row < 5 ? 0 : 9), 0);
}

static int start(void **state)
{
    (void)state;
    seed = 88172645463325252;
    begin(4, 1000);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    lp_busy_clear(&busy);
    assert_null(busy.rows.items);
    assert_null(busy.queues.items);
    return 0;
}

/* What lies before `kept_ns` is closed: a late piece counts from there on. */
static void add(uint64_t row_number, uint64_t start_ns, uint64_t end_ns)
{
    uint32_t row = (uint32_t)row_number;
    uint64_t from_ns = busy.queues.items[row < 5 ? 0 : 1].kept_ns;

    late += start_ns < from_ns;
    for (uint64_t i = start_ns > from_ns ? start_ns : from_ns; i < end_ns; i++) {
        own[row][i] = 1;
        for (uint32_t above = row; above != LP_BUSY_TOP; above = busy.rows.items[above].parent)
            all[above][i] = 1;
    }
    assert_int_equal(lp_busy_add(&busy, row, start_ns, end_ns), 0);
}

static uint64_t marked(const uint8_t *bitmap)
{
    uint64_t count = 0;

    for (size_t i = 0; i < SPAN; i++)
        count += bitmap[i];
    return count;
}

static void assert_lengths(void)
{
    assert_int_equal(lp_busy_settle(&busy), 0);
    for (uint32_t row = 0; row < ROWS; row++) {
        assert_int_equal(busy.rows.items[row].own.ns, marked(own[row]));
        assert_int_equal(busy.rows.items[row].all.ns, marked(all[row]));
    }
    assert_int_equal(lp_busy_late(&busy), late);
    for (size_t q = 0; q < busy.queues.count; q++) {
        const lp_busy_intervals *log = &busy.queues.items[q].log;

        for (size_t i = 1; i < log->count; i++)
            assert_true(log->items[i - 1].start_ns <= log->items[i].start_ns);
    }
}

static void gaps_do_not_count(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 400; i++)
        add(2, i * 8, i * 8 + 5);
    assert_lengths();
    assert_int_equal(busy.queues.items[0].log.count, 400);
}

static void rows_below_count_once_in_those_above(void **state)
{
    (void)state;
    add(2, 100, 200);
    add(3, 150, 250);
    add(1, 240, 260);
    add(0, 10, 20);
    add(4, 255, 300);
    assert_lengths();
    assert_int_equal(busy.rows.items[0].all.ns, 210);
    assert_int_equal(busy.rows.items[1].all.ns, 160);
    assert_int_equal(busy.rows.items[0].own.ns, 10);
}

static void devices_are_busy_each_for_itself(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        add(2, i * 10, i * 10 + 5);
        add(6, 5000 - i * 10, 5000 - i * 10 + 7);
    }
    assert_lengths();
    assert_int_equal(busy.rows.items[0].all.ns, 500);
    assert_int_equal(busy.rows.items[5].all.ns, 700);
}

static void reversed_order_gives_the_same_length(void **state)
{
    (void)state;
    for (uint64_t i = 400; i-- > 0;)
        add(1 + i % 3, i * 8, i * 8 + 5 + i % 7);
    assert_lengths();
}

static void pieces_in_pieces_count_once(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 500; i++)
        add(i % 5, 2000 - i, 3000 + i);
    assert_lengths();
    for (uint64_t i = 0; i < 500; i++)
        add(i % 5, 2000 + i, 3000 - i);
    assert_lengths();
}

static void nothing_is_no_length(void **state)
{
    (void)state;
    assert_lengths();
    add(2, 5, 5);
    add(2, 0, 0);
    assert_lengths();
    add(2, 10, 20);
    add(2, 15, 15);
    assert_lengths();
    assert_lengths();
}

/* Kernels of a graph follow one another without a gap: the log does not grow with them. */
static void touching_pieces_take_one_place_in_the_log(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        add(3, i * 8, i * 8 + (i % 3 ? 8 : 12));
    assert_lengths();
    assert_int_equal(busy.queues.items[0].log.count, 1);
    add(3, 100, 200);
    add(2, 100, 200);
    assert_lengths();
}

static void touching_pieces_of_two_regions_take_one_place_each(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        add(2, i * 8, i * 8 + 8);
        add(3, i * 8 + 1, i * 8 + 9);
    }
    assert_lengths();
    assert_int_equal(busy.queues.items[0].log.count, 2);
}

static void a_late_piece_can_close_many_gaps(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        add(i % 5, i * 10, i * 10 + 5);
    assert_lengths();
    add(3, 203, 777);
    assert_lengths();
    add(3, 995, 1005);
    add(1, 0, 1010);
    add(4, 1001, 1003);
    assert_lengths();
}

static void a_late_piece_may_reach_ahead_of_all(void **state)
{
    (void)state;
    add(2, 100, 200);
    add(3, 150, 160);
    assert_lengths();
    add(2, 120, 5000);
    assert_lengths();
    add(2, 160, 5001);
    add(3, 4999, 5002);
    assert_lengths();
}

static void pieces_of_seconds_and_times_at_the_end_of_the_range(void **state)
{
    (void)state;
    assert_int_equal(lp_busy_add(&busy, 2, 7, 7 + MOST), 0);
    assert_int_equal(lp_busy_add(&busy, 3, MOST, 2 * MOST), 0);
    assert_int_equal(lp_busy_settle(&busy), 0);
    assert_int_equal(lp_busy_add(&busy, 3, 3, MOST), 0);
    assert_int_equal(lp_busy_add(&busy, 4, UINT64_MAX - 5, UINT64_MAX), 0);
    assert_int_equal(lp_busy_settle(&busy), 0);
    assert_int_equal(busy.rows.items[2].own.ns, MOST);
    assert_int_equal(busy.rows.items[3].own.ns, 2 * MOST - 3);
    assert_int_equal(busy.rows.items[1].all.ns, 2 * MOST - 3);
    assert_int_equal(busy.rows.items[0].all.ns, 2 * MOST - 3 + 5);
}

static void a_day_is_few_pieces(void **state)
{
    uint64_t day = UINT64_C(86400000000000);

    (void)state;
    assert_int_equal(lp_busy_add(&busy, 2, 5, 5 + day), 0);
    assert_true(busy.queues.items[0].pending.count < 100);
    assert_int_equal(lp_busy_settle(&busy), 0);
    assert_int_equal(busy.rows.items[2].own.ns, day);
}

static void what_lies_before_the_log_is_clipped_and_counted(void **state)
{
    struct lp_busy_queue *queue;

    (void)state;
    begin(4, 64);  /* 32 for each device */
    add(1, 5, 95); /* into the rest of the log */
    for (uint64_t i = 0; i < 34; i++)
        add(2, i * 5, i * 5 + 2);
    assert_lengths();
    queue = &busy.queues.items[0];
    assert_in_range(queue->kept_ns, 70, 90);
    add(3, 1, 60);
    add(4, 1, queue->kept_ns);
    assert_int_equal(queue->pending.count, 0);
    add(3, 2, 200);
    add(0, queue->kept_ns, queue->kept_ns + 20);
    assert_lengths();
    assert_int_equal(late, 3);
}

/* Several streams, each in order, arrive in blocks: what a device with concurrent kernels does. */
static void interleaved_streams_need_no_memory_in_steady_state(void **state)
{
    size_t pending = 0, log = 0;

    (void)state;
    begin(64, 2000);
    for (uint64_t block = 0; block < 200; block++) {
        for (uint32_t stream = 0; stream < 4; stream++)
            for (uint64_t i = 0; i < 100; i++) {
                uint64_t start_ns = block * 4000 + i * 40 + stream * 9;

                assert_int_equal(lp_busy_add(&busy, stream, start_ns, start_ns + 5), 0);
            }
        if (block % 7 == 0)
            assert_int_equal(lp_busy_settle(&busy), 0);
        if (block % 7 == 0)
            assert_int_equal(busy.rows.items[0].all.ns, (block + 1) * 400 * 5);
        if (block == 20) {
            pending = busy.queues.items[0].pending.capacity;
            log = busy.queues.items[0].log.capacity;
        }
    }
    assert_int_equal(lp_busy_late(&busy), 0);
    assert_true(busy.queues.items[0].log.count <= 1000);
    assert_int_equal(busy.queues.items[0].pending.capacity, pending);
    assert_int_equal(busy.queues.items[0].log.capacity, log);
}

/* A server that does little for hours: only the last minutes are kept, and a piece that is minutes
 * late counts in full. */
static void a_log_of_hours_holds_the_last_minutes(void **state)
{
    const uint64_t second = UINT64_C(1000000000);
    size_t log = 0;

    (void)state;
    begin(4, 32000); /* 16,000 for each of two devices, of which 1,000 stay at any age */
    for (uint64_t i = 1; i <= 8 * 3600; i++) {
        assert_int_equal(lp_busy_add(&busy, 0, i * second, i * second + 5), 0);
        if (i % 500 == 0)
            assert_int_equal(
                lp_busy_add(&busy, 0, (i - 400) * second + 100, (i - 400) * second + 105), 0);
        log = i == 3600 ? busy.queues.items[0].log.capacity : log;
    }
    assert_int_equal(lp_busy_settle(&busy), 0);
    assert_int_equal(busy.rows.items[0].all.ns, (8 * 3600 + 8 * 3600 / 500) * 5);
    assert_int_equal(lp_busy_late(&busy), 0);
    assert_true(busy.queues.items[0].log.count <= 1210);
    assert_int_equal(busy.queues.items[0].log.capacity, log);
}

/* Pieces that move forward by and by with jitter, looked at in random moments. */
static void random_round(size_t batch, size_t kept, uint64_t longest, uint64_t jitter)
{
    begin(batch, kept);
    for (unsigned i = 0; i < 900; i++) {
        uint64_t start_ns = i * 4 + random_below(jitter), end_ns;

        end_ns = start_ns + random_below(random_below(50) ? longest : 1000);
        add(random_below(ROWS), start_ns, end_ns < SPAN ? end_ns : SPAN);
        if (random_below(200) == 0)
            assert_lengths();
    }
    assert_lengths();
}

static void random_pieces_match_the_bitmaps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++)
        random_round(1 + random_below(60), 4 + random_below(i % 4 ? 300 : 3000),
                     1 + random_below(60), 1 + random_below(3000));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(gaps_do_not_count),
        CASE(rows_below_count_once_in_those_above),
        CASE(devices_are_busy_each_for_itself),
        CASE(reversed_order_gives_the_same_length),
        CASE(pieces_in_pieces_count_once),
        CASE(nothing_is_no_length),
        CASE(touching_pieces_take_one_place_in_the_log),
        CASE(touching_pieces_of_two_regions_take_one_place_each),
        CASE(a_late_piece_can_close_many_gaps),
        CASE(a_late_piece_may_reach_ahead_of_all),
        CASE(pieces_of_seconds_and_times_at_the_end_of_the_range),
        CASE(a_day_is_few_pieces),
        CASE(what_lies_before_the_log_is_clipped_and_counted),
        CASE(interleaved_streams_need_no_memory_in_steady_state),
        CASE(a_log_of_hours_holds_the_last_minutes),
        CASE(random_pieces_match_the_bitmaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
