/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/formats.h"

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
                        "unknown trace format %u; see LLMPERF_TRACE_ in llmperf/sys/trace.h",
                        format);
    }
}
