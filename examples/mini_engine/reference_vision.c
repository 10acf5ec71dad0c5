/* SPDX-License-Identifier: Apache-2.0 */
/* SAM, compressor, CLIP, projector, of one image. Nothing is cut into windows: a token asks which
 * others share its window. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "reference_math.h"

/* Element at `at` of a row of `count` equally spaced values, ends held. */
static double between(const bf16 *values, size_t stride, size_t count, double at)
{
    double low = floor(at < 0 ? 0 : at), part = (at < 0 ? 0 : at) - low;
    size_t first = (size_t)low < count ? (size_t)low : count - 1;
    size_t second = first + 1 < count ? first + 1 : first;

    return (double)bf16_to_float(values[first * stride]) * (1 - part) +
           (double)bf16_to_float(values[second * stride]) * part;
}

static double scaled(size_t i, size_t to, size_t from)
{
    return ((double)i + 0.5) * (double)from / (double)to - 0.5;
}

/* A table of positions, `from` a side, at (y, x) of a grid of `to` a side. */
static double position(const bf16 *table, size_t width, size_t c, size_t from, size_t to, size_t y,
                       size_t x)
{
    double at = scaled(y, to, from), low = floor(at < 0 ? 0 : at), part = (at < 0 ? 0 : at) - low;
    size_t first = (size_t)low < from ? (size_t)low : from - 1;
    size_t second = first + 1 < from ? first + 1 : first;
    double above = between(table + first * from * width + c, width, from, scaled(x, to, from));
    double below = between(table + second * from * width + c, width, from, scaled(x, to, from));

    return above * (1 - part) + below * part;
}

struct picture {
    const struct encoder_shape *shape;
    const struct encoder_layer *layer;
    size_t grid;   /* 0: no picture, all tokens attend each other, no relative positions */
    size_t window; /* 0: global */
    size_t tokens;
    const double *qkv; /* tokens x 3 width */
};

static double score(const struct picture *p, const double *q, const double *k, size_t head, long dy,
                    long dx)
{
    size_t dim = p->shape->width / p->shape->heads, span = p->window ? p->window : p->grid;
    double sum = 0, bias = 0;

    for (size_t i = 0; i < dim; i++)
        sum += q[head * dim + i] * k[p->shape->width + head * dim + i];
    for (size_t i = 0; i < dim && p->grid; i++) {
        size_t table = 2 * p->layer->table_grid - 1;
        double row = scaled((size_t)(dy + (long)span - 1), 2 * span - 1, table);
        double column = scaled((size_t)(dx + (long)span - 1), 2 * span - 1, table);

        bias += q[head * dim + i] * (between(p->layer->row_table + i, dim, table, row) +
                                     between(p->layer->column_table + i, dim, table, column));
    }
    return sum / sqrt((double)dim) + bias;
}

/* Windows are padded with zero vectors after the norm, so key and value of the padding are the
 * biases. */
static void filler(const struct picture *p, double *qkv)
{
    for (size_t i = 0; i < 3 * p->shape->width; i++)
        qkv[i] = (double)bf16_to_float(p->layer->qkv_bias[i]);
}

/* The row of key j as token t sees it; its place in (dy, dx) from t. */
static const double *key_of(const struct picture *p, size_t t, size_t j, const double *fill,
                            long *dy, long *dx)
{
    size_t y = p->grid ? t / p->grid : 0, x = p->grid ? t % p->grid : 0;
    size_t ky, kx;

    *dy = *dx = 0;
    if (!p->grid)
        return p->qkv + j * 3 * p->shape->width;
    ky = p->window ? y / p->window * p->window + j / p->window : j / p->grid;
    kx = p->window ? x / p->window * p->window + j % p->window : j % p->grid;
    *dy = (long)y - (long)ky;
    *dx = (long)x - (long)kx;
    return ky < p->grid && kx < p->grid ? p->qkv + (ky * p->grid + kx) * 3 * p->shape->width : fill;
}

static void attend(const struct picture *p, size_t t, double *mixed)
{
    size_t width = p->shape->width, dim = width / p->shape->heads;
    size_t keys = p->window ? p->window * p->window : p->tokens;
    double *scores = reference_array(keys), *fill = reference_array(3 * width);
    long dy, dx;

    filler(p, fill);
    memset(mixed, 0, width * sizeof(*mixed));
    for (size_t h = 0; h < p->shape->heads; h++) {
        for (size_t j = 0; j < keys; j++) {
            const double *k = key_of(p, t, j, fill, &dy, &dx);

            scores[j] = score(p, p->qkv + t * 3 * width, k, h, dy, dx);
        }
        reference_softmax(scores, keys);
        for (size_t j = 0; j < keys; j++) {
            const double *k = key_of(p, t, j, fill, &dy, &dx);

            for (size_t i = 0; i < dim; i++)
                mixed[h * dim + i] += scores[j] * k[2 * width + h * dim + i];
        }
    }
    free(scores);
    free(fill);
}

static void add_attention(struct picture *p, double *x, double epsilon)
{
    size_t width = p->shape->width;
    double *qkv = reference_array(p->tokens * 3 * width), *normed = reference_array(width);
    double *mixed = reference_array(width), *out = reference_array(width);

    for (size_t t = 0; t < p->tokens; t++) {
        reference_norm(normed, x + t * width, p->layer->norm_in, p->layer->norm_in_bias, width,
                       epsilon, 0);
        reference_linear(qkv + t * 3 * width, normed, p->layer->qkv, p->layer->qkv_bias, 3 * width,
                         width);
    }
    p->qkv = qkv;
    for (size_t t = 0; t < p->tokens; t++) {
        attend(p, t, mixed);
        reference_linear(out, mixed, p->layer->out, p->layer->out_bias, width, width);
        for (size_t i = 0; i < width; i++)
            x[t * width + i] += out[i];
    }
    free(qkv);
    free(normed);
    free(mixed);
    free(out);
}

static void add_mlp(const struct picture *p, double *x, double epsilon, int quick)
{
    size_t width = p->shape->width, inner = p->shape->mlp;
    double *normed = reference_array(width), *up = reference_array(inner);
    double *out = reference_array(width);

    for (size_t t = 0; t < p->tokens; t++, x += width) {
        reference_norm(normed, x, p->layer->norm_mlp, p->layer->norm_mlp_bias, width, epsilon, 0);
        reference_linear(up, normed, p->layer->up, p->layer->up_bias, inner, width);
        for (size_t i = 0; i < inner; i++)
            up[i] *= quick ? 1 / (1 + exp(-1.702 * up[i])) : 0.5 * (1 + erf(up[i] / sqrt(2.0)));
        reference_linear(out, up, p->layer->down, p->layer->down_bias, width, inner);
        for (size_t i = 0; i < width; i++)
            x[i] += out[i];
    }
    free(normed);
    free(up);
    free(out);
}

static void run_sam(const struct engine *engine, const bf16 *pixels, size_t side, double *x)
{
    const struct encoder_shape *shape = &engine->shape.vision.sam;
    const struct encoder *sam = &engine->vision.sam;
    size_t grid = side / shape->patch, patch = shape->patch * shape->patch * 3;
    double *in = reference_array(patch);

    for (size_t t = 0; t < grid * grid; t++) {
        for (size_t i = 0; i < patch; i++) {
            size_t y = t / grid * shape->patch + i / 3 / shape->patch;
            size_t at = t % grid * shape->patch + i / 3 % shape->patch;

            in[i] = (double)bf16_to_float(pixels[(y * side + at) * 3 + i % 3]);
        }
        reference_linear(x + t * shape->width, in, sam->patch, sam->patch_bias, shape->width,
                         patch);
        for (size_t c = 0; c < shape->width; c++)
            x[t * shape->width + c] +=
                position(sam->positions, shape->width, c, shape->grid, grid, t / grid, t % grid);
    }
    for (size_t l = 0; l < shape->layers; l++) {
        int global = shape->global_layers >> l & 1;
        struct picture p = { shape, &sam->layers[l], grid, global ? 0 : shape->window, grid * grid,
                             NULL };

        add_attention(&p, x, 1e-6);
        add_mlp(&p, x, 1e-6, 0);
    }
    free(in);
}

/* 3 x 3, padding 1, channels last. */
static double *convolve(const double *in, size_t grid, size_t channels, const bf16 *w, size_t out,
                        size_t stride)
{
    size_t side = (grid - 1) / stride + 1;
    double *y = reference_array(side * side * out), *around = reference_array(9 * channels);

    for (size_t t = 0; t < side * side; t++) {
        for (size_t k = 0; k < 9; k++) {
            size_t py = t / side * stride + k / 3, px = t % side * stride + k % 3;
            int inside = py >= 1 && px >= 1 && py <= grid && px <= grid;

            for (size_t c = 0; c < channels; c++)
                around[k * channels + c] =
                    inside ? in[((py - 1) * grid + px - 1) * channels + c] : 0;
        }
        reference_linear(y + t * out, around, w, NULL, out, 9 * channels);
    }
    free(around);
    return y;
}

static void norm_all(double *x, size_t rows, size_t width, const bf16 *weight, const bf16 *bias)
{
    for (size_t t = 0; t < rows; t++)
        reference_norm(x + t * width, x + t * width, weight, bias, width, 1e-6, 0);
}

static double *compress(const struct engine *engine, const double *x, size_t grid)
{
    const struct vision_shape *shape = &engine->shape.vision;
    const struct vision *v = &engine->vision;
    double *narrow = reference_array(grid * grid * shape->neck), *neck, *half, *quarter;

    for (size_t t = 0; t < grid * grid; t++)
        reference_linear(narrow + t * shape->neck, x + t * shape->sam.width, v->neck_1x1, NULL,
                         shape->neck, shape->sam.width);
    norm_all(narrow, grid * grid, shape->neck, v->neck_norm1, v->neck_norm1_bias);
    neck = convolve(narrow, grid, shape->neck, v->neck_3x3, shape->neck, 1);
    norm_all(neck, grid * grid, shape->neck, v->neck_norm2, v->neck_norm2_bias);
    half = convolve(neck, grid, shape->neck, v->compress1, shape->compressor[0], 2);
    quarter = convolve(half, grid / 2, shape->compressor[0], v->compress2, shape->compressor[1], 2);
    free(narrow);
    free(neck);
    free(half);
    return quarter;
}

static double *run_clip(const struct engine *engine, const double *map, size_t side)
{
    const struct encoder_shape *shape = &engine->shape.vision.clip;
    const struct encoder *clip = &engine->vision.clip;
    size_t tokens = side * side + 1, width = shape->width;
    double *x = reference_array(tokens * width);

    for (size_t t = 0; t < tokens; t++)
        for (size_t c = 0; c < width; c++)
            x[t * width + c] = t == 0 ? (double)bf16_to_float(clip->class_token[c]) +
                                            (double)bf16_to_float(clip->positions[c])
                                      : map[(t - 1) * width + c] +
                                            position(clip->positions + width, width, c, shape->grid,
                                                     side, (t - 1) / side, (t - 1) % side);
    for (size_t t = 0; t < tokens; t++)
        reference_norm(x + t * width, x + t * width, clip->norm, clip->norm_bias, width, 1e-5, 0);
    for (size_t l = 0; l < shape->layers; l++) {
        struct picture p = { shape, &clip->layers[l], 0, 0, tokens, NULL };

        add_attention(&p, x, 1e-5);
        add_mlp(&p, x, 1e-5, 1);
    }
    return x;
}

void reference_vision(const struct engine *engine, const bf16 *pixels, size_t pixels_side,
                      double *features_out)
{
    const struct vision_shape *shape = &engine->shape.vision;
    size_t grid = pixels_side / shape->sam.patch, side = grid / 4, clip_width = shape->clip.width;
    double *x = reference_array(grid * grid * shape->sam.width), *map, *clip;
    double *joined = reference_array(shape->projector_in);

    run_sam(engine, pixels, pixels_side, x);
    map = compress(engine, x, grid);
    clip = run_clip(engine, map, side);
    for (size_t t = 0; t < side * side; t++) {
        memcpy(joined, clip + (t + 1) * clip_width, clip_width * sizeof(*joined));
        memcpy(joined + clip_width, map + t * shape->compressor[1],
               shape->compressor[1] * sizeof(*joined));
        reference_linear(features_out + t * shape->projector_out, joined, engine->vision.projector,
                         engine->vision.projector_bias, shape->projector_out, shape->projector_in);
    }
    free(x);
    free(map);
    free(clip);
    free(joined);
}
