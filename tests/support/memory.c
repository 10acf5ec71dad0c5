/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory.h"

#ifdef SANITIZED
#include <sanitizer/allocator_interface.h>

size_t allocated_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
#include <malloc.h>

size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}
#endif
