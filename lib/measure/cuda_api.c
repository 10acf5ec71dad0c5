/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/measure/cuda_api.h"

#include <dlfcn.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/device/symbol.h"
#include "llmperf/api.h"

#define OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */

int lp_cuda_open(struct lp_cuda *cuda)
{
    const struct lp_symbol functions[] = {
        { "cuDeviceGet", &cuda->device_get },
        { "cuDevicePrimaryCtxRetain", &cuda->context_retain },
        { "cuDevicePrimaryCtxRelease_v2", &cuda->context_release },
        { "cuCtxPushCurrent_v2", &cuda->context_push },
        { "cuCtxPopCurrent_v2", &cuda->context_pop },
        { "cuMemGetInfo_v2", &cuda->memory_info },
        { "cuMemAlloc_v2", &cuda->memory_alloc },
        { "cuMemFree_v2", &cuda->memory_free },
        { "cuMemcpyDtoDAsync_v2", &cuda->copy },
        { "cuMemcpyHtoDAsync_v2", &cuda->copy_in },
        { "cuMemcpyDtoHAsync_v2", &cuda->copy_out },
        { "cuMemAllocHost_v2", &cuda->host_alloc },
        { "cuMemFreeHost", &cuda->host_free },
        { "cuStreamCreate", &cuda->stream_create },
        { "cuStreamSynchronize", &cuda->stream_synchronize },
        { "cuStreamDestroy_v2", &cuda->stream_destroy },
        { "cuEventCreate", &cuda->event_create },
        { "cuEventRecord", &cuda->event_record },
        { "cuEventElapsedTime", &cuda->event_elapsed },
        { "cuEventDestroy_v2", &cuda->event_destroy },
        { "cuModuleLoadData", &cuda->module_load },
        { "cuModuleGetFunction", &cuda->module_function },
        { "cuModuleUnload", &cuda->module_unload },
        { "cuLaunchKernel", &cuda->launch },
        { "cuStreamBeginCapture_v2", &cuda->capture_begin },
        { "cuStreamEndCapture", &cuda->capture_end },
        { "cuGraphInstantiateWithFlags", &cuda->graph_instantiate },
        { "cuGraphLaunch", &cuda->graph_launch },
        { "cuGraphDestroy", &cuda->graph_destroy },
        { "cuGraphExecDestroy", &cuda->graph_exec_destroy },
        { "cuGetErrorString", &cuda->error_string },
    };
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    const char *missing;

    if (!library)
        return lp_error(LLMPERF_ENODEVICE, "NVIDIA driver not available: %s", dlerror());
    missing = lp_symbols_find(library, functions, LP_LENGTH(functions));
    return missing ? lp_error(LLMPERF_ENODEVICE,
                              "libcuda.so.1 has no %s; install a newer NVIDIA driver", missing)
                   : 0;
}

int lp_cuda_error(const struct lp_cuda *cuda, const char *what, int result)
{
    const char *text = NULL;

    if (cuda->error_string(result, &text) != 0 || !text)
        text = "unknown error";
    if (result == OUT_OF_MEMORY)
        return lp_error(LLMPERF_ENOMEM, "%s: too little memory is free on the GPU", what);
    return lp_error(LLMPERF_ENODEVICE, "%s failed with %d (%s)", what, result, text);
}
