/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"

static size_t size_of(const void *caller)
{
    size_t size = 0;

    if (caller)
        memcpy(&size, caller, sizeof(size));
    return size;
}

int lp_sized_check(const void *caller)
{
    return size_of(caller) >= sizeof(size_t)
               ? 0
               : lp_error(LLMPERF_EINVAL,
                          "struct_size is not set; initialise the struct with its …_INIT macro");
}

int lp_sized_in(void *whole, const void *caller, size_t size)
{
    size_t has = size_of(caller);

    if (!caller)
        return 0;
    if (lp_sized_check(caller) < 0)
        return LLMPERF_EINVAL;
    memcpy(whole, caller, has < size ? has : size);
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
