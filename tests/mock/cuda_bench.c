/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, memory, streams and events of a GPU that is not there, counted. Nothing runs on it. */
#include "tests/mock/cuda_bench.h"

#include <stdint.h>
#include <stdlib.h>

#define NOT_SUPPORTED 801
#define OUT_OF_MEMORY 2

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemGetInfo_v2(size_t *available, size_t *total);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemAllocHost_v2(void **address, size_t bytes);
int cuMemFreeHost(void *address);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamDestroy_v2(void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *ms, void *start, void *end);
int cuEventDestroy_v2(void *event);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleUnload(void *module);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags);
int cuGraphLaunch(void *executable, void *stream);
int cuGraphDestroy(void *graph);
int cuGraphExecDestroy(void *executable);

static struct mock_cuda_bench state;

struct mock_cuda_bench *mock_cuda_bench(void)
{
    return &state;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    state.retained++;
    *context = &state;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    state.retained--;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    (void)context;
    state.pushed += state.push_result == 0;
    return state.push_result;
}

int cuCtxPopCurrent_v2(void **context)
{
    state.pushed--;
    *context = &state;
    return 0;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *available = state.free_bytes;
    *total = (size_t)1 << 40;
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    if (bytes > state.free_bytes)
        return OUT_OF_MEMORY;
    state.free_bytes -= bytes;
    state.largest = bytes > state.largest ? bytes : state.largest;
    *address = 0x1000u * (uint64_t)++state.buffers;
    return 0;
}

int cuMemFree_v2(uint64_t address)
{
    (void)address;
    state.buffers--;
    return 0;
}

/* Where copies run, each takes 1 us, and 1 ns for each of these bytes. */
static int copy(size_t bytes, size_t bytes_a_ns)
{
    state.now_ns += 1000 + bytes / bytes_a_ns;
    return state.runs_copies ? 0 : NOT_SUPPORTED;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    (void)to, (void)from, (void)stream;
    return copy(bytes, 2048);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)to, (void)stream;
    return copy(bytes, from == state.pinned ? 64 : 8);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)from, (void)stream;
    return copy(bytes, to == state.pinned ? 32 : 4);
}

int cuMemAllocHost_v2(void **address, size_t bytes)
{
    *address = state.pinned = malloc(bytes);
    return state.pinned ? 0 : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *address)
{
    free(address);
    state.pinned = NULL;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    state.streams += state.stream_result == 0;
    *stream = state.stream_result == 0 ? &state.streams : NULL;
    return state.stream_result;
}

int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return 0;
}

int cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    state.streams--;
    return 0;
}

/* The tenth and those after it may fail: some are held by then. */
int cuEventCreate(void **event, unsigned flags)
{
    int result = state.events >= 10 ? state.event_result : 0;

    (void)flags;
    state.events += result == 0;
    *event = result == 0 ? &state.recorded_ns[state.events % MOCK_EVENTS] : NULL;
    return result;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    *(uint64_t *)event = state.now_ns;
    return state.runs_copies ? 0 : NOT_SUPPORTED;
}

int cuEventElapsedTime(float *ms, void *start, void *end)
{
    *ms = (float)(*(uint64_t *)end - *(uint64_t *)start) / 1e6f;
    return state.runs_copies ? 0 : NOT_SUPPORTED;
}

int cuEventDestroy_v2(void *event)
{
    (void)event;
    state.events--;
    return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
    (void)module, (void)image;
    return NOT_SUPPORTED;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)function, (void)module, (void)name;
    return NOT_SUPPORTED;
}

int cuModuleUnload(void *module)
{
    (void)module;
    return NOT_SUPPORTED;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared_bytes, (void)stream, (void)parameters, (void)extra;
    return NOT_SUPPORTED;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
    (void)stream, (void)mode;
    return NOT_SUPPORTED;
}

int cuStreamEndCapture(void *stream, void **graph)
{
    (void)stream, (void)graph;
    return NOT_SUPPORTED;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
    (void)executable, (void)graph, (void)flags;
    return NOT_SUPPORTED;
}

int cuGraphLaunch(void *executable, void *stream)
{
    (void)executable, (void)stream;
    return NOT_SUPPORTED;
}

int cuGraphDestroy(void *graph)
{
    (void)graph;
    return NOT_SUPPORTED;
}

int cuGraphExecDestroy(void *executable)
{
    (void)executable;
    return NOT_SUPPORTED;
}
