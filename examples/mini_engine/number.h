/* SPDX-License-Identifier: Apache-2.0 */
/** bfloat16 on the host, and random numbers that are the same on the CPU and on the GPU. */
#ifndef MINI_ENGINE_NUMBER_H
#define MINI_ENGINE_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define BOTH static __host__ __device__ inline
#else
#define BOTH static inline
#endif

/** The upper half of an fp32. Numbers are stored so; all arithmetic is in fp32. */
typedef uint16_t bf16;

static inline float bf16_to_float(bf16 value)
{
    uint32_t bits = (uint32_t)value << 16;
    float out;

    memcpy(&out, &bits, sizeof(out));
    return out;
}

/** To nearest, ties to even, as the GPU rounds. */
static inline bf16 bf16_from_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (bf16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/** A whole number for each (key, index), SplitMix64's mix: no state, so every thread makes its own.
 */
BOTH uint64_t random_bits(uint64_t key, uint64_t index)
{
    uint64_t x = key + index * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/** offset + [-scale, scale). No fused multiply-add: the last bit must not depend on the machine. */
BOTH float random_value(uint64_t key, uint64_t index, float scale, float offset)
{
    int32_t whole = (int32_t)(random_bits(key, index) >> 40) - (1 << 23);
    float unit = (float)whole * (1.0f / 8388608.0f);

#ifdef __CUDA_ARCH__
    return __fadd_rn(__fmul_rn(unit, scale), offset);
#else
    return unit * scale + offset;
#endif
}

#endif
