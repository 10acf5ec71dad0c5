/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "llmperf/sys/check.h"

static void check_clean(const char *raw, const char *clean)
{
    char out[64];

    assert_int_equal(lp_text_sanitise(out, sizeof(out), raw), strlen(clean));
    assert_string_equal(out, clean);
}

static void good_text_stays(void **state)
{
    (void)state;
    check_clean("", "");
    check_clean("plain / text @ \"quoted\"", "plain / text @ \"quoted\"");
    check_clean("\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf",
                "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf");
    check_clean("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

static void bad_utf_8_becomes_replacement_characters(void **state)
{
    static const char *const bad[] = { "\x80", "\xc0", "\xc1", "\xff", "\xf5", "\xc3", "\xe6" };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        check_clean(bad[i], "\xef\xbf\xbd");
    check_clean("a\xe6\xb3", "a\xef\xbf\xbd\xef\xbf\xbd");               /* cut short */
    check_clean("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong */
    check_clean("\xe0\x9f\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* overlong */
    check_clean("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
    check_clean("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void control_characters_become_blanks(void **state)
{
    (void)state;
    check_clean("a\x01\n\r\t\x1f\x7f"
                "b",
                "a      b");
    check_clean("\xc2\x80\xc2\x9f\xc2\xa0", "  \xc2\xa0");
}

/* What turns the direction of text makes "exe.png" of "gnp.exe". */
static void characters_of_direction_become_blanks(void **state)
{
    (void)state;
    check_clean("a\xe2\x80\xae"
                "gnp\xe2\x81\xa6\xe2\x81\xa9",
                "a gnp  ");
    check_clean("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9", "     ");
    check_clean("\xe2\x80\x8d\xe2\x80\x93\xe2\x80\xaf\xe2\x81\xa5\xd8\x9b",
                "\xe2\x80\x8d\xe2\x80\x93\xe2\x80\xaf\xe2\x81\xa5\xd8\x9b");
}

static void error_text_is_one_line_of_valid_text(void **state)
{
    (void)state;
    assert_int_equal(lp_error(LLMPERF_EINVAL, "no %s\n here", "bad\xff\tname\r\n"), LLMPERF_EINVAL);
    assert_string_equal(llmperf_last_error(), "no bad\xef\xbf\xbd name    here");
    /* A text may be made from the last one. */
    lp_error(LLMPERF_EINVAL, "file: %s", llmperf_last_error());
    assert_string_equal(llmperf_last_error(), "file: no bad\xef\xbf\xbd name    here");
}

static void text_moves_whole_with_what_failed(void **state)
{
    struct lp_text a = { NULL, 0, 0, false }, b = { NULL, 0, 0, false };
    char *bytes;

    (void)state;
    lp_text_move(&a, &b);
    assert_int_equal(a.length, 0);
    lp_text_puts(&b, "moved");
    bytes = b.bytes;
    lp_text_move(&a, &b);
    assert_ptr_equal(a.bytes, bytes);
    assert_null(b.bytes);
    lp_text_puts(&b, " behind");
    lp_text_move(&a, &b);
    assert_string_equal(a.bytes, "moved behind");
    assert_null(b.bytes);
    b.failed = true;
    lp_text_move(&a, &b);
    assert_true(a.failed);
    lp_text_clear(&a);
    lp_text_clear(&b);
}

static void text_is_cut_at_a_character(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(lp_text_sanitise(out, 8, "12345678"), 7);
    assert_int_equal(lp_text_sanitise(out, 8, "123456\xc3\xa4"), 6);
    assert_int_equal(lp_text_sanitise(out, 8, "12345\xc3\xa4"), 7);
    assert_int_equal(lp_text_sanitise(out, 8, "12345\xff"), 5);
    assert_int_equal(lp_text_sanitise(out, 1, "1"), 0);
    assert_string_equal(out, "");
}

static void text_grows_and_is_handed_over(void **state)
{
    struct lp_text text = { NULL, 0, 0, false };
    char *out = NULL;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        lp_text_puts(&text, "abc");
        lp_text_printf(&text, "%05d", i);
        lp_text_add(&text, "x\0y", 3);
    }
    assert_int_equal(text.length, 1000 * 11);
    assert_int_equal(lp_text_take(&text, &out), 0);
    assert_memory_equal(out + 11 * 999, "abc00999x\0y", 12);
    assert_null(text.bytes);
    llmperf_text_free(out);
    assert_int_equal(lp_text_take(&text, &out), 0);
    assert_string_equal(out, ""); /* Nothing is a text too. */
    llmperf_text_free(out);
    llmperf_text_free(NULL);
    assert_null(lp_text_copy(NULL));
}

static void characters_that_terminals_obey_are_found(void **state)
{
    (void)state;
    assert_int_equal(llmperf_text_control("\x1b[31m"), 1);
    assert_int_equal(llmperf_text_control("\xc2\x9b"), 2);
    assert_int_equal(llmperf_text_control("\xd8\x9c"), 2);
    assert_int_equal(llmperf_text_control("\xe2\x80\xae"), 3);
    assert_int_equal(llmperf_text_control("a\x1b"), 0);
    assert_int_equal(llmperf_text_control(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_stays),
        cmocka_unit_test(bad_utf_8_becomes_replacement_characters),
        cmocka_unit_test(control_characters_become_blanks),
        cmocka_unit_test(characters_of_direction_become_blanks),
        cmocka_unit_test(error_text_is_one_line_of_valid_text),
        cmocka_unit_test(text_moves_whole_with_what_failed),
        cmocka_unit_test(text_is_cut_at_a_character),
        cmocka_unit_test(text_grows_and_is_handed_over),
        cmocka_unit_test(characters_that_terminals_obey_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
