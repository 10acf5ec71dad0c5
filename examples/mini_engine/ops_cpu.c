/* SPDX-License-Identifier: Apache-2.0 */
/* Plain loops: they say what the GPU's kernels must compute, and let the engine run at tiny sizes
 * where no GPU is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops_cpu.h"

struct cpu {
    struct ops ops; /* first: a struct ops * is a struct cpu * */
    void *memory;
};

static int reserve(struct ops *ops, size_t bytes, void **base_out)
{
    struct cpu *cpu = (struct cpu *)ops;

    /* Not zeroed: memory that was never written must not look like a result. */
    cpu->memory = malloc(bytes);
    if (cpu->memory) {
        memset(cpu->memory, 0xff, bytes);
        *base_out = cpu->memory;
        return 0;
    }
    snprintf(ops->error, sizeof(ops->error), "the model needs %.1f GB, which the host refuses",
             (double)bytes / 1e9);
    return -1;
}

static void fill(struct ops *ops, bf16 *to, struct block part, uint64_t key, float scale,
                 float offset)
{
    (void)ops;
    for (size_t r = 0; r < part.rows; r++)
        for (size_t i = 0; i < part.width; i++)
            to[r * part.width + i] =
                bf16_from_float(random_value(key, part.first + r * part.stride + i, scale, offset));
}

static void put(struct ops *ops, void *to, const void *from, size_t bytes)
{
    (void)ops;
    memcpy(to, from, bytes);
}

static int get(struct ops *ops, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return ops->error[0] ? -1 : 0;
}

static int wait_for(struct ops *ops)
{
    return ops->error[0] ? -1 : 0;
}

static float dot(const bf16 *a, const bf16 *b, size_t count)
{
    float sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += bf16_to_float(a[i]) * bf16_to_float(b[i]);
    return sum;
}

static void linear(struct ops *ops, struct linear a)
{
    (void)ops;
    for (size_t r = 0; r < a.rows; r++)
        for (size_t o = 0; o < a.out; o++) {
            size_t at = r * a.out + o;
            float sum = dot(a.x + r * a.in, a.w + o * a.in, a.in);

            sum += a.bias ? bf16_to_float(a.bias[o]) : 0;
            if (a.y_float)
                a.y_float[at] = sum;
            else
                a.y[at] = bf16_from_float(sum + (a.add ? bf16_to_float(a.y[at]) : 0));
        }
}

static void norm_row(const struct norm *a, bf16 *y, const bf16 *x)
{
    float mean = 0, squares = 0, by;

    for (size_t i = 0; i < a->width && !a->rms; i++)
        mean += bf16_to_float(x[i]);
    mean /= (float)a->width;
    for (size_t i = 0; i < a->width; i++)
        squares += (bf16_to_float(x[i]) - mean) * (bf16_to_float(x[i]) - mean);
    by = 1.0f / sqrtf(squares / (float)a->width + a->epsilon);
    for (size_t i = 0; i < a->width; i++)
        y[i] = bf16_from_float((bf16_to_float(x[i]) - mean) * by * bf16_to_float(a->weight[i]) +
                               (a->bias ? bf16_to_float(a->bias[i]) : 0));
}

static void norm(struct ops *ops, struct norm a)
{
    (void)ops;
    for (size_t r = 0; r < a.rows; r++) {
        size_t outer = r / a.per_row, inner = r % a.per_row * a.width;

        norm_row(&a, a.y + outer * a.y_stride + inner, a.x + outer * a.x_stride + inner);
    }
}

static float activation(enum activation kind, float x)
{
    switch (kind) {
    case SILU_TIMES:
        return x / (1.0f + expf(-x));
    case GELU:
        return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    case QUICK_GELU:
        return x / (1.0f + expf(-1.702f * x));
    case RELU:
        break;
    }
    return x > 0 ? x : 0;
}

static void activate(struct ops *ops, struct activate a)
{
    size_t stride = a.kind == SILU_TIMES ? 2 * a.width : a.width;

    (void)ops;
    for (size_t r = 0; r < a.rows; r++)
        for (size_t i = 0; i < a.width; i++) {
            const bf16 *x = a.x + r * stride + i;
            float value = activation(a.kind, bf16_to_float(*x));

            value *= a.kind == SILU_TIMES ? bf16_to_float(x[a.width]) : 1;
            a.y[r * a.width + i] = bf16_from_float(value);
        }
}

static void gather(struct ops *ops, struct gather a)
{
    (void)ops;
    for (size_t r = 0; r < a.rows; r++)
        if (a.index[r] >= 0)
            memcpy(a.y + r * a.width, a.table + (size_t)a.index[r] * a.width,
                   a.width * sizeof(bf16));
}

static void rows(struct ops *ops, struct rows a)
{
    (void)ops;
    for (size_t b = 0; b < a.images; b++)
        for (size_t i = 0; i < a.count; i++) {
            size_t to = b * (a.count + a.y_skip) + a.y_skip + i;
            size_t from = b * (a.count + a.x_skip) + a.x_skip + i;

            memcpy(a.y + to * a.y_stride, a.x + from * a.x_stride, a.width * sizeof(bf16));
        }
}

static void sort_pairs(const struct route *a)
{
    size_t at = 0;

    for (size_t e = 0; e < a->experts; e++) {
        a->starts[e] = (int32_t)at;
        for (size_t pair = 0; pair < a->tokens * a->choices; pair++)
            if (a->chosen[pair] == (int32_t)e)
                a->order[at++] = (int32_t)pair;
    }
    a->starts[a->experts] = (int32_t)at;
}

static size_t largest(const float *values, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* Softmax over all experts, then the largest `choices` of it. */
static void route_token(const struct route *a, float *left, size_t token)
{
    float sum = 0, top = 0, most;

    memcpy(left, a->logits + token * a->experts, a->experts * sizeof(*left));
    most = left[largest(left, a->experts)];
    for (size_t e = 0; e < a->experts; e++)
        sum += left[e] = expf(left[e] - most);
    for (size_t c = 0; c < a->choices; c++) {
        size_t best = largest(left, a->experts);

        a->chosen[token * a->choices + c] = (int32_t)best;
        a->weights[token * a->choices + c] = left[best] / sum;
        top += left[best] / sum;
        left[best] = -1;
    }
    for (size_t c = 0; c < a->choices && a->renormalise; c++)
        a->weights[token * a->choices + c] /= top;
}

static void route(struct ops *ops, struct route a)
{
    float *left = malloc(a.experts * sizeof(*left));

    if (!left) {
        snprintf(ops->error, sizeof(ops->error), "out of memory");
        return;
    }
    for (size_t t = 0; t < a.tokens; t++)
        route_token(&a, left, t);
    sort_pairs(&a);
    free(left);
}

static void linear_experts(struct ops *ops, struct linear_experts a)
{
    (void)ops;
    for (size_t pair = 0; pair < a.pairs; pair++) {
        const bf16 *w = a.w + (size_t)a.chosen[pair] * a.out * a.in;

        for (size_t o = 0; o < a.out; o++)
            a.y[pair * a.out + o] =
                bf16_from_float(dot(a.x + pair / a.per_x * a.in, w + o * a.in, a.in));
    }
}

static void combine(struct ops *ops, struct combine a)
{
    (void)ops;
    for (size_t t = 0; t < a.tokens; t++)
        for (size_t i = 0; i < a.width; i++) {
            float sum = a.add ? bf16_to_float(a.y[t * a.width + i]) : 0;

            for (size_t c = 0; c < a.choices; c++)
                sum += a.weights[t * a.choices + c] *
                       bf16_to_float(a.parts[(t * a.choices + c) * a.width + i]);
            a.y[t * a.width + i] = bf16_from_float(sum);
        }
}

static void sample(struct ops *ops, struct sample a)
{
    (void)ops;
    for (size_t b = 0; b < a.batch; b++) {
        a.tokens[b] = (int32_t)largest(a.logits + b * a.vocabulary, a.vocabulary);
        a.positions[b] += a.advance;
    }
}

static int no_graphs(struct ops *ops)
{
    snprintf(ops->error, sizeof(ops->error), "CUDA graphs need a GPU; leave graphs out");
    return -1;
}

static void destroy(struct ops *ops)
{
    free(((struct cpu *)ops)->memory);
    free(ops);
}

struct ops *ops_cpu_open(void)
{
    struct cpu *cpu = calloc(1, sizeof(*cpu));
    struct ops *ops = &cpu->ops;

    if (!cpu)
        return NULL;
    snprintf(ops->name, sizeof(ops->name), "CPU");
    ops->reserve = reserve;
    ops->fill = fill;
    ops->put = put;
    ops->get = get;
    ops->wait = wait_for;
    ops->linear = linear;
    ops->norm = norm;
    ops->activate = activate;
    ops->gather = gather;
    ops->rows = rows;
    ops->route = route;
    ops->linear_experts = linear_experts;
    ops->combine = combine;
    ops->sample = sample;
    ops->capture_begin = ops->capture_end = ops->replay = no_graphs;
    ops->destroy = destroy;
    ops_cpu_add_attention(ops);
    ops_cpu_add_vision(ops);
    ops_cpu_add_group(ops);
    return ops;
}
