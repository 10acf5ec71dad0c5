/* SPDX-License-Identifier: Apache-2.0 */
/* Heads. A prompt's attention is two matrix products with a softmax between them, whose scores are
 * written out: plain, and enough for pages of tokens. A decode step's is one kernel. */
#include <cstdio>

#include "gpu.cuh"

namespace engine
{

/* Element i of a head that turns by its position: halves against each other. */
__device__ float rotated(const bf16 *head, size_t i, size_t dim, size_t position, float theta)
{
    size_t half = dim / 2, pair = i < half ? i : i - half;
    float sine, cosine, angle;

    if (theta <= 0)
        return load(head + i);
    angle = (float)position * powf(theta, -2.0f * (float)pair / (float)dim);
    sincosf(angle, &sine, &cosine);
    return i < half ? load(head + i) * cosine - load(head + i + half) * sine
                    : load(head + i) * cosine + load(head + i - half) * sine;
}

/* A thread takes an element of the input, whichever of q, k and v it is. */
__global__ void split_kernel(struct split a)
{
    size_t slots = a.heads + 2 * a.kv_heads, at = thread_index();
    size_t i = at % a.dim, slot = at / a.dim % slots, row = at / a.dim / slots;
    size_t b = row / a.tokens, t = row % a.tokens, shared = a.heads / a.kv_heads, position;
    bool is_value = slot >= a.heads + a.kv_heads;
    const bf16 *head = a.in + (row * slots + slot) * a.dim;
    float value;
    size_t group;

    if (b >= a.batch)
        return;
    position = (a.positions ? (size_t)a.positions[b] : 0) + t;
    value = is_value ? load(head + i) : rotated(head, i, a.dim, position, a.theta);
    if (slot < a.heads) {
        store(a.q + ((b * a.heads + slot) * a.tokens + t) * a.dim + i, value);
        return;
    }
    group = (slot - a.heads) % a.kv_heads;
    for (size_t h = group * shared; h < (group + 1) * shared && a.k; h++)
        store((is_value ? a.v : a.k) + ((b * a.heads + h) * a.tokens + t) * a.dim + i, value);
    if (a.cache_k)
        store((is_value ? a.cache_v : a.cache_k) +
                  ((b * a.kv_heads + group) * a.capacity + position) * a.dim + i,
              value);
}

/* A thread takes an element of q, k or v of a head: nope + rope, nope + rope, value wide. */
__global__ void split_latent_kernel(struct split_latent a)
{
    size_t dim = a.nope + a.rope, width = 2 * dim + a.value, at = thread_index();
    size_t i = at % width, head = at / width % a.heads, row = at / width / a.heads;
    size_t b = row / a.tokens, t = row % a.tokens, position, to, cached;
    const bf16 *q, *expanded, *shared;

    if (b >= a.batch)
        return;
    position = (a.positions ? (size_t)a.positions[b] : 0) + t;
    to = (b * a.heads + head) * a.tokens + t;
    cached = (b * a.heads + head) * a.capacity + position;
    q = a.q_in + (row * a.heads + head) * dim;
    expanded = a.expanded + (row * a.heads + head) * (a.nope + a.value);
    shared = a.latent + row * (a.rank + a.rope) + a.rank;
    if (i < dim) {
        store(a.q + to * dim + i, i < a.nope
                                      ? load(q + i)
                                      : rotated(q + a.nope, i - a.nope, a.rope, position, a.theta));
    } else if (i < 2 * dim) {
        float value;

        i -= dim;
        value = i < a.nope ? load(expanded + i)
                           : rotated(shared, i - a.nope, a.rope, position, a.theta);
        if (a.k)
            store(a.k + to * dim + i, value);
        if (a.cache_k)
            store(a.cache_k + cached * dim + i, value);
    } else {
        i -= 2 * dim;
        if (a.v)
            store(a.v + to * a.value + i, load(expanded + a.nope + i));
        if (a.cache_v)
            store(a.cache_v + cached * a.value + i, load(expanded + a.nope + i));
    }
}

/* A block a row of scores, which its threads hold: PER each, so a row has at most PER * THREADS.
 * Weights take the place of the scores, as bf16 from the start of the row. */
template <int PER> __global__ void softmax_kernel(struct attend a, unsigned stride)
{
    __shared__ float parts[THREADS / 32];
    size_t row = blockIdx.x;
    unsigned queries = (unsigned)a.queries, all = (unsigned)a.keys, grid = (unsigned)a.grid;
    unsigned keys = a.causal ? blockIdx.x % queries + 1 : all;
    float *scores = a.scores + row * stride, values[PER], most = -INFINITY, sum = 0;

#pragma unroll
    for (int i = 0; i < PER; i++) {
        unsigned k = threadIdx.x + i * THREADS;

        values[i] = k < keys ? scores[k] : -INFINITY;
        if (k < keys && a.bias_rows)
            values[i] += a.bias_rows[row * grid + k / grid] + a.bias_columns[row * grid + k % grid];
        most = fmaxf(most, values[i]);
    }
    most = block_most(most, parts);
#pragma unroll
    for (int i = 0; i < PER; i++)
        sum += values[i] = __expf(values[i] - most);
    sum = block_sum(sum, parts); /* all have read by now: the row may be written over */
#pragma unroll
    for (int i = 0; i < PER; i++)
        if (threadIdx.x + i * THREADS < all)
            store((bf16 *)scores + threadIdx.x + i * THREADS, values[i] / sum);
}

__global__ void merge_kernel(struct merge a)
{
    size_t at = thread_index(), i = at % a.dim, head = at / a.dim % a.heads;
    size_t row = at / a.dim / a.heads, b = row / a.tokens, t = row % a.tokens;

    if (b < a.batch)
        a.out[at] = a.in[((b * a.heads + head) * a.tokens + t) * a.dim + i];
}

#define VALUE_MAX 256

/* Four numbers of a row, 8 bytes; zero after its end. */
struct four {
    float x[4];
};

__device__ struct four load_four(const bf16 *row, size_t at, size_t width, bool inside)
{
    const uint2 bits = inside && at < width ? *(const uint2 *)(row + at) : make_uint2(0, 0);
    struct four out;

    out.x[0] = __uint_as_float(bits.x << 16);
    out.x[1] = __uint_as_float(bits.x & 0xffff0000u);
    out.x[2] = __uint_as_float(bits.y << 16);
    out.x[3] = __uint_as_float(bits.y & 0xffff0000u);
    return out;
}

/* What a warp has seen of its keys; a lane has PER times four numbers of a value. */
template <int PER> struct seen {
    float most, sum;
    struct four values[PER];
};

template <int PER>
__device__ void add_key(struct seen<PER> *seen, float score, const struct four (&v)[PER])
{
    float most = fmaxf(seen->most, score), keep = __expf(seen->most - most);
    float weight = __expf(score - most);

#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            seen->values[i].x[j] = seen->values[i].x[j] * keep + weight * v[i].x[j];
    seen->sum = seen->sum * keep + weight;
    seen->most = most;
}

template <int PER> __device__ float dot(const struct four (&a)[PER], const struct four (&b)[PER])
{
    float sum = 0;

#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum += a[i].x[j] * b[i].x[j];
    return sum;
}

/* A block a head of a sequence. Each of its WARPS takes every WARPS-th key, KEYS at a time so that
 * their loads overlap; then they are put together. */
template <int PER, int WARPS, int KEYS>
__global__ void __launch_bounds__(32 * WARPS) attend_cache_kernel(struct attend_cache a)
{
    __shared__ float values[WARPS][VALUE_MAX], mosts[WARPS], sums[WARPS];
    size_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t b = blockIdx.x / a.heads, group = blockIdx.x % a.heads / (a.heads / a.kv_heads);
    size_t cache = (b * a.kv_heads + group) * a.capacity, keys = (size_t)a.positions[b] + 1;
    struct seen<PER> seen = {
        - INFINITY, 0,
        {
        }
    };
    struct four q[PER], k[KEYS][PER], v[KEYS][PER];
    float most = -INFINITY, sum = 0, value = 0, scores[KEYS];

    for (int i = 0; i < PER; i++)
        q[i] = load_four(a.q + blockIdx.x * a.dim, (lane + 32 * i) * 4, a.dim, true);
    for (size_t first = warp; first < keys; first += WARPS * KEYS) {
#pragma unroll
        for (int u = 0; u < KEYS; u++)
#pragma unroll
            for (int i = 0; i < PER; i++) {
                size_t key = cache + first + u * WARPS, at = (lane + 32 * i) * 4;
                bool inside = first + u * WARPS < keys;

                k[u][i] = load_four(a.cache_k + key * a.dim, at, a.dim, inside);
                v[u][i] = load_four(a.cache_v + key * a.value, at, a.value, inside);
            }
#pragma unroll
        for (int u = 0; u < KEYS; u++)
            scores[u] = a.scale * warp_sum(dot<PER>(q, k[u]));
#pragma unroll
        for (int u = 0; u < KEYS; u++)
            if (first + u * WARPS < keys)
                add_key<PER>(&seen, scores[u], v[u]);
    }
    for (int i = 0; i < PER; i++)
        for (int j = 0; j < 4; j++)
            if ((lane + 32 * i) * 4 < a.value)
                values[warp][(lane + 32 * i) * 4 + j] = seen.values[i].x[j];
    mosts[warp] = seen.most;
    sums[warp] = seen.sum;
    __syncthreads();
    if (threadIdx.x >= a.value)
        return;
    for (int w = 0; w < WARPS; w++)
        most = fmaxf(most, mosts[w]);
    for (int w = 0; w < WARPS; w++) {
        float part = __expf(mosts[w] - most);

        sum += part * sums[w];
        value += part * values[w][threadIdx.x];
    }
    store(a.out + blockIdx.x * a.value + threadIdx.x, value / sum);
}

} // namespace engine

using namespace engine;

static void split(struct ops *ops, struct split a)
{
    size_t count = a.batch * a.tokens * (a.heads + 2 * a.kv_heads) * a.dim;

    split_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "split");
}

static void split_latent(struct ops *ops, struct split_latent a)
{
    size_t count = a.batch * a.tokens * a.heads * (2 * (a.nope + a.rope) + a.value);

    split_latent_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "split_latent");
}

static void softmax(struct ops *ops, struct attend a, size_t stride)
{
    unsigned rows = (unsigned)(a.batch * a.queries), pitch = (unsigned)stride;
    cudaStream_t stream = gpu_of(ops)->stream;

    if (a.keys <= 2 * THREADS)
        softmax_kernel<2><<<rows, THREADS, 0, stream>>>(a, pitch);
    else if (a.keys <= 8 * THREADS)
        softmax_kernel<8><<<rows, THREADS, 0, stream>>>(a, pitch);
    else if (a.keys <= 32 * THREADS)
        softmax_kernel<32><<<rows, THREADS, 0, stream>>>(a, pitch);
    else
        snprintf(ops->error, sizeof(ops->error), "a prompt has at most %d tokens here",
                 32 * THREADS);
    gpu_launched(ops, "softmax");
}

static void attend(struct ops *ops, struct attend a)
{
    size_t stride = scores_stride(a.keys);
    struct product scores = {}, values = {};

    scores.a = a.k;
    scores.b = a.q;
    scores.d = a.scores;
    scores.m = a.keys;
    scores.n = values.n = a.queries;
    scores.k = scores.lda = scores.ldb = a.dim;
    scores.ldd = stride;
    scores.batch = values.batch = a.batch;
    scores.stride_a = a.keys * a.dim;
    scores.stride_b = a.queries * a.dim;
    scores.stride_d = a.queries * stride;
    scores.alpha = a.scale;
    scores.transpose_a = scores.d_is_float = 1;
    gpu_product(ops, &scores);
    softmax(ops, a, stride);
    values.a = a.v;
    values.b = (const bf16 *)a.scores;
    values.d = a.out;
    values.m = values.lda = values.ldd = a.value;
    values.k = a.keys;
    values.ldb = 2 * stride;
    values.stride_a = a.keys * a.value;
    values.stride_b = a.queries * 2 * stride;
    values.stride_d = a.queries * a.value;
    values.alpha = 1;
    gpu_product(ops, &values);
}

static void attend_cache(struct ops *ops, struct attend_cache a)
{
    unsigned blocks = (unsigned)(a.batch * a.heads);
    cudaStream_t stream = gpu_of(ops)->stream;

    if (a.dim <= 128 && a.value <= 128)
        attend_cache_kernel<1, 16, 8><<<blocks, 512, 0, stream>>>(a);
    else
        attend_cache_kernel<2, 16, 4><<<blocks, 512, 0, stream>>>(a);
    gpu_launched(ops, "attend_cache");
}

static void merge(struct ops *ops, struct merge a)
{
    size_t count = a.batch * a.tokens * a.heads * a.dim;

    merge_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "merge");
}

void gpu_add_attention(struct ops *ops)
{
    ops->split = split;
    ops->split_latent = split_latent;
    ops->attend = attend;
    ops->attend_cache = attend_cache;
    ops->merge = merge;
}
