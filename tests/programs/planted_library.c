/* SPDX-License-Identifier: Apache-2.0 */
/** A library that the environment names and that no privileged program may load. */
#include <stdio.h>

__attribute__((constructor)) static void say_loaded(void)
{
    printf("loaded: the planted library\n");
}
