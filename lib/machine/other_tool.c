/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/variable.h"
#include "lib/machine/other_tool.h"

/* The file that this code was loaded from, under whatever name. */
static bool is_this_library(const char *path)
{
    static const char here;
    struct stat ours, theirs;
    Dl_info info;

    return dladdr(&here, &info) && info.dli_fname && stat(info.dli_fname, &ours) == 0 &&
           stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool lp_other_tool(char *name, size_t size)
{
    const char *injected = lp_variable("CUDA_INJECTION64_PATH");

    if (lp_variable("NSYS_PROFILING_SESSION_ID"))
        snprintf(name, size, "Nsight Systems");
    else if (lp_variable("NV_COMPUTE_PROFILER_PERFWORKS_DIR") || lp_variable("NV_TPS_LAUNCH_TOKEN"))
        snprintf(name, size, "Nsight Compute");
    else if (!injected || !*injected || is_this_library(injected))
        return false;
    else
        snprintf(name, size, "a tool that CUDA_INJECTION64_PATH names, %s,", injected);
    return true;
}
