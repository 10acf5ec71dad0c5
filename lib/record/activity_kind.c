/* SPDX-License-Identifier: Apache-2.0 */
#include "llmperf/profile.h"

const char *llmperf_activity_kind_name(uint32_t kind)
{
    switch (kind) {
    case LLMPERF_ACTIVITY_KERNEL:
        return "kernel";
    case LLMPERF_ACTIVITY_MEMCPY:
        return "memcpy";
    case LLMPERF_ACTIVITY_MEMSET:
        return "memset";
    case LLMPERF_ACTIVITY_GRAPH:
        return "graph";
    default:
        return "unknown";
    }
}
