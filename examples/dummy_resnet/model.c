/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "model.h"

/* Each tensor has its own random stream, so that a change of one shape does not change the numbers
 * of the others. */
enum { STREAM_INPUT, STREAM_HEAD_WEIGHTS, STREAM_HEAD_BIAS, STREAM_LAYERS };
enum { STREAM_WEIGHTS, STREAM_GAMMA, STREAM_BETA, STREAM_MEAN, STREAM_VARIANCE, STREAMS_PER_LAYER };

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* Uniform in [-1, 1), a multiple of 2^-23: exact in float and double. */
static double uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = mix(mix(seed + step * (stream + 1)) + step * (index + 1));

    return (double)(bits >> 40) * 0x1p-23 - 1.0;
}

static float *random_values(const struct model *model, uint64_t stream, size_t count, double middle,
                            double bound)
{
    float *values = malloc(count * sizeof(*values));

    for (size_t i = 0; values && i < count; i++)
        values[i] = (float)(middle + bound * uniform(model->seed, stream, i));
    return values;
}

static int make_layer(struct model *model, size_t index)
{
    const struct shape *shape = &model->shape;
    struct layer *layer = &model->layers[index];
    uint64_t stream = STREAM_LAYERS + STREAMS_PER_LAYER * (uint64_t)index;
    size_t channels = shape->channels, fan_in;

    layer->in_channels = index ? channels : shape->in_channels;
    fan_in = layer->in_channels * TAPS;
    /* He's bound keeps the size of the activations through ReLUs. */
    layer->weights = random_values(model, stream + STREAM_WEIGHTS, channels * fan_in, 0,
                                   sqrt(6.0 / (double)fan_in));
    layer->scale = malloc(channels * sizeof(float));
    layer->shift = malloc(channels * sizeof(float));
    if (!layer->weights || !layer->scale || !layer->shift)
        return -1;
    for (size_t c = 0; c < channels; c++) {
        double gamma = 1 + 0.5 * uniform(model->seed, stream + STREAM_GAMMA, c);
        double beta = 0.1 * uniform(model->seed, stream + STREAM_BETA, c);
        double mean = 0.1 * uniform(model->seed, stream + STREAM_MEAN, c);
        double variance = 1 + 0.5 * uniform(model->seed, stream + STREAM_VARIANCE, c);
        double scale = gamma / sqrt(variance + shape->epsilon);

        layer->scale[c] = (float)scale;
        layer->shift[c] = (float)(beta - mean * scale);
    }
    return 0;
}

struct model *model_create(const struct shape *shape, uint64_t seed)
{
    struct model *model = calloc(1, sizeof(*model));
    int failed;

    if (!model)
        return NULL;
    model->shape = *shape;
    model->seed = seed;
    model->layer_count = 1 + 2 * shape->blocks;
    model->layers = calloc(model->layer_count, sizeof(*model->layers));
    failed = !model->layers;
    for (size_t i = 0; !failed && i < model->layer_count; i++)
        failed = make_layer(model, i) < 0;
    model->head_weights =
        random_values(model, STREAM_HEAD_WEIGHTS, shape->classes * shape->channels, 0,
                      1 / sqrt((double)shape->channels));
    model->head_bias = random_values(model, STREAM_HEAD_BIAS, shape->classes, 0, 0.1);
    if (!failed && model->head_weights && model->head_bias)
        return model;
    model_free(model);
    return NULL;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    for (size_t i = 0; model->layers && i < model->layer_count; i++) {
        free(model->layers[i].weights);
        free(model->layers[i].scale);
        free(model->layers[i].shift);
    }
    free(model->layers);
    free(model->head_weights);
    free(model->head_bias);
    free(model);
}

void model_input(const struct model *model, size_t image, float *values_out)
{
    size_t count = model->shape.in_channels * model->shape.height * model->shape.width;

    for (size_t i = 0; i < count; i++)
        values_out[i] = (float)uniform(model->seed, STREAM_INPUT, image * count + i);
}

const char *shape_problem(const struct shape *shape)
{
    static const size_t most_elements = (size_t)1 << 33;
    size_t widest = shape->channels > shape->in_channels ? shape->channels : shape->in_channels;

    if (shape->batch < 1 || shape->batch > 65536)
        return "batch must be 1 to 65536";
    if (shape->in_channels < 1 || shape->in_channels > 1024)
        return "input.channels must be 1 to 1024";
    if (shape->height < 1 || shape->height > 4096 || shape->width < 1 || shape->width > 4096)
        return "input.height and input.width must be 1 to 4096";
    if (shape->channels < 1 || shape->channels > 1024)
        return "channels must be 1 to 1024";
    if (shape->blocks < 1 || shape->blocks > 1000)
        return "blocks must be 1 to 1000";
    if (shape->classes < 1 || shape->classes > 65536)
        return "classes must be 1 to 65536";
    if (!(shape->epsilon > 0 && shape->epsilon < 1))
        return "batch_norm_epsilon must be above 0 and below 1";
    if (shape->height * shape->width > most_elements / shape->batch / widest)
        return "batch x channels x height x width must be at most 2^33";
    return NULL;
}

static struct work add(struct work a, struct work b)
{
    return (struct work){ a.flops + b.flops, a.bytes + b.bytes };
}

static uint64_t pixels(const struct shape *shape)
{
    return (uint64_t)shape->batch * shape->height * shape->width;
}

/* Convolution: reads input and weights, writes the output. Batch norm: reads and writes its tensor,
 * reads scale and shift. */
struct work work_of_layer(const struct model *model, size_t layer)
{
    const struct shape *shape = &model->shape;
    uint64_t in = model->layers[layer].in_channels, out = shape->channels;
    uint64_t convolution = pixels(shape) * (in + out) + in * out * TAPS;
    uint64_t batch_norm = 2 * pixels(shape) * out + 2 * out;

    return (struct work){ 2 * pixels(shape) * in * out * TAPS,
                          sizeof(float) * (convolution + batch_norm) };
}

/* The addition reads two tensors and writes one. */
struct work work_of_residual(const struct model *model)
{
    struct work sum = { 0, sizeof(float) * 3 * pixels(&model->shape) * model->shape.channels *
                               model->shape.blocks };

    for (size_t i = 1; i < model->layer_count; i++)
        sum = add(sum, work_of_layer(model, i));
    return sum;
}

/* The pool reads a tensor and writes one number a channel; the linear layer reads those and its
 * weights. */
struct work work_of_head(const struct model *model)
{
    const struct shape *shape = &model->shape;
    uint64_t batch = shape->batch, channels = shape->channels, classes = shape->classes;
    uint64_t pool = pixels(shape) * channels + batch * channels;
    uint64_t linear = batch * channels + classes * channels + classes + batch * classes;

    return (struct work){ 2 * batch * channels * classes, sizeof(float) * (pool + linear) };
}

struct work work_of_forward(const struct model *model)
{
    return add(add(work_of_layer(model, 0), work_of_residual(model)), work_of_head(model));
}
