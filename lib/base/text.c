/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"

static bool make_room(struct lp_text *text, size_t more)
{
    size_t wanted = text->capacity ? text->capacity : 256;
    char *grown;

    while (wanted < text->length + more + 1)
        wanted *= 2;
    if (text->failed || wanted == text->capacity)
        return !text->failed;
    grown = realloc(text->bytes, wanted);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->bytes = grown;
    text->capacity = wanted;
    return true;
}

void lp_text_add(struct lp_text *text, const char *bytes, size_t length)
{
    if (!make_room(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void lp_text_puts(struct lp_text *text, const char *string)
{
    lp_text_add(text, string, strlen(string));
}

void lp_text_printf(struct lp_text *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !make_room(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

void lp_text_clean(struct lp_text *text, const char *raw)
{
    size_t most =
        3 * strlen(raw); /* an invalid byte becomes a replacement character of three bytes */

    if (!make_room(text, most))
        return;
    text->length += lp_text_sanitise(text->bytes + text->length, most + 1, raw);
}

void lp_text_clear(struct lp_text *text)
{
    free(text->bytes);
    *text = (struct lp_text){ NULL, 0, 0, false };
}

void lp_text_move(struct lp_text *text, struct lp_text *from)
{
    bool failed = text->failed || from->failed;

    if (text->length == 0) {
        free(text->bytes);
        *text = *from;
        *from = (struct lp_text){ NULL, 0, 0, false };
    } else if (from->length > 0) {
        lp_text_add(text, from->bytes, from->length);
        lp_text_clear(from);
    }
    text->failed = text->failed || failed;
}

int lp_text_take(struct lp_text *text, char **out)
{
    if (!make_room(text, 0)) {
        lp_text_clear(text);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    text->bytes[text->length] = '\0';
    *out = text->bytes;
    *text = (struct lp_text){ NULL, 0, 0, false };
    return 0;
}

char *lp_text_copy(const char *string)
{
    return string ? strdup(string) : NULL;
}

bool lp_text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void llmperf_text_free(char *text)
{
    free(text);
}

void lp_text_json(struct lp_text *text, const char *string)
{
    if (!string) {
        lp_text_puts(text, "null");
        return;
    }
    lp_text_puts(text, "\"");
    while (*string) {
        unsigned code;
        size_t length = lp_text_control(string, &code);

        if (length)
            lp_text_printf(text, "\\u%04x", code);
        else if (*string == '"' || *string == '\\')
            lp_text_printf(text, "\\%c", *string);
        else
            lp_text_add(text, string, 1);
        string += length ? length : 1;
    }
    lp_text_puts(text, "\"");
}

void lp_text_size(struct lp_text *text, double bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB" };
    size_t unit = 0;

    for (; bytes >= 1000 && unit < 3; unit++)
        bytes /= 1000;
    lp_text_printf(text, "%s %s", LP_NUMBER(bytes, 3), units[unit]);
}
