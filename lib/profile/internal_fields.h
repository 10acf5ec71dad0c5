/* SPDX-License-Identifier: Apache-2.0 */
/** The members of rows that have no public struct, as in fields.h, which includes this file: of
 * findings, and of what findings are computed from. Also those of device memory. */
#ifndef LP_PROFILE_INTERNAL_FIELDS_H
#define LP_PROFILE_INTERNAL_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */

/** Device time over all calls of a sampled stage. */
#define LP_ESTIMATE_FIELDS(F, merge, merge_reason) \
    F(COUNT, estimate_collected, "", merge, OTHER, "estimate.collected") \
    F(NUMBER, estimate_ms, "ms", merge, OTHER, "estimate.total") \
    F(NUMBER, estimate_low_ms, "ms", merge, OTHER, "estimate.low") \
    F(NUMBER, estimate_high_ms, "ms", merge, OTHER, "estimate.high") \
    F(TEXT, estimate_reason, "", merge_reason, OTHER, "estimate.reason")

/** ranks */
#define LP_RANK_FIELDS(F) \
    F(NAME, region, "", KEY, NEVER, "region", NULL, "path of a stage on which several GPUs work together") \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(DEVICE, device, "", KEY, NEVER, "device", NULL, "CUDA device ordinal") \
    F(COUNT, instances, "", DERIVED, NEVER, "instances", NULL, "complete calls") \
    F(NUMBER, wall_ms, "ms", DERIVED, NO_INSTANCE, "wall_ms", NULL, "mean host time of a call") \
    F(NUMBER, compute_ms, "ms", DERIVED, NEVER, "compute_ms", "rank_compute_seconds", "kernel durations per call without collectives") \
    F(NUMBER, collective_ms, "ms", DERIVED, NEVER, "collective_ms", "rank_collective_seconds", "durations of collectives per call, waiting included") \
    F(NUMBER, collective_count, "", DERIVED, NEVER, "collective_count", NULL, "collectives per call") \
    F(NUMBER, waiting_ms, "ms", DERIVED, UNLIKE_RANKS, "waiting_ms", "rank_waiting_seconds", "time per call waiting for other GPUs in collectives; a lower bound where `waiting_source` is `sums`") \
    F(TEXT, waiting_source, "", DERIVED, OTHER, "waiting_source", NULL, "`calls`: the calls of all GPUs were matched; `sums`: `collective_ms` minus the least of all GPUs; null: unknown") \
    F(NUMBER, transfer_ms, "ms", DERIVED, OTHER, "transfer_ms", "rank_transfer_seconds", "time per call in collectives after the last GPU had arrived; null: calls were not matched") \
    F(NUMBER, last_share, "1", DERIVED, OTHER, "last_share", "rank_last_share", "share of the collectives at which this GPU arrived last; null: calls were not matched") \
    F(TEXT, cause, "", DERIVED, OTHER, "cause", NULL, "why it arrives last, of the GPU that the others wait for; null: of the others, or not known")

/** collectives */
#define LP_COLLECTIVE_FIELDS(F) \
    F(TEXT, region, "", KEY, OTHER, "region", NULL, "path of the innermost stage around them; null: none") \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(DEVICE, device, "", KEY, NEVER, "device", NULL, "CUDA device ordinal") \
    F(NAME, kernel, "", KEY, NEVER, "kernel", NULL, "short name of the kernel") \
    F(TEXT, kind, "", DERIVED, OTHER, "kind", NULL, "what it does, from the kernel's name: `all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `broadcast`, `reduce`, `send_recv`; null: the name does not say") \
    F(TEXT, algorithm, "", DERIVED, OTHER, "algorithm", NULL, "from the kernel's name: `tree`, `not tree`, `in-switch`, `one-shot`, `two-shot`; null: the name does not say") \
    F(TEXT, protocol, "", DERIVED, OTHER, "protocol", NULL, "from the kernel's name; null: the name does not say, as those of NCCL's `ncclDevKernel_…`, which are called LL whatever runs") \
    F(TEXT, dtype, "", DERIVED, OTHER, "dtype", NULL, "from the kernel's name; null: the name does not say") \
    F(COUNT, ranks, "", DERIVED, OTHER, "ranks", NULL, "GPUs that take part: those whose calls match, else `tensor_parallel`, else the number of ranks of the launcher") \
    F(COUNT, calls, "", DERIVED, NEVER, "calls", NULL, "calls") \
    F(NUMBER, message_bytes, "bytes", KEY, OTHER, "message_bytes", NULL, "mean size of a call's message: elements that the call names x their size; `reason` says why it is null") \
    F(TEXT, message_source, "", DERIVED, OTHER, "message_source", NULL, "`nvtx` (NCCL's ranges), `program` (counted), `model` (all-reduces of tensor parallelism); null: unknown") \
    F(NUMBER, total_ms, "ms", DERIVED, NEVER, "total_ms", "collective_seconds_total", "durations of all calls, waiting included") \
    F(NUMBER, mean_ms, "ms", DERIVED, NEVER, "mean_ms", NULL, "`total_ms` / `calls`") \
    F(NUMBER, transfer_ms, "ms", DERIVED, NEVER, "transfer_ms", "collective_transfer_seconds", "mean time of a call after the last GPU has arrived; estimated where `transfer_source` is `shortest calls`") \
    F(NUMBER, waiting_ms, "ms", DERIVED, NEVER, "waiting_ms", "collective_waiting_seconds", "mean time of a call before the last GPU has arrived") \
    F(TEXT, transfer_source, "", DERIVED, NEVER, "transfer_source", NULL, "`ranks`: from the calls of all GPUs; `shortest calls`: an estimate, the shortest call of the same kernel and grid") \
    F(NUMBER, bus_gbs, "GB/s", DERIVED, OTHER, "bus_gbs", "collective_bus_gigabytes_per_second", "bus bandwidth during the transfer, by the formula of nccl-tests") \
    F(NUMBER, bus_elapsed_gbs, "GB/s", DERIVED, OTHER, "bus_elapsed_gbs", NULL, "the same over the whole call, waiting included: what nccl-tests prints") \
    F(NUMBER, link_gbs, "GB/s", DERIVED, OTHER, "link_gbs", NULL, "peak of the GPU's link in one direction") \
    F(NUMBER, link_share, "1", DERIVED, OTHER, "link_share", "collective_link_share", "`bus_gbs` / `link_gbs`; reductions in the switch can exceed 1") \
    F(NUMBER, overlap_share, "1", DERIVED, OTHER, "overlap_share", "collective_overlap_share", "share of the collectives' time in which compute kernels ran on the same GPU") \
    F(TEXT, reason, "", DERIVED, OTHER, "reason", NULL, "why a number is null")

/** kernel_classes */
#define LP_CLASS_FIELDS(F) \
    F(TEXT, stage, "", KEY, OTHER, "stage", NULL, "label of the stage; null: in no stage") \
    F(NAME, kernel_class, "", KEY, NEVER, "kernel_class", NULL, "kernel class") \
    F(COUNT, calls, "", DERIVED, NEVER, "calls", NULL, "calls of its kernels, memcpys or memsets, all devices") \
    F(NUMBER, total_ms, "ms", DERIVED, NEVER, "total_ms", NULL, "sum of their durations") \
    F(NUMBER, share, "1", DERIVED, NEVER, "share", NULL, "`total_ms` / `total_ms` of all classes of the stage")

/** kernel_roofline */
#define LP_KERNEL_WORK_FIELDS(F) \
    F(NAME, demangled, "", KEY, NEVER, "kernel_name", NULL, "full C++ name of a kernel, all regions together") \
    F(NAME, short_name, "", KEY, NEVER, "short_name", NULL, "C++ name without return type, template arguments and parameters") \
    F(DEVICE, device, "", KEY, OTHER, "device", NULL, "CUDA device ordinal; null: unknown") \
    F(COUNT, calls, "", DERIVED, NEVER, "calls", NULL, "calls") \
    F(NUMBER, total_ms, "ms", DERIVED, NEVER, "total_ms", NULL, "durations of all calls") \
    F(NUMBER, share, "1", DERIVED, NEVER, "share", NULL, "`total_ms` / `total_ms` of all kernels") \
    F(NUMBER, flops, "FLOP", DERIVED, OTHER, "flops", NULL, "FLOPs of a call, mean of the calls that were measured; `reason` says why a number is null") \
    F(NUMBER, bytes, "bytes", DERIVED, OTHER, "bytes", NULL, "bytes of device memory of a call, mean of the calls that were measured") \
    F(NUMBER, time_ms, "ms", DERIVED, OTHER, "time_ms", NULL, "duration of a call, mean of the calls that were measured") \
    F(NUMBER, intensity, "FLOP/byte", DERIVED, OTHER, "intensity", NULL, "`flops` / `bytes`") \
    F(NUMBER, achieved_tflops, "TFLOP/s", DERIVED, OTHER, "achieved_tflops", NULL, "`flops` / `time_ms`") \
    F(NUMBER, attainable_tflops, "TFLOP/s", DERIVED, OTHER, "attainable_tflops", NULL, "the smaller of the peak and bandwidth x `intensity`") \
    F(NUMBER, achieved_gbs, "GB/s", DERIVED, OTHER, "achieved_gbs", NULL, "`bytes` / `time_ms`") \
    F(TEXT, dtype, "", DERIVED, OTHER, "dtype", NULL, "dtype of most of its FLOPs; null: unknown, or it has none") \
    F(TEXT, source, "", DERIVED, OTHER, "source", NULL, "where FLOPs and bytes come from; null: they are unknown") \
    F(TEXT, reason, "", DERIVED, OTHER, "reason", NULL, "why a number is unknown; null: all are known")

/** ncu_kernels */
#define LP_NCU_KERNEL_FIELDS(F) \
    F(TEXT, demangled, "", KEY, OTHER, "kernel_name", NULL, "full C++ name of a kernel that ncu measured; null: a range that it measured as a whole") \
    F(TEXT, short_name, "", KEY, OTHER, "short_name", NULL, "C++ name without return type, template arguments and parameters") \
    F(TEXT, region, "", KEY, OTHER, "region", NULL, "path of the region; null: unknown") \
    F(DEVICE, device, "", KEY, OTHER, "device", NULL, "CUDA device ordinal; null: unknown") \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(COUNT, results, "", DERIVED, NEVER, "results", NULL, "calls that were measured; the numbers are their means") \
    F(NUMBER, duration_ms, "ms", DERIVED, OTHER, "duration_ms", NULL, "duration of a call; `reason` says why a number is null") \
    F(NUMBER, total_ms, "ms", DERIVED, OTHER, "total_ms", NULL, "`duration_ms` x `results`") \
    F(NUMBER, share, "1", DERIVED, OTHER, "share", NULL, "`total_ms` / `total_ms` of all kernels that ncu measured; null: a range") \
    F(TEXT, bound, "", DERIVED, OTHER, "bound", NULL, "by ncu's Speed of Light rule: `latency` (SM and memory below 60 %), `compute`, `memory` (the larger of the two), `compute and memory` (both below 80 % and less than 10 points apart)") \
    F(NUMBER, sm_percent, "%", DERIVED, OTHER, "sm_percent", NULL, "compute (SM) throughput, of its peak") \
    F(NUMBER, memory_percent, "%", DERIVED, OTHER, "memory_percent", NULL, "throughput of the busiest unit of the memory system, of its peak") \
    F(NUMBER, dram_gbs, "GB/s", DERIVED, OTHER, "dram_gbs", NULL, "bytes of device memory / duration") \
    F(NUMBER, dram_read_mb, "MB", DERIVED, OTHER, "dram_read_mb", NULL, "read from device memory by a call") \
    F(NUMBER, dram_write_mb, "MB", DERIVED, OTHER, "dram_write_mb", NULL, "written to device memory by a call") \
    F(NUMBER, l1_hit_percent, "%", DERIVED, OTHER, "l1_hit_percent", NULL, "hit rate of the L1 and texture cache") \
    F(NUMBER, l2_hit_percent, "%", DERIVED, OTHER, "l2_hit_percent", NULL, "hit rate of the L2 cache") \
    F(NUMBER, occupancy_limit_percent, "%", DERIVED, OTHER, "occupancy_limit_percent", NULL, "theoretical occupancy") \
    F(NUMBER, occupancy_percent, "%", DERIVED, OTHER, "occupancy_percent", NULL, "achieved occupancy") \
    F(NUMBER, registers, "", DERIVED, OTHER, "registers", NULL, "registers of a thread") \
    F(NUMBER, waves, "", DERIVED, OTHER, "waves", NULL, "blocks / blocks that run at once on all SMs") \
    F(NUMBER, issue_cycles, "cycle", DERIVED, OTHER, "issue_cycles", NULL, "cycles of a warp between two instructions") \
    F(TEXT, stalls, "", DERIVED, OTHER, "stalls", NULL, "the most frequent reasons why warps waited, with their shares of these cycles") \
    F(TEXT, reason, "", DERIVED, OTHER, "reason", NULL, "sections of ncu that were not collected; null: all")

/** struct lp_device_time */
#define LP_DEVICE_FIELDS(F) \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(DEVICE, device, "", KEY, NEVER, "device", NULL, "CUDA device ordinal") \
    F(COUNT, activities, "", APART, NEVER, "activities", NULL, "kernels, memcpys and memsets, marked or not") \
    F(NUMBER, span_ms, "ms", APART, NEVER, "span_ms", NULL, "from the first start to the last end on the device: the sum of the next four") \
    F(NUMBER, busy_ms, "ms", APART, NEVER, "busy_ms", NULL, "time in which at least one of them ran (union of their intervals)") \
    F(NUMBER, idle_launch_ms, "ms", APART, NEVER, "idle_launch_ms", NULL, "gaps below 0.2 ms while the GPU waited for the host to launch") \
    F(NUMBER, idle_wait_ms, "ms", APART, NEVER, "idle_wait_ms", NULL, "gaps before work that was launched already") \
    F(NUMBER, idle_host_ms, "ms", APART, NEVER, "idle_host_ms", NULL, "gaps of 0.2 ms or more in which the host launched nothing: it did something else") \
    F(NUMBER, queued_ms, "ms", APART, NEVER, "queued_ms", NULL, "mean time from launch call to start: how far launches were ahead")

/** llmperf_memory */
#define LP_MEMORY_FIELDS(F) \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(DEVICE, device, "", KEY, NEVER, "device") \
    F(WORD, process_id, "", KEY, NEVER, "process_id") \
    F(COUNT, allocations, "", APART, NEVER, "allocations") \
    F(COUNT, frees, "", APART, NEVER, "frees") \
    F(COUNT, unmatched, "", APART, NEVER, "unmatched") \
    F(COUNT, allocated_bytes, "bytes", APART, NEVER, "allocated_bytes") \
    F(COUNT, freed_bytes, "bytes", APART, NEVER, "freed_bytes") \
    F(COUNT, largest_bytes, "bytes", APART, NEVER, "largest_bytes") \
    F(COUNT, held_bytes, "bytes", APART, OTHER, "held_bytes") \
    F(COUNT, live_bytes, "bytes", APART, OTHER, "live_bytes") \
    F(COUNT, peak_bytes, "bytes", APART, OTHER, "peak_bytes") \
    F(COUNT, peak_ns, "ns", APART, OTHER, "peak_ns") \
    F(COUNT, kept_bytes, "bytes", APART, OTHER, "kept_bytes") \
    F(COUNT, pool_reserved_bytes, "bytes", APART, OTHER, "pool_reserved_bytes") \
    F(COUNT, pool_used_bytes, "bytes", APART, OTHER, "pool_used_bytes") \
    F(COUNT, context_tokens, "", APART, OTHER, "context_tokens") \
    F(COUNT, weight_bytes, "bytes", LATER, OTHER, "weight_bytes") \
    F(COUNT, weight_allocated_bytes, "bytes", LATER, OTHER, "weight_allocated_bytes") \
    F(COUNT, cache_bytes, "bytes", LATER, OTHER, "cache_bytes") \
    F(COUNT, cache_allocated_bytes, "bytes", LATER, OTHER, "cache_allocated_bytes") \
    F(COUNT, total_bytes, "bytes", LATER, OTHER, "total_bytes") \
    F(COUNT, free_bytes, "bytes", LATER, OTHER, "free_bytes") \
    F(TEXT, reason, "", LATER, OTHER, "reason")

/** struct lp_memory_point */
#define LP_MEMORY_POINT_FIELDS(F) \
    F(DEVICE, device, "", KEY, NEVER, "device", NULL, "CUDA device ordinal") \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(COUNT, time_ns, "ns", KEY, NEVER, "time_ns", NULL, "host clock") \
    F(COUNT, bytes, "bytes", APART, NEVER, "bytes", NULL, "most bytes that were allocated at once from then to the next row, of memory that was allocated in the session")

/** stalls */
#define LP_STALL_FIELDS(F) \
    F(NAME, region, "", KEY, NEVER, "region", NULL, "path of the region of which calls were sampled, nested regions included") \
    F(NAME, name, "", KEY, NEVER, "kernel_name_raw", NULL, "symbol of the kernel") \
    F(TEXT, short_name, "", DERIVED, NEVER, "short_name", NULL, "C++ name without return type, template arguments and parameters") \
    F(DEVICE, device, "", KEY, NEVER, "device", NULL, "CUDA device ordinal") \
    F(WORD, process_id, "", KEY, NEVER, "process_id", NULL, "process") \
    F(NAME, reason, "", KEY, NEVER, "reason", NULL, "stall reason, named as in Nsight Compute: why a warp did not issue its next instruction (`selected`: it did); of an instruction: its most frequent one") \
    F(TEXT, meaning, "", LATER, OTHER, "meaning", NULL, "what the warp waits for; null: the reason is not known here") \
    F(COUNT, samples, "", SUM, NEVER, "samples", NULL, "samples of warps of the kernel in the region with this reason; of an instruction: with any reason") \
    F(COUNT, kernel_samples, "", SUM, NEVER, "kernel_samples", NULL, "samples of all instructions of the kernel in the region, with any reason") \
    F(NUMBER, share, "1", SHARE, NEVER, "share", NULL, "`samples` / `kernel_samples`")

/** hot_instructions */
#define LP_HOT_INSTRUCTION_FIELDS(F) \
    F(COUNT, offset, "bytes", KEY, NEVER, "offset", NULL, "from the begin of the kernel's code") \
    F(TEXT, source, "", FIRST, OTHER, "source", NULL, "`file:line`; null: the code was built without -lineinfo or loaded before the session, or the instruction is rare")

/** struct lp_stage_operator */
#define LP_STAGE_OPERATOR_FIELDS(F) \
    F(NAME, stage, "", KEY, NEVER, NULL, NULL, "label of the stage") \
    F(NAME, name, "", KEY, NEVER, "operator", NULL, "operator of the model: `qkv`, `attention`, `experts`") \
    F(NAME, layer_kind, "", KEY, NEVER, "layers_of", NULL, "kind of the layers that have it: `dense`, `moe`, `output`") \
    F(NAME, dtype, "", KEY, NEVER, "dtype", NULL, "format that it computes in") \
    F(WORD, layers, "", MAX, NEVER, "layers", NULL, "layers that have it") \
    F(WORD, kernels, "", MAX, NEVER, NULL, NULL, "kernels of all layers, at least, if no operator is fused with another one") \
    F(WORD, differs, "", MAX, NEVER, NULL, NULL, "1: calls of the stage differ in its matrix products") \
    F(TEXT, products, "", FIRST, OTHER, NULL, NULL, "matrix products of a layer in the first call, each as `FORM:COUNT*BATCHxMxNxK`; of forms above 0 an engine computes one; null: none are known") \
    F(NUMBER, flops, "FLOP", SUM, NEVER, "flops", NULL, "FLOPs") \
    F(NUMBER, bytes, "bytes", SUM, NEVER, "bytes", NULL, "bytes of device memory") \
    F(NUMBER, activation_bytes, "bytes", SUM, NEVER, NULL, NULL, "bytes of its inputs and outputs, besides `bytes`") \
    F(WORD, heads, "", MAX, NEVER, NULL, NULL, "attention: heads on a GPU; 0: unknown, or another operator") \
    F(WORD, kv_heads, "", MAX, NEVER, NULL, NULL, "attention: heads of keys and values") \
    F(WORD, head_dim, "", MAX, NEVER, NULL, NULL, "attention: elements of a head") \
    F(COUNT, calls, "", SUM, NEVER, NULL, NULL, "calls of the stage that these sums are of") \
    F(NUMBER, sequences, "", SUM, NEVER, NULL, NULL, "attention: sequences") \
    F(NUMBER, queries, "tokens", SUM, NEVER, NULL, NULL, "attention: new tokens") \
    F(NUMBER, keys, "tokens", SUM, NEVER, NULL, NULL, "attention: tokens that the new ones attend to") \
    F(NUMBER, pairs, "", SUM, NEVER, NULL, NULL, "attention: pairs of a new token and one that it attends to") \
    F(NUMBER, layer_bytes, "bytes", SUM, NEVER, NULL, NULL, "attention: bytes of queries, keys, values and output") \
    F(NUMBER, least_pairs, "", MIN, NEVER, NULL, NULL, "attention: fewest pairs of a call") \
    F(NUMBER, most_pairs, "", MAX, NEVER, NULL, NULL, "attention: most pairs of a call")

/** struct lp_collective_calls */
#define LP_COLLECTIVE_CALLS_FIELDS(F) \
    F(NAME, name, "", KEY, NEVER, NULL, NULL, "symbol of the kernel") \
    F(TEXT, region, "", KEY, OTHER, NULL, NULL, "region that launched it") \
    F(TEXT, captured_in, "", KEY, OTHER, NULL, NULL, "region that captured it into a graph") \
    F(TEXT, clock, "", FIRST, OTHER, NULL, NULL, "boot id of the host whose clock gave the times; null: the run's only host") \
    F(WORD, process_id, "", KEY, NEVER, NULL, NULL, "process") \
    F(DEVICE, device, "", KEY, NEVER, NULL, NULL, "CUDA device ordinal") \
    F(COUNT, calls, "", SUM, NEVER, NULL, NULL, "calls") \
    F(NUMBER, total_ms, "ms", SUM, NEVER, NULL, NULL, "sum of their durations") \
    F(NUMBER, min_ms, "ms", MIN, NEVER, NULL, NULL, "shortest call") \
    F(NUMBER, compared_ms, "ms", SUM, NEVER, NULL, NULL, "time of calls that was compared with compute kernels") \
    F(NUMBER, shared_ms, "ms", SUM, NEVER, NULL, NULL, "part of it in which compute kernels ran on the GPU") \
    F(BLOB, times, "", FIRST, OTHER, NULL, NULL, "start and length of the newest calls")

/* clang-format on */

/* C types of members. */
#define LP_TYPE_NAME                 const char *
#define LP_TYPE_TEXT                 const char *
#define LP_TYPE_WORD                 uint32_t
#define LP_TYPE_DEVICE               int32_t
#define LP_TYPE_COUNT                uint64_t
#define LP_TYPE_NUMBER               double
#define LP_MEMBER(type, member, ...) LP_TYPE_##type member;

/** Rows of findings: computed from the rows of a profile, in no run file. */
struct lp_rank {
    LP_RANK_FIELDS(LP_MEMBER)
};
struct lp_collective {
    LP_COLLECTIVE_FIELDS(LP_MEMBER)
};
struct lp_class_total {
    LP_CLASS_FIELDS(LP_MEMBER)
};
struct lp_kernel_work {
    LP_KERNEL_WORK_FIELDS(LP_MEMBER)
    const char *name;  /* as in llmperf_kernel_stats */
    double counted_ms; /* time from counters, where CUPTI gives no times of kernels */
    uint64_t counted_calls;
};

#define LP_NCU_STALLS 3 /* reasons that are shown */

struct lp_ncu_kernel {
    LP_NCU_KERNEL_FIELDS(LP_MEMBER)
    const char *name;                /* as in llmperf_metric_stats */
    size_t first_metric, end_metric; /* its rows of LP_ROW_METRIC lie between */
    double limit_blocks, limit_registers, limit_shared, limit_warps; /* blocks on an SM */
    struct lp_ncu_stall {
        const struct lp_stall_reason *reason;
        double cycles;
    } top[LP_NCU_STALLS]; /* most first; 0 cycles: none */
    double stalls_cycles; /* of all states */
};

/** Busy and idle time of a device, inside and outside of regions. None if only a share was
 * collected.
 */
struct lp_device_time {
    LP_DEVICE_FIELDS(LP_MEMBER)
};

/** Device memory over time. */
struct lp_memory_point {
    LP_MEMORY_POINT_FIELDS(LP_MEMBER)
};

/** Samples of kernels by stall reason; those of instructions begin with the same members. */
struct lp_stall {
    LP_STALL_FIELDS(LP_MEMBER)
};
struct lp_hot_instruction {
    LP_STALL_FIELDS(LP_MEMBER)
    LP_HOT_INSTRUCTION_FIELDS(LP_MEMBER)
};

#endif
