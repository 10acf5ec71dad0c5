/* SPDX-License-Identifier: Apache-2.0 */
/* All texts have one hash here: what is kept by a hash is told apart by its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/hashmap.h"
#include "lib/record/names.h"
#include "lib/record/paths.h"

/* Stands in front of the library's own. */
uint64_t lp_hash_text(const char *text, size_t length)
{
    (void)text, (void)length;
    return 7;
}

static void names_of_one_hash_stay_apart(void **state)
{
    struct lp_names names = { 0 };
    uint32_t a = lp_names_intern(&names, "a"), b = lp_names_intern(&names, "b");

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(lp_names_intern(&names, "a"), a);
    assert_int_equal(lp_names_intern(&names, "b"), b);
    assert_string_equal(lp_names_text(&names, a), "a");
    assert_string_equal(lp_names_text(&names, b), "b");
    lp_names_clear(&names);
}

static void paths_of_one_hash_stay_apart(void **state)
{
    uint32_t a = lp_path_intern(LP_PATH_ROOT, "a"), b = lp_path_intern(LP_PATH_ROOT, "b");
    uint32_t below = lp_path_intern(a, "b");

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_not_equal(below, b);
    assert_int_equal(lp_path_intern(LP_PATH_ROOT, "b"), b);
    assert_int_equal(lp_path_intern(a, "b"), below);
    assert_string_equal(lp_path_get(b)->label, "LLM@b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_hash_stay_apart),
        cmocka_unit_test(paths_of_one_hash_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
