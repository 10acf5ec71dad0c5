/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/record/host_calls.h"
#include "lib/record/record.h"
#include "lib/sources/kineto/events.h"

/* Functions of the runtime whose name in the driver is another than "cu" for "cuda". */
static uint8_t host_call(const char *name)
{
    static const struct {
        const char *runtime, *driver;
    } others[] = { { "DeviceSynchronize", "cuCtxSynchronize" },
                   { "Malloc", "cuMemAlloc" },
                   { "MallocAsync", "cuMemAllocAsync" },
                   { "MallocManaged", "cuMemAllocManaged" },
                   { "MallocHost", "cuMemAllocHost" },
                   { "HostAlloc", "cuMemHostAlloc" },
                   { "FreeHost", "cuMemFreeHost" },
                   { "Free", "cuMemFree" },
                   { "FreeAsync", "cuMemFreeAsync" },
                   { "HostRegister", "cuMemHostRegister" },
                   { "HostUnregister", "cuMemHostUnregister" } };
    const char *rest = strncmp(name, "cuda", 4) == 0 ? name + 4 : name + 3;
    char driver[64];

    if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "hip", 3) != 0)
        return lp_host_call_find(name);
    for (size_t i = 0; i < LP_LENGTH(others); i++)
        if (strcmp(rest, others[i].runtime) == 0)
            return lp_host_call_find(others[i].driver);
    snprintf(driver, sizeof(driver), "cu%s", rest);
    return lp_host_call_find(driver);
}

static uint8_t launch_kind(const char *name)
{
    if (strstr(name, "GraphLaunch"))
        return LP_LAUNCH_GRAPH;
    if (strstr(name, "Graph"))
        return 0;
    if (strstr(name, "LaunchCooperativeKernelMultiDevice"))
        return LP_LAUNCH_KERNEL_MULTI;
    if (strstr(name, "LaunchKernel") || strstr(name, "LaunchCooperativeKernel"))
        return LP_LAUNCH_KERNEL;
    return strstr(name, "emcpy") || strstr(name, "emset") ? LP_LAUNCH_MEMORY : 0;
}

struct lp_kineto_call lp_kineto_call_of(const char *name)
{
    return (struct lp_kineto_call){ launch_kind(name), host_call(name),
                                    strstr(name, "StreamBeginCapture") != NULL,
                                    strstr(name, "StreamEndCapture") != NULL };
}
