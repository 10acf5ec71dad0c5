/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "lib/base/varint.h"

static uint32_t table[8][256]; /* table[k][b]: byte b, then k zero bytes */

static void fill_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^
                  (crc & 1 ? 0x82f63b78u : 0); /* the polynomial 0x1edc6f41, bits reversed */
        table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xff];
}

static uint32_t crc_by_table(const uint8_t *at, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t crc = ~0u;

    pthread_once(&once, fill_table);
    for (; size >= 8; size -= 8, at += 8)
        crc = table[7][(crc ^ at[0]) & 0xff] ^ table[6][((crc >> 8) ^ at[1]) & 0xff] ^
              table[5][((crc >> 16) ^ at[2]) & 0xff] ^ table[4][(crc >> 24) ^ at[3]] ^
              table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    while (size-- > 0)
        crc = (crc >> 8) ^ table[0][(crc ^ *at++) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)

/* SSE 4.2 has an instruction for this polynomial, with a latency of three cycles and a throughput
 * of one. So three lanes are computed in parallel. */
#define LANE 512u /* bytes, whole words */

static uint32_t lane_table[4][256]; /* [k][b]: byte k of a checksum is b, then LANE zero bytes */

__attribute__((target("sse4.2"))) static void fill_lane_table(void)
{
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t b = 0; b < 256; b++) {
            uint64_t crc = b << (8 * k);

            for (size_t i = 0; i < LANE; i += 8)
                crc = __builtin_ia32_crc32di(crc, 0);
            lane_table[k][b] = (uint32_t)crc;
        }
}

static uint32_t pass_lane(uint64_t crc)
{
    return lane_table[0][crc & 0xff] ^ lane_table[1][(crc >> 8) & 0xff] ^
           lane_table[2][(crc >> 16) & 0xff] ^ lane_table[3][(crc >> 24) & 0xff];
}

static uint64_t load_word(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(const uint8_t *at, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t crc = ~0u;

    if (size >= 3 * LANE)
        pthread_once(&once, fill_lane_table);
    for (; size >= 3 * LANE; size -= 3 * LANE, at += 3 * LANE) {
        uint64_t second = 0, third = 0;

        for (size_t i = 0; i < LANE; i += 8) {
            crc = __builtin_ia32_crc32di(crc, load_word(at + i));
            second = __builtin_ia32_crc32di(second, load_word(at + LANE + i));
            third = __builtin_ia32_crc32di(third, load_word(at + 2 * LANE + i));
        }
        crc = pass_lane(pass_lane(crc) ^ second) ^ third;
    }
    for (; size >= 8; size -= 8, at += 8)
        crc = __builtin_ia32_crc32di(crc, load_word(at));
    while (size-- > 0)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at++);
    return ~(uint32_t)crc;
}

uint32_t lp_crc32c(const void *bytes, size_t size)
{
    return __builtin_cpu_supports("sse4.2") ? crc_by_instruction(bytes, size)
                                            : crc_by_table(bytes, size);
}

#else

uint32_t lp_crc32c(const void *bytes, size_t size)
{
    return crc_by_table(bytes, size);
}

#endif

uint32_t lp_crc32c_portable(const void *bytes, size_t size)
{
    return crc_by_table(bytes, size);
}
