/* SPDX-License-Identifier: Apache-2.0 */
/* Heads. A prompt's attention is two matrix products with a softmax between them, whose scores are
 * written out: plain, and enough for pages of tokens. A decode step's is one kernel. */
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

__device__ float score_of(const struct attend *a, const float *scores, size_t row, size_t key)
{
    float score = scores[key];

    if (a->bias_rows)
        score += a->bias_rows[row * a->grid + key / a->grid] +
                 a->bias_columns[row * a->grid + key % a->grid];
    return score;
}

/* A block a row of scores. Weights take the place of the scores that they come from, as bf16 from
 * the start of the row: behind where this pass has read, once all threads have. */
__global__ void softmax_kernel(struct attend a, size_t stride)
{
    __shared__ float parts[THREADS / 32];
    size_t row = blockIdx.x, keys = a.causal ? row % a.queries + 1 : a.keys;
    float *scores = a.scores + row * stride;
    float most = -INFINITY, sum = 0;

    for (size_t k = threadIdx.x; k < keys; k += THREADS)
        most = fmaxf(most, score_of(&a, scores, row, k));
    most = block_most(most, parts);
    for (size_t k = threadIdx.x; k < keys; k += THREADS)
        sum += __expf(score_of(&a, scores, row, k) - most);
    sum = block_sum(sum, parts);
    for (size_t first = 0; first < a.keys; first += THREADS) {
        size_t k = first + threadIdx.x;
        float weight = k < keys ? __expf(score_of(&a, scores, row, k) - most) / sum : 0;

        __syncthreads();
        if (k < a.keys)
            store((bf16 *)scores + k, weight);
    }
}

__global__ void merge_kernel(struct merge a)
{
    size_t at = thread_index(), i = at % a.dim, head = at / a.dim % a.heads;
    size_t row = at / a.dim / a.heads, b = row / a.tokens, t = row % a.tokens;

    if (b < a.batch)
        a.out[at] = a.in[((b * a.heads + head) * a.tokens + t) * a.dim + i];
}

#define CACHE_WARPS 16
#define CACHE_KEYS  4 /* of a warp at a time, so that their loads overlap */
#define VALUE_MAX   256

/* What a warp has seen of its keys. */
template <int PER> struct seen {
    float most, sum, values[PER];
};

template <int PER>
__device__ void add_key(struct seen<PER> *seen, float score, const bf16 *v, size_t width)
{
    float most = fmaxf(seen->most, score), keep = __expf(seen->most - most);
    float weight = __expf(score - most);

    for (int i = 0; i < PER; i++) {
        size_t at = threadIdx.x % 32 + 32 * i;

        seen->values[i] = seen->values[i] * keep + (at < width ? weight * load(v + at) : 0);
    }
    seen->sum = seen->sum * keep + weight;
    seen->most = most;
}

template <int PER>
__device__ float key_score(const float (&q)[PER], const bf16 *k, size_t dim, bool inside)
{
    float sum = 0;

    for (int i = 0; i < PER; i++) {
        size_t at = threadIdx.x % 32 + 32 * i;

        sum += inside && at < dim ? q[i] * load(k + at) : 0;
    }
    return sum;
}

/* A block a head of a sequence; each warp takes every 16th key, then they are put together. */
template <int PER> __global__ void attend_cache_kernel(struct attend_cache a)
{
    __shared__ float values[CACHE_WARPS][VALUE_MAX], mosts[CACHE_WARPS], sums[CACHE_WARPS];
    size_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t b = blockIdx.x / a.heads, group = blockIdx.x % a.heads / (a.heads / a.kv_heads);
    size_t cache = (b * a.kv_heads + group) * a.capacity, keys = (size_t)a.positions[b] + 1;
    struct seen<PER> seen = {
        - INFINITY, 0,
        {
        }
    };
    float q[PER], most = -INFINITY, sum = 0, value = 0;

    for (int i = 0; i < PER; i++)
        q[i] = lane + 32 * i < a.dim ? a.scale * load(a.q + blockIdx.x * a.dim + lane + 32 * i) : 0;
    for (size_t first = warp; first < keys; first += CACHE_WARPS * CACHE_KEYS) {
        float scores[CACHE_KEYS];

#pragma unroll
        for (int u = 0; u < CACHE_KEYS; u++) {
            size_t key = first + u * CACHE_WARPS;

            scores[u] = key_score<PER>(q, a.cache_k + (cache + key) * a.dim, a.dim, key < keys);
        }
#pragma unroll
        for (int u = 0; u < CACHE_KEYS; u++)
            scores[u] = warp_sum(scores[u]);
#pragma unroll
        for (int u = 0; u < CACHE_KEYS; u++) {
            size_t key = first + u * CACHE_WARPS;

            if (key < keys)
                add_key<PER>(&seen, scores[u], a.cache_v + (cache + key) * a.value, a.value);
        }
    }
    for (int i = 0; i < PER; i++)
        if (lane + 32 * i < a.value)
            values[warp][lane + 32 * i] = seen.values[i];
    mosts[warp] = seen.most;
    sums[warp] = seen.sum;
    __syncthreads();
    if (threadIdx.x >= a.value)
        return;
    for (int w = 0; w < CACHE_WARPS; w++)
        most = fmaxf(most, mosts[w]);
    for (int w = 0; w < CACHE_WARPS; w++) {
        float part = __expf(mosts[w] - most);

        sum += part * sums[w];
        value += sums[w] > 0 ? part * values[w][threadIdx.x] : 0;
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
    softmax_kernel<<<(unsigned)(a.batch * a.queries), THREADS, 0, gpu_of(ops)->stream>>>(a, stride);
    gpu_launched(ops, "softmax");
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
    size_t width = a.dim > a.value ? a.dim : a.value;
    cudaStream_t stream = gpu_of(ops)->stream;

    if (width <= 64)
        attend_cache_kernel<2><<<blocks, 32 * CACHE_WARPS, 0, stream>>>(a);
    else if (width <= 128)
        attend_cache_kernel<4><<<blocks, 32 * CACHE_WARPS, 0, stream>>>(a);
    else if (width <= 192)
        attend_cache_kernel<6><<<blocks, 32 * CACHE_WARPS, 0, stream>>>(a);
    else
        attend_cache_kernel<8><<<blocks, 32 * CACHE_WARPS, 0, stream>>>(a);
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
