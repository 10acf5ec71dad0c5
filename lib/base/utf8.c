/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/utf8.h"
#include "llmperf/sys/check.h"

/* Characters that change the direction of text, so that it looks different from what it is; line
 * and paragraph separators. */
static bool is_direction(const unsigned char *s)
{
    if (s[0] != 0xe2)
        return false;
    return s[1] == 0x80 ? s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae)
                        : s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

size_t lp_text_control(const char *at, unsigned *code_out)
{
    const unsigned char *s = (const unsigned char *)at;
    unsigned code = s[0];
    size_t length = s[0] < 0x20 || s[0] == 0x7f ? 1 : 0;

    if ((s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c)) {
        length = 2;
        code = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    } else if (is_direction(s)) {
        length = 3;
        code = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    }
    if (code_out)
        *code_out = code;
    return length;
}

size_t llmperf_text_control(const char *at)
{
    return at ? lp_text_control(at, NULL) : 0;
}

/* Length of the valid UTF-8 character at `s`, 0 if there is none (RFC 3629: no surrogates, no
 * overlong forms, up to U+10FFFF). */
static size_t character_length(const unsigned char *s)
{
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : (s[0] & 0xf0) == 0xe0       ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;

    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

bool lp_text_is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        size_t length = character_length(at);

        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

size_t lp_text_sanitise(char *clean, size_t size, const char *raw)
{
    const unsigned char *in = (const unsigned char *)raw;
    size_t out = 0;

    while (*in) {
        size_t length = character_length(in);
        const char *bytes = length ? (const char *)in : "\xef\xbf\xbd";
        size_t wanted = length ? length : 3;

        if (lp_text_control((const char *)in, NULL) > 0) {
            bytes = " ";
            wanted = 1;
        }
        if (out + wanted >= size)
            break;
        memcpy(clean + out, bytes, wanted);
        out += wanted;
        in += length ? length : 1;
    }
    clean[out] = '\0';
    return out;
}

size_t lp_utf8_put(char out[4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    if (code > 0x10ffff)
        return 0;
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}
