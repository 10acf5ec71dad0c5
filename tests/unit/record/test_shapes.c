/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/record/shapes.h"

static void equal_shapes_have_one_id(void **state)
{
    struct lp_shape shape = { .grid = { 4, 2, 1 }, .block = { 128, 1, 1 }, .registers = 32 };
    struct lp_shapes shapes = { 0 };
    uint32_t first, second;

    (void)state;
    first = lp_shapes_intern(&shapes, &shape);
    shape.dynamic_shared = 1;
    second = lp_shapes_intern(&shapes, &shape);
    assert_int_not_equal(first, LP_SHAPE_NONE);
    assert_int_not_equal(first, second);
    assert_int_equal(lp_shapes_intern(&shapes, &shape), second);
    assert_int_equal(lp_shapes_get(&shapes, first)->dynamic_shared, 0);
    assert_null(lp_shapes_get(&shapes, LP_SHAPE_NONE));
    assert_null(lp_shapes_get(&shapes, LP_SHAPE_OTHER));
    lp_shapes_clear(&shapes);
}

static void shapes_past_the_limit_share_one_id(void **state)
{
    struct lp_shapes shapes = { 0 };
    struct lp_shape shape = { .block = { 1, 1, 1 } };

    (void)state;
    for (uint32_t i = 1; i < LP_SHAPES_LIMIT + 100; i++) {
        uint32_t id;

        shape.grid[0] = i;
        id = lp_shapes_intern(&shapes, &shape);
        assert_int_equal(id, i < LP_SHAPE_OTHER ? i : LP_SHAPE_OTHER);
    }
    shape.grid[0] = 7;
    assert_int_equal(lp_shapes_intern(&shapes, &shape), 7);
    lp_shapes_clear(&shapes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shapes_have_one_id),
        cmocka_unit_test(shapes_past_the_limit_share_one_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
