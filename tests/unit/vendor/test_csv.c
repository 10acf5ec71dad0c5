/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, records and numbers as nsys and ncu print them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/vendor/csv.h"
#include "lib/vendor/numbers.h"
#include "llmperf/api.h"
#include "tests/support/play.h"

static void open_bytes(struct lp_csv *csv, const void *bytes, size_t size)
{
    assert_int_equal(lp_csv_open(csv, write_test_file("table.csv", bytes, size)), 0);
}

static void open_text(struct lp_csv *csv, const char *text)
{
    open_bytes(csv, text, strlen(text));
}

static void check_fields(struct lp_csv *csv, size_t count, const char *const *texts)
{
    assert_int_equal(lp_csv_record(csv), 1);
    assert_int_equal(csv->fields.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(csv->fields.items[i].text, texts[i]);
        assert_int_equal(csv->fields.items[i].length, strlen(texts[i]));
    }
}

#define CHECK(csv, ...)                                                                            \
    check_fields(csv, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),               \
                 (const char *const[]){ __VA_ARGS__ })

static void quotes_commas_and_line_ends_stand_in_fields(void **state)
{
    struct lp_csv csv;

    (void)state; /* Edge case 6. */
    open_text(&csv, "a,\"b,c\",\"d \"\"e\"\"\",\"f\ng\",\n\"\",x\"y,\"z\"tail,\r\nlast");
    CHECK(&csv, "a", "b,c", "d \"e\"", "f\ng", "");
    CHECK(&csv, "", "x\"y", "z", "");
    CHECK(&csv, "last");
    assert_int_equal(lp_csv_record(&csv), 0);
    assert_false(csv.cut);
    lp_csv_close(&csv);
}

static void byte_order_marks_and_crlf_are_gone(void **state)
{
    static const char wide[] = "\xff\xfe"
                               "a\0,\0\"\0\xe4\0\"\0,\0\x3d\xd8\x00\xde,\0\x3d\xd8x\0\r\0\n\0b\0";
    struct lp_csv csv;

    (void)state; /* Edge case 2; a pair of units, and one that stands alone. */
    open_text(&csv, "\xef\xbb\xbf"
                    "a,b\r\n\"c\"\r\n");
    CHECK(&csv, "a", "b");
    CHECK(&csv, "c");
    lp_csv_close(&csv);
    open_bytes(&csv, wide, sizeof(wide) - 1);
    CHECK(&csv, "a", "\xc3\xa4", "\xf0\x9f\x98\x80", "\xef\xbf\xbdx");
    CHECK(&csv, "b");
    lp_csv_close(&csv);
    open_bytes(&csv, "\xfe\xff\0a\0,\0b", 8);
    CHECK(&csv, "a", "b");
    lp_csv_close(&csv);
}

static void pairs_of_utf16_reach_from_the_first_to_the_last_character(void **state)
{
    static const char wide[] = "\xff\xfe\x00\xd8\x00\xdc,\0\xff\xdb\xff\xdf,\0\x00\xdc";
    struct lp_csv csv;

    (void)state; /* U+10000, U+10FFFF, and a second half alone */
    open_bytes(&csv, wide, sizeof(wide) - 1);
    CHECK(&csv, "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd");
    lp_csv_close(&csv);
}

static void lines_are_looked_at_before_they_are_taken(void **state)
{
    const char *line;
    struct lp_csv csv;
    size_t length;

    (void)state;
    open_text(&csv, "log \"open\r\n\nx,y\nend");
    assert_int_equal(lp_csv_peek(&csv, &line, &length), 1);
    assert_int_equal(length, 9);
    assert_int_equal(lp_csv_skip(&csv), 0);
    assert_int_equal(lp_csv_peek(&csv, &line, &length), 1);
    assert_int_equal(length, 0);
    assert_int_equal(lp_csv_skip(&csv), 0);
    CHECK(&csv, "x", "y");
    assert_int_equal(lp_csv_peek(&csv, &line, &length), 1);
    assert_memory_equal(line, "end", 3);
    assert_int_equal(lp_csv_skip(&csv), 0);
    assert_int_equal(lp_csv_peek(&csv, &line, &length), 0);
    lp_csv_close(&csv);
}

static void records_may_be_longer_than_what_is_read_at_once(void **state)
{
    size_t size = 3 << 20, field = 600000;
    char *bytes = malloc(size);
    struct lp_csv csv;

    (void)state;
    memset(bytes, 'x', size);
    for (size_t at = field; at + 1 < size; at += field)
        memcpy(bytes + at, "\",\"", 3);
    bytes[0] = '"';
    bytes[size - 1] = '"';
    open_bytes(&csv, bytes, size);
    assert_int_equal(lp_csv_record(&csv), 1);
    assert_int_equal(csv.fields.count, 6);
    assert_int_equal(csv.fields.items[0].length, field - 1);
    assert_int_equal(strlen(csv.fields.items[1].text), field - 3);
    lp_csv_close(&csv);
    free(bytes);
}

static void a_quote_that_does_not_end_is_cut_or_refused(void **state)
{
    char *bytes = malloc(2 << 20);
    struct lp_csv csv;

    (void)state;
    open_text(&csv, "\"abc");
    CHECK(&csv, "abc");
    assert_true(csv.cut);
    lp_csv_close(&csv);
    memset(bytes, 'x', 2 << 20);
    bytes[0] = '"';
    open_bytes(&csv, bytes, 2 << 20);
    assert_int_equal(lp_csv_record(&csv), LLMPERF_EFORMAT);
    check_error("has no closing quote");
    lp_csv_close(&csv);
    free(bytes);
}

static void an_empty_file_has_no_records(void **state)
{
    struct lp_csv csv;

    (void)state;
    open_text(&csv, "");
    assert_int_equal(lp_csv_record(&csv), 0);
    lp_csv_close(&csv);
    open_text(&csv, "\xef\xbb\xbf");
    assert_int_equal(lp_csv_record(&csv), 0);
    lp_csv_close(&csv);
    assert_int_equal(lp_csv_open(&csv, in_test_folder("missing")), LLMPERF_ENOENT);
    lp_csv_close(&csv);
}

static double parse(const char *text)
{
    double value = NAN;

    assert_int_equal(lp_number_parse(text, strlen(text), &value), LP_NUMBER_FINE);
    return value;
}

static enum lp_number kind(const char *text)
{
    double value;

    return lp_number_parse(text, strlen(text), &value);
}

static void numbers_have_thousands_or_none(void **state)
{
    (void)state; /* Edge case 7. */
    assert_true(parse("0") == 0);
    assert_true(parse("-3.25") == -3.25);
    assert_true(parse("1,831,281") == 1831281);
    assert_true(parse("3,554,667,108,753.32") == 3554667108753.32);
    assert_true(parse("3042.000000") == 3042);
    assert_true(parse("179769313486231570000") == 179769313486231570000.0);
    assert_true(parse("1.5e-3") == 0.0015);
    assert_true(parse("0.1") == 0.1);
    assert_true(parse("24128") == 24128);
}

static void other_commas_are_told_of(void **state)
{
    double value;

    (void)state;
    assert_int_equal(kind("12,34"), LP_NUMBER_COMMA);
    assert_int_equal(kind("1.234,5"), LP_NUMBER_COMMA);
    assert_int_equal(kind("1,2345"), LP_NUMBER_COMMA);
    assert_int_equal(kind("1234,567"), LP_NUMBER_COMMA);
    assert_int_equal(lp_number_parse_decimal_comma("482,333", 7, &value), LP_NUMBER_FINE);
    assert_true(value == 482.333);
    assert_int_equal(lp_number_parse_decimal_comma("1,2,3", 5, &value), LP_NUMBER_NONE);
}

static void texts_are_no_numbers(void **state)
{
    static const char *const texts[] = { "",     "n/a",  "no data",     "nan",
                                         "inf",  "-inf", "(148, 1, 1)", "PolicySpread",
                                         "1; 2", "-",    ".",           "e5",
                                         "0x10", "1 2",  "--1",         "1e999" };

    (void)state; /* Edge case 9. */
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (kind(texts[i]) != LP_NUMBER_NONE)
            fail_msg("\"%s\" is taken for a number", texts[i]);
}

static void known_units_are_scaled_and_others_stay(void **state)
{
    double factor;

    (void)state; /* Edge case 8. */
    assert_string_equal(lp_unit_base("ms", &factor), "ns");
    assert_true(factor == 1e6);
    assert_string_equal(lp_unit_base("usecond", &factor), "ns");
    assert_true(factor == 1e3);
    assert_string_equal(lp_unit_base("Tbyte/s", &factor), "byte/s");
    assert_true(factor == 1e12);
    assert_string_equal(lp_unit_base("Ghz", &factor), "hz");
    assert_true(factor == 1e9);
    /* ncu prints 8.19 %/Kbyte and 8,190 %/byte for the same value: scaling would not mend that. */
    assert_string_equal(lp_unit_base("%/Kbyte", &factor), "%/Kbyte");
    assert_true(factor == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_commas_and_line_ends_stand_in_fields),
        cmocka_unit_test(byte_order_marks_and_crlf_are_gone),
        cmocka_unit_test(pairs_of_utf16_reach_from_the_first_to_the_last_character),
        cmocka_unit_test(lines_are_looked_at_before_they_are_taken),
        cmocka_unit_test(records_may_be_longer_than_what_is_read_at_once),
        cmocka_unit_test(a_quote_that_does_not_end_is_cut_or_refused),
        cmocka_unit_test(an_empty_file_has_no_records),
        cmocka_unit_test(numbers_have_thousands_or_none),
        cmocka_unit_test(other_commas_are_told_of),
        cmocka_unit_test(texts_are_no_numbers),
        cmocka_unit_test(known_units_are_scaled_and_others_stay),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
