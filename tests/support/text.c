/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/text.h"

void assert_text_has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text ? text : "(null)");
}

void assert_text_lacks(const char *text, const char *part)
{
    if (text && strstr(text, part))
        fail_msg("\"%s\" is in:\n%s", part, text);
}
