/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/locales.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\n"
    "END LC_NUMERIC\\n";

static void run(const char *command)
{
    if (system(command) != 0)
        print_message("%s failed\n", command);
}

void use_decimal_comma(void)
{
    char folder[] = "/tmp/llmperf-locale-XXXXXX", command[512], number[8];
    const char *chosen;

    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command),
             "cd %s && printf '%s' >source && localedef --no-archive -c -i source ./comma "
             ">log 2>&1; test -d comma",
             folder, source);
    run(command);
    setenv("LOCPATH", folder, 1);
    chosen = setlocale(LC_NUMERIC, "comma");
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    run(command);
    unsetenv("LOCPATH");
    if (!chosen) {
        print_message(
            "no locale could be made: install localedef and its character maps (locales)\n");
        skip();
    }
    snprintf(number, sizeof(number), "%.1f", 0.5);
    assert_string_equal(number, "0,5");
}

void use_decimal_point(void)
{
    setlocale(LC_NUMERIC, "C");
}
