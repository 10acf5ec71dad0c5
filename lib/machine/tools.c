/* SPDX-License-Identifier: Apache-2.0 */
/* nsys and ncu on this machine. */
#include <limits.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/machine/tool_version.h"
#include "llmperf/sys/vendor.h"

static int not_found(uint32_t tool)
{
    if (tool == LLMPERF_TOOL_NSYS)
        return lp_error(
            LLMPERF_ENOENT,
            "nsys not found on PATH; install NVIDIA Nsight Systems "
            "(https://developer.nvidia.com/nsight-systems), or add its bin folder to PATH");
    return lp_error(LLMPERF_ENOENT,
                    "ncu not found on PATH; install NVIDIA Nsight Compute, which is part of the "
                    "CUDA toolkit (bin/ncu), or add its folder to PATH");
}

int llmperf_tool_find(uint32_t tool, char **path_out, char **version_out)
{
    char path[PATH_MAX], version[64];

    if (!path_out || !version_out || (tool != LLMPERF_TOOL_NSYS && tool != LLMPERF_TOOL_NCU))
        return lp_error(LLMPERF_EINVAL,
                        "LLMPERF_TOOL_NSYS or _NCU, path_out and version_out are required");
    if (!lp_tool_find(tool == LLMPERF_TOOL_NSYS ? "nsys" : "ncu", path, sizeof(path)))
        return not_found(tool);
    *version_out = lp_tool_version(path, version, sizeof(version)) ? lp_text_copy(version) : NULL;
    *path_out = lp_text_copy(path);
    if (*path_out)
        return 0;
    free(*version_out);
    *version_out = NULL;
    return lp_error(LLMPERF_ENOMEM, "out of memory");
}
