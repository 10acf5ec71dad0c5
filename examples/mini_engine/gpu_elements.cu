/* SPDX-License-Identifier: Apache-2.0 */
/* Norms, activations, tables, sampling. Kernels are named for what they do: reports show the names.
 */
#include "gpu.cuh"

namespace engine
{

__global__ void fill_kernel(bf16 *to, struct block part, uint64_t key, float scale, float offset)
{
    size_t count = part.rows * part.width;

    for (size_t i = thread_index(); i < count; i += (size_t)gridDim.x * blockDim.x)
        store(to + i, random_value(key, part.first + i / part.width * part.stride + i % part.width,
                                   scale, offset));
}

/* A block a row. */
__global__ void norm_kernel(struct norm a)
{
    __shared__ float parts[THREADS / 32];
    size_t outer = blockIdx.x / a.per_row, inner = blockIdx.x % a.per_row * a.width;
    const bf16 *x = a.x + outer * a.x_stride + inner;
    bf16 *y = a.y + outer * a.y_stride + inner;
    float mean = 0, squares = 0, by;

    for (size_t i = threadIdx.x; i < a.width && !a.rms; i += THREADS)
        mean += load(x + i);
    if (!a.rms)
        mean = block_sum(mean, parts) / (float)a.width;
    for (size_t i = threadIdx.x; i < a.width; i += THREADS)
        squares += (load(x + i) - mean) * (load(x + i) - mean);
    by = rsqrtf(block_sum(squares, parts) / (float)a.width + a.epsilon);
    for (size_t i = threadIdx.x; i < a.width; i += THREADS)
        store(y + i,
              (load(x + i) - mean) * by * load(a.weight + i) + (a.bias ? load(a.bias + i) : 0));
}

__device__ float activated(enum activation kind, float x)
{
    switch (kind) {
    case SILU_TIMES:
        return x / (1.0f + __expf(-x));
    case GELU:
        return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    case QUICK_GELU:
        return x / (1.0f + __expf(-1.702f * x));
    case RELU:
        break;
    }
    return fmaxf(x, 0);
}

__global__ void activate_kernel(struct activate a)
{
    size_t at = thread_index();
    const bf16 *x = a.x + at;
    float value;

    if (at >= a.rows * a.width)
        return;
    if (a.kind == SILU_TIMES)
        x += at / a.width * a.width;
    value = activated(a.kind, load(x));
    store(a.y + at, a.kind == SILU_TIMES ? value * load(x + a.width) : value);
}

__global__ void gather_kernel(struct gather a)
{
    size_t at = thread_index(), row = at / a.width;

    if (row < a.rows && a.index[row] >= 0)
        a.y[at] = a.table[(size_t)a.index[row] * a.width + at % a.width];
}

__global__ void rows_kernel(struct rows a)
{
    size_t at = thread_index(), row = at / a.width, image = row / a.count, i = row % a.count;
    size_t to = image * (a.count + a.y_skip) + a.y_skip + i;
    size_t from = image * (a.count + a.x_skip) + a.x_skip + i;

    if (image < a.images)
        a.y[to * a.y_stride + at % a.width] = a.x[from * a.x_stride + at % a.width];
}

__global__ void affine_kernel(struct affine a)
{
    size_t at = thread_index();
    float value;

    if (at >= a.rows * a.width)
        return;
    value = load(a.x + at);
    if (a.scale)
        value = value * load(a.scale + at % a.width) + load(a.shift + at % a.width);
    value += a.add ? load(a.add + at) : 0;
    store(a.x + at, a.relu ? fmaxf(value, 0) : value);
}

/* A block a channel of an image. */
__global__ void mean_kernel(struct mean a)
{
    __shared__ float parts[THREADS / 32];
    const bf16 *x = a.x + blockIdx.x / a.width * a.count * a.width + blockIdx.x % a.width;
    float sum = 0;

    for (size_t r = threadIdx.x; r < a.count; r += THREADS)
        sum += load(x + r * a.width);
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0)
        store(a.y + blockIdx.x, sum / (float)a.count);
}

#define SAMPLE_THREADS 1024

/* Of two candidates the larger one, of equals the first. */
__device__ void take_larger(float *value, int *index, float other, int other_index)
{
    if (other > *value || (other == *value && other_index < *index)) {
        *value = other;
        *index = other_index;
    }
}

__device__ void warp_largest(float *value, int *index)
{
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, *value, lanes);
        int other_index = __shfl_xor_sync(0xffffffffu, *index, lanes);

        take_larger(value, index, other, other_index);
    }
}

/* A block a sequence. */
__global__ void sample_kernel(struct sample a)
{
    __shared__ float values[SAMPLE_THREADS / 32];
    __shared__ int indices[SAMPLE_THREADS / 32];
    const float *logits = a.logits + blockIdx.x * a.vocabulary;
    float value = -INFINITY;
    int index = 0;

    for (size_t i = threadIdx.x; i < a.vocabulary; i += SAMPLE_THREADS)
        take_larger(&value, &index, logits[i], (int)i);
    warp_largest(&value, &index);
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = value;
        indices[threadIdx.x / 32] = index;
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    value = values[threadIdx.x];
    index = indices[threadIdx.x];
    warp_largest(&value, &index);
    if (threadIdx.x == 0) {
        a.tokens[blockIdx.x] = index;
        a.positions[blockIdx.x] += a.advance;
    }
}

} // namespace engine

using namespace engine;

static void fill(struct ops *ops, bf16 *to, struct block part, uint64_t key, float scale,
                 float offset)
{
    size_t count = part.rows * part.width, blocks = (count + THREADS - 1) / THREADS;

    if (count == 0)
        return;
    fill_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), THREADS, 0, gpu_of(ops)->stream>>>(
        to, part, key, scale, offset);
    gpu_launched(ops, "fill");
}

static void norm(struct ops *ops, struct norm a)
{
    norm_kernel<<<(unsigned)a.rows, THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "norm");
}

static void activate(struct ops *ops, struct activate a)
{
    activate_kernel<<<blocks_for(a.rows * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "activate");
}

static void gather(struct ops *ops, struct gather a)
{
    gather_kernel<<<blocks_for(a.rows * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "gather");
}

static void rows(struct ops *ops, struct rows a)
{
    rows_kernel<<<blocks_for(a.images * a.count * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "rows");
}

static void affine(struct ops *ops, struct affine a)
{
    affine_kernel<<<blocks_for(a.rows * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "affine");
}

static void mean(struct ops *ops, struct mean a)
{
    mean_kernel<<<(unsigned)(a.images * a.width), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "mean");
}

static void sample(struct ops *ops, struct sample a)
{
    sample_kernel<<<(unsigned)a.batch, SAMPLE_THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "sample");
}

void gpu_add_elements(struct ops *ops)
{
    ops->fill = fill;
    ops->norm = norm;
    ops->activate = activate;
    ops->gather = gather;
    ops->rows = rows;
    ops->affine = affine;
    ops->mean = mean;
    ops->sample = sample;
}
