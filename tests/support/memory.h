/* SPDX-License-Identifier: Apache-2.0 */
/** How much memory the test program holds. */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include <stddef.h>

/** Bytes that were allocated and not freed, by all threads. */
size_t allocated_bytes(void);

#endif
