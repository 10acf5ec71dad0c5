/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nsys stats and of ncu. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_import(bytes, size, ".csv");
    return 0;
}
