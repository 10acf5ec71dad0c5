/* SPDX-License-Identifier: Apache-2.0 */
/* Mixture of experts: the choice, the order, and products with each token's own experts. Nothing is
 * read back to the host, so all of it can be captured in a graph. */
#include <mma.h>

#include "gpu.cuh"

namespace engine
{

#define EXPERTS_MAX 256
#define PER_LANE    (EXPERTS_MAX / 32)
#define CHOICES_MAX 16

/* The largest of the warp's values and its place; of equals the first. */
__device__ int warp_first_largest(const float (&values)[PER_LANE], float *most_out)
{
    float most = -INFINITY;
    int place = EXPERTS_MAX;

    for (int i = 0; i < PER_LANE; i++)
        if (values[i] > most) {
            most = values[i];
            place = (int)(threadIdx.x % 32) + 32 * i;
        }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, most, lanes);
        int other_place = __shfl_xor_sync(0xffffffffu, place, lanes);

        if (other > most || (other == most && other_place < place)) {
            most = other;
            place = other_place;
        }
    }
    *most_out = most;
    return place;
}

/* A warp a token: softmax over all experts, then the largest, one after another. */
__global__ void route_kernel(struct route a)
{
    size_t token = thread_index() / 32, lane = threadIdx.x % 32;
    float values[PER_LANE], top[CHOICES_MAX], most, sum = 0, chosen_sum = 0;

    if (token >= a.tokens)
        return;
    for (int i = 0; i < PER_LANE; i++)
        values[i] =
            lane + 32 * i < a.experts ? a.logits[token * a.experts + lane + 32 * i] : -INFINITY;
    warp_first_largest(values, &most);
    for (int i = 0; i < PER_LANE; i++)
        sum += __expf(values[i] - most);
    sum = warp_sum(sum);
    for (size_t c = 0; c < a.choices; c++) {
        int place = warp_first_largest(values, &top[c]);

        top[c] = __expf(top[c] - most) / sum;
        chosen_sum += top[c];
        if (lane == place % 32)
            values[place / 32] = -INFINITY;
        if (lane == 0)
            a.chosen[token * a.choices + c] = place;
    }
    for (size_t c = 0; c < a.choices && lane == 0; c++)
        a.weights[token * a.choices + c] = a.renormalise ? top[c] / chosen_sum : top[c];
}

/* One block: counts, their running sum, places. The order within an expert is any. */
__global__ void sort_kernel(struct route a)
{
    __shared__ int next[EXPERTS_MAX];
    size_t pairs = a.tokens * a.choices;

    for (size_t e = threadIdx.x; e < a.experts; e += blockDim.x)
        next[e] = 0;
    __syncthreads();
    for (size_t p = threadIdx.x; p < pairs; p += blockDim.x)
        atomicAdd(&next[a.chosen[p]], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int at = 0;

        for (size_t e = 0; e < a.experts; e++) {
            int count = next[e];

            a.starts[e] = next[e] = at;
            at += count;
        }
        a.starts[a.experts] = at;
    }
    __syncthreads();
    for (size_t p = threadIdx.x; p < pairs; p += blockDim.x)
        a.order[atomicAdd(&next[a.chosen[p]], 1)] = (int)p;
}

__device__ float dot8(uint4 a, uint4 b)
{
    const __nv_bfloat162 *x = (const __nv_bfloat162 *)&a, *y = (const __nv_bfloat162 *)&b;
    float sum = 0;

    for (int i = 0; i < 4; i++) {
        float2 left = __bfloat1622float2(x[i]), right = __bfloat1622float2(y[i]);

        sum += left.x * right.x + left.y * right.y;
    }
    return sum;
}

/* A warp for each output of a pair; 16 bytes of a row at a time. */
__global__ void few_experts_kernel(struct linear_experts a)
{
    size_t out = (size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32, pair = blockIdx.y;
    const uint4 *x = (const uint4 *)(a.x + pair / a.per_x * a.in), *w;
    float sum = 0;

    if (out >= a.out)
        return;
    w = (const uint4 *)(a.w + ((size_t)a.chosen[pair] * a.out + out) * a.in);
    for (size_t i = threadIdx.x % 32; i < a.in / 8; i += 32)
        sum += dot8(x[i], w[i]);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        store(a.y + pair * a.out + out, sum);
}

/* Many tokens: a block multiplies up to ROWS rows of one expert with COLUMNS of its outputs. 8
 * warps, 2 x 4, each with 16 x 32 of the result. */
#define ROWS    32
#define COLUMNS 128
#define DEPTH   32
#define PITCH   (DEPTH + 8) /* of shared memory: fewer bank conflicts, still 16-byte rows */

struct expert_tile {
    __nv_bfloat16 x[ROWS][PITCH], w[COLUMNS][PITCH];
    float sums[ROWS][COLUMNS + 4];
    int pairs[ROWS]; /* -1: no row */
    int expert;
};

/* Which expert's rows this block has: blocks are dealt out in the order of experts. */
__device__ void find_rows(struct expert_tile *tile, const struct linear_experts *a)
{
    int block = (int)blockIdx.y;

    if (threadIdx.x == 0) {
        tile->expert = -1;
        for (int e = 0; e < (int)a->experts; e++) {
            int count = a->starts[e + 1] - a->starts[e], blocks = (count + ROWS - 1) / ROWS;

            if (block < blocks) {
                tile->expert = e;
                for (int r = 0; r < ROWS; r++)
                    tile->pairs[r] =
                        block * ROWS + r < count ? a->order[a->starts[e] + block * ROWS + r] : -1;
                break;
            }
            block -= blocks;
        }
    }
    __syncthreads();
}

__device__ void load_tile(struct expert_tile *tile, const struct linear_experts *a, size_t depth)
{
    const uint4 zero = { 0, 0, 0, 0 };
    size_t first = (size_t)blockIdx.x * COLUMNS;

    for (int i = threadIdx.x; i < (ROWS + COLUMNS) * DEPTH / 8; i += THREADS) {
        int row = i / (DEPTH / 8), part = i % (DEPTH / 8) * 8;
        bool inside = depth + part < a->in;

        if (row < ROWS) {
            int pair = tile->pairs[row];

            *(uint4 *)&tile->x[row][part] =
                inside && pair >= 0
                    ? *(const uint4 *)(a->x + (size_t)pair / a->per_x * a->in + depth + part)
                    : zero;
        } else {
            size_t out = first + row - ROWS;

            *(uint4 *)&tile->w[row - ROWS][part] =
                inside && out < a->out
                    ? *(const uint4 *)(a->w + ((size_t)tile->expert * a->out + out) * a->in +
                                       depth + part)
                    : zero;
        }
    }
}

__global__ void many_experts_kernel(struct linear_experts a)
{
    using namespace nvcuda;
    __shared__ __align__(16) struct expert_tile tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> w;
    int row = threadIdx.x / 32 / 4 * 16, column = threadIdx.x / 32 % 4 * 32;

    find_rows(&tile, &a);
    if (tile.expert < 0)
        return;
    for (int j = 0; j < 2; j++)
        wmma::fill_fragment(sums[j], 0.0f);
    for (size_t depth = 0; depth < a.in; depth += DEPTH) {
        load_tile(&tile, &a, depth);
        __syncthreads();
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::load_matrix_sync(x, &tile.x[row][k], PITCH);
            for (int j = 0; j < 2; j++) {
                wmma::load_matrix_sync(w, &tile.w[column + 16 * j][k], PITCH);
                wmma::mma_sync(sums[j], x, w, sums[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        wmma::store_matrix_sync(&tile.sums[row][column + 16 * j], sums[j], COLUMNS + 4,
                                wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) {
        size_t out = (size_t)blockIdx.x * COLUMNS + i % COLUMNS;
        int pair = tile.pairs[i / COLUMNS];

        if (pair >= 0 && out < a.out)
            store(a.y + (size_t)pair * a.out + out, tile.sums[i / COLUMNS][i % COLUMNS]);
    }
}

__global__ void combine_kernel(struct combine a)
{
    size_t at = thread_index(), token = at / a.width, i = at % a.width;
    float sum;

    if (token >= a.tokens)
        return;
    sum = a.add ? load(a.y + at) : 0;
    for (size_t c = 0; c < a.choices; c++)
        sum += a.weights[token * a.choices + c] *
               load(a.parts + (token * a.choices + c) * a.width + i);
    store(a.y + at, sum);
}

} // namespace engine

using namespace engine;

static void route(struct ops *ops, struct route a)
{
    cudaStream_t stream = gpu_of(ops)->stream;

    route_kernel<<<blocks_for(a.tokens * 32), THREADS, 0, stream>>>(a);
    gpu_launched(ops, "route");
    if (a.tokens * a.choices <= FEW_PAIRS)
        return; /* the order is not requested */
    sort_kernel<<<1, 1024, 0, stream>>>(a);
    gpu_launched(ops, "sort");
}

static void linear_experts(struct ops *ops, struct linear_experts a)
{
    cudaStream_t stream = gpu_of(ops)->stream;

    if (a.pairs <= FEW_PAIRS) {
        dim3 blocks((unsigned)((a.out + THREADS / 32 - 1) / (THREADS / 32)), (unsigned)a.pairs);

        few_experts_kernel<<<blocks, THREADS, 0, stream>>>(a);
    } else {
        /* Each expert may leave one block part full. */
        dim3 blocks((unsigned)((a.out + COLUMNS - 1) / COLUMNS),
                    (unsigned)(a.pairs / ROWS + a.experts));

        many_experts_kernel<<<blocks, THREADS, 0, stream>>>(a);
    }
    gpu_launched(ops, "linear_experts");
}

static void combine(struct ops *ops, struct combine a)
{
    combine_kernel<<<blocks_for(a.tokens * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "combine");
}

void gpu_add_experts(struct ops *ops)
{
    ops->route = route;
    ops->linear_experts = linear_experts;
    ops->combine = combine;
}
