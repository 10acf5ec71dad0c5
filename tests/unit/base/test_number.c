/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/number.h"
#include "tests/support/locales.h"

static void numbers_have_the_digits_that_were_asked_for(void **state)
{
    (void)state;
    assert_string_equal(LP_NUMBER(16.04, 3), "16.0");
    assert_string_equal(LP_NUMBER(99.96, 3), "100");
    assert_string_equal(LP_NUMBER(99.94, 3), "99.9");
    assert_string_equal(LP_NUMBER(9.996, 3), "10.0");
    assert_string_equal(LP_NUMBER(2.5, 1), "3");
    assert_string_equal(LP_NUMBER(1234567, 3), "1234567");
    assert_string_equal(LP_NUMBER(0.00012345, 3), "0.000123");
    assert_string_equal(LP_NUMBER(0.0000004, 3), "0.000000");
    assert_string_equal(LP_NUMBER(0, 3), "0");
    assert_string_equal(LP_NUMBER(-1.5, 2), "-1.5");
}

static void no_number_is_too_large(void **state)
{
    (void)state;
    assert_string_equal(LP_NUMBER(NAN, 3), "?");
    assert_string_equal(LP_NUMBER(INFINITY, 3), "inf");
    assert_int_equal(strlen(LP_NUMBER(-DBL_MAX, 3)), 310);
}

static void the_point_is_a_point_in_every_locale(void **state)
{
    (void)state;
    use_decimal_comma();
    assert_string_equal(LP_NUMBER(1.25, 3), "1.25");
    assert_string_equal(LP_NUMBER(-12345.678, 7), "-12345.68");
    use_decimal_point();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_digits_that_were_asked_for),
        cmocka_unit_test(no_number_is_too_large),
        cmocka_unit_test(the_point_is_a_point_in_every_locale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
