/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of nsys, byte by byte: seeds are small exports. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_import(bytes, size, ".sqlite");
    return 0;
}
