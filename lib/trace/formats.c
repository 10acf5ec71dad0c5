/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/formats.h"

#include <stdio.h>

#include "lib/base/status.h"

const char *llmperf_trace_file_name(uint32_t format)
{
    static const char *const names[] = { NULL, "trace.pftrace", "trace.json", "trace.sqlite" };

    return format < sizeof(names) / sizeof(names[0]) ? names[format] : NULL;
}

int lp_trace_writer_open(uint32_t format, const char *path, struct lp_trace_writer **writer_out)
{
    switch (format) {
    case LLMPERF_TRACE_PERFETTO:
        return lp_trace_open_perfetto(path, writer_out);
    case LLMPERF_TRACE_CHROME:
        return lp_trace_open_chrome(path, writer_out);
    case LLMPERF_TRACE_NSYS_SQLITE:
        return lp_trace_open_nsys(path, writer_out);
    default:
        return lp_error(LLMPERF_EINVAL,
                        "trace format %u does not exist; see LLMPERF_TRACE_ in llmperf/trace.h",
                        format);
    }
}

const struct lp_trace_gpu *lp_trace_find_gpu(const struct lp_trace_facts *facts, uint32_t device)
{
    for (size_t i = 0; i < facts->gpu_count; i++)
        if (facts->gpus[i].device == device)
            return &facts->gpus[i];
    return NULL;
}

void lp_trace_stream_name(char *text, size_t size, const struct lp_activity *activity,
                          uint32_t lane)
{
    if (lane > 0)
        snprintf(text, size, "stream %u (%u)", activity->stream, lane + 1);
    else
        snprintf(text, size, "stream %u", activity->stream);
}

const char *lp_trace_launch_word(uint32_t kind)
{
    static const char *const words[] = { "call", "launch", "launch on several devices",
                                         "graph launch", "copy or set" };

    return words[kind < sizeof(words) / sizeof(words[0]) ? kind : 0];
}

const char *lp_trace_launch_function(uint32_t kind)
{
    static const char *const words[] = { "cudaLaunchKernel", "cudaLaunchKernel",
                                         "cudaLaunchCooperativeKernelMultiDevice",
                                         "cudaGraphLaunch", "cudaMemcpyAsync" };

    return words[kind < sizeof(words) / sizeof(words[0]) ? kind : 0];
}
