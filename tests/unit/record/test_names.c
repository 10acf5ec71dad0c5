/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/names.h"

static void ids_are_dense_and_stay(void **state)
{
    struct lp_names names = { 0 };
    const char *first;
    char text[32];

    (void)state;
    assert_int_equal(lp_names_intern(&names, "first"), 0);
    first = lp_names_text(&names, 0);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i < 50000; i++) {
            snprintf(text, sizeof(text), "name %u", i);
            assert_int_equal(lp_names_intern(&names, text), i);
        }
    assert_ptr_equal(lp_names_text(&names, 0), first);
    assert_string_equal(first, "first");
    assert_string_equal(lp_names_text(&names, 49999), "name 49999");
    assert_null(lp_names_text(&names, 50000));
    assert_null(lp_names_text(&names, LP_HASHMAP_NONE));
    lp_names_clear(&names);
}

static void empty_and_long_names_are_names(void **state)
{
    struct lp_names names = { 0 };
    char *huge = malloc(100001);

    (void)state;
    assert_non_null(huge);
    memset(huge, 'h', 100000);
    huge[100000] = '\0';
    assert_int_equal(lp_names_intern(&names, huge), 0);
    assert_int_equal(lp_names_intern(&names, ""), 1);
    huge[99999] = 'i';
    assert_int_equal(lp_names_intern(&names, huge), 2);
    assert_int_equal(lp_names_intern(&names, ""), 1);
    assert_int_equal(strlen(lp_names_text(&names, 0)), 100000);
    free(huge);
    lp_names_clear(&names);
    assert_null(lp_names_text(&names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_stay),
        cmocka_unit_test(empty_and_long_names_are_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
