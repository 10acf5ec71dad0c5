/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "lib/base/variable.h"

const char *lp_variable(const char *name)
{
    return secure_getenv(name);
}

bool lp_variables_are_ignored(void)
{
    return getauxval(AT_SECURE) != 0;
}
