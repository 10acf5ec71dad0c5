/* SPDX-License-Identifier: Apache-2.0 */
/** Test cases that mostly wait, run at the same time. */
#ifndef TESTS_SUPPORT_AT_ONCE_H
#define TESTS_SUPPORT_AT_ONCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** As cmocka_run_group_tests(), but all cases start at once, each in a process of its own with the
 * group's fixtures.
 *
 * The arguments are those of main(): a case's process has its name as the first. */
#define run_cases_at_once(argc, argv, tests, setup, teardown)                                      \
    run_tests_at_once((argc) > 1 ? (argv)[1] : NULL, tests, sizeof(tests) / sizeof((tests)[0]),    \
                      setup, teardown)

int run_tests_at_once(const char *name, const struct CMUnitTest *tests, size_t count,
                      CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
