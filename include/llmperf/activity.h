/* SPDX-License-Identifier: Apache-2.0 */
/** Kinds of device activity and of calls that start it. */
#ifndef LLMPERF_ACTIVITY_H
#define LLMPERF_ACTIVITY_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What ran on the device. */
enum {
    LLMPERF_ACTIVITY_KERNEL = 1,
    LLMPERF_ACTIVITY_MEMCPY = 2, /**< copies, peer copies included */
    LLMPERF_ACTIVITY_MEMSET = 3,
    LLMPERF_ACTIVITY_GRAPH =
        4 /**< a whole CUDA graph as one span, with LLMPERF_SESSION_GRAPH_LEVEL */
};

/** Word for an activity kind: "kernel", "memcpy", "memset", "graph"; "unknown" for others. Static
 * text. @threads any thread */
LLMPERF_API const char *llmperf_activity_kind_name(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
