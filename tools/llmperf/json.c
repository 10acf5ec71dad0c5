/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>

#include "command.h"

void json_string(const char *text)
{
    if (!text) {
        print("null");
        return;
    }
    print("\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            print("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            print("\\u%04x", (unsigned)*text);
        else
            print("%c", *text);
    print("\"");
}

void json_real(double value)
{
    if (isfinite(value))
        print("%.17g", value);
    else
        print("null");
}

void json_number(const char *key, double value)
{
    print("\"%s\": ", key);
    json_real(value);
}
