/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the values of public enumerations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llmperf/llmperf.h"

static void each_kind_of_activity_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(llmperf_activity_kind_name(LLMPERF_ACTIVITY_KERNEL), "kernel");
    assert_string_equal(llmperf_activity_kind_name(LLMPERF_ACTIVITY_MEMCPY), "memcpy");
    assert_string_equal(llmperf_activity_kind_name(LLMPERF_ACTIVITY_MEMSET), "memset");
    assert_string_equal(llmperf_activity_kind_name(LLMPERF_ACTIVITY_GRAPH), "graph");
    assert_string_equal(llmperf_activity_kind_name(0), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_kind_of_activity_has_a_name) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
