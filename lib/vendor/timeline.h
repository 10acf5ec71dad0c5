/* SPDX-License-Identifier: Apache-2.0 */
/** Timeline of a tool, in arrays: device operations, host calls, ranges. It is converted to
 * profiles by projection: an operation belongs to the innermost range that was open on the thread
 * of its host call during the whole call. Times are in ns on one clock; its origin is arbitrary, so
 * they may be negative.
 * @threads one at a time per object */
#ifndef LP_VENDOR_TIMELINE_H
#define LP_VENDOR_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/record/range_rules.h"
#include "lib/profile/profile.h"
#include "lib/structure/structure.h"
#include "llmperf/profile.h"

/** Keys as in nsys: process id in bits 24 to 47, thread id below, machine above. */
#define LP_THREAD_PROCESS UINT64_C(0xffffffffff000000)

/** Processes per file, at most: each has its own totals. */
#define LP_TIMELINE_PROCESSES 1024u

/** Ranges nested deeper are left out of paths, as in live sessions. */
#define LP_TIMELINE_DEPTH 128u

enum lp_op_graph {
    LP_OP_SINGLE = 0,
    LP_OP_NODE = 1, /* ran inside a CUDA graph */
    LP_OP_GRAPH = 2 /* represents a whole graph launch */
};

/** A device operation. */
struct lp_op {
    int64_t start, end;
    uint64_t process; /* key, as lp_host_call.process */
    uint64_t bytes;
    uint64_t graph_node;  /* 0: none */
    uint32_t correlation; /* 0: none */
    uint32_t name;        /* of timeline.names */
    uint32_t link;        /* set by lp_timeline_index(); LP_HASHMAP_NONE: no correlation */
    uint32_t stream;
    uint32_t shape; /* of timeline.names */
    uint16_t device;
    uint8_t kind;  /* LLMPERF_ACTIVITY_… */
    uint8_t graph; /* enum lp_op_graph */
};

/** What a host call launches. */
enum lp_call_kind { LP_CALL_OTHER = 0, LP_CALL_KERNEL = 1, LP_CALL_GRAPH = 2, LP_CALL_MEMORY = 3 };

/** A call of the CUDA API. */
struct lp_host_call {
    int64_t start, end;
    uint64_t process, thread; /* keys of the tool; a thread's includes its process */
    uint32_t correlation;
    uint8_t kind; /* enum lp_call_kind */
    uint8_t rank; /* of several rows for a call the lowest rank counts */
    bool failed;
};

/** A call and its operations, joined. */
struct lp_link {
    struct lp_host_call call; /* rank UINT8_MAX: not seen */
    uint32_t node;            /* path of the call */
    uint32_t kernels;         /* number of its operations that are kernels */
    bool has_nodes; /* nodes of a graph launch were recorded, so the row of the whole graph does not
             count */
};

/** A range on a host thread. */
struct lp_span {
    int64_t start, end; /* end: INT64_MAX if it is open */
    uint64_t thread;
    uint32_t label;     /* of timeline.labels */
    bool open, foreign; /* never ended; ended on another thread, so no operation belongs to it */
};

/** Creation of a graph node by a call on a thread: by capture, or as a copy of another node. */
struct lp_node_event {
    int64_t start, end;
    uint64_t thread;
    uint64_t graph_node, original; /* original 0: not a copy */
    uint32_t node;                 /* path */
};

struct lp_process {
    uint64_t key;
    uint32_t process_id;
    struct lp_totals *totals;
    struct lp_structure *structure;
    llmperf_ledger ledger;
    uint64_t device_ns, attributed_ns;
};

struct lp_timeline {
    struct lp_names names, labels;
    LP_VECTOR(struct lp_op) ops;
    LP_VECTOR(struct lp_link) links;
    LP_VECTOR(struct lp_host_call) lonely; /* launches without an operation */
    LP_VECTOR(struct lp_span) spans;
    LP_VECTOR(struct lp_node_event) node_events;
    LP_VECTOR(struct lp_process) processes;
    struct lp_kernel_classes *classes;                /* NULL: the table could not be read */
    struct lp_hashmap link_rows, process_rows, nodes; /* nodes: (parent, label) -> path */
    LP_VECTOR(uint32_t) path_bytes;                   /* length of a path by node */
    LP_VECTOR(struct lp_range_work) works;            /* by label */
    uint32_t flags;                                   /* LLMPERF_IMPORT_… */
    uint64_t path_total;                              /* bytes of all paths together */
    uint64_t process_mask;          /* mask for the process in a thread's key; 0: processes are not
                                                distinguished */
    uint64_t deep_spans, bad_spans; /* too deep for paths; end before start */
    bool paths_full;                /* some paths became LP_PATH_OTHER */
    bool calls_known; /* the file has host calls, so launches without operation can be counted */
};

void lp_timeline_clear(struct lp_timeline *timeline);

/** Link operations to calls; all operations must have been added. 0 or LLMPERF_ENOMEM. */
int lp_timeline_index(struct lp_timeline *timeline);

/** Add a call, after lp_timeline_index(). Calls without operations that are not launches are
 * dropped. 0 or LLMPERF_ENOMEM. */
int lp_timeline_call(struct lp_timeline *timeline, const struct lp_host_call *call);

/** Count an operation of a process without valid times or device. 0, LLMPERF_EFORMAT (too many
 * processes) or LLMPERF_ENOMEM. */
int lp_timeline_incomplete(struct lp_timeline *timeline, uint64_t process);

/** Join, project and sum up.
 * @param profiles_out  One profile per process, by process id; yours, and the array: free().
 * @return 0, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_timeline_profiles(struct lp_timeline *timeline, llmperf_profile ***profiles_out,
                         size_t *count_out);

/** Launches that were not recorded are unknown, not 0. */
void lp_timeline_forget_calls(const struct lp_timeline *timeline, llmperf_ledger *ledger);

/** For lib/vendor/timeline*.c: is the operation a duplicate? After lp_timeline_index().
 * Paths of calls, and totals of ranges. The process is created if it does not exist. */
/** Sort, unless in order, which is frequent. */
void lp_timeline_sort(void *items, size_t count, size_t size,
                      int (*compare)(const void *, const void *));
bool lp_timeline_is_duplicate(const struct lp_timeline *timeline, size_t index);
int lp_timeline_project(struct lp_timeline *timeline);
int lp_timeline_process(struct lp_timeline *timeline, uint64_t key,
                        struct lp_process **process_out);

#endif
