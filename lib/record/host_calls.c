/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/record/host_calls.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    enum lp_host_purpose purpose;
} calls[] = {
#define CALL(number, purpose, function) [number] = { #function, LP_HOST_##purpose },
    LP_HOST_CALLS(CALL)
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

uint8_t lp_host_call_find(const char *function)
{
    size_t length = strcspn(function, "_");

    for (size_t i = 1; i < CALLS; i++)
        if (strlen(calls[i].name) == length && memcmp(calls[i].name, function, length) == 0)
            return (uint8_t)i;
    return 0;
}

const char *lp_host_call_name(uint32_t number)
{
    return number < CALLS ? calls[number].name : NULL;
}

enum lp_host_purpose lp_host_call_purpose(uint32_t number)
{
    return number < CALLS ? calls[number].purpose : LP_HOST_NOTHING;
}
