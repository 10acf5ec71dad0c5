/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/device/symbol.h"

#include <dlfcn.h>
#include <string.h>

bool lp_symbol_find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    /* dlsym() returns functions as object pointers; memcpy avoids the compiler's warning. */
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

const char *lp_symbols_find(void *library, const struct lp_symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!lp_symbol_find(library, symbols[i].name, symbols[i].function))
            return symbols[i].name;
    return NULL;
}
