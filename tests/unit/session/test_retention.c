/* SPDX-License-Identifier: Apache-2.0 */
/* artifacts.keep_runs: which old runs go. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/session/run_claim.h"
#include "tests/support/play.h"

/* A run that was written to so long ago. @return its folder, as in_test_folder(). */
static const char *make_run(const char *name, time_t age_s)
{
    const struct timespec written[2] = { { time(NULL) - age_s, 0 }, { time(NULL) - age_s, 0 } };
    char file[64];

    assert_int_equal(lp_folder_make(in_test_folder(name)), 0);
    snprintf(file, sizeof(file), "%s/run.llmperf", name);
    assert_int_equal(utimensat(AT_FDCWD, write_test_file(file, "x", 1), written, 0), 0);
    return in_test_folder(name);
}

static bool is_there(const char *name)
{
    return lp_path_exists(in_test_folder(name));
}

static void a_run_that_is_still_written_stays(void **state)
{
    (void)state;
    make_run("old", 7200);
    make_run("running", 5);
    lp_runs_retain(make_run("new", 0), 1);
    assert_false(is_there("old"));
    assert_true(is_there("running"));
    assert_true(is_there("new"));
}

static void the_oldest_go_first_and_only_runs_go(void **state)
{
    (void)state;
    make_run("second", 3600);
    make_run("first", 7200);
    make_run("third", 1800);
    assert_int_equal(lp_folder_make(in_test_folder("no_run")), 0);
    lp_runs_retain(make_run("own", 9000), 2);
    assert_false(is_there("first"));
    assert_false(is_there("second"));
    assert_true(is_there("third"));
    assert_true(is_there("no_run"));
    assert_true(is_there("own"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_that_is_still_written_stays, make_test_folder,
                                        remove_test_folder),
        cmocka_unit_test_setup_teardown(the_oldest_go_first_and_only_runs_go, make_test_folder,
                                        remove_test_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
