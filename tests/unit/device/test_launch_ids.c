/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of launches over several lives of the driver's profiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/device/launch_ids.h"

static void ids_of_two_lives_are_not_the_same(void **state)
{
    uint32_t first = lp_launch_id_reported(1), last = lp_launch_id_reported(1000), next;

    (void)state;
    lp_launch_ids_renew();
    next = lp_launch_id_reported(1);
    assert_int_equal(last - first, 999);
    assert_true(next - first > last - first);
    lp_launch_ids_renew();
    assert_true(lp_launch_id_reported(1) - first > next - first);
    assert_int_equal(lp_launch_id(LP_CORRELATION_NONE), LP_CORRELATION_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_two_lives_are_not_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
