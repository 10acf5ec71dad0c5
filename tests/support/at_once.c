/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/at_once.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of its own from the start: a forked child of a program that used the library records
 * nothing. */
static int start_case(const char *name)
{
    char *const arguments[] = { (char *)"self", (char *)name, NULL };
    pid_t child;
    int failure = posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ);

    if (failure != 0)
        printf("%s: %s\n", name, strerror(failure));
    return failure;
}

int run_tests_at_once(const char *name, const struct CMUnitTest *tests, size_t count,
                      CMFixtureFunction setup, CMFixtureFunction teardown)
{
    int failed = 0, status;

    for (size_t i = 0; name && i < count; i++)
        if (strcmp(name, tests[i].name) == 0)
            return _cmocka_run_group_tests(name, &tests[i], 1, setup, teardown);
    for (size_t i = 0; i < count; i++)
        failed += start_case(tests[i].name) != 0;
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}
