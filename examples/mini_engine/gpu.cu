/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU: memory, copies, graphs. */
#include <cstdio>
#include <cstdlib>

#include "gpu.cuh"

bool gpu_good(struct ops *ops, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !ops->error[0])
        snprintf(ops->error, sizeof(ops->error), "%s: %s", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

void gpu_launched(struct ops *ops, const char *kernel)
{
    if (gpu_good(ops, cudaGetLastError(), kernel))
        ops->launches++;
}

namespace
{

int reserve(struct ops *ops, size_t bytes, void **base_out)
{
    size_t free_bytes = 0, all = 0;

    if (!gpu_good(ops, cudaMemGetInfo(&free_bytes, &all), "cudaMemGetInfo"))
        return -1;
    if (bytes > free_bytes) {
        snprintf(ops->error, sizeof(ops->error),
                 "the model needs %.1f GB of device memory and %.1f GB of %.1f are free; use fewer "
                 "layers, a shorter context or a smaller batch",
                 (double)bytes / 1e9, (double)free_bytes / 1e9, (double)all / 1e9);
        return -1;
    }
    if (!gpu_good(ops, cudaMalloc(&gpu_of(ops)->memory, bytes), "cudaMalloc"))
        return -1;
    *base_out = gpu_of(ops)->memory;
    return 0;
}

void put(struct ops *ops, void *to, const void *from, size_t bytes)
{
    cudaStream_t stream = gpu_of(ops)->stream;

    /* The caller's memory may go as soon as this returns. */
    gpu_good(ops, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "upload");
    gpu_good(ops, cudaStreamSynchronize(stream), "upload");
}

int wait_for(struct ops *ops)
{
    gpu_good(ops, cudaStreamSynchronize(gpu_of(ops)->stream), "work on the GPU");
    return ops->error[0] ? -1 : 0;
}

int get(struct ops *ops, void *to, const void *from, size_t bytes)
{
    gpu_good(ops, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, gpu_of(ops)->stream),
             "download");
    return wait_for(ops);
}

int capture_begin(struct ops *ops)
{
    return gpu_good(ops,
                    cudaStreamBeginCapture(gpu_of(ops)->stream, cudaStreamCaptureModeThreadLocal),
                    "cudaStreamBeginCapture")
               ? 0
               : -1;
}

int capture_end(struct ops *ops)
{
    struct gpu *gpu = gpu_of(ops);
    cudaGraph_t graph = NULL;

    if (!gpu_good(ops, cudaStreamEndCapture(gpu->stream, &graph), "cudaStreamEndCapture"))
        return -1;
    if (gpu->graph)
        cudaGraphExecDestroy(gpu->graph);
    gpu->graph = NULL;
    gpu_good(ops, cudaGraphInstantiate(&gpu->graph, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
    return ops->error[0] ? -1 : 0;
}

int replay(struct ops *ops)
{
    return gpu_good(ops, cudaGraphLaunch(gpu_of(ops)->graph, gpu_of(ops)->stream),
                    "cudaGraphLaunch")
               ? 0
               : -1;
}

void destroy(struct ops *ops)
{
    struct gpu *gpu = gpu_of(ops);

    if (gpu->stream)
        cudaStreamSynchronize(gpu->stream);
    if (gpu->graph)
        cudaGraphExecDestroy(gpu->graph);
    collectives_free(gpu->collectives);
    products_free(gpu->products);
    cudaFree(gpu->memory);
    if (gpu->stream)
        cudaStreamDestroy(gpu->stream);
    free(gpu);
}

/* NULL, or why this GPU cannot run the kernels: they need bf16 matrix units. */
const char *unfit(size_t device, char *name, size_t name_size)
{
    static char reason[256];
    cudaDeviceProp properties;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error == cudaSuccess && count > 0)
        error = cudaSetDevice((int)(device % (size_t)count));
    if (error == cudaSuccess && count > 0)
        error = cudaGetDeviceProperties(&properties, (int)(device % (size_t)count));
    if (error != cudaSuccess || count == 0) {
        snprintf(reason, sizeof(reason), "no GPU to run on: %s",
                 error == cudaSuccess ? "no device" : cudaGetErrorString(error));
        return reason;
    }
    if (properties.major < 8) {
        snprintf(reason, sizeof(reason), "%.100s has compute capability %d.%d; bf16 needs 8.0",
                 properties.name, properties.major, properties.minor);
        return reason;
    }
    snprintf(name, name_size, "%s", properties.name);
    return NULL;
}

void add_functions(struct ops *ops)
{
    ops->is_gpu = 1;
    ops->reserve = reserve;
    ops->put = put;
    ops->get = get;
    ops->wait = wait_for;
    ops->capture_begin = capture_begin;
    ops->capture_end = capture_end;
    ops->replay = replay;
    ops->destroy = destroy;
    gpu_add_products(ops);
    gpu_add_elements(ops);
    gpu_add_attention(ops);
    gpu_add_experts(ops);
    gpu_add_vision(ops);
    gpu_add_group(ops);
}

} // namespace

struct ops *ops_cuda_open(size_t device, char *reason, size_t reason_size)
{
    struct gpu *gpu = (struct gpu *)calloc(1, sizeof(*gpu));
    const char *problem;

    if (!gpu) {
        snprintf(reason, reason_size, "out of memory");
        return NULL;
    }
    problem = unfit(device, gpu->ops.name, sizeof(gpu->ops.name));
    if (problem) {
        snprintf(reason, reason_size, "%s", problem);
        free(gpu);
        return NULL;
    }
    add_functions(&gpu->ops);
    gpu->products = products_open(reason, reason_size);
    if (gpu->products &&
        gpu_good(&gpu->ops, cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking),
                 "cudaStreamCreate"))
        return &gpu->ops;
    if (gpu->products)
        snprintf(reason, reason_size, "%s", gpu->ops.error);
    destroy(&gpu->ops);
    return NULL;
}
