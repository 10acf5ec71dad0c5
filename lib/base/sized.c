/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"

static size_t size_of(const void *given)
{
    size_t size = 0;

    if (given)
        memcpy(&size, given, sizeof(size));
    return size;
}

int lp_sized_check(const void *given)
{
    return size_of(given) >= sizeof(size_t)
               ? 0
               : lp_error(LLMPERF_EINVAL,
                          "struct_size is not set; initialise the struct with its …_INIT macro");
}

int lp_sized_in(void *whole, const void *given, size_t size)
{
    size_t has = size_of(given);

    if (!given)
        return 0;
    if (lp_sized_check(given) < 0)
        return LLMPERF_EINVAL;
    memcpy(whole, given, has < size ? has : size);
    return 0;
}

int lp_sized_out(void *out, const void *whole, size_t size)
{
    size_t has = size_of(out), head = sizeof(has);

    if (lp_sized_check(out) < 0)
        return LLMPERF_EINVAL;
    memcpy((char *)out + head, (const char *)whole + head, (has < size ? has : size) - head);
    return 0;
}
