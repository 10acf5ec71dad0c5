/* SPDX-License-Identifier: Apache-2.0 */
/** Variable-length integers (7 bits a byte, low first) and a checksum, for recordings. @threads any
 * thread */
#ifndef LP_BASE_VARINT_H
#define LP_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LP_VARINT_BYTES 10 /* most bytes of a number */

/** Write a number; returns the position after it. `out` needs LP_VARINT_BYTES. */
static inline uint8_t *lp_varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/** Zigzag coding: small for small differences of either sign. */
static inline uint64_t lp_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t lp_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

struct lp_varint_reader {
    const uint8_t *at, *end;
    bool failed; /* read past the end, or a number that is too long; further values are 0 */
};

static inline uint64_t lp_varint_get(struct lp_varint_reader *reader)
{
    uint64_t value = 0;

    if (reader->at < reader->end && *reader->at < 0x80) /* most are one byte */
        return *reader->at++;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    reader->at = reader->end;
    return 0;
}

/** CRC-32C (Castagnoli); the check value of "123456789" is 0xe3069283. */
uint32_t lp_crc32c(const void *bytes, size_t size);

/** The same without special instructions, for older CPUs and tests. */
uint32_t lp_crc32c_portable(const void *bytes, size_t size);

#endif
