/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/hashmap.h"

static void an_empty_map_has_nothing(void **state)
{
    struct lp_hashmap map = { NULL, 0, 0 };

    (void)state;
    assert_int_equal(lp_hashmap_get(&map, 0, 0), LP_HASHMAP_NONE);
    lp_hashmap_reset(&map);
    lp_hashmap_clear(&map);
    lp_hashmap_clear(&map);
}

static void all_keys_survive_growth(void **state)
{
    struct lp_hashmap map = { NULL, 0, 0 };

    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(lp_hashmap_put(&map, (uint64_t)i << 32, i % 7, i), 0);
    assert_int_equal(map.count, 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(lp_hashmap_get(&map, (uint64_t)i << 32, i % 7), i);
        assert_int_equal(lp_hashmap_get(&map, (uint64_t)i << 32, i % 7 + 1), LP_HASHMAP_NONE);
    }
    assert_true(map.count * 4 <= map.capacity * 3);
    lp_hashmap_clear(&map);
}

static void a_key_put_again_has_the_new_value(void **state)
{
    struct lp_hashmap map = { NULL, 0, 0 };

    (void)state;
    assert_int_equal(lp_hashmap_put(&map, 1, 2, 3), 0);
    assert_int_equal(lp_hashmap_put(&map, 1, 2, 4), 0);
    assert_int_equal(lp_hashmap_put(&map, 2, 1, 5), 0);
    assert_int_equal(map.count, 2);
    assert_int_equal(lp_hashmap_get(&map, 1, 2), 4);
    assert_int_equal(lp_hashmap_get(&map, 2, 1), 5);
    lp_hashmap_reset(&map);
    assert_int_equal(map.count, 0);
    assert_int_equal(lp_hashmap_get(&map, 1, 2), LP_HASHMAP_NONE);
    assert_int_equal(lp_hashmap_put(&map, 1, 2, 6), 0);
    assert_int_equal(lp_hashmap_get(&map, 1, 2), 6);
    lp_hashmap_clear(&map);
}

static void the_text_hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(lp_hash_text("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(lp_hash_text("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(lp_hash_text("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(all_keys_survive_growth),
        cmocka_unit_test(a_key_put_again_has_the_new_value),
        cmocka_unit_test(the_text_hash_is_fnv_1a),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
