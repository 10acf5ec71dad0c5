/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of a profile (profile.h): regions, kernels, iterations, requests and more.
 *
 * Times are milliseconds. Unknown values are never 0: a double is NaN, an integer is
 * LLMPERF_UNKNOWN, a device is -1; the profile's notes have the reason. Texts belong to the profile
 * and live as long as it does. */
#ifndef LLMPERF_ROWS_H
#define LLMPERF_ROWS_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An unknown integer. */
#define LLMPERF_UNKNOWN UINT64_MAX

/** How complete a profile is. */
enum {
    LLMPERF_VERDICT_COMPLETE = 1,   /**< every launch has its records and every record its launch */
    LLMPERF_VERDICT_SAMPLED = 2,    /**< a known share of the work was collected, as requested */
    LLMPERF_VERDICT_INCOMPLETE = 3, /**< something is missing; the problems say what */
    LLMPERF_VERDICT_NO_DEVICE = 4,  /**< only host times were measured */
    LLMPERF_VERDICT_DEAD = 5        /**< kernels were launched, but no records received */
};

/** Kinds of device activity. */
enum {
    LLMPERF_ACTIVITY_KERNEL = 1, /**< a kernel */
    LLMPERF_ACTIVITY_MEMCPY = 2, /**< a memcpy, also between GPUs */
    LLMPERF_ACTIVITY_MEMSET = 3, /**< a memset */
    LLMPERF_ACTIVITY_GRAPH = 4   /**< a whole CUDA graph, with LLMPERF_SESSION_GRAPH_LEVEL */
};

/** Sources of the FLOPs and bytes of a region. */
enum {
    LLMPERF_WORK_UNKNOWN = 0, /**< none: they are LLMPERF_UNKNOWN */
    LLMPERF_WORK_PROGRAM = 1, /**< llmperf_region_count(), or the attributes of a region */
    LLMPERF_WORK_MODEL = 2    /**< the model, with tokens, sequences and context of each call */
};

/** Kinds of rows, in brackets their order. */
enum {
    LLMPERF_ROWS_REGIONS = 1,         /**< llmperf_profile_region() (by path, parents first) */
    LLMPERF_ROWS_KERNELS = 2,         /**< llmperf_profile_kernel() (longest total first) */
    LLMPERF_ROWS_OPERATORS = 3,       /**< llmperf_profile_operator() (longest total first) */
    LLMPERF_ROWS_ITERATION_STATS = 4, /**< llmperf_profile_iteration_stats() (by region, times
                                         before kernel classes) */
    LLMPERF_ROWS_METRICS = 5,         /**< llmperf_profile_metric() (by region, device, process,
                                         kernel, name and group) */
    LLMPERF_ROWS_ITERATIONS = 6,      /**< llmperf_profile_iteration() (by sequence) */
    LLMPERF_ROWS_WINDOWS = 7,         /**< llmperf_profile_window() (by process and number) */
    LLMPERF_ROWS_WINDOW_KERNELS = 8,  /**< llmperf_profile_window_kernel() (by window, longest total
                                         first) */
    LLMPERF_ROWS_CAPTURES = 9,        /**< llmperf_profile_capture() (by launch region, device and
                                         capture region) */
    LLMPERF_ROWS_STAGES = 10,         /**< llmperf_profile_stage() (by path) */
    LLMPERF_ROWS_ADVICE = 11, /**< llmperf_profile_advice() (largest possible saving first) */
    LLMPERF_ROWS_GPUS = 12,   /**< llmperf_profile_gpu() (as the driver lists them) */
    LLMPERF_ROWS_KERNEL_SHAPES = 13, /**< llmperf_profile_kernel_shape() (longest total first) */
    LLMPERF_ROWS_REQUESTS = 14,  /**< llmperf_profile_requests() (one, if there were requests) */
    LLMPERF_ROWS_LATENCIES = 15, /**< llmperf_profile_latency() (in no order) */
    LLMPERF_ROWS_SLOW_REQUESTS = 16, /**< llmperf_profile_slow_request() (by quantity, slowest
                                        first) */
    LLMPERF_ROWS_LOAD = 17,          /**< llmperf_profile_load() (by process and time) */
    LLMPERF_ROWS_HOST_CALLS = 18,    /**< llmperf_profile_host_call() (longest total first) */
    LLMPERF_ROWS_ENERGY = 19,        /**< llmperf_profile_energy() (by device and process) */
    LLMPERF_ROWS_MEMORY = 20         /**< llmperf_profile_memory() (devices, then regions, most
                                        allocated bytes first) */
};

/** The ledger: what was expected, what was received, and what is missing. All counts are exact.
 * docs/explanation/ledger.md explains how they prove that a profile is complete. */
typedef struct llmperf_ledger {
    size_t struct_size;
    uint64_t launches_expected;  /**< kernel launch calls that succeeded, without those under stream
                                    capture and without graph launches */
    uint64_t graph_launches;     /**< graph launch calls; each may cause any number of records,
                                    including none */
    uint64_t memory_calls;       /**< memcpy and memset calls; each may cause any number of records,
                                    including none */
    uint64_t kernels_seen;       /**< kernel records with valid times, graph kernels included */
    uint64_t graph_kernels_seen; /**< the part of kernels_seen from graph launches */
    uint64_t memory_seen;        /**< memcpy and memset records with valid times */
    uint64_t kernels_attributed; /**< kernels whose launch is known */
    uint64_t kernels_outside;    /**< the part of kernels_attributed launched with no region open */
    uint64_t kernels_unattributed; /**< kernels whose launch was not recorded */
    uint64_t launches_missing;     /**< launches without a kernel record */
    uint64_t records_dropped; /**< device records dropped by the driver, or by the library because
                                 pool_bytes was used up */
    uint64_t records_invalid_time; /**< records that end before they start, last longer than a day,
                                      or have an impossible time */
    uint64_t records_incomplete; /**< records without a start or an end time, or that the driver did
                                    not complete */
    uint64_t
        records_duplicate; /**< further records of a launch that can have only one; in no total */
    uint64_t records_late; /**< records that arrived after the busy time of their region had been
                              computed */
    uint64_t graph_nodes_unmapped; /**< graph records whose capture region is unknown; captured_in
                                      of the kernels says why */
    uint64_t regions_dropped;      /**< host records lost because the ring of a thread was full */
    uint64_t regions_truncated;    /**< regions that were open when the session started or ended */
    uint64_t regions_unbalanced;   /**< region ends without a begin */
    double tracing_overhead_ms;    /**< sum of CUPTI's OVERHEAD records, in which it reports its own
                                      cost; NaN: not collected */
    double sampled_fraction; /**< share of the work that was collected, 0 to 1; triggered windows
                                not included */
    double attributed_gpu_time_share; /**< device time whose launch is known / all device time; NaN:
                                         no device time */
    uint32_t verdict;                 /**< LLMPERF_VERDICT_…; in metrics.json a word */
    uint32_t reserved;                /**< 0 */
    uint64_t graphs_device_launchable; /**< graphs instantiated for launch from the device; the
                                          driver reports no kernels of such launches */
    uint64_t kernels_outside_window;   /**< kernels launched by other threads or calls while a
                                          sampling window was open, or while collection started or
                                          stopped; in no total */
    uint64_t kernels_in_windows;       /**< the part of kernels_attributed in triggered windows: in
                                          llmperf_window_stats, not in regions and kernels */
    uint64_t launches_duplicate;    /**< launches with the correlation id of an earlier one; their
                                       records cannot be distinguished */
    uint64_t graph_records_missing; /**< kernels, memcpys and memsets missing in launches of a CUDA
                                       graph, compared with the launch of that graph that has most;
                                       not counted in tier light */
    uint64_t memory_missing; /**< memcpy and memset calls without a record; calls of zero bytes have
                                none */
    uint64_t records_before_launch; /**< device records that begin more than 1 ms before their
                                       launch: host and device clock differ, idle times are wrong */
    uint64_t
        records_foreign; /**< device records of kinds that this session did not enable; ignored */
    uint64_t names_over_limit;  /**< kernels, memcpys and memsets whose name was not among the first
                                   65,536; counted as "[other names]" */
    uint64_t source_errors;     /**< flush calls that CUPTI refused */
    uint64_t regions_abandoned; /**< regions that were still open when an enclosing region of
                                   another NVTX domain ended */
    uint64_t regions_over_limit; /**< regions above path_limit of the session; counted together as
                                    "LLM@(too many paths)" */
    uint64_t
        allocations_over_limit; /**< allocations of device memory that are not followed, because
                                   262,144 others were live or on more than 16 devices */
} llmperf_ledger;
#define LLMPERF_LEDGER_INIT LLMPERF_INIT(llmperf_ledger)

/** One region path on one device. A region that used several devices has a row for each; host times
 * repeat in them. "Nested" numbers include the regions inside it. */
typedef struct llmperf_region_stats {
    size_t struct_size;
    const char *path;  /**< labels from the outermost region to this one: "LLM@prefill/LLM@mlp"; "":
                          no region open */
    const char *label; /**< "LLM@mlp" */
    const char *parent; /**< path of the enclosing region; NULL: none */
    const char *stage;  /**< label of the stage that it is or is inside; NULL: none */
    uint32_t depth;     /**< 0: outermost */
    uint32_t kind;  /**< LLMPERF_REGION_STAGE or LLMPERF_REGION_OPERATOR; in metrics.json a word */
    int32_t device; /**< CUDA device ordinal; -1: no device activity */
    uint32_t process_id; /**< operating system's process id */
    uint64_t instances;  /**< complete calls; wall times are of these */
    uint64_t truncated; /**< calls that were open when the session started, paused or ended, or when
                           an enclosing region of another NVTX domain ended, and calls whose begin
                           or end was lost */
    double wall_sum_ms; /**< host time from begin to end */
    double wall_mean_ms; /**< wall_sum_ms / instances */
    double wall_std_ms;  /**< of a sample (n - 1); NaN for fewer than two calls */
    double wall_min_ms;  /**< shortest call */
    double wall_max_ms;  /**< longest call */
    double wall_p50_ms;  /**< median, within 2 % */
    double wall_p95_ms;  /**< 95th percentile, within 2 %; NaN below 20 calls */
    double wall_p99_ms;  /**< 99th percentile, within 2 %; NaN below 100 calls */
    double gpu_busy_ms; /**< time in which at least one kernel, memcpy or memset ran (union of their
                           intervals), nested */
    double exclusive_gpu_busy_ms; /**< the same, of work launched directly in this region */
    double kernel_ms; /**< sum of kernel durations, nested; kernels that run at the same time count
                         separately */
    double exclusive_kernel_ms; /**< the same, of kernels launched directly in this region */
    double memcpy_ms;           /**< sum of memcpy durations, nested */
    double memset_ms;           /**< sum of memset durations, nested */
    double idle_ms; /**< active_ms - gpu_busy_ms, at least 0; where only part of the calls was
                       collected or the region is not a stage, (wall_sum_ms - window_ms) x (1 -
                       skipped_fraction) instead of active_ms; NaN if a call was truncated */
    uint64_t kernel_count; /**< kernels, nested */
    uint64_t memcpy_count; /**< memcpys, nested */
    uint64_t memset_count; /**< memsets, nested */
    uint64_t memcpy_bytes; /**< bytes of memcpys, nested */
    uint64_t tokens;    /**< tokens that the program counted; if not on this region, the sum of the
                           regions in it */
    uint64_t sequences; /**< sequences that the program counted; as tokens */
    uint64_t context; /**< length of the KV cache, new tokens included, summed over the sequences */
    uint64_t flops;   /**< FLOPs that the program or the model gave; a multiply-add is 2 */
    uint64_t bytes;   /**< bytes of device memory that the program or the model gave */
    double skipped_fraction;   /**< share of the work whose device records were not collected, 0
                                  except in tier light. Device times, device counts and idle_ms cover
                                  the collected work and are not scaled; host times and amounts are of
                                  all calls. In metrics.json sampled_fraction, 1 minus this */
    uint32_t flops_origin;     /**< LLMPERF_WORK_…; in metrics.json a word */
    uint32_t bytes_origin;     /**< LLMPERF_WORK_… of bytes; in metrics.json a word */
    uint64_t window_instances; /**< the part of instances in triggered windows: not in the device
                                  numbers here, nor in the work that skipped_fraction refers to */
    double window_ms;          /**< the part of wall_sum_ms in triggered windows */
    uint64_t window_flops;     /**< the part of flops in triggered windows */
    uint64_t window_bytes;     /**< the part of bytes in triggered windows */
    uint64_t message_bytes;    /**< messages of collectives, see LLMPERF_QUANTITY_MESSAGE_BYTES;
                                  without a count, the sum of the child regions */
    double active_ms; /**< of a stage: time in which at least one call was in progress, from its
                         begin to its end or the end of its device work, whichever is later. Calls
                         of several threads at a time count once */
    double collected_wall_ms; /**< of a stage: host time of the calls whose device work was
                                 collected, without triggered windows */
    double energy_j;          /**< energy of the GPU during the calls of a stage, nested stages
                                 included; NaN: not known, or not a stage */
    double energy_error_j;    /**< bound of its error, from the distance of samples and the update
                                 period of the counter */
    double sm_clock_mhz;      /**< mean SM clock during the calls of a stage */
    uint64_t estimate_collected; /**< tier light: sampled calls of the stage that the estimate is
                                    from; LLMPERF_UNKNOWN: nothing was sampled */
    double estimate_ms; /**< gpu_busy_ms over all calls of the stage, estimated from them: the first
                           call as it was, the others by their mean; without triggered
                           windows */
    double estimate_low_ms, estimate_high_ms; /**< 95 % confidence interval of estimate_ms */
    const char *estimate_reason; /**< why the interval is unknown; NULL: it is known, or nothing was
                                    sampled */
} llmperf_region_stats;
#define LLMPERF_REGION_STATS_INIT LLMPERF_INIT(llmperf_region_stats)

/** One kernel (or kind of memcpy or memset) of one region on one device. */
typedef struct llmperf_kernel_stats {
    size_t struct_size;
    const char *name;       /**< as the driver reports it, usually mangled; "[memcpy HtoD]" … */
    const char *demangled;  /**< full C++ name; name if it is not mangled */
    const char *short_name; /**< without return type, template arguments and parameters */
    const char *region; /**< path; "": launched with no region open; NULL: launch not recorded */
    const char
        *captured_in; /**< of a graph node, path of the region that captured it; "": no region was
                         open; "LLM@(…": unknown, with the reason; NULL: not in a graph */
    uint32_t kind;    /**< LLMPERF_ACTIVITY_…; in metrics.json a word */
    int32_t device;   /**< CUDA device ordinal */
    uint64_t calls;   /**< records with valid times */
    uint64_t bytes;   /**< bytes of memcpys and memsets */
    double total_ms;  /**< sum of the durations */
    double mean_ms;   /**< total_ms / calls */
    double min_ms;    /**< shortest call */
    double max_ms;    /**< longest call */
    double p50_ms;    /**< median, within 2 % */
    double p95_ms;    /**< 95th percentile, within 2 %; NaN below 20 calls */
    double p99_ms;    /**< 99th percentile, within 2 %; NaN below 100 calls */
    double share;     /**< total_ms / total_ms of all kernels, memcpys and memsets, 0 to 1 */
    uint64_t estimate_collected; /**< tier light: sampled calls of the stage that the estimate is
                                    from; LLMPERF_UNKNOWN: nothing was sampled */
    double estimate_ms; /**< total_ms over all calls of the stage, estimated from them: the first
                           call as it was, the others by their mean; without triggered
                           windows */
    double estimate_low_ms, estimate_high_ms; /**< 95 % confidence interval of estimate_ms */
    const char *estimate_reason; /**< why the interval is unknown; NULL: it is known, or nothing was
                                    sampled */
} llmperf_kernel_stats;
#define LLMPERF_KERNEL_STATS_INIT LLMPERF_INIT(llmperf_kernel_stats)

/** Calls of a kernel, memcpy or memset that have one shape. The shape of a kernel is the geometry
 * of its launch; the shape of a memcpy is the memory that it reads and writes. There are no rows
 * where the source does not report shapes, such as recordings of earlier versions. */
typedef struct llmperf_kernel_shape {
    size_t struct_size;
    const char *name;                   /**< as llmperf_kernel_stats.name */
    const char *region;                 /**< as llmperf_kernel_stats.region */
    const char *captured_in;            /**< as llmperf_kernel_stats.captured_in */
    uint32_t kind;                      /**< LLMPERF_ACTIVITY_… */
    int32_t device;                     /**< CUDA device ordinal */
    uint64_t grid_x, grid_y, grid_z;    /**< blocks of the grid; LLMPERF_UNKNOWN: not a kernel */
    uint64_t block_x, block_y, block_z; /**< threads of a block */
    uint64_t registers;                 /**< per thread */
    uint64_t static_shared_bytes;       /**< shared memory of a block, static */
    uint64_t dynamic_shared_bytes;      /**< shared memory of a block, dynamic */
    const char *source; /**< memory that a memcpy reads: "pageable", "pinned", "device", "array",
                           "managed", "device_static", "managed_static"; NULL: not known */
    const char *destination; /**< memory that a memcpy or memset writes */
    const char *call;  /**< "sync" or "async": the API call of a copy or memset; NULL: not known, as
                          of graph nodes */
    uint32_t others;   /**< 1: all shapes of this kernel after its first 64, together */
    uint32_t reserved; /**< 0 */
    uint64_t calls;    /**< records with valid times */
    uint64_t bytes;    /**< bytes of memcpys and memsets */
    double total_ms, mean_ms, min_ms, max_ms; /**< durations on the device */
    uint64_t timed_launches; /**< the part of calls whose launch call has a known length */
    double launch_ms;        /**< host time of these launch calls; NaN: none */
    uint64_t blocks_per_sm;  /**< blocks that fit on an SM at once; LLMPERF_UNKNOWN: the GPU or the
                                shape is not known */
    double occupancy;        /**< theoretical: resident warps / most warps of an SM, 0 to 1 */
    double waves;            /**< blocks of the grid / (SMs x blocks_per_sm) */
    double tail_share; /**< tail effect: 1 - waves / waves rounded up, the share of block slots that
                          stays empty if all blocks take equally long */
    uint64_t first_ns; /**< start of its first call, in the clock of the iterations */
    const char *model_operator; /**< operator of the model that it computes: "qkv"; NULL: unknown */
    uint64_t m, n, k;           /**< matrix product: m x n numbers, each a sum of k products; m is
                                   tokens, n and k are those of the weights. LLMPERF_UNKNOWN:
                                   unknown, see shape_reason */
    uint64_t batch;             /**< such products in one call */
    const char *shape_reason;   /**< why m, n and k of a kernel of class GEMM, or the lengths of one
                                   of   class attention, are unknown; NULL: they are known, or it is
                                   of   another class */
    double call_flops;    /**< 2 m n k x batch; attention: 4 head_dim x heads x pairs of a token
                             and one that it attends to, mean */
    double call_bytes;    /**< of the three matrices, or of queries, keys, values and output,
                             each read or written once */
    double tflops, gbs;   /**< achieved: TFLOP/s, GB/s */
    const char *dtype;    /**< format that the product is computed in */
    double achievable_ms; /**< time of a call at the rates that good kernels reach */
    const char *achievable_source; /**< where these come from; NULL: unknown */
    uint64_t heads, kv_heads;      /**< fused attention of a layer: heads on this GPU, and heads of
                                      keys and values; LLMPERF_UNKNOWN: unknown, see shape_reason */
    uint64_t head_dim;             /**< elements of a head */
    double sequences;              /**< in a call, mean */
    double query_length;           /**< new tokens of a sequence, mean */
    double kv_length;              /**< tokens that these attend to, themselves included, mean */
    uint64_t size_bytes; /**< memcpys of at least this size and less than twice as large; a power of
                            two. LLMPERF_UNKNOWN: not a memcpy, or its size is not recorded */
} llmperf_kernel_shape;
#define LLMPERF_KERNEL_SHAPE_INIT LLMPERF_INIT(llmperf_kernel_shape)

/** Calls of one function of the CUDA driver by the program (or by the CUDA runtime for it) that
 * wait for the device, copy, allocate or free memory, or load code: tier deep. Launches of kernels
 * are not among them. */
typedef struct llmperf_host_call {
    size_t struct_size;
    const char *region; /**< path of the innermost region that was open on the thread; "": none */
    const char *call;   /**< function of the driver without _v2 and the like: "cuMemAlloc" (which
                           cudaMalloc() calls), "cuStreamSynchronize" */
    uint64_t calls;     /**< calls that returned, failed ones included */
    double total_ms;    /**< host time of these calls */
    double max_ms;      /**< longest call */
    uint64_t compared_calls; /**< the part of calls that were made in complete calls of stages */
    double idle_ms;    /**< the part of the time of compared_calls in which the GPU had no work
                          of the stage: before its first kernel, in a gap, or after its last
                          kernel; NaN: there are none, or no device data */
    double between_ms; /**< the part of idle_ms between kernels of the stage */
} llmperf_host_call;
#define LLMPERF_HOST_CALL_INIT LLMPERF_INIT(llmperf_host_call)

/** Device memory that the program allocated during the session, in tier deep: a row for each device
 * and process, and one for each region that allocated or freed or that is a stage. Bytes are those
 * of calls of the CUDA driver. An allocator of the program that divides larger blocks, such as
 * PyTorch's, appears with what it reserves, not with what it hands out. */
typedef struct llmperf_memory {
    size_t struct_size;
    const char *region;   /**< path of the region that made the calls, without nested regions; "":
                             none   was open; NULL: all of the device */
    int32_t device;       /**< CUDA device ordinal */
    uint32_t process_id;  /**< process */
    uint64_t allocations; /**< calls that allocated device memory */
    uint64_t frees;       /**< calls that freed it */
    uint64_t unmatched;   /**< the part of these calls without a counterpart: frees of memory from
                             before the session or of another process, and allocations at an address
                             that was not freed before */
    uint64_t allocated_bytes; /**< bytes of the allocations */
    uint64_t freed_bytes;     /**< bytes of the frees that have a counterpart */
    uint64_t largest_bytes;   /**< largest allocation */
    uint64_t held_bytes; /**< most bytes of these allocations at once; LLMPERF_UNKNOWN, here and in
                            the next two: the ledger has allocations_over_limit */
    uint64_t live_bytes; /**< bytes of them that were not freed until the end of the session */
    uint64_t peak_bytes; /**< most bytes that were allocated at once on the device; of a stage:
                            while a call of it was open; LLMPERF_UNKNOWN: another region */
    uint64_t peak_ns;    /**< CLOCK_MONOTONIC when the device had the most; of a region
                            LLMPERF_UNKNOWN, as all members from here on */
    uint64_t kept_bytes; /**< bytes allocated before the first stage began and not freed until the
                            end: mostly weights; LLMPERF_UNKNOWN: no stage */
    uint64_t pool_reserved_bytes; /**< most bytes that the driver's memory pools (cudaMallocAsync)
                                     held at once, in use or not; LLMPERF_UNKNOWN: no allocation
                                     from a pool, or not reported */
    uint64_t pool_used_bytes;     /**< most bytes of them that were in use at once */
    uint64_t context_tokens; /**< of a stage: most tokens of context that one of its calls counted;
                                of a device: in any of its stages; LLMPERF_UNKNOWN: not counted */
    uint64_t weight_bytes;   /**< the model's weights on this GPU */
    uint64_t weight_allocated_bytes; /**< held_bytes of regions named "weights" */
    uint64_t cache_bytes;            /**< size of the KV cache of context_tokens, by the model */
    uint64_t cache_allocated_bytes;  /**< not freed bytes that regions named "kv_cache" allocated */
    uint64_t total_bytes;            /**< memory of the GPU */
    uint64_t free_bytes; /**< the part of it that no process used at any time, by NVML's samples */
    const char *reason;  /**< why members from weight_bytes on are unknown; NULL: all are known */
} llmperf_memory;
#define LLMPERF_MEMORY_INIT LLMPERF_INIT(llmperf_memory)

/** An operator: all regions of one label inside one stage, at any depth. A call inside another one
 * of the same label is counted, but adds no time: the outer one's time includes it. */
typedef struct llmperf_operator_stats {
    size_t struct_size;
    const char *name;  /**< label; where a label with a number, such as a layer, stands in several
                            regions of the stage, after theirs: layers of two towers differ */
    const char *stage; /**< label of the stage; NULL: in no stage */
    uint64_t calls;    /**< complete calls */
    double total_time_ms;        /**< host time */
    double cuda_time_ms;         /**< device busy time, nested, summed over devices */
    double mean_ms;              /**< total_time_ms / calls */
    uint64_t estimate_collected; /**< tier light: as in llmperf_region_stats */
    double estimate_ms;          /**< cuda_time_ms over all calls: the sum of its regions */
    double estimate_low_ms, estimate_high_ms; /**< 95 % confidence interval of estimate_ms, if the
                                                 errors of its regions are the same */
    const char *estimate_reason; /**< why the interval is unknown, of a region; NULL: it is known */
} llmperf_operator_stats;
#define LLMPERF_OPERATOR_STATS_INIT LLMPERF_INIT(llmperf_operator_stats)

/** One metric of a region, or of a kernel in it: a hardware counter of this library, or a metric
 * that Nsight Compute measured. The sum is mean x count. */
typedef struct llmperf_metric_stats {
    size_t struct_size;
    const char *name;    /**< "dram__bytes.sum", or in the words of a tool "DRAM Throughput" */
    const char *unit;    /**< "ns", "byte", "hz", "%", "byte/s"; "": a plain number or a text */
    const char *group;   /**< section or preset; NULL: none. The same metric in two groups may have
                            different values */
    const char *source;  /**< "ncu", "range_profiler" or "pm_sampling" */
    const char *region;  /**< path; "": no region open; NULL: unknown */
    const char *kernel;  /**< as llmperf_kernel_stats.name; NULL: the region as a whole, nested */
    const char *text;    /**< value that is not a number; NULL: a number, or different texts */
    int32_t device;      /**< CUDA device ordinal; -1: unknown */
    uint32_t process_id; /**< 0: unknown */
    uint64_t count;      /**< results: kernel launches, calls of a range, or samples */
    double mean;         /**< mean of the results; the sum is mean x count */
    double std;          /**< of a sample (n - 1); NaN for fewer than two results */
    double min;          /**< smallest result */
    double max;          /**< largest result */
} llmperf_metric_stats;
#define LLMPERF_METRIC_STATS_INIT LLMPERF_INIT(llmperf_metric_stats)

/** Iterations that a profile keeps one by one: the newest ones, besides the first of each stage.
 * Their statistics cover all. */
#define LLMPERF_ITERATIONS_KEPT 1024

/** Most kernel classes in llmperf_iteration.class_ms; further ones count as "other". */
#define LLMPERF_ITERATION_CLASSES 16

/** One iteration: a single call of a stage, such as a decode step. Its device work is what was
 * launched in it, nested regions included, on all devices together. Times are NaN without a device;
 * span and idle times also without device work. */
typedef struct llmperf_iteration {
    size_t struct_size;
    const char *region;  /**< path of the stage */
    uint64_t sequence;   /**< from 1, in the order of completion */
    uint64_t begin_ns;   /**< host clock, CLOCK_MONOTONIC */
    uint64_t activities; /**< kernels, memcpys and memsets */
    uint64_t tokens;     /**< counted by the program, see LLMPERF_QUANTITY_… */
    uint64_t sequences;  /**< sequences, counted by the program */
    uint64_t context;    /**< length of the KV cache, summed over the sequences */
    uint64_t flops;      /**< FLOPs, from the program, else from the model */
    uint64_t bytes;      /**< bytes of device memory, from the program, else from the model */
    double wall_ms;      /**< host time */
    double span_ms;      /**< first start to last end on the device */
    double busy_ms; /**< the part of span_ms in which at least one kernel, memcpy or memset ran */
    double idle_ms; /**< span_ms - busy_ms = idle_launch_ms + idle_host_ms + idle_wait_ms */
    double idle_launch_ms; /**< GPU idle, waiting for the host to launch */
    double idle_host_ms;   /**< the same, in gaps of 0.2 ms or more: the host did other work */
    double idle_wait_ms;   /**< gaps between dependent kernels that were launched in time */
    double class_ms[LLMPERF_ITERATION_CLASSES]; /**< sums of durations by kernel class, see
                                                   llmperf_profile_class(); in metrics.json an
                                                   object of the classes that ran */
    uint64_t window; /**< number of the triggered window that collected it, 0: none; device times of
                        triggered windows are in no statistics */
    double elapsed_ms; /**< time on host and device together: from its begin, or from the end of
                          earlier device work where that ran longer, to its end or the end of its
                          device work, whichever is later; before_ms + span_ms + after_ms */
    double before_ms;  /**< the part of elapsed_ms before its first device work started */
    double after_ms;   /**< the part of elapsed_ms after its last device work ended */
} llmperf_iteration;
#define LLMPERF_ITERATION_INIT LLMPERF_INIT(llmperf_iteration)

/** Distribution of one quantity of a stage over its iterations after warm-up, or over those of
 * warm-up. */
typedef struct llmperf_iteration_stats {
    size_t struct_size;
    const char *region;   /**< path of the stage */
    const char *quantity; /**< a time of llmperf_iteration without "_ms" ("wall", "span"), or a
                             kernel class */
    uint32_t is_class;    /**< 1: quantity is a kernel class */
    uint32_t warm_up;     /**< 1: of the iterations that are warm-up; they are in no other row */
    uint64_t count; /**< iterations that have the quantity; a class without kernels in an iteration
                       counts as 0 ms there */
    double sum_ms;  /**< sum */
    double mean_ms; /**< sum_ms / count */
    double std_ms;  /**< of a sample (n - 1); NaN for fewer than two iterations */
    double min_ms;  /**< smallest */
    double max_ms;  /**< largest */
    double p50_ms;  /**< median, within 2 % */
    double p95_ms;  /**< 95th percentile, within 2 %; NaN below 20 calls */
    double p99_ms;  /**< 99th percentile, within 2 %; NaN below 100 calls */
    uint64_t
        estimate_calls; /**< tier light: calls that estimate_ms is the mean of, all but the first,
                           warm-up and those in triggered windows; LLMPERF_UNKNOWN: not sampled */
    uint64_t estimate_collected; /**< the collected ones among them */
    double estimate_ms; /**< mean of all these calls, estimated: each collected call is weighted
                           by the number of calls for which it was chosen at random */
    double estimate_low_ms, estimate_high_ms; /**< 95 % confidence interval of estimate_ms */
    const char *estimate_reason; /**< why the interval is unknown; NULL: it is known, or the calls
                                    were not sampled */
} llmperf_iteration_stats;
#define LLMPERF_ITERATION_STATS_INIT LLMPERF_INIT(llmperf_iteration_stats)

/** A triggered window of tier light: calls of sampled regions that were all collected because a
 * rule triggered. They are not a random sample, so they are in no numbers of regions, kernels and
 * iteration statistics. */
typedef struct llmperf_window_stats {
    size_t struct_size;
    uint64_t number;         /**< from 1, in the order of their triggers */
    const char *rule;        /**< text of the rule; NULL: unknown, as in a replay of a recording */
    const char *region;      /**< label that the rule watches; NULL: unknown */
    const char *quantity;    /**< "p99", "tokens/s" …; NULL: unknown */
    const char *unit;        /**< of value and threshold: "ms", "1/s", "%"; NULL: unknown */
    double value;            /**< value that triggered the rule */
    double threshold;        /**< limit of the rule */
    uint64_t value_units;    /**< calls that the value is computed from */
    uint64_t triggered_ns;   /**< time of the trigger, CLOCK_MONOTONIC */
    uint64_t begin_ns;       /**< begin of its first call */
    uint64_t end_ns;         /**< end of its last call */
    uint64_t units_asked;    /**< calls requested */
    uint64_t units;          /**< calls collected */
    uint64_t units_left_out; /**< calls that began while it opened or closed; not collected */
    uint64_t kernel_count;   /**< kernels */
    uint64_t memory_count;   /**< memcpys and memsets */
    double wall_ms;      /**< host time, sum over the collected calls, as in llmperf_iteration */
    double busy_ms;      /**< busy time, sum over the collected calls */
    double idle_ms;      /**< idle time, sum over the collected calls */
    double kernel_ms;    /**< sum of kernel durations */
    double memory_ms;    /**< sum of the durations of memcpys and memsets */
    uint32_t process_id; /**< operating system's process id */
    uint32_t reserved;   /**< 0 */
} llmperf_window_stats;
#define LLMPERF_WINDOW_STATS_INIT LLMPERF_INIT(llmperf_window_stats)

/** One kernel, memcpy or memset of a triggered window, by the region that launched it. */
typedef struct llmperf_window_kernel {
    size_t struct_size;
    uint64_t window;    /**< number of the window */
    const char *name;   /**< as llmperf_kernel_stats.name; "[others]": all after the first 512 */
    const char *region; /**< path; NULL for "[others]" */
    const char *captured_in; /**< as llmperf_kernel_stats.captured_in */
    uint64_t calls;          /**< records with valid times */
    double total_ms;         /**< sum of durations */
    uint32_t kind;           /**< LLMPERF_ACTIVITY_…; in metrics.json a word */
    uint32_t process_id;     /**< operating system's process id */
} llmperf_window_kernel;
#define LLMPERF_WINDOW_KERNEL_INIT LLMPERF_INIT(llmperf_window_kernel)

/** Work of CUDA graphs that were launched in one region and captured in another, on one device.
 * Times are sums of durations; branches of a graph that run at the same time count separately. */
typedef struct llmperf_capture_stats {
    size_t struct_size;
    const char *region;      /**< path of the launch; "": no region open; NULL: unknown */
    const char *captured_in; /**< path of the capture; "": no region open; "LLM@(…": unknown, with
                                the reason */
    int32_t device;          /**< CUDA device ordinal */
    uint32_t depth;          /**< of captured_in; 0: outermost */
    uint64_t kernel_count;   /**< kernels, nested capture regions included */
    uint64_t memory_count;   /**< memcpys and memsets, nested capture regions included */
    double kernel_ms;        /**< sum of kernel durations, nested capture regions included */
    double memory_ms;    /**< sum of the durations of memcpys and memsets, nested capture regions
                            included */
    double exclusive_ms; /**< durations of all that was captured directly in this region */
    double share; /**< (kernel_ms + memory_ms) / all graph work that region launched on this device,
                     0 to 1 */
} llmperf_capture_stats;
#define LLMPERF_CAPTURE_STATS_INIT LLMPERF_INIT(llmperf_capture_stats)

/** The requests of a serving engine (request.h). requests = finished + aborted + failed + open +
 * abandoned. */
typedef struct llmperf_requests {
    size_t struct_size;
    uint64_t requests;      /**< begun */
    uint64_t finished;      /**< ended with LLMPERF_FINISH_STOP, _LENGTH or _OTHER */
    uint64_t aborted;       /**< ended with LLMPERF_FINISH_ABORTED */
    uint64_t failed;        /**< ended with LLMPERF_FINISH_FAILED */
    uint64_t open;          /**< not ended yet */
    uint64_t abandoned;     /**< no longer followed: open while the session was paused, or silent
                               for ten minutes while the table was full */
    uint64_t over_limit;    /**< begun while LLMPERF_REQUESTS_OPEN others were open; in no other
                               number */
    uint64_t stray_calls;   /**< calls for requests that were not open */
    uint64_t prompt_tokens; /**< of requests that have output */
    uint64_t output_tokens; /**< reported, also of requests that are open */
    uint64_t good;          /**< finished requests that met the SLO; LLMPERF_UNKNOWN: none given */
    double duration_ms;     /**< from the first arrival to the last call */
    double requests_per_s;  /**< finished requests / duration */
    double prompt_tokens_per_s; /**< prompt_tokens / duration */
    double output_tokens_per_s; /**< output_tokens / duration */
    double goodput_per_s;       /**< good / duration; NaN: no SLO was given */
    double slo_ttft_ms;         /**< the SLO of TTFT; NaN: not given */
    double slo_tpot_ms;         /**< the SLO of TPOT; NaN: not given */
    uint64_t gpu_hour_cents; /**< price of a GPU hour in hundredths; LLMPERF_UNKNOWN: not given */
} llmperf_requests;
#define LLMPERF_REQUESTS_INIT LLMPERF_INIT(llmperf_requests)

/** How one latency is spread. Percentiles are within 2 %; NaN: fewer values than 10 for p90, 100
 * for p99. */
typedef struct llmperf_latency {
    size_t struct_size;
    const char *quantity; /**< "queue", "ttft", "tpot", "itl", "e2e", "step", "step_prefill":
                             docs/reference/metrics.md */
    uint64_t count;       /**< values */
    double sum_ms, mean_ms, min_ms, max_ms; /**< of them */
    double p50_ms, p90_ms, p99_ms;          /**< percentiles */
} llmperf_latency;
#define LLMPERF_LATENCY_INIT LLMPERF_INIT(llmperf_latency)

/** One of the slowest finished requests. */
typedef struct llmperf_slow_request {
    size_t struct_size;
    const char *slow_in; /**< the quantity that it is slow in: "ttft", "tpot" or "e2e" */
    uint64_t request;    /**< as llmperf_request_begin() returned it */
    uint64_t id;         /**< the program's number; LLMPERF_UNKNOWN: not given */
    uint64_t begin_ns;   /**< CLOCK_MONOTONIC */
    uint64_t prompt_tokens, output_tokens; /**< tokens of the prompt, of the output */
    double queue_ms, ttft_ms, tpot_ms;     /**< NaN: not known */
    double itl_max_ms;   /**< the longest wait between two tokens; NaN: not known */
    double e2e_ms;       /**< end-to-end latency */
    uint32_t reason;     /**< LLMPERF_FINISH_… */
    uint32_t process_id; /**< operating system's process id */
} llmperf_slow_request;
#define LLMPERF_SLOW_REQUEST_INIT LLMPERF_INIT(llmperf_slow_request)

/** The load in one of up to 128 intervals of equal length. */
typedef struct llmperf_load {
    size_t struct_size;
    uint64_t begin_ns;                     /**< CLOCK_MONOTONIC */
    uint64_t begun, ended;                 /**< requests */
    uint64_t prompt_tokens, output_tokens; /**< computed in the interval */
    uint64_t running_max;                  /**< most requests that were open at a time */
    uint64_t steps;                        /**< decode steps that ended */
    uint64_t batch_max, context_max;       /**< of a decode step; LLMPERF_UNKNOWN: not counted */
    double batch_mean, context_mean;       /**< of the decode steps; NaN: not counted */
    double length_ms;                      /**< of the interval */
    uint32_t process_id;                   /**< operating system's process id */
    uint32_t reserved;                     /**< 0 */
} llmperf_load;
#define LLMPERF_LOAD_INIT LLMPERF_INIT(llmperf_load)

/** Energy, clocks and memory of a GPU, read from NVML about ten times a second. All of them are of
 * the whole GPU, whichever process used it. Shares of clocks are of active_ms. */
typedef struct llmperf_energy {
    size_t struct_size;
    const char *source;    /**< "counter": the GPU's energy counter; "power": power readings,
                              integrated; NULL: the energy is not known */
    const char *reason;    /**< why the energy is not known; NULL: it is */
    int32_t device;        /**< CUDA device ordinal */
    uint32_t process_id;   /**< process that read it; 0: several */
    uint64_t samples;      /**< times that NVML was read */
    double duration_ms;    /**< from the first sample to the last */
    double energy_j;       /**< energy in that time; NaN: not known */
    double energy_error_j; /**< bound of the error of energy_j from the update period of the counter
                              (not of the sensor) */
    double stages_j;       /**< the part during calls of stages that are in no other stage */
    double outside_j;      /**< the rest */
    double update_ms;      /**< upper limit of the time between two updates of the counter */
    double power_w;        /**< mean: energy_j / duration_ms */
    double power_max_w;    /**< highest reading; NaN: not reported */
    double power_limit_w;  /**< enforced limit; NaN: not reported */
    double active_ms;      /**< time in which the GPU was not idle; NaN: not reported */
    double sm_clock_mhz;   /**< mean SM clock while not idle; NaN: not reported */
    double sm_clock_min_mhz;     /**< lowest SM clock while not idle */
    double sm_clock_max_mhz;     /**< highest SM clock that the GPU has */
    double memory_clock_mhz;     /**< mean memory clock while not idle */
    double memory_clock_min_mhz; /**< lowest memory clock while not idle */
    double memory_clock_max_mhz; /**< highest memory clock that the GPU has */
    double throttled_share;      /**< share of active_ms in which clocks were throttled, 0 to 1 */
    double power_cap_share;      /**< by the power cap or power brake */
    double thermal_share;        /**< by temperature */
    double slowdown_share;       /**< by the hardware's own slowdown */
    double temperature_max_c;    /**< highest temperature, degrees Celsius */
    uint64_t memory_begin_bytes; /**< device memory in use, first sample; LLMPERF_UNKNOWN: not
                                    reported */
    uint64_t memory_peak_bytes;  /**< most of all samples */
    uint64_t memory_end_bytes;   /**< last sample */
    uint64_t memory_total_bytes; /**< all device memory */
    uint64_t counter_begin_mj;   /**< the energy counter at first; LLMPERF_UNKNOWN: not used */
    uint64_t counter_end_mj;     /**< the energy counter at last */
    double read_ms;              /**< host time of the profiler's own thread that reading took */
} llmperf_energy;
#define LLMPERF_ENERGY_INIT LLMPERF_INIT(llmperf_energy)

#ifdef __cplusplus
}
#endif

#endif
