/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers that were built against another header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/sized.h"
#include "llmperf/api.h"

struct part {
    size_t struct_size;
    uint64_t first, second;
};

static void a_shorter_struct_gets_what_it_has_room_for(void **state)
{
    const struct part whole = { sizeof(whole), 1, 2 };
    struct part out = { offsetof(struct part, second), 7, 8 };

    (void)state;
    assert_int_equal(lp_sized_out(&out, &whole, sizeof(whole)), 0);
    assert_int_equal(out.struct_size, offsetof(struct part, second));
    assert_int_equal(out.first, 1);
    assert_int_equal(out.second, 8);
}

static void a_longer_struct_keeps_its_tail(void **state)
{
    const struct part whole = { sizeof(whole), 1, 2 };
    struct {
        struct part known;
        uint64_t newer;
    } out = { { sizeof(out), 7, 8 }, 9 };

    (void)state;
    assert_int_equal(lp_sized_out(&out, &whole, sizeof(whole)), 0);
    assert_int_equal(out.known.struct_size, sizeof(out));
    assert_int_equal(out.known.second, 2);
    assert_int_equal(out.newer, 9);
}

static void what_a_caller_leaves_out_has_its_default(void **state)
{
    const struct part given = { offsetof(struct part, second), 7, 8 };
    struct part whole = { sizeof(whole), 1, 2 };

    (void)state;
    assert_int_equal(lp_sized_in(&whole, &given, sizeof(whole)), 0);
    assert_int_equal(whole.first, 7);
    assert_int_equal(whole.second, 2);
    assert_int_equal(lp_sized_in(&whole, NULL, sizeof(whole)), 0);
    assert_int_equal(whole.first, 7);
}

static void a_size_that_is_not_set_is_refused(void **state)
{
    struct part unset = { 0, 7, 8 };
    struct part whole = { sizeof(whole), 1, 2 };

    (void)state;
    assert_int_equal(lp_sized_check(NULL), LLMPERF_EINVAL);
    assert_int_equal(lp_sized_out(NULL, &whole, sizeof(whole)), LLMPERF_EINVAL);
    assert_int_equal(lp_sized_out(&unset, &whole, sizeof(whole)), LLMPERF_EINVAL);
    assert_int_equal(unset.first, 7);
    unset.struct_size = sizeof(size_t) - 1;
    assert_int_equal(lp_sized_in(&whole, &unset, sizeof(whole)), LLMPERF_EINVAL);
    assert_int_equal(whole.first, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_struct_gets_what_it_has_room_for),
        cmocka_unit_test(a_longer_struct_keeps_its_tail),
        cmocka_unit_test(what_a_caller_leaves_out_has_its_default),
        cmocka_unit_test(a_size_that_is_not_set_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
