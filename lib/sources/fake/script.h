/* SPDX-License-Identifier: Apache-2.0 */
/** Parser for scripts of the fake device, see docs/reference/fake-script.md.
 * @threads one at a time per object */
#ifndef LP_SOURCES_FAKE_SCRIPT_H
#define LP_SOURCES_FAKE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/record/gpu_sample.h"

#define LP_FAKE_THREADS 1024u
#define LP_FAKE_NESTING 16u
#define LP_FAKE_REPEATS UINT64_C(1000000000)          /* limit of the rounds of nested repeats */
#define LP_FAKE_NUMBER  UINT64_C(1000000000000000000) /* largest number; 31 years in ns */

enum lp_fake_verb {
    LP_FAKE_THREAD,
    LP_FAKE_AT,
    LP_FAKE_WAIT,
    LP_FAKE_BEGIN,
    LP_FAKE_END,
    LP_FAKE_COUNT,
    LP_FAKE_LAUNCH,
    LP_FAKE_GRAPH,
    LP_FAKE_COPY,
    LP_FAKE_SET,
    LP_FAKE_LAUNCH_FAIL,
    LP_FAKE_CAPTURE,
    LP_FAKE_EXIT,
    LP_FAKE_REPEAT,
    LP_FAKE_DONE,
    LP_FAKE_FAULT,
    LP_FAKE_DRIVER_DROP,
    LP_FAKE_INCOMPLETE,
    LP_FAKE_OVERHEAD,
    LP_FAKE_NODE,
    LP_FAKE_NODE_CLONE,
    LP_FAKE_NODE_REMOVE,
    LP_FAKE_NODE_UPDATE,
    LP_FAKE_GRAPH_INLINE,
    LP_FAKE_INSTANTIATE,
    LP_FAKE_GRAPH_UPDATE,
    LP_FAKE_GRAPH_DESTROY,
    LP_FAKE_GRAPH_LOST,
    LP_FAKE_LOST,
    LP_FAKE_FOREIGN,
    LP_FAKE_REFUSED,
    LP_FAKE_DEVICE_LOST,
    LP_FAKE_GPU,
    LP_FAKE_ON,
    LP_FAKE_REQUEST,
    LP_FAKE_HOST_CALL,
    LP_FAKE_NVML
};

enum lp_fake_copy { LP_FAKE_HTOD, LP_FAKE_DTOH, LP_FAKE_DTOD, LP_FAKE_PTOP };

enum lp_fake_fault {
    LP_FAKE_NONE,
    LP_FAKE_DROP,
    LP_FAKE_DUPLICATE,
    LP_FAKE_ZERO_TIME,
    LP_FAKE_NO_END,
    LP_FAKE_REVERSED_TIME,
    LP_FAKE_FAR_FUTURE,
    LP_FAKE_LATE,
    LP_FAKE_LATE_LAUNCH,
    LP_FAKE_UNKNOWN_CORRELATION,
    LP_FAKE_REORDER,
    LP_FAKE_NO_CORRELATION,
    LP_FAKE_HUGE_DURATION,
    LP_FAKE_CLOCK_JUMP,
    LP_FAKE_SKEW,
    LP_FAKE_SAME_CORRELATION
};

/** Options of statements, KEY=VALUE. The first five have the values of LLMPERF_QUANTITY_…;
 * `context` of a device statement is the CUDA context. */
enum lp_fake_key {
    LP_FAKE_TOKENS = 1,
    LP_FAKE_SEQUENCES = 2,
    LP_FAKE_CONTEXT = 3,
    LP_FAKE_FLOPS = 4,
    LP_FAKE_BYTES = 5,
    LP_FAKE_KIND = 6, /* LLMPERF_REGION_… */
    LP_FAKE_STREAM = 7,
    LP_FAKE_DEVICE = 8,
    LP_FAKE_DURATION = 9,
    LP_FAKE_DELAY = 10,
    LP_FAKE_EVERY = 11,
    LP_FAKE_GRAPH_ID = 12,
    LP_FAKE_INDEX = 13,
    LP_FAKE_FROM = 14,
    LP_FAKE_SOURCE = 15,
    LP_FAKE_NODES = 16,
    LP_FAKE_BODY = 17,
    LP_FAKE_LAUNCHABLE = 18,
    LP_FAKE_GRID = 19,  /* three numbers, LP_FAKE_EXTENTS */
    LP_FAKE_BLOCK = 20, /* likewise */
    LP_FAKE_REGISTERS = 21,
    LP_FAKE_STATIC_SHARED = 22,
    LP_FAKE_DYNAMIC_SHARED = 23,
    LP_FAKE_READS = 24,  /* enum lp_memory_kind */
    LP_FAKE_WRITES = 25, /* likewise */
    LP_FAKE_CALL = 26,   /* enum lp_copy_call */
    LP_FAKE_HOST = 27,
    LP_FAKE_ARRIVAL = 28,
    LP_FAKE_ID = 29,
    LP_FAKE_RESERVED = 30,
    LP_FAKE_GPU_VALUE = 31 /* the first of LP_GPU_VALUES, enum lp_gpu_value */
};
#define LP_FAKE_KEYS (31 + LP_GPU_VALUES)

/** Three extents of a grid or block in one value: x has 32 bits, y and z have 16. */
#define LP_FAKE_EXTENTS(x, y, z) ((uint64_t)(z) << 48 | (uint64_t)(y) << 32 | (x))
#define LP_FAKE_EXTENT(value, i)                                                                   \
    ((uint32_t)((i) == 0 ? (value)&UINT32_MAX : (value) >> ((i) == 1 ? 32 : 48) & UINT16_MAX))

/** A statement with defaults filled in. */
struct lp_fake_op {
    uint8_t verb;   /* enum lp_fake_verb */
    uint8_t choice; /* LLMPERF_QUANTITY_…, enum lp_fake_copy, lp_fake_fault or lp_served */
    uint32_t line;
    uint64_t keys_set;               /* set of enum lp_fake_key */
    uint32_t first_name, name_count; /* in names of the script */
    uint32_t partner;                /* index of the matching done, repeat or on */
    uint64_t number;
    uint64_t values[LP_FAKE_KEYS]; /* by enum lp_fake_key */
};

/** Zero-initialised: an empty script. */
struct lp_fake_script {
    LP_VECTOR(struct lp_fake_op) ops;
    LP_VECTOR(const char *) names;
    struct lp_strings pool;
    const char *gpu; /* name of the GPU; NULL: not given */
    bool follows;    /* rules for regions of this process; else it is replayed */
};

/** Read the script of `size` bytes into `script`. @param path  For error texts.
 * @return 0, LLMPERF_EFORMAT, LLMPERF_ENOMEM; clear the script in any case. */
int lp_fake_script_read(struct lp_fake_script *script, const char *path, const char *bytes,
                        size_t size);

void lp_fake_script_clear(struct lp_fake_script *script);

#endif
