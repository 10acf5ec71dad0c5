/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/progress.h"
#include "llmperf/llmperf.h"
#include "llmperf/sys.h"

static void share_is_done_of_total_and_else_unknown(void **state)
{
    double share = 0;

    (void)state;
    lp_progress("counting", 1, 4);
    assert_string_equal(llmperf_progress(&share), "counting");
    assert_true(share == 0.25);
    lp_progress("counting", 5, 4);
    assert_string_equal(llmperf_progress(&share), "counting");
    assert_true(isnan(share));
    lp_progress("counting", 0, 0);
    llmperf_progress(&share);
    assert_true(isnan(share));
    lp_progress(NULL, 0, 0);
    assert_null(llmperf_progress(NULL));
}

static void an_import_says_how_far_it_read(void **state)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    const char *data = getenv("LLMPERF_TEST_DATA"), *path = NULL;
    llmperf_profile *profile;
    char file[4096];
    double share;

    (void)state;
    snprintf(file, sizeof(file), "%s/ncu/kernels.csv", data);
    path = file;
    lp_progress(NULL, 0, 0);
    assert_int_equal(llmperf_import(&path, 1, &options, &profile), LLMPERF_OK);
    assert_string_equal(llmperf_progress(&share), "reading a table");
    assert_true(share == 1);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_is_done_of_total_and_else_unknown),
        cmocka_unit_test(an_import_says_how_far_it_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
