/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of libraries that are opened at run time.
 * @threads any thread */
#ifndef LP_BASE_SYMBOL_H
#define LP_BASE_SYMBOL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/** Store the address of `name` in a library opened with dlopen() at `function`, a pointer to a
 * function pointer; NULL: it has none. @return whether it exists */
static inline bool lp_symbol_find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    /* dlsym() returns functions as object pointers; memcpy avoids the compiler's warning. */
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

#endif
