/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver with GPUs and contexts as the test says. */
#include "tests/mock/cuda.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetUuid_v2(unsigned char uuid[16], int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuDeviceGetMemPool(uint64_t *pool, int device);
int cuMemPoolGetAttribute(uint64_t pool, int attribute, uint64_t *value);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuGetErrorString(int result, const char **text);

static __thread void *current;
static __thread int capture_mode; /* 0: global, 2: relaxed */
static struct mock_cuda state = { .gpus = 1 };

int cuInit(unsigned flags)
{
    (void)flags;
    return state.init_result;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = state.gpus;
    return state.count_result;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal < state.gpus ? 0 : 101;
}

int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "Mock GPU %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute;
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return 0;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    memset(uuid, 0xa0 + device, 16);
    return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = device < 32 && (state.active >> device & 1);
    return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int before = capture_mode;

    capture_mode = *mode;
    *mode = before;
    return 0;
}

/* Outside of relaxed mode it would end captures of other threads. */
int cuDeviceGetMemPool(uint64_t *pool, int device)
{
    if (capture_mode != 2)
        return 900;
    *pool = 1000 + (uint64_t)device;
    return 0;
}

/* Reserved (5): 1000 times the handle; used (7): twice. */
int cuMemPoolGetAttribute(uint64_t pool, int attribute, uint64_t *value)
{
    *value = pool * (attribute == 5 ? 1000 : attribute == 7 ? 2 : 0);
    return capture_mode == 2 ? 0 : 900;
}

int cuCtxGetCurrent(void **context)
{
    *context = current;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return current ? 0 : 201;
}

int cuCtxSetCurrent(void *context)
{
    current = context;
    return 0;
}

int cuCtxSynchronize(void)
{
    return state.synchronize_result;
}

int cuGetErrorString(int result, const char **text)
{
    *text = result == 100 ? "no CUDA-capable device is detected" : "an error of the mock";
    return 0;
}

void mock_context(void *context)
{
    current = context;
}

void mock_cuda_set(const struct mock_cuda *wanted)
{
    state = *wanted;
}
