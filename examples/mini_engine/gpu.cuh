/* SPDX-License-Identifier: Apache-2.0 */
/** What the GPU's files share. */
#ifndef MINI_ENGINE_GPU_CUH
#define MINI_ENGINE_GPU_CUH

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "ops.h"

#define THREADS 256
/** Up to this number each (token, expert) pair is a separate product, because its time is that of
 * reading the weights. Above it, the rows of one expert are multiplied together. */
#define FEW_PAIRS 128

/** A product in the column-major terms of cuBLASLt: d (m x n) = alpha a b + beta d. All but beta's
 * d are bf16, or d is float. */
struct product {
    const bf16 *a, *b, *bias; /* bias: m, or NULL */
    void *d;
    size_t m, n, k, lda, ldb, ldd;
    size_t batch, stride_a, stride_b, stride_d;
    float alpha, beta;
    int transpose_a, d_is_float;
};

struct products; /* gpu_product.cu: cuBLASLt and what it was asked before */
struct products *products_open(char *reason, size_t reason_size);
void products_free(struct products *products);

struct collectives; /* gpu_group.cu: NCCL and this rank's communicator */
void collectives_free(struct collectives *collectives);

struct gpu {
    struct ops ops; /* first: a struct ops * is a gpu * */
    cudaStream_t stream;
    cudaGraphExec_t graph;
    struct products *products;
    struct collectives *collectives; /* NULL: alone */
    void *memory;
};

static inline struct gpu *gpu_of(struct ops *ops)
{
    return (struct gpu *)ops;
}

/** Keep the first error: later ones follow from it. */
bool gpu_good(struct ops *ops, cudaError_t error, const char *what);
/** After each launch. */
void gpu_launched(struct ops *ops, const char *kernel);

void gpu_product(struct ops *ops, const struct product *product);
void gpu_add_products(struct ops *ops);
void gpu_add_elements(struct ops *ops);
void gpu_add_attention(struct ops *ops);
void gpu_add_experts(struct ops *ops);
void gpu_add_vision(struct ops *ops);
void gpu_add_group(struct ops *ops);

static inline unsigned blocks_for(size_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/** Index of this thread among all. */
__device__ inline size_t thread_index()
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline float load(const bf16 *at)
{
    return __uint_as_float((unsigned)*at << 16);
}

__device__ inline void store(bf16 *at, float value)
{
    *at = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

__device__ inline float warp_sum(float value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

__device__ inline float warp_most(float value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

/** Sum, or largest, over a block of THREADS; `parts` is shared memory of THREADS / 32. Every thread
 * gets it. */
__device__ inline float block_sum(float value, float *parts)
{
    float sum = 0;

    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++)
        sum += parts[w];
    __syncthreads();
    return sum;
}

__device__ inline float block_most(float value, float *parts)
{
    float most = -INFINITY;

    value = warp_most(value);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++)
        most = fmaxf(most, parts[w]);
    __syncthreads();
    return most;
}

#endif
