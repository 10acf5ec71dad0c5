/* SPDX-License-Identifier: Apache-2.0 */
/* The layers as CUDA kernels, one stream, fp32. Written to be read: tiles in shared memory, no
 * library, no tensor cores. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "device.h"

/* Named, not anonymous: the kernels' names are read in reports. */
namespace resnet
{

/* conv3x3: a block computes TILE_Y x TILE_X pixels of GROUP output channels of one image. A thread
 * computes ROWS pixels above each other in all GROUP channels, so that one weight read from shared
 * memory serves ROWS and one pixel serves GROUP. */
constexpr int TILE_X = 32;
constexpr int ROWS = 2;
constexpr int TILE_Y = 4 * ROWS;
constexpr int GROUP = 16;
constexpr int CHUNK = 4; /* input channels in shared memory at a time */
constexpr int CONV_THREADS = TILE_X * TILE_Y / ROWS;

constexpr int THREADS = 256;
constexpr int PER_THREAD = 4; /* elements of the element-wise kernels */

struct conv_shape {
    int in_channels, out_channels, height, width;
    int groups, tiles_y,
        tiles_x; /* of the grid: image, group, tile row, tile column, the last one fastest */
};

struct conv_tile {
    float pixels[CHUNK][TILE_Y + 2][TILE_X + 2]; /* with the rim that the 3x3 kernel needs */
    alignas(16) float weights[CHUNK][TAPS][GROUP];
};

/* Pixels outside of the image and channels past the last are zero. */
__device__ void load_pixels(conv_tile &tile, const conv_shape &shape, const float *image,
                            int channel, int top, int left)
{
    constexpr int PLANE = (TILE_Y + 2) * (TILE_X + 2);

    for (int i = threadIdx.x; i < CHUNK * PLANE; i += CONV_THREADS) {
        int c = i / PLANE, row = i % PLANE / (TILE_X + 2), column = i % (TILE_X + 2);
        int y = top + row - 1, x = left + column - 1;
        bool inside = channel + c < shape.in_channels && y >= 0 && y < shape.height && x >= 0 &&
                      x < shape.width;

        tile.pixels[c][row][column] =
            inside ? image[((size_t)(channel + c) * shape.height + y) * shape.width + x] : 0.0f;
    }
}

/* `weights` lie as [in][tap][out], so that neighbouring threads read neighbouring words. */
__device__ void load_weights(conv_tile &tile, const conv_shape &shape, const float *weights,
                             int channel, int first_out)
{
    for (int i = threadIdx.x; i < CHUNK * TAPS * GROUP; i += CONV_THREADS) {
        int c = i / (TAPS * GROUP), tap = i / GROUP % TAPS, g = i % GROUP;
        bool inside = channel + c < shape.in_channels && first_out + g < shape.out_channels;

        tile.weights[c][tap][g] =
            inside
                ? weights[((size_t)(channel + c) * TAPS + tap) * shape.out_channels + first_out + g]
                : 0.0f;
    }
}

__device__ void add_channel(float (&sums)[ROWS][GROUP], const conv_tile &tile, int c, int row,
                            int column)
{
    float window[ROWS + 2][3];

#pragma unroll
    for (int y = 0; y < ROWS + 2; y++)
#pragma unroll
        for (int x = 0; x < 3; x++)
            window[y][x] = tile.pixels[c][row + y][column + x];
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
        for (int g = 0; g < GROUP; g++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                sums[r][g] += window[r + tap / 3][tap % 3] * tile.weights[c][tap][g];
}

__global__ void __launch_bounds__(CONV_THREADS)
    conv3x3_kernel(const float *in, const float *weights, float *out, conv_shape shape)
{
    __shared__ conv_tile tile;
    int left = blockIdx.x % shape.tiles_x * TILE_X;
    int top = blockIdx.x / shape.tiles_x % shape.tiles_y * TILE_Y;
    int first_out = blockIdx.x / shape.tiles_x / shape.tiles_y % shape.groups * GROUP;
    size_t image = blockIdx.x / shape.tiles_x / shape.tiles_y / shape.groups;
    size_t plane = (size_t)shape.height * shape.width;
    int row = threadIdx.x / TILE_X * ROWS, column = threadIdx.x % TILE_X;
    float sums[ROWS][GROUP] = {};

    in += image * shape.in_channels * plane;
    out += (image * shape.out_channels + first_out) * plane;
    for (int channel = 0; channel < shape.in_channels; channel += CHUNK) {
        load_pixels(tile, shape, in, channel, top, left);
        load_weights(tile, shape, weights, channel, first_out);
        __syncthreads();
        for (int c = 0; c < CHUNK && channel + c < shape.in_channels; c++)
            add_channel(sums, tile, c, row, column);
        __syncthreads(); /* before the next chunk overwrites the tile */
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int g = 0; g < GROUP; g++)
            if (top + row + r < shape.height && left + column < shape.width &&
                first_out + g < shape.out_channels)
                out[g * plane + (size_t)(top + row + r) * shape.width + left + column] = sums[r][g];
}

/* A NaN stays one: it must not vanish before the check of the result. */
__device__ float relu_of(float value)
{
    return value < 0.0f ? 0.0f : value;
}

/* A block works on a part of one plane, so that its scale and shift are the same for all threads.
 */
template <bool RELU>
__global__ void batch_norm_kernel(float *data, const float *scale, const float *shift, int channels,
                                  int plane, int parts)
{
    size_t which = blockIdx.x / parts;
    int first = blockIdx.x % parts * (THREADS * PER_THREAD) + threadIdx.x;
    float by = scale[which % channels], plus = shift[which % channels];

    data += which * plane;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int i = first + k * THREADS;

        if (i < plane) {
            float value = fmaf(data[i], by, plus);

            data[i] = RELU ? relu_of(value) : value;
        }
    }
}

__global__ void add_relu_kernel(const float *from, float *to, size_t count)
{
    size_t first = (size_t)blockIdx.x * (THREADS * PER_THREAD) + threadIdx.x;

#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        size_t i = first + k * THREADS;

        if (i < count)
            to[i] = relu_of(to[i] + from[i]);
    }
}

/* One block a plane. */
__global__ void average_pool_kernel(const float *in, float *out, int plane)
{
    __shared__ float parts[THREADS / 32];
    float sum = 0.0f;

    in += (size_t)blockIdx.x * plane;
    for (int i = threadIdx.x; i < plane; i += THREADS)
        sum += in[i];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < THREADS / 32; w++)
        sum += parts[w];
    out[blockIdx.x] = sum / (float)plane;
}

/* One thread an output. */
__global__ void linear_kernel(const float *in, const float *weights, const float *bias, float *out,
                              int channels, int classes, size_t count)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float sum;

    if (i >= count)
        return;
    in += i / classes * channels;
    weights += i % classes * channels;
    sum = bias[i % classes];
    for (int c = 0; c < channels; c++)
        sum = fmaf(in[c], weights[c], sum);
    out[i] = sum;
}

struct cuda_layer {
    float *weights, *scale, *shift;
};

struct cuda_device {
    struct device device; /* first: a struct device * is a cuda_device * */
    const struct model *model;
    struct cuda_layer *layers;
    float *head_weights, *head_bias;
    float *buffers[BUFFER_END];
    cudaEvent_t *events; /* MOMENTS an iteration */
    size_t timed_iterations, marks;
};

cuda_device *self(struct device *device)
{
    return reinterpret_cast<cuda_device *>(device);
}

/* Keep the first error: later ones follow from it. */
bool good(struct device *device, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !device->error[0])
        snprintf(device->error, sizeof(device->error), "%s: %s", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

void launched(struct device *device, const char *kernel)
{
    if (good(device, cudaGetLastError(), kernel))
        device->launches++;
}

unsigned blocks_for(size_t count, size_t per_block)
{
    return (unsigned)((count + per_block - 1) / per_block);
}

size_t plane_size(const cuda_device *cuda)
{
    return cuda->model->shape.height * cuda->model->shape.width;
}

void conv3x3(struct device *device, size_t layer, enum buffer from, enum buffer to)
{
    cuda_device *cuda = self(device);
    const struct shape &model = cuda->model->shape;
    conv_shape shape;

    shape.in_channels = (int)cuda->model->layers[layer].in_channels;
    shape.out_channels = (int)model.channels;
    shape.height = (int)model.height;
    shape.width = (int)model.width;
    shape.groups = (int)blocks_for(model.channels, GROUP);
    shape.tiles_y = (int)blocks_for(model.height, TILE_Y);
    shape.tiles_x = (int)blocks_for(model.width, TILE_X);
    conv3x3_kernel<<<(unsigned)(model.batch * shape.groups * shape.tiles_y * shape.tiles_x),
                     CONV_THREADS>>>(cuda->buffers[from], cuda->layers[layer].weights,
                                     cuda->buffers[to], shape);
    launched(device, "conv3x3");
}

void batch_norm(struct device *device, size_t layer, enum buffer data, int relu)
{
    cuda_device *cuda = self(device);
    const struct shape &model = cuda->model->shape;
    const cuda_layer &weights = cuda->layers[layer];
    unsigned parts = blocks_for(plane_size(cuda), THREADS * PER_THREAD);
    unsigned blocks = (unsigned)(model.batch * model.channels) * parts;
    int channels = (int)model.channels, plane = (int)plane_size(cuda);

    if (relu)
        batch_norm_kernel<true><<<blocks, THREADS>>>(cuda->buffers[data], weights.scale,
                                                     weights.shift, channels, plane, (int)parts);
    else
        batch_norm_kernel<false><<<blocks, THREADS>>>(cuda->buffers[data], weights.scale,
                                                      weights.shift, channels, plane, (int)parts);
    launched(device, "batch_norm");
}

void add_relu(struct device *device, enum buffer from, enum buffer to)
{
    cuda_device *cuda = self(device);
    size_t count = cuda->model->shape.batch * cuda->model->shape.channels * plane_size(cuda);

    add_relu_kernel<<<blocks_for(count, THREADS * PER_THREAD), THREADS>>>(cuda->buffers[from],
                                                                          cuda->buffers[to], count);
    launched(device, "add_relu");
}

void average_pool(struct device *device, enum buffer from)
{
    cuda_device *cuda = self(device);
    const struct shape &model = cuda->model->shape;

    average_pool_kernel<<<(unsigned)(model.batch * model.channels), THREADS>>>(
        cuda->buffers[from], cuda->buffers[BUFFER_POOLED], (int)plane_size(cuda));
    launched(device, "average_pool");
}

void linear(struct device *device)
{
    cuda_device *cuda = self(device);
    const struct shape &model = cuda->model->shape;
    size_t count = model.batch * model.classes;

    linear_kernel<<<blocks_for(count, THREADS), THREADS>>>(
        cuda->buffers[BUFFER_POOLED], cuda->head_weights, cuda->head_bias,
        cuda->buffers[BUFFER_OUTPUT], (int)model.channels, (int)model.classes, count);
    launched(device, "linear");
}

void mark(struct device *device, enum moment moment)
{
    cuda_device *cuda = self(device);
    size_t iteration;

    if (cuda->marks == cuda->timed_iterations * MOMENTS)
        return;
    /* The moments of an iteration come in order, each once. */
    iteration = cuda->marks++ / MOMENTS;
    good(device, cudaEventRecord(cuda->events[iteration * MOMENTS + moment], 0), "cudaEventRecord");
}

int time_iterations(struct device *device, size_t count)
{
    cuda_device *cuda = self(device);

    cuda->events = (cudaEvent_t *)calloc(count * MOMENTS, sizeof(cudaEvent_t));
    if (!cuda->events) {
        snprintf(device->error, sizeof(device->error), "out of memory for events");
        return -1;
    }
    cuda->timed_iterations = count;
    for (size_t i = 0; i < count * MOMENTS; i++)
        if (!good(device, cudaEventCreate(&cuda->events[i]), "cudaEventCreate"))
            return -1;
    return 0;
}

double elapsed_ms(struct device *device, enum moment from, enum moment to)
{
    cuda_device *cuda = self(device);
    double sum = 0;

    if (cuda->marks == 0)
        return -1;
    for (size_t i = 0; i + MOMENTS <= cuda->marks; i += MOMENTS) {
        float ms = 0;

        if (!good(device, cudaEventElapsedTime(&ms, cuda->events[i + from], cuda->events[i + to]),
                  "cudaEventElapsedTime"))
            return -1;
        sum += ms;
    }
    return sum;
}

int synchronise(struct device *device)
{
    good(device, cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return device->error[0] ? -1 : 0;
}

int read_output(struct device *device, size_t image, double *values_out)
{
    cuda_device *cuda = self(device);
    size_t classes = cuda->model->shape.classes;
    float *values = (float *)calloc(classes, sizeof(float));

    if (!values) {
        snprintf(device->error, sizeof(device->error), "out of memory for the output");
        return -1;
    }
    good(device,
         cudaMemcpy(values, cuda->buffers[BUFFER_OUTPUT] + image * classes, classes * sizeof(float),
                    cudaMemcpyDeviceToHost),
         "cudaMemcpy of the output");
    for (size_t i = 0; i < classes; i++)
        values_out[i] = values[i];
    free(values);
    return device->error[0] ? -1 : 0;
}

void destroy(struct device *device)
{
    cuda_device *cuda = self(device);

    for (size_t i = 0; i < cuda->timed_iterations * MOMENTS; i++)
        cudaEventDestroy(cuda->events[i]);
    for (size_t i = 0; cuda->layers && i < cuda->model->layer_count; i++) {
        cudaFree(cuda->layers[i].weights);
        cudaFree(cuda->layers[i].scale);
        cudaFree(cuda->layers[i].shift);
    }
    for (float *buffer : cuda->buffers)
        cudaFree(buffer);
    cudaFree(cuda->head_weights);
    cudaFree(cuda->head_bias);
    free(cuda->events);
    free(cuda->layers);
    free(cuda);
}

bool make(struct device *device, float **out, size_t count)
{
    return good(device, cudaMalloc((void **)out, count * sizeof(float)), "cudaMalloc");
}

bool upload(struct device *device, float **out, const float *values, size_t count)
{
    return make(device, out, count) &&
           good(device, cudaMemcpy(*out, values, count * sizeof(float), cudaMemcpyHostToDevice),
                "cudaMemcpy of weights");
}

bool upload_layer(cuda_device *cuda, size_t index)
{
    const struct layer &layer = cuda->model->layers[index];
    size_t outs = cuda->model->shape.channels, taps = layer.in_channels * TAPS;
    float *turned = (float *)malloc(taps * outs * sizeof(float)); /* [in][tap][out] */
    bool done;

    if (!turned) {
        snprintf(cuda->device.error, sizeof(cuda->device.error), "out of memory for weights");
        return false;
    }
    for (size_t i = 0; i < taps * outs; i++)
        turned[i] = layer.weights[i % outs * taps + i / outs];
    done = upload(&cuda->device, &cuda->layers[index].weights, turned, taps * outs) &&
           upload(&cuda->device, &cuda->layers[index].scale, layer.scale, outs) &&
           upload(&cuda->device, &cuda->layers[index].shift, layer.shift, outs);
    free(turned);
    return done;
}

bool upload_input(cuda_device *cuda)
{
    const struct model *model = cuda->model;
    size_t size = model->shape.in_channels * plane_size(cuda);
    float *values = (float *)malloc(size * sizeof(float));
    bool done = values != nullptr;

    if (!values)
        snprintf(cuda->device.error, sizeof(cuda->device.error), "out of memory for the input");
    for (size_t image = 0; done && image < model->shape.batch; image++) {
        model_input(model, image, values);
        done = good(&cuda->device,
                    cudaMemcpy(cuda->buffers[BUFFER_INPUT] + image * size, values,
                               size * sizeof(float), cudaMemcpyHostToDevice),
                    "cudaMemcpy of the input");
    }
    free(values);
    return done;
}

bool upload_all(cuda_device *cuda)
{
    const struct shape &shape = cuda->model->shape;
    size_t tensor = shape.channels * plane_size(cuda);
    const size_t sizes[BUFFER_END] = {
        shape.in_channels * plane_size(cuda), tensor, tensor, tensor, shape.channels, shape.classes
    };

    for (int i = 0; i < BUFFER_END; i++)
        if (!make(&cuda->device, &cuda->buffers[i], shape.batch * sizes[i]))
            return false;
    for (size_t i = 0; i < cuda->model->layer_count; i++)
        if (!upload_layer(cuda, i))
            return false;
    return upload(&cuda->device, &cuda->head_weights, cuda->model->head_weights,
                  shape.classes * shape.channels) &&
           upload(&cuda->device, &cuda->head_bias, cuda->model->head_bias, shape.classes) &&
           upload_input(cuda);
}

/* A driver, a GPU, and code in this program that it can run. */
bool find_gpu(struct device *device)
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int count = 0;

    if (!good(device, cudaGetDeviceCount(&count), "no usable CUDA device") ||
        !good(device, count > 0 ? cudaSuccess : cudaErrorNoDevice, "no usable CUDA device") ||
        !good(device, cudaSetDevice(0), "cudaSetDevice") ||
        !good(device, cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties"))
        return false;
    snprintf(device->name, sizeof(device->name), "cuda, %.200s, compute capability %d.%d",
             properties.name, properties.major, properties.minor);
    return good(device, cudaFuncGetAttributes(&attributes, conv3x3_kernel), "no code for this GPU");
}

void set_functions(struct device *device)
{
    device->conv3x3 = conv3x3;
    device->batch_norm = batch_norm;
    device->add_relu = add_relu;
    device->average_pool = average_pool;
    device->linear = linear;
    device->mark = mark;
    device->time_iterations = time_iterations;
    device->elapsed_ms = elapsed_ms;
    device->synchronise = synchronise;
    device->read_output = read_output;
    device->destroy = destroy;
}

} // namespace resnet

struct device *cuda_open(const struct model *model, char *reason, size_t reason_size)
{
    resnet::cuda_device *cuda = (resnet::cuda_device *)calloc(1, sizeof(resnet::cuda_device));

    if (!cuda) {
        snprintf(reason, reason_size, "out of memory");
        return nullptr;
    }
    cuda->model = model;
    resnet::set_functions(&cuda->device);
    cuda->layers = (resnet::cuda_layer *)calloc(model->layer_count, sizeof(resnet::cuda_layer));
    if (cuda->layers && resnet::find_gpu(&cuda->device) && resnet::upload_all(cuda))
        return &cuda->device;
    snprintf(reason, reason_size, "%s", cuda->layers ? cuda->device.error : "out of memory");
    resnet::destroy(&cuda->device);
    return nullptr;
}
