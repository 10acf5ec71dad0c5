/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of libraries that are opened at run time.
 * @threads any thread */
#ifndef LP_DEVICE_SYMBOL_H
#define LP_DEVICE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

/** Store the address of `name` in a library opened with dlopen() at `function`, a pointer to a
 * function pointer; NULL: it has none. @return whether it exists */
bool lp_symbol_find(void *library, const char *name, void *function);

struct lp_symbol {
    const char *name;
    void *function; /* as of lp_symbol_find() */
};

/** Find all of them. @return the name of one that the library lacks; NULL: it has all */
const char *lp_symbols_find(void *library, const struct lp_symbol *symbols, size_t count);

#endif
