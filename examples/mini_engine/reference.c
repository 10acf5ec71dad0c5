/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder and network of convolutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "reference_math.h"

struct sizes {
    size_t count, key, value; /* rows; widths of a head */
};

/* Keys, queries and values of all heads, before rotation: count x heads x width each. */
static void project_plain(const struct decoder_shape *shape, const struct layer *layer,
                          const double *x, size_t count, double *q, double *k, double *v)
{
    size_t d = shape->head_dim, width = (shape->heads + 2 * shape->kv_heads) * d;
    double *row = reference_array(width);

    for (size_t t = 0; t < count; t++) {
        reference_linear(row, x + t * shape->hidden, layer->qkv, layer->qkv_bias, width,
                         shape->hidden);
        for (size_t h = 0; h < shape->heads; h++) {
            size_t shared = shape->heads + h * shape->kv_heads / shape->heads;
            double *to = q + (t * shape->heads + h) * d, *key = k + (t * shape->heads + h) * d;

            memcpy(to, row + h * d, d * sizeof(*to));
            memcpy(key, row + shared * d, d * sizeof(*key));
            memcpy(v + (t * shape->heads + h) * d, row + (shared + shape->kv_heads) * d,
                   d * sizeof(*v));
            if (shape->qk_norm) {
                reference_norm(to, to, layer->q_norm, NULL, d, shape->epsilon, 1);
                reference_norm(key, key, layer->k_norm, NULL, d, shape->epsilon, 1);
            }
            reference_rotate(to, d, t, shape->theta);
            reference_rotate(key, d, t, shape->theta);
        }
    }
    free(row);
}

static void project_latent(const struct decoder_shape *shape, const struct layer *layer,
                           const double *x, size_t count, double *q, double *k, double *v)
{
    size_t key = shape->nope + shape->rope, up = shape->nope + shape->value;
    double *latent = reference_array(shape->kv_rank + shape->rope);
    double *low = reference_array(shape->q_rank + 1);
    double *expanded = reference_array(shape->heads * up);

    for (size_t t = 0; t < count; t++, x += shape->hidden) {
        reference_linear(latent, x, layer->kv_down, NULL, shape->kv_rank + shape->rope,
                         shape->hidden);
        reference_norm(latent, latent, layer->kv_down_norm, NULL, shape->kv_rank, shape->epsilon,
                       1);
        reference_rotate(latent + shape->kv_rank, shape->rope, t, shape->theta);
        reference_linear(expanded, latent, layer->kv_up, NULL, shape->heads * up, shape->kv_rank);
        if (shape->q_rank) {
            reference_linear(low, x, layer->q_down, NULL, shape->q_rank, shape->hidden);
            reference_norm(low, low, layer->q_down_norm, NULL, shape->q_rank, shape->epsilon, 1);
        }
        reference_linear(q + t * shape->heads * key, shape->q_rank ? low : x, layer->q_up, NULL,
                         shape->heads * key, shape->q_rank ? shape->q_rank : shape->hidden);
        for (size_t h = 0; h < shape->heads; h++) {
            size_t at = t * shape->heads + h;

            reference_rotate(q + at * key + shape->nope, shape->rope, t, shape->theta);
            memcpy(k + at * key, expanded + h * up, shape->nope * sizeof(*k));
            memcpy(k + at * key + shape->nope, latent + shape->kv_rank, shape->rope * sizeof(*k));
            memcpy(v + at * shape->value, expanded + h * up + shape->nope,
                   shape->value * sizeof(*v));
        }
    }
    free(latent);
    free(low);
    free(expanded);
}

/* One head of one token looks at all tokens up to itself. */
static void attend(const struct decoder_shape *shape, const struct sizes *sizes, const double *q,
                   const double *k, const double *v, size_t t, size_t head, double *out)
{
    double *scores = reference_array(t + 1);

    for (size_t j = 0; j <= t; j++) {
        for (size_t i = 0; i < sizes->key; i++)
            scores[j] += q[(t * shape->heads + head) * sizes->key + i] *
                         k[(j * shape->heads + head) * sizes->key + i];
        scores[j] /= sqrt((double)sizes->key);
    }
    reference_softmax(scores, t + 1);
    for (size_t i = 0; i < sizes->value; i++) {
        out[i] = 0;
        for (size_t j = 0; j <= t; j++)
            out[i] += scores[j] * v[(j * shape->heads + head) * sizes->value + i];
    }
    free(scores);
}

static void attention(const struct decoder_shape *shape, const struct layer *layer, double *x,
                      size_t count)
{
    struct sizes sizes = { count, shape_key_dim(shape), shape_value_dim(shape) };
    size_t heads = shape->heads, width = heads * sizes.value;
    double *normed = reference_array(count * shape->hidden), *out = reference_array(shape->hidden);
    double *q = reference_array(count * heads * sizes.key);
    double *k = reference_array(count * heads * sizes.key);
    double *v = reference_array(count * width), *mixed = reference_array(width);

    for (size_t t = 0; t < count; t++)
        reference_norm(normed + t * shape->hidden, x + t * shape->hidden, layer->norm_in, NULL,
                       shape->hidden, shape->epsilon, 1);
    if (shape->kv_rank)
        project_latent(shape, layer, normed, count, q, k, v);
    else
        project_plain(shape, layer, normed, count, q, k, v);
    for (size_t t = 0; t < count; t++) {
        for (size_t h = 0; h < heads; h++)
            attend(shape, &sizes, q, k, v, t, h, mixed + h * sizes.value);
        reference_linear(out, mixed, layer->out, NULL, shape->hidden, width);
        for (size_t i = 0; i < shape->hidden; i++)
            x[t * shape->hidden + i] += out[i];
    }
    free(normed);
    free(out);
    free(q);
    free(k);
    free(v);
    free(mixed);
}

/* x += weight * MLP(in). */
static void add_gated(double *x, const double *in, const bf16 *gate_up, const bf16 *down,
                      size_t hidden, size_t width, double weight)
{
    double *both = reference_array(2 * width), *out = reference_array(hidden);

    reference_linear(both, in, gate_up, NULL, 2 * width, hidden);
    for (size_t i = 0; i < width; i++)
        both[i] = both[i] / (1 + exp(-both[i])) * both[width + i];
    reference_linear(out, both, down, NULL, hidden, width);
    for (size_t i = 0; i < hidden; i++)
        x[i] += weight * out[i];
    free(both);
    free(out);
}

static void add_experts(const struct decoder_shape *shape, const struct layer *layer, double *x,
                        const double *in)
{
    double *scores = reference_array(shape->experts), sum = 0;
    size_t hidden = shape->hidden, width = shape->expert_size;
    int *rank = calloc(shape->experts, sizeof(*rank));

    reference_linear(scores, in, layer->router, NULL, shape->experts, hidden);
    reference_softmax(scores, shape->experts);
    for (size_t e = 0; rank && e < shape->experts; e++) {
        for (size_t other = 0; other < shape->experts; other++)
            rank[e] += scores[other] > scores[e] || (scores[other] == scores[e] && other < e);
        sum += rank[e] < (int)shape->choices ? scores[e] : 0;
    }
    for (size_t e = 0; rank && e < shape->experts; e++)
        if (rank[e] < (int)shape->choices)
            add_gated(x, in, layer->experts_gate_up + e * 2 * width * hidden,
                      layer->experts_down + e * hidden * width, hidden, width,
                      scores[e] / (shape->renormalise ? sum : 1));
    if (shape->shared_size)
        add_gated(x, in, layer->gate_up, layer->down, hidden, shape->shared_size, 1);
    free(scores);
    free(rank);
}

void reference_decoder(const struct engine *engine, const double *rows, size_t count,
                       double *logits_out)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    size_t hidden = shape->hidden;
    double *x = reference_array(count * hidden), *normed = reference_array(hidden);

    memcpy(x, rows, count * hidden * sizeof(*x));
    for (size_t l = 0; l < shape->layers; l++) {
        const struct layer *layer = &engine->decoder.layers[l];

        attention(shape, layer, x, count);
        for (size_t t = 0; t < count; t++) {
            double *row = x + t * hidden;

            reference_norm(normed, row, layer->norm_mlp, NULL, hidden, shape->epsilon, 1);
            if (shape->experts > 0 && l >= shape->dense_layers)
                add_experts(shape, layer, row, normed);
            else
                add_gated(row, normed, layer->gate_up, layer->down, hidden, shape->intermediate, 1);
        }
    }
    reference_norm(normed, x + (count - 1) * hidden, engine->decoder.norm_out, NULL, hidden,
                   shape->epsilon, 1);
    reference_linear(logits_out, normed, engine->decoder.lm_head, NULL, shape->vocabulary, hidden);
    free(x);
    free(normed);
}

void reference_rows(const struct engine *engine, const int32_t *ids, const int32_t *image_rows,
                    const double *features, size_t count, double *rows_out)
{
    size_t hidden = engine->shape.decoder.hidden;

    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < hidden; i++)
            rows_out[t * hidden + i] =
                image_rows[t] >= 0
                    ? features[(size_t)image_rows[t] * hidden + i]
                    : (double)bf16_to_float(engine->decoder.embedding[(size_t)ids[t] * hidden + i]);
}

/* Output channel o at (y, x) of a 3 x 3 convolution over `in` channels. */
static double convolution_at(const double *image, const bf16 *w, size_t stride, size_t in,
                             size_t height, size_t width, size_t y, size_t x, size_t o)
{
    double sum = 0;

    for (size_t ky = 0; ky < 3; ky++)
        for (size_t kx = 0; kx < 3; kx++) {
            size_t py = y + ky, px = x + kx;

            if (py < 1 || px < 1 || py > height || px > width)
                continue;
            for (size_t c = 0; c < in; c++)
                sum += image[((py - 1) * width + px - 1) * in + c] *
                       (double)bf16_to_float(w[o * stride + (ky * 3 + kx) * in + c]);
        }
    return sum;
}

static void convolve(const struct engine *engine, size_t index, const double *in, double *out,
                     const double *residual)
{
    const struct resnet_shape *shape = &engine->shape.resnet;
    const struct resnet *net = &engine->resnet;
    size_t channels = index == 0 ? shape->in_channels : shape->channels;

    for (size_t y = 0; y < shape->height; y++)
        for (size_t x = 0; x < shape->width; x++)
            for (size_t o = 0; o < shape->channels; o++) {
                size_t at = (y * shape->width + x) * shape->channels + o;
                double value =
                    convolution_at(in, net->convolutions[index], scores_stride(9 * channels),
                                   channels, shape->height, shape->width, y, x, o);

                value = value * (double)bf16_to_float(net->scales[index][o]) +
                        (double)bf16_to_float(net->shifts[index][o]);
                value += residual ? residual[at] : 0;
                out[at] = value > 0 ? value : 0;
            }
}

void reference_resnet(const struct engine *engine, size_t index, double *logits_out)
{
    const struct resnet_shape *shape = &engine->shape.resnet;
    size_t places = shape->height * shape->width, channels = shape->channels;
    double *in = reference_array(places * shape->in_channels),
           *a = reference_array(places * channels);
    double *b = reference_array(places * channels), *c = reference_array(places * channels);
    double *pooled = reference_array(channels);

    for (size_t i = 0; i < places * shape->in_channels; i++)
        in[i] =
            (double)bf16_to_float(engine->resnet.input[index * places * shape->in_channels + i]);
    convolve(engine, 0, in, a, NULL);
    for (size_t block = 0; block < shape->blocks; block++) {
        convolve(engine, 1 + 2 * block, a, b, NULL);
        convolve(engine, 2 + 2 * block, b, c, a);
        memcpy(a, c, places * channels * sizeof(*a));
    }
    for (size_t i = 0; i < places * channels; i++)
        pooled[i % channels] += a[i] / (double)places;
    reference_linear(logits_out, pooled, engine->resnet.linear, engine->resnet.linear_bias,
                     shape->classes, channels);
    free(in);
    free(a);
    free(b);
    free(c);
    free(pooled);
}
