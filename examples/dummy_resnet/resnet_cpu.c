/* SPDX-License-Identifier: Apache-2.0 */
/* The plain path that the GPU is compared with: sums in double, no library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

struct cpu {
    struct device device; /* first: a struct device * is a struct cpu * */
    const struct model *model;
    size_t images;
    enum precision precision;
    double *buffers[BUFFER_END];
};

static size_t plane_size(const struct cpu *cpu)
{
    return cpu->model->shape.height * cpu->model->shape.width;
}

/* Round a tensor that a layer has written, if tensors are floats. */
static void settle(const struct cpu *cpu, double *values, size_t count)
{
    if (cpu->precision == PRECISION_DOUBLE)
        return;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)values[i];
}

/* to[y][x] += weight * from[y + dy][x + dx], where that lies inside the plane. */
static void add_tap(const struct shape *shape, double *to, const double *from, int dy, int dx,
                    double weight)
{
    size_t first_row = dy < 0, rows = shape->height - (dy > 0);
    size_t first_column = dx < 0, columns = shape->width - (dx > 0);
    ptrdiff_t step = dy * (ptrdiff_t)shape->width + dx;

    for (size_t y = first_row; y < rows; y++)
        for (size_t x = first_column; x < columns; x++) {
            size_t at = y * shape->width + x;

            to[at] += weight * from[(ptrdiff_t)at + step];
        }
}

static void conv3x3(struct device *device, size_t layer_index, enum buffer from, enum buffer to)
{
    struct cpu *cpu = (struct cpu *)device;
    const struct shape *shape = &cpu->model->shape;
    const struct layer *layer = &cpu->model->layers[layer_index];
    size_t plane = plane_size(cpu), planes = cpu->images * shape->channels;

    memset(cpu->buffers[to], 0, planes * plane * sizeof(double));
    for (size_t p = 0; p < planes; p++) {
        size_t image = p / shape->channels;
        const float *weights = layer->weights + p % shape->channels * layer->in_channels * TAPS;

        for (size_t tap = 0; tap < layer->in_channels * TAPS; tap++) {
            size_t in_plane = image * layer->in_channels + tap / TAPS;

            add_tap(shape, cpu->buffers[to] + p * plane, cpu->buffers[from] + in_plane * plane,
                    (int)(tap % TAPS / 3) - 1, (int)(tap % 3) - 1, weights[tap]);
        }
    }
    settle(cpu, cpu->buffers[to], planes * plane);
}

static void batch_norm(struct device *device, size_t layer_index, enum buffer data, int relu)
{
    struct cpu *cpu = (struct cpu *)device;
    const struct layer *layer = &cpu->model->layers[layer_index];
    size_t channels = cpu->model->shape.channels, plane = plane_size(cpu),
           planes = cpu->images * channels;

    for (size_t p = 0; p < planes; p++) {
        double *values = cpu->buffers[data] + p * plane;

        for (size_t i = 0; i < plane; i++) {
            double value = values[i] * layer->scale[p % channels] + layer->shift[p % channels];

            values[i] = relu && value < 0 ? 0 : value;
        }
    }
    settle(cpu, cpu->buffers[data], planes * plane);
}

static void add_relu(struct device *device, enum buffer from, enum buffer to)
{
    struct cpu *cpu = (struct cpu *)device;
    size_t count = cpu->images * cpu->model->shape.channels * plane_size(cpu);

    for (size_t i = 0; i < count; i++) {
        double value = cpu->buffers[to][i] + cpu->buffers[from][i];

        cpu->buffers[to][i] = value < 0 ? 0 : value;
    }
    settle(cpu, cpu->buffers[to], count);
}

static void average_pool(struct device *device, enum buffer from)
{
    struct cpu *cpu = (struct cpu *)device;
    size_t plane = plane_size(cpu), planes = cpu->images * cpu->model->shape.channels;

    for (size_t p = 0; p < planes; p++) {
        double sum = 0;

        for (size_t i = 0; i < plane; i++)
            sum += cpu->buffers[from][p * plane + i];
        cpu->buffers[BUFFER_POOLED][p] = sum / (double)plane;
    }
    settle(cpu, cpu->buffers[BUFFER_POOLED], planes);
}

static void linear(struct device *device)
{
    struct cpu *cpu = (struct cpu *)device;
    const struct model *model = cpu->model;
    size_t channels = model->shape.channels, classes = model->shape.classes;

    for (size_t i = 0; i < cpu->images * classes; i++) {
        const double *in = cpu->buffers[BUFFER_POOLED] + i / classes * channels;
        const float *weights = model->head_weights + i % classes * channels;
        double sum = model->head_bias[i % classes];

        for (size_t c = 0; c < channels; c++)
            sum += in[c] * weights[c];
        cpu->buffers[BUFFER_OUTPUT][i] = sum;
    }
    settle(cpu, cpu->buffers[BUFFER_OUTPUT], cpu->images * classes);
}

static void mark(struct device *device, enum moment moment)
{
    (void)device, (void)moment;
}

static int time_iterations(struct device *device, size_t count)
{
    (void)count;
    snprintf(device->error, sizeof(device->error), "device times need a CUDA device");
    return -1;
}

static double elapsed_ms(struct device *device, enum moment from, enum moment to)
{
    (void)device, (void)from, (void)to;
    return -1;
}

static int synchronise(struct device *device)
{
    (void)device;
    return 0;
}

static int read_output(struct device *device, size_t image, double *values_out)
{
    struct cpu *cpu = (struct cpu *)device;
    size_t classes = cpu->model->shape.classes;

    memcpy(values_out, cpu->buffers[BUFFER_OUTPUT] + image * classes,
           classes * sizeof(*values_out));
    return 0;
}

static void destroy(struct device *device)
{
    struct cpu *cpu = (struct cpu *)device;

    for (int i = 0; i < BUFFER_END; i++)
        free(cpu->buffers[i]);
    free(cpu);
}

static int fill_input(struct cpu *cpu, size_t first_image)
{
    size_t size = cpu->model->shape.in_channels * plane_size(cpu);
    float *values = malloc(size * sizeof(*values));

    if (!values)
        return -1;
    for (size_t image = 0; image < cpu->images; image++) {
        model_input(cpu->model, first_image + image, values);
        for (size_t i = 0; i < size; i++)
            cpu->buffers[BUFFER_INPUT][image * size + i] = values[i];
    }
    free(values);
    return 0;
}

static int make_buffers(struct cpu *cpu)
{
    const struct shape *shape = &cpu->model->shape;
    size_t tensor = shape->channels * plane_size(cpu);
    const size_t sizes[BUFFER_END] = { shape->in_channels * plane_size(cpu),
                                       tensor,
                                       tensor,
                                       tensor,
                                       shape->channels,
                                       shape->classes };

    for (int i = 0; i < BUFFER_END; i++)
        if (!(cpu->buffers[i] = calloc(cpu->images * sizes[i], sizeof(double))))
            return -1;
    return 0;
}

struct device *cpu_open(const struct model *model, size_t first_image, size_t images,
                        enum precision precision)
{
    struct cpu *cpu = calloc(1, sizeof(*cpu));

    if (!cpu)
        return NULL;
    cpu->model = model;
    cpu->images = images;
    cpu->precision = precision;
    cpu->device = (struct device){ .conv3x3 = conv3x3,
                                   .batch_norm = batch_norm,
                                   .add_relu = add_relu,
                                   .average_pool = average_pool,
                                   .linear = linear,
                                   .mark = mark,
                                   .time_iterations = time_iterations,
                                   .elapsed_ms = elapsed_ms,
                                   .synchronise = synchronise,
                                   .read_output = read_output,
                                   .destroy = destroy,
                                   .name = "cpu" };
    if (make_buffers(cpu) < 0 || fill_input(cpu, first_image) < 0) {
        destroy(&cpu->device);
        return NULL;
    }
    return &cpu->device;
}
