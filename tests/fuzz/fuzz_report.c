/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of ncu. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_import(bytes, size, ".ncu-rep");
    return 0;
}
