/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/output/schema/json_fault.h"

static size_t print_place(char *text, size_t size, const struct lp_json_place *place)
{
    size_t length;
    int more;

    if (!place->parent)
        return (size_t)snprintf(text, size, "$");
    length = print_place(text, size, place->parent);
    if (length >= size)
        return length;
    if (!place->key)
        more = snprintf(text + length, size - length, "[%zu]", place->index);
    else
        more = snprintf(text + length, size - length, ".%s", place->key);
    return length + (size_t)more;
}

bool lp_json_fail(struct lp_json_fault *fault, const struct lp_json_place *place,
                  const char *format, ...)
{
    /* A place that does not fit is cut; the reason keeps its room. */
    char where[256];
    size_t length;
    va_list args;

    print_place(where, sizeof(where), place);
    length = (size_t)snprintf(fault->text, sizeof(fault->text), "%s: ", where);
    va_start(args, format);
    vsnprintf(fault->text + length, sizeof(fault->text) - length, format, args);
    va_end(args);
    return false;
}
