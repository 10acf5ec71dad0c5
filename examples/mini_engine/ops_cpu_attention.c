/* SPDX-License-Identifier: Apache-2.0 */
/* Heads: split, rotated, attended, merged. */
#include <math.h>
#include <string.h>

#include "ops_cpu.h"

/* Halves of a head turn against each other: element i with i + dim / 2. */
static void rotate(bf16 *to, const bf16 *from, size_t dim, size_t position, float theta)
{
    size_t half = dim / 2;

    for (size_t i = 0; i < half; i++) {
        float angle = (float)position * powf(theta, -2.0f * (float)i / (float)dim);
        float x = bf16_to_float(from[i]), y = bf16_to_float(from[i + half]);

        to[i] = bf16_from_float(x * cosf(angle) - y * sinf(angle));
        to[i + half] = bf16_from_float(y * cosf(angle) + x * sinf(angle));
    }
}

static void turn(bf16 *to, const bf16 *from, size_t dim, size_t position, float theta)
{
    if (theta > 0)
        rotate(to, from, dim, position, theta);
    else
        memcpy(to, from, dim * sizeof(bf16));
}

static void split_token(const struct split *a, size_t b, size_t t)
{
    const bf16 *row = a->in + (b * a->tokens + t) * (a->heads + 2 * a->kv_heads) * a->dim;
    size_t position = (a->positions ? (size_t)a->positions[b] : 0) + t;
    size_t bytes = a->dim * sizeof(bf16);

    for (size_t h = 0; h < a->heads; h++) {
        size_t group = h / (a->heads / a->kv_heads);
        size_t at = ((b * a->heads + h) * a->tokens + t) * a->dim;

        turn(a->q + at, row + h * a->dim, a->dim, position, a->theta);
        if (!a->k)
            continue;
        turn(a->k + at, row + (a->heads + group) * a->dim, a->dim, position, a->theta);
        memcpy(a->v + at, row + (a->heads + a->kv_heads + group) * a->dim, bytes);
    }
    for (size_t g = 0; g < a->kv_heads && a->cache_k; g++) {
        size_t at = ((b * a->kv_heads + g) * a->capacity + position) * a->dim;

        turn(a->cache_k + at, row + (a->heads + g) * a->dim, a->dim, position, a->theta);
        memcpy(a->cache_v + at, row + (a->heads + a->kv_heads + g) * a->dim, bytes);
    }
}

static void split(struct ops *ops, struct split a)
{
    (void)ops;
    for (size_t b = 0; b < a.batch; b++)
        for (size_t t = 0; t < a.tokens; t++)
            split_token(&a, b, t);
}

static void put_latent(const struct split_latent *a, bf16 *k, bf16 *v, size_t row, size_t head,
                       size_t position)
{
    const bf16 *expanded = a->expanded + (row * a->heads + head) * (a->nope + a->value);

    memcpy(k, expanded, a->nope * sizeof(bf16));
    rotate(k + a->nope, a->latent + row * (a->rank + a->rope) + a->rank, a->rope, position,
           a->theta);
    memcpy(v, expanded + a->nope, a->value * sizeof(bf16));
}

static void split_latent(struct ops *ops, struct split_latent a)
{
    size_t dim = a.nope + a.rope;

    (void)ops;
    for (size_t row = 0; row < a.batch * a.tokens; row++)
        for (size_t h = 0; h < a.heads; h++) {
            size_t b = row / a.tokens, t = row % a.tokens, head = b * a.heads + h;
            size_t position = (a.positions ? (size_t)a.positions[b] : 0) + t;
            size_t at = head * a.tokens + t, cached = head * a.capacity + position;
            const bf16 *q = a.q_in + (row * a.heads + h) * dim;

            memcpy(a.q + at * dim, q, a.nope * sizeof(bf16));
            rotate(a.q + at * dim + a.nope, q + a.nope, a.rope, position, a.theta);
            if (a.k)
                put_latent(&a, a.k + at * dim, a.v + at * a.value, row, h, position);
            if (a.cache_k)
                put_latent(&a, a.cache_k + cached * dim, a.cache_v + cached * a.value, row, h,
                           position);
        }
}

static float dot(const bf16 *a, const bf16 *b, size_t count)
{
    float sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += bf16_to_float(a[i]) * bf16_to_float(b[i]);
    return sum;
}

/* Scores become weights, rounded to bf16 as the GPU stores them. */
static void softmax(float *scores, size_t count)
{
    float most = scores[0], sum = 0;

    for (size_t k = 1; k < count; k++)
        most = scores[k] > most ? scores[k] : most;
    for (size_t k = 0; k < count; k++)
        sum += scores[k] = expf(scores[k] - most);
    for (size_t k = 0; k < count; k++)
        scores[k] = bf16_to_float(bf16_from_float(scores[k] / sum));
}

static void mix(bf16 *out, const float *weights, const bf16 *v, size_t keys, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        float sum = 0;

        for (size_t k = 0; k < keys; k++)
            sum += weights[k] * bf16_to_float(v[k * width + i]);
        out[i] = bf16_from_float(sum);
    }
}

static void attend(struct ops *ops, struct attend a)
{
    (void)ops;
    for (size_t at = 0; at < a.batch * a.queries; at++) {
        size_t b = at / a.queries, keys = a.causal ? at % a.queries + 1 : a.keys;
        float *scores = a.scores + at * scores_stride(a.keys);

        for (size_t k = 0; k < keys; k++) {
            scores[k] = a.scale * dot(a.q + at * a.dim, a.k + (b * a.keys + k) * a.dim, a.dim);
            if (a.bias_rows)
                scores[k] += a.bias_rows[at * a.grid + k / a.grid] +
                             a.bias_columns[at * a.grid + k % a.grid];
        }
        softmax(scores, keys);
        mix(a.out + at * a.value, scores, a.v + b * a.keys * a.value, keys, a.value);
    }
}

/* Online softmax, as the GPU does it: weights are never stored. */
static void attend_cache(struct ops *ops, struct attend_cache a)
{
    (void)ops;
    for (size_t at = 0; at < a.batch * a.heads; at++) {
        size_t b = at / a.heads, group = at % a.heads / (a.heads / a.kv_heads);
        size_t cache = (b * a.kv_heads + group) * a.capacity;
        size_t keys = (size_t)a.positions[b] + 1;
        float most = -INFINITY, sum = 0, sums[1024] = { 0 };

        for (size_t k = 0; k < keys; k++) {
            float score = a.scale * dot(a.q + at * a.dim, a.cache_k + (cache + k) * a.dim, a.dim);
            float next = score > most ? score : most, keep = expf(most - next);
            float weight = expf(score - next);

            for (size_t i = 0; i < a.value; i++)
                sums[i] =
                    sums[i] * keep + weight * bf16_to_float(a.cache_v[(cache + k) * a.value + i]);
            sum = sum * keep + weight;
            most = next;
        }
        for (size_t i = 0; i < a.value; i++)
            a.out[at * a.value + i] = bf16_from_float(sums[i] / sum);
    }
}

static void merge(struct ops *ops, struct merge a)
{
    (void)ops;
    for (size_t b = 0; b < a.batch; b++)
        for (size_t h = 0; h < a.heads; h++)
            for (size_t t = 0; t < a.tokens; t++)
                memcpy(a.out + ((b * a.tokens + t) * a.heads + h) * a.dim,
                       a.in + ((b * a.heads + h) * a.tokens + t) * a.dim, a.dim * sizeof(bf16));
}

void ops_cpu_add_attention(struct ops *ops)
{
    ops->split = split;
    ops->split_latent = split_latent;
    ops->attend = attend;
    ops->attend_cache = attend_cache;
    ops->merge = merge;
}
