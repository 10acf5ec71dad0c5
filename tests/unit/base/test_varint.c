/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/varint.h"

static void the_checksum_is_crc_32c(void **state)
{
    uint8_t bytes[64];

    (void)state;
    assert_int_equal(lp_crc32c("123456789", 9), 0xe3069283u);
    assert_int_equal(lp_crc32c("", 0), 0);
    memset(bytes, 0, 32); /* values of RFC 3720, B.4 */
    assert_int_equal(lp_crc32c(bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, 32);
    assert_int_equal(lp_crc32c(bytes, 32), 0x62a8ab43u);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(lp_crc32c(bytes, 32), 0x46dd794eu);
}

static void the_checksum_does_not_depend_on_alignment(void **state)
{
    uint8_t bytes[80];

    (void)state;
    for (size_t shift = 0; shift < 9; shift++) {
        memcpy(bytes + shift, "123456789", 9);
        assert_int_equal(lp_crc32c(bytes + shift, 9), 0xe3069283u);
    }
}

/* Lanes of 512 bytes, words, bytes: each size ends differently. */
static void the_checksum_is_the_same_without_special_instructions(void **state)
{
    static uint8_t bytes[9000];
    uint32_t random = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        random = random * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(random >> 24);
    }
    for (size_t size = 0; size < 9000; size += size < 1600 ? 1 : 37)
        assert_int_equal(lp_crc32c(bytes, size), lp_crc32c_portable(bytes, size));
}

static void each_number_reads_back(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int64_t more = -1; more <= 1; more++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)more;
            uint8_t bytes[LP_VARINT_BYTES];
            struct lp_varint_reader reader = { bytes, lp_varint_put(bytes, value), false };

            assert_true(lp_varint_get(&reader) == value);
            assert_true(reader.at == reader.end);
            assert_false(reader.failed);
            assert_true(lp_zigzag(lp_unzigzag(value)) == value);
        }
}

static void small_differences_are_short_in_either_direction(void **state)
{
    uint8_t bytes[LP_VARINT_BYTES];

    (void)state;
    assert_int_equal(lp_zigzag(0), 0);
    assert_int_equal(lp_zigzag(-1), 1);
    assert_int_equal(lp_zigzag(1), 2);
    assert_true(lp_zigzag(INT64_MIN) == UINT64_MAX);
    assert_true(lp_unzigzag(UINT64_MAX) == INT64_MIN);
    assert_int_equal(lp_varint_put(bytes, lp_zigzag(-64)) - bytes, 1);
    assert_int_equal(lp_varint_put(bytes, UINT64_MAX) - bytes, LP_VARINT_BYTES);
}

static void short_and_overlong_numbers_fail_for_good(void **state)
{
    static const uint8_t endless[12] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 };
    struct lp_varint_reader readers[] = { { endless, endless, false },
                                          { endless, endless + 3, false },
                                          { endless, endless + 12, false } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lp_varint_get(&readers[i]), 0);
        assert_true(readers[i].failed);
        assert_int_equal(lp_varint_get(&readers[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_crc_32c),
        cmocka_unit_test(the_checksum_does_not_depend_on_alignment),
        cmocka_unit_test(the_checksum_is_the_same_without_special_instructions),
        cmocka_unit_test(each_number_reads_back),
        cmocka_unit_test(small_differences_are_short_in_either_direction),
        cmocka_unit_test(short_and_overlong_numbers_fail_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
