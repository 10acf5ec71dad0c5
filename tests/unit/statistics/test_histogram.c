/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of durations: the promised 2 %, the edges of the range, the encoding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "lib/statistics/histogram.h"

#define VALUES 20000

static uint64_t seed = 20260301;

static uint64_t random_word(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Spread evenly over the decades, 1 ns to 1 s. */
static uint64_t value_over_decades(void)
{
    return (uint64_t)pow(10, 9 * (double)(random_word() >> 11) * 0x1p-53);
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static void add(struct lp_histogram *histogram, uint64_t value)
{
    assert_int_equal(lp_histogram_add(histogram, value), 0);
}

static double quantile_of_one(uint64_t value)
{
    struct lp_histogram histogram = { 0 };
    double found;

    add(&histogram, value);
    found = lp_histogram_quantile(&histogram, 0.5);
    lp_histogram_clear(&histogram);
    return found;
}

static void quantiles_over_nine_decades_are_within_2_percent(void **state)
{
    static const double fractions[] = {
        0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1
    };
    static uint64_t values[VALUES];
    struct lp_histogram histogram = { 0 };

    (void)state;
    for (size_t i = 0; i < VALUES; i++)
        add(&histogram, values[i] = value_over_decades());
    qsort(values, VALUES, sizeof(values[0]), ascending);
    for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
        size_t rank = (size_t)ceil(fractions[i] * VALUES);
        double exact = (double)values[rank ? rank - 1 : 0];
        double found = lp_histogram_quantile(&histogram, fractions[i]);

        if (fabs(found - exact) > 0.02 * exact)
            fail_msg("quantile %g: %g, exact %g", fractions[i], found, exact);
    }
    lp_histogram_clear(&histogram);
}

static void each_value_is_within_one_65th_of_its_bucket(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (unsigned i = 0; i < 200; i++) {
            uint64_t value = (random_word() >> 1 | UINT64_C(1) << 63) >> (63 - bit);
            double found = quantile_of_one(value);

            if (fabs(found - (double)value) > (double)value / 64)
                fail_msg("%llu became %g", (unsigned long long)value, found);
        }
}

static void values_to_63_are_exact(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 64; value++)
        assert_true(quantile_of_one(value) == (double)value);
    assert_true(quantile_of_one(64) == 64.5);
    assert_true(quantile_of_one(65) == 64.5);
}

static void the_largest_value_has_a_bucket(void **state)
{
    (void)state;
    assert_true(quantile_of_one(UINT64_MAX) > 0x1.f8p63);
    assert_true(quantile_of_one(UINT64_MAX) <= 0x1p64);
    assert_true(quantile_of_one(UINT64_C(1) << 63) >= 0x1p63);
}

static void rank_is_rounded_up(void **state)
{
    struct lp_histogram histogram = { 0 };

    (void)state;
    for (uint64_t value = 1; value <= 4; value++)
        add(&histogram, value);
    assert_true(lp_histogram_quantile(&histogram, 0) == 1);
    assert_true(lp_histogram_quantile(&histogram, 0.25) == 1);
    assert_true(lp_histogram_quantile(&histogram, 0.26) == 2);
    assert_true(lp_histogram_quantile(&histogram, 0.5) == 2);
    assert_true(lp_histogram_quantile(&histogram, 0.51) == 3);
    assert_true(lp_histogram_quantile(&histogram, 1) == 4);
    lp_histogram_clear(&histogram);
}

static void an_empty_one_gives_0(void **state)
{
    struct lp_histogram histogram = { 0 };
    struct lp_text text = { NULL, 0, 0, false };

    (void)state;
    assert_true(lp_histogram_quantile(&histogram, 0.5) == 0);
    lp_histogram_encode(&histogram, &text);
    assert_int_equal(text.length, 0);
    lp_text_clear(&text);
    lp_histogram_clear(&histogram);
}

static void memory_is_taken_for_octaves_that_occur(void **state)
{
    struct lp_histogram histogram = { 0 };
    size_t used = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        add(&histogram, 1000000 + i);
    for (size_t i = 0; i < LP_HISTOGRAM_OCTAVES; i++)
        used += histogram.octaves[i] != NULL;
    assert_int_equal(used, 1);
    lp_histogram_clear(&histogram);
}

static void encoding_lists_differences_and_counts(void **state)
{
    static const uint64_t expected[] = {
        3, 2, 28, 1, 33, 1, 1855, 1
    }; /* 3 3, 31, 64, UINT64_MAX */
    struct lp_histogram histogram = { 0 };
    struct lp_text text = { NULL, 0, 0, false };
    struct lp_varint_reader reader;

    (void)state;
    add(&histogram, 3);
    add(&histogram, UINT64_MAX);
    add(&histogram, 31);
    add(&histogram, 64);
    add(&histogram, 3);
    lp_histogram_encode(&histogram, &text);
    reader = (struct lp_varint_reader){ (const uint8_t *)text.bytes,
                                        (const uint8_t *)text.bytes + text.length, false };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(lp_varint_get(&reader), expected[i]);
    assert_ptr_equal(reader.at, reader.end);
    assert_false(reader.failed);
    lp_text_clear(&text);
    lp_histogram_clear(&histogram);
}

static void encoded_buckets_hold_their_values(void **state)
{
    struct lp_histogram histogram = { 0 };
    struct lp_text text = { NULL, 0, 0, false };
    struct lp_histogram_position position = { 0, 0 };
    struct lp_histogram_bucket bucket;
    const uint64_t values[] = { 0, 31, 32, 33, 1000, 1001, 123456789, UINT64_C(1) << 50 };
    const size_t count = sizeof(values) / sizeof(values[0]);
    uint64_t seen = 0;
    size_t next = 0;
    int status;

    (void)state;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lp_histogram_add(&histogram, values[i]), 0);
    lp_histogram_encode(&histogram, &text);
    while ((status = lp_histogram_next(text.bytes, text.length, &position, &bucket)) > 0) {
        seen += bucket.count;
        for (uint64_t i = 0; i < bucket.count; i++, next++)
            assert_true(values[next] >= bucket.low && values[next] < bucket.high);
        assert_true(bucket.low < 32 || (double)bucket.high / (double)bucket.low < 1.033);
    }
    assert_int_equal(status, 0);
    assert_int_equal(seen, count);
    position = (struct lp_histogram_position){ 0, 0 };
    status = 1;
    while (status > 0) /* the last number is cut in two */
        status = lp_histogram_next(text.bytes, text.length - 1, &position, &bucket);
    assert_int_equal(status, LLMPERF_EFORMAT);
    lp_text_clear(&text);
    lp_histogram_clear(&histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_over_nine_decades_are_within_2_percent),
        cmocka_unit_test(each_value_is_within_one_65th_of_its_bucket),
        cmocka_unit_test(values_to_63_are_exact),
        cmocka_unit_test(the_largest_value_has_a_bucket),
        cmocka_unit_test(rank_is_rounded_up),
        cmocka_unit_test(an_empty_one_gives_0),
        cmocka_unit_test(memory_is_taken_for_octaves_that_occur),
        cmocka_unit_test(encoding_lists_differences_and_counts),
        cmocka_unit_test(encoded_buckets_hold_their_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
