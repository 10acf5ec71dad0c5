/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of CUDA graphs in profiles of tests. Failing is as in play.h. */
#ifndef TESTS_SUPPORT_GRAPHS_H
#define TESTS_SUPPORT_GRAPHS_H

#include <stdint.h>

#include "llmperf/llmperf.h"

/** Statements of a script: two layers captured, one node each; the executable graph is 2. */
#define TWO_LAYERS                                                                                 \
    "begin layer0\nnode graph=1 index=0\nend\n"                                                    \
    "begin layer1\nnode graph=1 index=1\nend\n"                                                    \
    "instantiate graph=2 from=1 nodes=2\n"

/** Outer: node, child (two nodes, of which the second is a child of two nodes), node. In the
 * executable graph the children's nodes follow behind all others. */
#define NESTED                                                                                     \
    "begin inner\nnode graph=1 index=0 nodes=2\nend\n"                                             \
    "begin middle\nnode graph=2 index=0\nend\n"                                                    \
    "node_clone graph=3 index=0 from=1 source=0 nodes=2\nnode graph=2 index=1\n"                   \
    "begin outer\nnode graph=4 index=0\nend\n"                                                     \
    "node_clone graph=5 index=0 from=2 source=0\n"                                                 \
    "node_clone graph=6 index=0 from=3 source=0 nodes=2\n"                                         \
    "node_clone graph=5 index=1 from=2 source=1\nnode graph=4 index=1\n"                           \
    "begin last\nnode graph=4 index=2\nend\n"                                                      \
    "graph_destroy graph=1\ngraph_destroy graph=2\ngraph_destroy graph=3\n"                        \
    "node_clone graph=10 index=0 from=4 source=0\n"                                                \
    "node_clone graph=11 index=0 from=5 source=0\n"                                                \
    "node_clone graph=12 index=0 from=6 source=0 nodes=2\n"                                        \
    "node_clone graph=11 index=1 from=5 source=1\n"                                                \
    "node_clone graph=10 index=1 from=4 source=1 nodes=2\n"                                        \
    "graph_inline graph=10 from=11\ngraph_inline graph=10 from=12\nnode graph=10 index=7\n"        \
    "instantiate graph=10 from=4 nodes=3\n"

/** Row of a kernel in a launch region and a capture region. @param captured  NULL: of no graph. */
llmperf_kernel_stats find_captured(const llmperf_profile *profile, const char *name,
                                   const char *region, const char *captured);

/** Its calls. */
uint64_t captured_calls(const llmperf_profile *profile, const char *name, const char *region,
                        const char *captured);

/** Kernels with the region that launched them, the one that captured them, and their calls. */
struct captured {
    const char *name, *region, *captured;
    uint64_t calls;
};
#define CAPTURED(...)                                                                              \
    (const struct captured[])                                                                      \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL, NULL, 0                                                                    \
        }                                                                                          \
    }

/** Play a script: it has these kernels, and so many of graph nodes whose capture is not known. */
void check_captured(const char *script, uint64_t unmapped, const struct captured *kernels);

#endif
