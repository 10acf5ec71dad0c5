/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of llmperf_profile. For lib/profile and lib/store only. */
#ifndef LP_PROFILE_DATA_H
#define LP_PROFILE_DATA_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/statistics/histogram.h"
#include "llmperf/profile.h"

/** An encoded histogram (histogram.h), in the profile's pool; NULL: none. */
struct lp_blob {
    const char *bytes;
    size_t size;
};

struct lp_region_row {
    llmperf_region_stats stats;
    struct lp_blob wall; /* durations of the calls */
};

struct lp_kernel_row {
    llmperf_kernel_stats stats;
    struct lp_blob durations;
};

struct lp_iteration_stats_row {
    llmperf_iteration_stats stats;
    struct lp_blob histogram;
};

/** What the model's operators add to the work of a stage: FLOPs and bytes over the calls for which
 * the model was asked. Their shares hold for all calls. */
struct lp_stage_operator {
    const char *stage;                     /* label */
    const char *name, *layer_kind, *dtype; /* "qkv", "moe", "bf16" */
    uint32_t layers, kernels;              /* kernels: of all layers, at least, if none is fused */
    uint32_t differs;                      /* 1: calls of the stage differ in its products */
    const char *products;                  /* lp_gemms_read(); NULL: none are known */
    double flops, bytes;
    double activation_bytes; /* of its inputs and outputs, besides `bytes` */
    /* Of operator "attention", on this GPU: its heads (0: unknown), and over `calls` of the stage
     * the sums of a layer's sequences, their new tokens, the tokens that these attend to, the
     * (query, key) pairs, and bytes of queries, keys, values and output. */
    uint32_t heads, kv_heads, head_dim;
    uint64_t calls;
    double sequences, queries, keys, pairs, layer_bytes;
    double least_pairs, most_pairs; /* of a call */
};

/** Calls of a collective kernel in a region. */
struct lp_collective_calls {
    const char *name, *region, *captured_in; /* as in llmperf_kernel_stats */
    const char *clock;                       /* boot id of the host that `calls` has the time of */
    uint32_t process_id;
    int32_t device;
    uint64_t calls;
    double total_ms, min_ms;
    double compared_ms, shared_ms;
};

struct lp_collective_row {
    struct lp_collective_calls stats;
    struct lp_blob calls; /* the newest ones: lp_calls_next() */
};

struct lp_latency_row {
    llmperf_latency stats;
    struct lp_blob histogram;
};

struct lp_fact {
    const char *key, *value;
};

struct lp_kept;
struct lp_device_time;
struct lp_memory_point;
struct lp_stall;
struct lp_hot_instruction;

struct llmperf_profile {
    LP_VECTOR(struct lp_region_row) regions;
    LP_VECTOR(struct lp_kernel_row) kernels;
    LP_VECTOR(llmperf_kernel_shape) kernel_shapes;
    LP_VECTOR(llmperf_operator_stats) operators; /* made by lp_profile_finish() */
    LP_VECTOR(llmperf_capture_stats) captures;   /* made by lp_profile_finish() */
    LP_VECTOR(llmperf_metric_stats) metrics;
    struct lp_hashmap metric_rows; /* (hash of the key, counter of collisions) -> row */
    LP_VECTOR(llmperf_iteration) iterations;
    LP_VECTOR(struct lp_iteration_stats_row) iteration_stats;
    LP_VECTOR(llmperf_window_stats) windows;
    LP_VECTOR(llmperf_window_kernel) window_kernels;
    LP_VECTOR(struct lp_stage_operator) stage_operators;
    LP_VECTOR(struct lp_device_time) devices; /* fields.h */
    LP_VECTOR(llmperf_requests) requests;     /* at most one */
    LP_VECTOR(struct lp_collective_row) collectives;
    LP_VECTOR(struct lp_latency_row) latencies;
    LP_VECTOR(llmperf_slow_request) slow_requests;
    LP_VECTOR(llmperf_load) load;
    LP_VECTOR(llmperf_host_call) host_calls;
    LP_VECTOR(llmperf_memory) memory;
    LP_VECTOR(struct lp_memory_point) memory_points; /* in the order of time */
    LP_VECTOR(struct lp_stall) stalls;               /* by region and kernel */
    LP_VECTOR(struct lp_hot_instruction) hot_instructions;
    LP_VECTOR(llmperf_energy) energy;
    LP_VECTOR(const char *) problems;
    LP_VECTOR(const char *) notes;
    LP_VECTOR(struct lp_fact) facts;
    llmperf_ledger ledger;
    char *folder;                   /* folder of the run file; NULL: not read from a file */
    bool imported;                  /* being made from a file of another profiler */
    bool of_processes;              /* regions of several processes; set by lp_profile_finish() */
    struct lp_strings pool;         /* all text */
    _Atomic(struct lp_kept *) kept; /* lp_profile_keep() */
};

/* Fact: work of decode steps by batch size, {"context": 4096, "steps": [[batch, FLOPs, bytes], …]},
 * from the mean batch of the run up. */
#define LP_SWEEP_FACT "decode_sweep"

/* Facts "kernel_class.0", … are the names of the kernel classes of iterations. */
#define LP_CLASS_FACT "kernel_class."

/** Of a row with an estimate for all calls: nothing was sampled. */
#define LP_NO_ESTIMATE(row)                                                                        \
    ((row)->estimate_collected = LLMPERF_UNKNOWN, (row)->estimate_reason = NULL,                   \
     (row)->estimate_ms = (row)->estimate_low_ms = (row)->estimate_high_ms = NAN)

/** Free what was computed from the profile; call it when the profile changes. */
void lp_profile_forget(llmperf_profile *profile);

/** The ns of lp_to_ms(). */
static inline uint64_t lp_to_ns(double ms)
{
    return (uint64_t)(ms * 1e6 + 0.5);
}

static inline double lp_to_ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/** Copy a text into the profile. NULL gives NULL; NULL also if memory runs out. */
const char *lp_profile_text(llmperf_profile *profile, const char *text);

/** The path of a region. NULL: LP_PATH_UNKNOWN, or out of memory. */
const char *lp_profile_path(llmperf_profile *profile, uint32_t node);

/** Encode a histogram into the profile. 0 or LLMPERF_ENOMEM. */
int lp_profile_histogram(llmperf_profile *profile, const struct lp_histogram *histogram,
                         struct lp_blob *blob_out);

/** Add a problem and leave the verdict. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_problem(llmperf_profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Is there a metric with the same key (name, group, source, region, kernel, device, process)? */
bool lp_profile_has_metric(llmperf_profile *profile, const llmperf_metric_stats *stats);

/** Order the metrics. */
void lp_profile_sort_metrics(llmperf_profile *profile);

/** strcmp() that sorts NULL first. */
int lp_compare_text(const char *a, const char *b);

/** Order of paths: a region's nested regions follow it, before its siblings. */
int lp_compare_paths(const char *a, const char *b);

#endif
