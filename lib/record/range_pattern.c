/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/record/range_rules.h"

/* Where the text of a field ends: before the next literal of the pattern, which for the last one is
 * the end of the name. NULL: nowhere. */
static const char *find_end(const char *text, const char *pattern)
{
    size_t length = strcspn(pattern, "{*"), left = strlen(text);

    if (pattern[length])
        return memmem(text, left, pattern, length);
    return left < length ? NULL : text + left - length;
}

/* The field at `*pattern`; both are moved behind it. */
static bool take_field(const char **pattern, const char **text, struct lp_range_fields *fields)
{
    bool named = **pattern == '{';
    struct lp_range_slice name = { *pattern + 1, named ? strcspn(*pattern + 1, ":}") : 0 };
    bool number = named && name.text[name.length] == '}';
    const char *start = *text, *end;

    *pattern += named ? strcspn(*pattern, "}") + 1 : 1;
    end = number ? start + strspn(start, "0123456789") : find_end(start, *pattern);
    if (!end || (named && end == start) || (number && end - start > 19))
        return false;
    if (named) {
        fields->names[fields->count] = name;
        fields->values[fields->count++] = (struct lp_range_slice){ start, (size_t)(end - start) };
    }
    *text = end;
    return true;
}

/* "{{" stands for '{'. */
bool lp_range_match(const char *pattern, const char *text, struct lp_range_fields *fields)
{
    fields->count = 0;
    while (*pattern) {
        if (*pattern == '*' || (*pattern == '{' && pattern[1] != '{')) {
            if (!take_field(&pattern, &text, fields))
                return false;
        } else {
            if (*text++ != *pattern)
                return false;
            pattern += *pattern == '{' ? 2 : 1;
        }
    }
    return *text == '\0';
}

const struct lp_range_slice *lp_range_field(const struct lp_range_fields *fields, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->names[i].length == length && memcmp(fields->names[i].text, name, length) == 0)
            return &fields->values[i];
    return NULL;
}
