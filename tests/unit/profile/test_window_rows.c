/* SPDX-License-Identifier: Apache-2.0 */
/* What a triggered window adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "lib/profile/windows.h"
#include "llmperf/profile.h"

static struct lp_activity activity(uint32_t name, uint8_t kind, uint64_t duration_ns)
{
    return (struct lp_activity){ .start_ns = 1000,
                                 .end_ns = 1000 + duration_ns,
                                 .captured = LP_PATH_UNKNOWN,
                                 .name = name,
                                 .kind = kind };
}

static struct lp_window_kernel_total *count(struct lp_window_total *window, uint32_t name)
{
    struct lp_activity kernel = activity(name, LLMPERF_ACTIVITY_KERNEL, 10);
    struct lp_window_kernel_total *row = lp_window_find(window, &kernel);

    row = row ? row : lp_window_add(window, &kernel);
    assert_non_null(row);
    lp_window_count(window, row, &kernel);
    return row;
}

static void kernels_above_the_limit_share_one_row(void **state)
{
    struct lp_windows windows = { NULL, 0, 0 };
    struct lp_window_total *window = lp_windows_make(&windows, 1);

    (void)state;
    for (uint32_t name = 0; name < LP_WINDOW_KERNELS; name++)
        assert_false(count(window, name)->other);
    assert_int_equal(window->rows.count, LP_WINDOW_KERNELS);
    assert_true(count(window, LP_WINDOW_KERNELS)->other);
    assert_true(count(window, LP_WINDOW_KERNELS + 1)->other);
    assert_int_equal(window->rows.count, LP_WINDOW_KERNELS + 1);
    assert_int_equal(window->rows.items[LP_WINDOW_KERNELS].calls, 2);
    assert_int_equal(window->rows.items[LP_WINDOW_KERNELS].total_ns, 20);
    assert_int_equal(count(window, LP_WINDOW_KERNELS - 1)->calls, 2);
    assert_int_equal(count(window, 0)->calls, 2);
    lp_windows_clear(&windows);
}

static void copies_and_sets_are_not_kernel_time(void **state)
{
    struct lp_windows windows = { NULL, 0, 0 };
    struct lp_window_total *window = lp_windows_make(&windows, 1);
    struct lp_activity copy = activity(1, LLMPERF_ACTIVITY_MEMCPY, 300);
    struct lp_activity set = activity(2, LLMPERF_ACTIVITY_MEMSET, 20);

    (void)state;
    count(window, 0);
    lp_window_count(window, lp_window_add(window, &copy), &copy);
    lp_window_count(window, lp_window_add(window, &set), &set);
    assert_int_equal(window->kernels, 1);
    assert_int_equal(window->kernel_ns, 10);
    assert_int_equal(window->memory, 2);
    assert_int_equal(window->memory_ns, 320);
    lp_windows_clear(&windows);
}

static void a_window_lasts_from_its_first_begin_to_its_last_end(void **state)
{
    struct lp_windows windows = { NULL, 0, 0 };
    struct lp_window_total *window = lp_windows_make(&windows, 1);

    (void)state;
    lp_window_unit(window, &(struct lp_window_unit){ 200, 900, 1, 2, true });
    lp_window_unit(window, &(struct lp_window_unit){ 100, 800, 1, 2, true });
    lp_window_unit(window, &(struct lp_window_unit){ 50, 1000, 1, 2, false });
    assert_int_equal(window->begin_ns, 100);
    assert_int_equal(window->end_ns, 900);
    assert_int_equal(window->units, 2);
    assert_int_equal(window->left_out, 1);
    lp_windows_clear(&windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_above_the_limit_share_one_row),
        cmocka_unit_test(copies_and_sets_are_not_kernel_time),
        cmocka_unit_test(a_window_lasts_from_its_first_begin_to_its_last_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
