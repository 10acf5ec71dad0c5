/* SPDX-License-Identifier: Apache-2.0 */
/** The members of all rows of a profile, one line each. The run file, JSON, CSV, JSON lines,
 * Prometheus, merging and docs/reference/fields.md are made from these lines. What a member of a
 * public struct means stands at the member (llmperf/profile.h).
 *
 * A line is F(type, member, unit, merge, unknown, json, series, text), in the order of documents:
 *
 * type     NAME text, TEXT text or NULL, WORD uint32_t, DEVICE int32_t or -1, COUNT uint64_t or
 *          LLMPERF_UNKNOWN, NUMBER double or NaN, CLASSES a double for each kernel class, BLOB an
 *          encoded histogram after the struct, RESERVED uint32_t without meaning
 * unit     "ms", "ns", "bytes", "FLOP", a share ("1"), or "" for a count or a text
 * merge    how rows of several runs are merged into one, see enum lp_merge
 * unknown  when the value is unknown, see enum lp_unknown
 * json     member of the row in metrics.json ("a.b": member b of object a); NULL: the writer of
 *          metrics.json makes it
 * series   Prometheus metric without "llmperf_"; NULL or left out: none. In seconds where the unit
 *          is "ms"
 * text     HELP of this metric; of rows of findings also the meaning of the member
 */
#ifndef LP_PROFILE_FIELDS_H
#define LP_PROFILE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/profile/internal_fields.h"
#include "llmperf/findings.h"
#include "llmperf/profile.h"

/** How a member is merged when rows of several runs become one row. */
enum lp_merge {
    LP_MERGE_KEY,       /* rows with the same keys are merged */
    LP_MERGE_APART,     /* such rows of two runs stay two rows */
    LP_MERGE_FIRST,     /* the value of the first run */
    LP_MERGE_SUM,       /* sum; unknown if one value is unknown */
    LP_MERGE_SUM_KNOWN, /* sum of the known values */
    LP_MERGE_MIN,       /* smallest value */
    LP_MERGE_MAX,       /* largest value */
    LP_MERGE_MOMENT,    /* mean and standard deviation, weighted by the count */
    LP_MERGE_WEIGHTED,  /* mean, weighted by device time */
    LP_MERGE_QUANTILE,  /* percentile of the merged histograms */
    LP_MERGE_WORST,     /* the worst verdict */
    LP_MERGE_DERIVED,   /* computed again from other members */
    LP_MERGE_SHARE,     /* computed again from all rows */
    LP_MERGE_LATER      /* computed from the GPU when the profile is read; in no run file */
};

/** When a member is unknown. */
enum lp_unknown {
    LP_UNKNOWN_NEVER,
    LP_UNKNOWN_OTHER,         /* see the text of the member */
    LP_UNKNOWN_NO_SOURCE,     /* without a device source */
    LP_UNKNOWN_NO_DEVICE,     /* no device was found, or no kernel was recorded */
    LP_UNKNOWN_NO_INSTANCE,   /* no call was complete */
    LP_UNKNOWN_NOT_STAGE,     /* the region is not a stage, or the source reports no single calls */
    LP_UNKNOWN_NO_IDLE,       /* no device, no complete call, no device work, or a truncated call */
    LP_UNKNOWN_NOT_COUNTED,   /* neither the program nor the model gave it */
    LP_UNKNOWN_NOT_COLLECTED, /* the source does not report it */
    LP_UNKNOWN_UNLIKE_RANKS,  /* the GPUs of a stage differ in calls or collectives */
    LP_UNKNOWN_NO_SPAN,       /* no device work was recorded */
    LP_UNKNOWN_NO_ENERGY,     /* NVML was not read, or does not report it; see energy */
    LP_UNKNOWN_FEW            /* fewer values than the percentile needs: 10 for p90, 20 for p95, 100
                                 for p99; or the source does not report it */
};

/* clang-format off */

/** Percentiles of all rows that have some: P(F, name, fraction, text, series of kernels). */
#define LP_PERCENTILES(P, F) \
    P(F, p50, 0.50, "median", NULL) \
    P(F, p95, 0.95, "95th percentile", "kernel_p95_seconds") \
    P(F, p99, 0.99, "99th percentile", NULL)

#define LP_REGION_PERCENTILE(F, p, fraction, text, series) \
    F(NUMBER, wall_##p##_ms, "ms", QUANTILE, FEW, "wall_ms." #p, "region_wall_" #p "_seconds", text " of the host time of a call, within 2 %")
#define LP_KERNEL_PERCENTILE(F, p, fraction, text, series) \
    F(NUMBER, p##_ms, "ms", QUANTILE, FEW, #p "_ms", series, text " of the duration of a call, within 2 %")
#define LP_SPREAD_PERCENTILE(F, p, fraction, text, series) \
    F(NUMBER, p##_ms, "ms", QUANTILE, FEW, #p)

/** Times of an iteration, in the order of documents: T(CONSTANT, name, level, heading). They are
 * members of llmperf_iteration and quantities of llmperf_iteration_stats; one of a deeper level is
 * part of the one above it. */
#define LP_ITERATION_TIMES(T) \
    T(WALL, wall, 0, "Wall time (host)") \
    T(ELAPSED, elapsed, 0, "Elapsed time (host and device)") \
    T(BEFORE, before, 1, "before the first kernel") \
    T(SPAN, span, 1, "from first to last kernel") \
    T(BUSY, busy, 2, "busy") \
    T(IDLE, idle, 2, "idle between kernels") \
    T(IDLE_LAUNCH, idle_launch, 3, "waiting for launch") \
    T(IDLE_HOST, idle_host, 3, "waiting for other work of the host") \
    T(IDLE_WAIT, idle_wait, 3, "gaps between kernels") \
    T(AFTER, after, 1, "after the last kernel")

/** llmperf_ledger */
#define LP_LEDGER_FIELDS(F) \
    F(COUNT, launches_expected, "", SUM, NO_SOURCE, "launches_expected") \
    F(COUNT, graph_launches, "", SUM, NO_SOURCE, "graph_launches") \
    F(COUNT, memory_calls, "", SUM, NO_SOURCE, "memory_calls") \
    F(COUNT, kernels_seen, "", SUM, NEVER, "kernels_seen") \
    F(COUNT, graph_kernels_seen, "", SUM, NEVER, "graph_kernels_seen") \
    F(COUNT, memory_seen, "", SUM, NEVER, "memory_seen") \
    F(COUNT, kernels_attributed, "", SUM, NEVER, "kernels_attributed") \
    F(COUNT, kernels_outside, "", SUM, NEVER, "kernels_outside") \
    F(COUNT, kernels_unattributed, "", SUM, NEVER, "kernels_unattributed") \
    F(COUNT, launches_missing, "", SUM, NO_SOURCE, "launches_missing") \
    F(COUNT, records_dropped, "", SUM, NEVER, "records_dropped") \
    F(COUNT, records_invalid_time, "", SUM, NEVER, "records_invalid_time") \
    F(COUNT, records_incomplete, "", SUM, NEVER, "records_incomplete") \
    F(COUNT, records_duplicate, "", SUM, NEVER, "records_duplicate") \
    F(COUNT, records_late, "", SUM, NEVER, "records_late") \
    F(COUNT, graph_nodes_unmapped, "", SUM, NEVER, "graph_nodes_unmapped") \
    F(COUNT, regions_dropped, "", SUM, NEVER, "regions_dropped") \
    F(COUNT, regions_truncated, "", SUM, NEVER, "regions_truncated") \
    F(COUNT, regions_unbalanced, "", SUM, NEVER, "regions_unbalanced") \
    F(NUMBER, tracing_overhead_ms, "ms", SUM_KNOWN, NOT_COLLECTED, "tracing_overhead_ms") \
    F(NUMBER, sampled_fraction, "1", MIN, NO_SOURCE, "sampled_fraction") \
    F(NUMBER, attributed_gpu_time_share, "1", WEIGHTED, NOT_COLLECTED, "attributed_gpu_time_share") \
    F(WORD, verdict, "", WORST, NEVER, NULL) \
    F(RESERVED, reserved, "", FIRST, NEVER, NULL) \
    F(COUNT, graphs_device_launchable, "", SUM, NOT_COLLECTED, "graphs_device_launchable") \
    F(COUNT, kernels_outside_window, "", SUM, NEVER, "kernels_outside_window") \
    F(COUNT, kernels_in_windows, "", SUM, NEVER, "kernels_in_windows") \
    F(COUNT, launches_duplicate, "", SUM, NEVER, "launches_duplicate") \
    F(COUNT, graph_records_missing, "", SUM, NEVER, "graph_records_missing") \
    F(COUNT, memory_missing, "", SUM, NEVER, "memory_missing") \
    F(COUNT, records_before_launch, "", SUM, NEVER, "records_before_launch") \
    F(COUNT, records_foreign, "", SUM, NEVER, "records_foreign") \
    F(COUNT, names_over_limit, "", SUM, NEVER, "names_over_limit") \
    F(COUNT, source_errors, "", SUM, NEVER, "source_errors") \
    F(COUNT, regions_abandoned, "", SUM, NEVER, "regions_abandoned") \
    F(COUNT, regions_over_limit, "", SUM, NEVER, "regions_over_limit") \
    F(COUNT, allocations_over_limit, "", SUM, NEVER, "allocations_over_limit")

/** llmperf_region_stats */
#define LP_REGION_FIELDS(F) \
    F(NAME, path, "", KEY, NEVER, "path") \
    F(NAME, label, "", FIRST, NEVER, "label") \
    F(TEXT, parent, "", FIRST, OTHER, "parent") \
    F(TEXT, stage, "", FIRST, OTHER, "stage") \
    F(WORD, depth, "", FIRST, NEVER, "depth") \
    F(WORD, kind, "", FIRST, NEVER, NULL) \
    F(DEVICE, device, "", KEY, NO_DEVICE, "device") \
    F(WORD, process_id, "", KEY, NEVER, "process_id") \
    F(COUNT, instances, "", SUM, NEVER, "instances", "region_instances_total", "calls of the region that began and ended within the session") \
    F(COUNT, truncated, "", SUM, NEVER, "truncated") \
    F(NUMBER, wall_sum_ms, "ms", SUM_KNOWN, NO_INSTANCE, "wall_ms.sum", "region_wall_seconds_total", "host time from begin to end, of all complete calls") \
    F(NUMBER, wall_mean_ms, "ms", MOMENT, NO_INSTANCE, "wall_ms.mean") \
    F(NUMBER, wall_std_ms, "ms", MOMENT, NO_INSTANCE, "wall_ms.std") \
    F(NUMBER, wall_min_ms, "ms", MIN, NO_INSTANCE, "wall_ms.min") \
    F(NUMBER, wall_max_ms, "ms", MAX, NO_INSTANCE, "wall_ms.max") \
    LP_PERCENTILES(LP_REGION_PERCENTILE, F) \
    F(NUMBER, gpu_busy_ms, "ms", SUM, NO_DEVICE, "gpu_busy_ms", "region_gpu_busy_seconds_total", "time in which at least one kernel, memcpy or memset ran (union of their intervals), nested regions included") \
    F(NUMBER, exclusive_gpu_busy_ms, "ms", SUM, NO_DEVICE, "exclusive_gpu_busy_ms") \
    F(NUMBER, kernel_ms, "ms", SUM, NO_DEVICE, "kernel_ms", "region_kernel_seconds_total", "sum of kernel durations, nested regions included; kernels that run at the same time count separately") \
    F(NUMBER, exclusive_kernel_ms, "ms", SUM, NO_DEVICE, "exclusive_kernel_ms") \
    F(NUMBER, memcpy_ms, "ms", SUM, NO_DEVICE, "memcpy_ms") \
    F(NUMBER, memset_ms, "ms", SUM, NO_DEVICE, "memset_ms") \
    F(NUMBER, idle_ms, "ms", SUM, NO_IDLE, "idle_ms") \
    F(COUNT, kernel_count, "", SUM, NO_DEVICE, "kernel_count", "region_kernels_total", "kernels, nested regions included") \
    F(COUNT, memcpy_count, "", SUM, NO_DEVICE, "memcpy_count") \
    F(COUNT, memset_count, "", SUM, NO_DEVICE, "memset_count") \
    F(COUNT, memcpy_bytes, "bytes", SUM, NO_DEVICE, "memcpy_bytes", "region_copy_bytes_total", "bytes of memcpys, nested regions included") \
    F(COUNT, tokens, "", SUM, NOT_COUNTED, "tokens", "region_tokens_total", "tokens that the program counted; without a count, the sum of the child regions") \
    F(COUNT, sequences, "", SUM, NOT_COUNTED, "sequences", "region_sequences_total", "sequences that the program counted; without a count, the sum of the child regions, as for `tokens`") \
    F(COUNT, context, "", SUM, NOT_COUNTED, "context") \
    F(COUNT, flops, "FLOP", SUM, NOT_COUNTED, "flops", "region_flops_total", "FLOPs that the program or the model gave; a multiply-add is 2") \
    F(COUNT, bytes, "bytes", SUM, NOT_COUNTED, "bytes", "region_bytes_total", "bytes of device memory that the program or the model gave") \
    F(NUMBER, skipped_fraction, "1", WEIGHTED, NEVER, NULL) \
    F(WORD, flops_origin, "", FIRST, NOT_COUNTED, NULL) \
    F(WORD, bytes_origin, "", FIRST, NOT_COUNTED, NULL) \
    F(COUNT, window_instances, "", SUM, NEVER, "window_instances") \
    F(NUMBER, window_ms, "ms", SUM, NEVER, "window_ms") \
    F(COUNT, window_flops, "FLOP", SUM, NOT_COUNTED, NULL) \
    F(COUNT, window_bytes, "bytes", SUM, NOT_COUNTED, NULL) \
    F(COUNT, message_bytes, "bytes", SUM, NOT_COUNTED, "message_bytes", "region_message_bytes_total", "sizes of the messages of collectives that NCCL or the program gave; without one, the sum of the child regions") \
    F(NUMBER, active_ms, "ms", SUM, NOT_STAGE, "active_ms", "region_active_seconds_total", "time in which at least one call of a stage was in progress, on the host or on the device; tokens / this is the rate of all threads together") \
    F(NUMBER, collected_wall_ms, "ms", SUM, NOT_STAGE, "collected_wall_ms") \
    F(NUMBER, energy_j, "J", SUM, NO_ENERGY, "energy_j", "region_energy_joules_total", "energy of the GPU during the calls of a stage, nested stages included") \
    F(NUMBER, energy_error_j, "J", SUM, NO_ENERGY, "energy_error_j") \
    F(NUMBER, sm_clock_mhz, "MHz", WEIGHTED, NO_ENERGY, "sm_clock_mhz") \
    LP_ESTIMATE_FIELDS(F, SUM, FIRST) \
    F(BLOB, wall_histogram, "", QUANTILE, NO_INSTANCE, NULL)

/** llmperf_kernel_stats */
#define LP_KERNEL_FIELDS(F) \
    F(NAME, name, "", KEY, NEVER, "kernel_name_raw") \
    F(TEXT, demangled, "", DERIVED, NEVER, "kernel_name") \
    F(TEXT, short_name, "", DERIVED, NEVER, "short_name") \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(TEXT, captured_in, "", KEY, OTHER, "captured_in") \
    F(WORD, kind, "", KEY, NEVER, NULL) \
    F(DEVICE, device, "", KEY, NO_DEVICE, "device") \
    F(COUNT, calls, "", SUM, NEVER, "calls", "kernel_calls_total", "calls: records with valid times") \
    F(COUNT, bytes, "bytes", SUM, NEVER, "bytes") \
    F(NUMBER, total_ms, "ms", SUM, NOT_COLLECTED, "total_ms", "kernel_seconds_total", "device time of all calls") \
    F(NUMBER, mean_ms, "ms", DERIVED, NOT_COLLECTED, "mean_ms") \
    F(NUMBER, min_ms, "ms", MIN, NOT_COLLECTED, "min_ms") \
    F(NUMBER, max_ms, "ms", MAX, NOT_COLLECTED, "max_ms") \
    LP_PERCENTILES(LP_KERNEL_PERCENTILE, F) \
    F(NUMBER, share, "1", SHARE, NOT_COLLECTED, "share") \
    LP_ESTIMATE_FIELDS(F, SUM, FIRST) \
    F(BLOB, histogram, "", QUANTILE, NOT_COLLECTED, NULL)

/** llmperf_kernel_shape */
#define LP_KERNEL_SHAPE_FIELDS(F) \
    F(NAME, name, "", KEY, NEVER, "kernel_name_raw") \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(TEXT, captured_in, "", KEY, OTHER, "captured_in") \
    F(WORD, kind, "", KEY, NEVER, NULL) \
    F(DEVICE, device, "", KEY, NO_DEVICE, "device") \
    F(COUNT, grid_x, "", KEY, OTHER, "grid_x") \
    F(COUNT, grid_y, "", KEY, OTHER, "grid_y") \
    F(COUNT, grid_z, "", KEY, OTHER, "grid_z") \
    F(COUNT, block_x, "", KEY, OTHER, "block_x") \
    F(COUNT, block_y, "", KEY, OTHER, "block_y") \
    F(COUNT, block_z, "", KEY, OTHER, "block_z") \
    F(COUNT, registers, "", KEY, OTHER, "registers") \
    F(COUNT, static_shared_bytes, "bytes", KEY, OTHER, "static_shared_bytes") \
    F(COUNT, dynamic_shared_bytes, "bytes", KEY, OTHER, "dynamic_shared_bytes") \
    F(TEXT, source, "", KEY, OTHER, "source") \
    F(TEXT, destination, "", KEY, OTHER, "destination") \
    F(TEXT, call, "", KEY, OTHER, "call") \
    F(WORD, others, "", KEY, NEVER, "others") \
    F(RESERVED, reserved, "", FIRST, NEVER, NULL) \
    F(COUNT, calls, "", SUM, NEVER, "calls") \
    F(COUNT, bytes, "bytes", SUM, NEVER, "bytes") \
    F(NUMBER, total_ms, "ms", SUM, NEVER, "total_ms") \
    F(NUMBER, mean_ms, "ms", DERIVED, NEVER, "mean_ms") \
    F(NUMBER, min_ms, "ms", MIN, NEVER, "min_ms") \
    F(NUMBER, max_ms, "ms", MAX, NEVER, "max_ms") \
    F(COUNT, timed_launches, "", SUM, NEVER, "timed_launches") \
    F(NUMBER, launch_ms, "ms", SUM_KNOWN, NOT_COLLECTED, "launch_ms") \
    F(COUNT, first_ns, "ns", MIN, OTHER, "first_ns") \
    F(COUNT, blocks_per_sm, "", LATER, OTHER, "blocks_per_sm") \
    F(NUMBER, occupancy, "1", LATER, OTHER, "occupancy") \
    F(NUMBER, waves, "", LATER, OTHER, "waves") \
    F(NUMBER, tail_share, "1", LATER, OTHER, "tail_share") \
    F(TEXT, model_operator, "", LATER, OTHER, "model_operator") \
    F(COUNT, m, "", LATER, OTHER, "m") \
    F(COUNT, n, "", LATER, OTHER, "n") \
    F(COUNT, k, "", LATER, OTHER, "k") \
    F(COUNT, batch, "", LATER, OTHER, "batch") \
    F(TEXT, shape_reason, "", LATER, OTHER, "shape_reason") \
    F(NUMBER, call_flops, "FLOP", LATER, OTHER, "call_flops") \
    F(NUMBER, call_bytes, "bytes", LATER, OTHER, "call_bytes") \
    F(NUMBER, tflops, "TFLOP/s", LATER, OTHER, "tflops") \
    F(NUMBER, gbs, "GB/s", LATER, OTHER, "gbs") \
    F(TEXT, dtype, "", LATER, OTHER, "dtype") \
    F(NUMBER, achievable_ms, "ms", LATER, OTHER, "achievable_ms") \
    F(TEXT, achievable_source, "", LATER, OTHER, "achievable_source") \
    F(COUNT, heads, "", LATER, OTHER, "heads") \
    F(COUNT, kv_heads, "", LATER, OTHER, "kv_heads") \
    F(COUNT, head_dim, "", LATER, OTHER, "head_dim") \
    F(NUMBER, sequences, "", LATER, OTHER, "sequences") \
    F(NUMBER, query_length, "tokens", LATER, OTHER, "query_length") \
    F(NUMBER, kv_length, "tokens", LATER, OTHER, "kv_length") \
    F(COUNT, size_bytes, "bytes", KEY, OTHER, "size_bytes")

/** llmperf_operator_stats */
#define LP_OPERATOR_FIELDS(F) \
    F(NAME, name, "", KEY, NEVER, "op_name") \
    F(TEXT, stage, "", KEY, OTHER, "stage") \
    F(COUNT, calls, "", DERIVED, NEVER, "calls") \
    F(NUMBER, total_time_ms, "ms", DERIVED, NO_INSTANCE, "total_time_ms") \
    F(NUMBER, cuda_time_ms, "ms", DERIVED, NO_DEVICE, "cuda_time_ms") \
    F(NUMBER, mean_ms, "ms", DERIVED, NO_INSTANCE, "mean_ms") \
    LP_ESTIMATE_FIELDS(F, DERIVED, DERIVED)

/** llmperf_iteration_stats */
#define LP_SPREAD_FIELDS(F) \
    F(NAME, region, "", KEY, NEVER, NULL) \
    F(NAME, quantity, "", KEY, NEVER, NULL) \
    F(WORD, is_class, "", KEY, NEVER, NULL) \
    F(WORD, warm_up, "", KEY, NEVER, NULL) \
    F(COUNT, count, "", SUM, NEVER, "count") \
    F(NUMBER, sum_ms, "ms", SUM, NO_SPAN, "sum") \
    F(NUMBER, mean_ms, "ms", MOMENT, NO_SPAN, "mean") \
    F(NUMBER, std_ms, "ms", MOMENT, NO_INSTANCE, "std") \
    F(NUMBER, min_ms, "ms", MIN, NO_SPAN, "min") \
    F(NUMBER, max_ms, "ms", MAX, NO_SPAN, "max") \
    LP_PERCENTILES(LP_SPREAD_PERCENTILE, F) \
    F(COUNT, estimate_calls, "", FIRST, OTHER, "estimate.calls") \
    F(COUNT, estimate_collected, "", FIRST, OTHER, "estimate.collected") \
    F(NUMBER, estimate_ms, "ms", FIRST, OTHER, "estimate.mean") \
    F(NUMBER, estimate_low_ms, "ms", FIRST, OTHER, "estimate.low") \
    F(NUMBER, estimate_high_ms, "ms", FIRST, OTHER, "estimate.high") \
    F(TEXT, estimate_reason, "", FIRST, OTHER, "estimate.reason") \
    F(BLOB, histogram, "", QUANTILE, OTHER, NULL)

/** llmperf_metric_stats */
#define LP_METRIC_FIELDS(F) \
    F(NAME, name, "", KEY, NEVER, "name") \
    F(NAME, unit, "", FIRST, NEVER, "unit") \
    F(TEXT, group, "", KEY, OTHER, "group") \
    F(NAME, source, "", KEY, NEVER, "source") \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(TEXT, kernel, "", KEY, OTHER, "kernel") \
    F(TEXT, text, "", FIRST, OTHER, "text") \
    F(DEVICE, device, "", KEY, OTHER, "device") \
    F(WORD, process_id, "", KEY, NEVER, NULL) \
    F(COUNT, count, "", SUM, NEVER, "count") \
    F(NUMBER, mean, "", MOMENT, OTHER, "mean") \
    F(NUMBER, std, "", MOMENT, OTHER, "std") \
    F(NUMBER, min, "", MIN, OTHER, "min") \
    F(NUMBER, max, "", MAX, OTHER, "max")

/** llmperf_iteration */
#define LP_ITERATION_FIELDS(F) \
    F(NAME, region, "", APART, NEVER, NULL) \
    F(COUNT, sequence, "", KEY, NEVER, "sequence") \
    F(COUNT, begin_ns, "ns", APART, NEVER, "begin_ns") \
    F(COUNT, activities, "", APART, NO_DEVICE, "activities") \
    F(COUNT, tokens, "", APART, NOT_COUNTED, "tokens") \
    F(COUNT, sequences, "", APART, NOT_COUNTED, "sequences") \
    F(COUNT, context, "", APART, NOT_COUNTED, "context") \
    F(COUNT, flops, "FLOP", APART, NOT_COUNTED, "flops") \
    F(COUNT, bytes, "bytes", APART, NOT_COUNTED, "bytes") \
    F(NUMBER, wall_ms, "ms", APART, NO_SPAN, "wall_ms") \
    F(NUMBER, span_ms, "ms", APART, NO_SPAN, "span_ms") \
    F(NUMBER, busy_ms, "ms", APART, NO_SPAN, "busy_ms") \
    F(NUMBER, idle_ms, "ms", APART, NO_SPAN, "idle_ms") \
    F(NUMBER, idle_launch_ms, "ms", APART, NO_SPAN, "idle_launch_ms") \
    F(NUMBER, idle_host_ms, "ms", APART, NO_SPAN, "idle_host_ms") \
    F(NUMBER, idle_wait_ms, "ms", APART, NO_SPAN, "idle_wait_ms") \
    F(CLASSES, class_ms, "ms", APART, NO_SPAN, NULL) \
    F(COUNT, window, "", APART, NEVER, NULL) \
    F(NUMBER, elapsed_ms, "ms", APART, NO_DEVICE, "elapsed_ms") \
    F(NUMBER, before_ms, "ms", APART, NO_SPAN, "before_ms") \
    F(NUMBER, after_ms, "ms", APART, NO_SPAN, "after_ms")

/** llmperf_window_stats */
#define LP_WINDOW_FIELDS(F) \
    F(COUNT, number, "", KEY, NEVER, "number") \
    F(TEXT, rule, "", APART, OTHER, "rule") \
    F(TEXT, region, "", APART, OTHER, "region") \
    F(TEXT, quantity, "", APART, OTHER, "quantity") \
    F(TEXT, unit, "", APART, OTHER, "unit") \
    F(NUMBER, value, "", APART, OTHER, "value") \
    F(NUMBER, threshold, "", APART, OTHER, "threshold") \
    F(COUNT, value_units, "", APART, OTHER, "value_units") \
    F(COUNT, triggered_ns, "ns", APART, OTHER, "triggered_ns") \
    F(COUNT, begin_ns, "ns", APART, OTHER, "begin_ns") \
    F(COUNT, end_ns, "ns", APART, OTHER, "end_ns") \
    F(COUNT, units_asked, "", APART, OTHER, "units_asked") \
    F(COUNT, units, "", APART, NEVER, "units") \
    F(COUNT, units_left_out, "", APART, NEVER, "units_left_out") \
    F(COUNT, kernel_count, "", APART, NEVER, "kernel_count") \
    F(COUNT, memory_count, "", APART, NEVER, "memory_count") \
    F(NUMBER, wall_ms, "ms", APART, NEVER, "wall_ms") \
    F(NUMBER, busy_ms, "ms", APART, NEVER, "busy_ms") \
    F(NUMBER, idle_ms, "ms", APART, NEVER, "idle_ms") \
    F(NUMBER, kernel_ms, "ms", APART, NEVER, "kernel_ms") \
    F(NUMBER, memory_ms, "ms", APART, NEVER, "memory_ms") \
    F(WORD, process_id, "", KEY, NEVER, "process_id") \
    F(RESERVED, reserved, "", FIRST, NEVER, NULL)

/** llmperf_window_kernel */
#define LP_WINDOW_KERNEL_FIELDS(F) \
    F(COUNT, window, "", KEY, NEVER, NULL) \
    F(NAME, name, "", KEY, NEVER, "name") \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(TEXT, captured_in, "", KEY, OTHER, "captured_in") \
    F(COUNT, calls, "", APART, NEVER, "calls") \
    F(NUMBER, total_ms, "ms", APART, NEVER, "total_ms") \
    F(WORD, kind, "", KEY, NEVER, NULL) \
    F(WORD, process_id, "", KEY, NEVER, NULL)

/** llmperf_capture_stats */
#define LP_CAPTURE_FIELDS(F) \
    F(TEXT, region, "", KEY, OTHER, "region") \
    F(NAME, captured_in, "", KEY, NEVER, "captured_in") \
    F(DEVICE, device, "", KEY, NEVER, "device") \
    F(WORD, depth, "", DERIVED, NEVER, "depth") \
    F(COUNT, kernel_count, "", DERIVED, NEVER, "kernel_count") \
    F(COUNT, memory_count, "", DERIVED, NEVER, "memory_count") \
    F(NUMBER, kernel_ms, "ms", DERIVED, NEVER, "kernel_ms") \
    F(NUMBER, memory_ms, "ms", DERIVED, NEVER, "memory_ms") \
    F(NUMBER, exclusive_ms, "ms", DERIVED, NEVER, "exclusive_ms") \
    F(NUMBER, share, "1", DERIVED, NEVER, "share")

/** llmperf_requests */
#define LP_REQUESTS_FIELDS(F) \
    F(COUNT, requests, "", SUM, NEVER, "requests") \
    F(COUNT, finished, "", SUM, NEVER, "finished", "requests_finished_total", "requests that were served to their end") \
    F(COUNT, aborted, "", SUM, NEVER, "aborted", "requests_aborted_total", "requests that the client cancelled") \
    F(COUNT, failed, "", SUM, NEVER, "failed", "requests_failed_total", "requests that the engine could not serve") \
    F(COUNT, open, "", SUM, NEVER, "open", "requests_open", "requests that have not ended") \
    F(COUNT, abandoned, "", SUM, NEVER, "abandoned") \
    F(COUNT, over_limit, "", SUM, NEVER, "over_limit", "requests_over_limit_total", "requests that began while LLMPERF_REQUESTS_OPEN others were open; in no other number") \
    F(COUNT, stray_calls, "", SUM, NEVER, "stray_calls") \
    F(COUNT, prompt_tokens, "", SUM, NEVER, "prompt_tokens", "request_prompt_tokens_total", "prompt tokens of requests that have output") \
    F(COUNT, output_tokens, "", SUM, NEVER, "output_tokens", "request_output_tokens_total", "output tokens that were reported") \
    F(COUNT, good, "", SUM, OTHER, "good", "requests_good_total", "finished requests that met the SLO") \
    F(NUMBER, duration_ms, "ms", MAX, NEVER, "duration_ms") \
    F(NUMBER, requests_per_s, "", DERIVED, OTHER, "requests_per_s") \
    F(NUMBER, prompt_tokens_per_s, "", DERIVED, OTHER, "prompt_tokens_per_s") \
    F(NUMBER, output_tokens_per_s, "", DERIVED, OTHER, "output_tokens_per_s") \
    F(NUMBER, goodput_per_s, "", DERIVED, OTHER, "goodput_per_s") \
    F(NUMBER, slo_ttft_ms, "ms", FIRST, OTHER, "slo_ttft_ms") \
    F(NUMBER, slo_tpot_ms, "ms", FIRST, OTHER, "slo_tpot_ms") \
    F(COUNT, gpu_hour_cents, "", FIRST, OTHER, "gpu_hour_cents")

/** llmperf_latency */
#define LP_LATENCY_FIELDS(F) \
    F(NAME, quantity, "", KEY, NEVER, NULL) \
    F(COUNT, count, "", SUM, NEVER, "count") \
    F(NUMBER, sum_ms, "ms", SUM, NEVER, "sum") \
    F(NUMBER, mean_ms, "ms", DERIVED, NEVER, "mean") \
    F(NUMBER, min_ms, "ms", MIN, NEVER, "min") \
    F(NUMBER, max_ms, "ms", MAX, NEVER, "max") \
    F(NUMBER, p50_ms, "ms", DERIVED, FEW, "p50") \
    F(NUMBER, p90_ms, "ms", DERIVED, FEW, "p90") \
    F(NUMBER, p99_ms, "ms", DERIVED, FEW, "p99") \
    F(BLOB, histogram, "", QUANTILE, NEVER, NULL)

/** llmperf_slow_request */
#define LP_SLOW_REQUEST_FIELDS(F) \
    F(NAME, slow_in, "", KEY, NEVER, "slow_in") \
    F(COUNT, request, "", KEY, NEVER, "request") \
    F(COUNT, id, "", APART, OTHER, "id") \
    F(COUNT, begin_ns, "ns", APART, NEVER, "begin_ns") \
    F(COUNT, prompt_tokens, "", APART, NEVER, "prompt_tokens") \
    F(COUNT, output_tokens, "", APART, NEVER, "output_tokens") \
    F(NUMBER, queue_ms, "ms", APART, OTHER, "queue_ms") \
    F(NUMBER, ttft_ms, "ms", APART, OTHER, "ttft_ms") \
    F(NUMBER, tpot_ms, "ms", APART, OTHER, "tpot_ms") \
    F(NUMBER, itl_max_ms, "ms", APART, OTHER, "itl_max_ms") \
    F(NUMBER, e2e_ms, "ms", APART, NEVER, "e2e_ms") \
    F(WORD, reason, "", APART, NEVER, NULL) \
    F(WORD, process_id, "", KEY, NEVER, "process_id")

/** llmperf_load */
#define LP_LOAD_FIELDS(F) \
    F(COUNT, begin_ns, "ns", KEY, NEVER, "begin_ns") \
    F(COUNT, begun, "", APART, NEVER, "begun") \
    F(COUNT, ended, "", APART, NEVER, "ended") \
    F(COUNT, prompt_tokens, "", APART, NEVER, "prompt_tokens") \
    F(COUNT, output_tokens, "", APART, NEVER, "output_tokens") \
    F(COUNT, running_max, "", APART, NEVER, "running_max") \
    F(COUNT, steps, "", APART, NEVER, "steps") \
    F(COUNT, batch_max, "", APART, OTHER, "batch_max") \
    F(COUNT, context_max, "", APART, OTHER, "context_max") \
    F(NUMBER, batch_mean, "", APART, OTHER, "batch_mean") \
    F(NUMBER, context_mean, "", APART, OTHER, "context_mean") \
    F(NUMBER, length_ms, "ms", APART, NEVER, "length_ms") \
    F(WORD, process_id, "", KEY, NEVER, "process_id") \
    F(RESERVED, reserved, "", FIRST, NEVER, NULL)

/** llmperf_host_call */
#define LP_HOST_CALL_FIELDS(F) \
    F(NAME, region, "", KEY, NEVER, "region") \
    F(NAME, call, "", KEY, NEVER, "call") \
    F(COUNT, calls, "", SUM, NEVER, "calls", "host_calls_total", "calls of a function of the CUDA driver that waits, copies, allocates or loads") \
    F(NUMBER, total_ms, "ms", SUM, NEVER, "total_ms", "host_call_seconds_total", "host time of these calls") \
    F(NUMBER, max_ms, "ms", MAX, NEVER, "max_ms") \
    F(COUNT, compared_calls, "", SUM, NEVER, "compared_calls") \
    F(NUMBER, idle_ms, "ms", SUM_KNOWN, OTHER, "idle_ms") \
    F(NUMBER, between_ms, "ms", SUM_KNOWN, OTHER, "between_ms")

/** llmperf_energy */
#define LP_ENERGY_FIELDS(F) \
    F(TEXT, source, "", FIRST, OTHER, "source") \
    F(TEXT, reason, "", FIRST, OTHER, "reason") \
    F(DEVICE, device, "", KEY, NEVER, "device") \
    F(WORD, process_id, "", FIRST, NEVER, "process_id") \
    F(COUNT, samples, "", SUM, NEVER, "samples") \
    F(NUMBER, duration_ms, "ms", MAX, NEVER, "duration_ms") \
    F(NUMBER, energy_j, "J", MAX, NO_ENERGY, "energy_j", "gpu_energy_joules_total", "energy of the GPU since it was first read") \
    F(NUMBER, energy_error_j, "J", MAX, NO_ENERGY, "energy_error_j") \
    F(NUMBER, stages_j, "J", DERIVED, NO_ENERGY, "stages_j") \
    F(NUMBER, outside_j, "J", DERIVED, NO_ENERGY, "outside_j") \
    F(NUMBER, update_ms, "ms", MAX, NO_ENERGY, "update_ms") \
    F(NUMBER, power_w, "W", DERIVED, NO_ENERGY, "power_w", "gpu_power_watts", "mean power of the GPU") \
    F(NUMBER, power_max_w, "W", MAX, NO_ENERGY, "power_max_w") \
    F(NUMBER, power_limit_w, "W", MIN, NO_ENERGY, "power_limit_w") \
    F(NUMBER, active_ms, "ms", MAX, NO_ENERGY, "active_ms") \
    F(NUMBER, sm_clock_mhz, "MHz", WEIGHTED, NO_ENERGY, "sm_clock_mhz", "gpu_sm_clock_mhz", "mean SM clock while the GPU is not idle") \
    F(NUMBER, sm_clock_min_mhz, "MHz", MIN, NO_ENERGY, "sm_clock_min_mhz") \
    F(NUMBER, sm_clock_max_mhz, "MHz", MAX, NO_ENERGY, "sm_clock_max_mhz") \
    F(NUMBER, memory_clock_mhz, "MHz", WEIGHTED, NO_ENERGY, "memory_clock_mhz", "gpu_memory_clock_mhz", "mean memory clock while the GPU is not idle") \
    F(NUMBER, memory_clock_min_mhz, "MHz", MIN, NO_ENERGY, "memory_clock_min_mhz") \
    F(NUMBER, memory_clock_max_mhz, "MHz", MAX, NO_ENERGY, "memory_clock_max_mhz") \
    F(NUMBER, throttled_share, "1", WEIGHTED, NO_ENERGY, "throttled_share", "gpu_throttled_ratio", "share of the time in which the GPU was not idle and its clocks were throttled") \
    F(NUMBER, power_cap_share, "1", WEIGHTED, NO_ENERGY, "power_cap_share") \
    F(NUMBER, thermal_share, "1", WEIGHTED, NO_ENERGY, "thermal_share") \
    F(NUMBER, slowdown_share, "1", WEIGHTED, NO_ENERGY, "slowdown_share") \
    F(NUMBER, temperature_max_c, "degrees C", MAX, NO_ENERGY, "temperature_max_c", "gpu_temperature_max_celsius", "highest temperature of the GPU") \
    F(COUNT, memory_begin_bytes, "bytes", FIRST, NO_ENERGY, "memory_begin_bytes") \
    F(COUNT, memory_peak_bytes, "bytes", MAX, NO_ENERGY, "memory_peak_bytes", "gpu_memory_peak_bytes", "most device memory in use, by all processes") \
    F(COUNT, memory_end_bytes, "bytes", FIRST, NO_ENERGY, "memory_end_bytes", "gpu_memory_used_bytes", "device memory in use, by all processes") \
    F(COUNT, memory_total_bytes, "bytes", MAX, NO_ENERGY, "memory_total_bytes") \
    F(COUNT, counter_begin_mj, "mJ", MIN, OTHER, "counter_begin_mj") \
    F(COUNT, counter_end_mj, "mJ", MAX, OTHER, "counter_end_mj") \
    F(NUMBER, read_ms, "ms", SUM_KNOWN, NEVER, "read_ms")

/** llmperf_advice */
#define LP_ADVICE_FIELDS(F) \
    F(NAME, id, "", KEY, NEVER, "id") \
    F(NAME, text, "", DERIVED, NEVER, "text") \
    F(TEXT, stage, "", KEY, OTHER, "region") \
    F(NUMBER, saving_ms, "ms", DERIVED, OTHER, "saving_ms") \
    F(COUNT, evidence, "", DERIVED, NEVER, NULL) \
    F(WORD, severity, "", DERIVED, NEVER, NULL) \
    F(WORD, once, "", DERIVED, NEVER, "once") \
    F(NUMBER, saving_call_ms, "ms", DERIVED, OTHER, "saving_call_ms") \
    F(NUMBER, mended_tokens_per_s, "", DERIVED, OTHER, "mended_tokens_per_s")

/* clang-format on */

enum lp_field_type {
    LP_FIELD_NAME,   /* const char *, never NULL */
    LP_FIELD_TEXT,   /* const char *, NULL: not known */
    LP_FIELD_WORD,   /* uint32_t */
    LP_FIELD_DEVICE, /* int32_t, -1: not known */
    LP_FIELD_COUNT,  /* uint64_t, LLMPERF_UNKNOWN: not known */
    LP_FIELD_NUMBER, /* double, NaN: not known */
    LP_FIELD_BLOB    /* struct lp_blob */
};

struct lp_row_field {
    const char *name;
    enum lp_field_type type;
    size_t offset; /* in the row */
    const char *unit;
    enum lp_merge merge;
    enum lp_unknown unknown;
    const char *json, *series, *text;
};

enum lp_row_id {
    LP_ROW_LEDGER,
    LP_ROW_REGION = LLMPERF_ROWS_REGIONS,
    LP_ROW_KERNEL = LLMPERF_ROWS_KERNELS,
    LP_ROW_OPERATOR = LLMPERF_ROWS_OPERATORS,
    LP_ROW_SPREAD = LLMPERF_ROWS_ITERATION_STATS,
    LP_ROW_METRIC = LLMPERF_ROWS_METRICS,
    LP_ROW_ITERATION = LLMPERF_ROWS_ITERATIONS,
    LP_ROW_WINDOW = LLMPERF_ROWS_WINDOWS,
    LP_ROW_WINDOW_KERNEL = LLMPERF_ROWS_WINDOW_KERNELS,
    LP_ROW_CAPTURE = LLMPERF_ROWS_CAPTURES,
    LP_ROW_FACT,
    LP_ROW_PROBLEM,
    LP_ROW_NOTE,
    LP_ROW_KERNEL_SHAPE = LLMPERF_ROWS_KERNEL_SHAPES,
    LP_ROW_REQUESTS = LLMPERF_ROWS_REQUESTS,
    LP_ROW_LATENCY = LLMPERF_ROWS_LATENCIES,
    LP_ROW_SLOW_REQUEST = LLMPERF_ROWS_SLOW_REQUESTS,
    LP_ROW_LOAD = LLMPERF_ROWS_LOAD,
    LP_ROW_HOST_CALL = LLMPERF_ROWS_HOST_CALLS,
    LP_ROW_ENERGY = LLMPERF_ROWS_ENERGY,
    LP_ROW_MEMORY = LLMPERF_ROWS_MEMORY,
    LP_ROW_STAGE_OPERATOR,
    LP_ROW_DEVICE,
    LP_ROW_COLLECTIVE_CALLS,
    LP_ROW_MEMORY_POINT,
    LP_ROW_STALL,
    LP_ROW_HOT_INSTRUCTION,
    LP_ROW_ADVICE, /* from here on rows of findings */
    LP_ROW_RANK,
    LP_ROW_COLLECTIVE,
    LP_ROW_CLASS,
    LP_ROW_KERNEL_WORK,
    LP_ROW_NCU_KERNEL
};
#define LP_ROW_KINDS 27 /* that a profile holds */

struct lp_row_kind {
    const char *table; /* in a run file; NULL: made again from other rows */
    const char *type;  /* in CSV and JSON lines; NULL: not there */
    const struct lp_row_field *fields;
    size_t count;
    size_t size;     /* of the public struct, with which a row begins; 0: none */
    size_t row_size; /* of a row */
    size_t list;     /* offset in llmperf_profile of the vector of rows; of the ledger itself */
};

/** By lp_row_id. */
extern const struct lp_row_kind lp_row_kinds[];

/** The rows of a kind; the ledger is one row. Pointers are valid until a row is added. NULL:
 * no such row. */
size_t lp_row_count(const llmperf_profile *profile, enum lp_row_id id);
const void *lp_row_at(const llmperf_profile *profile, enum lp_row_id id, size_t index);

/** Append a copy of a row. 0 or LLMPERF_ENOMEM. */
int lp_row_push(llmperf_profile *profile, enum lp_row_id id, const void *row);

/** Copy the texts and histograms that a row points to into the profile; derived texts become
 * NULL. 0 or LLMPERF_ENOMEM. */
int lp_row_keep(llmperf_profile *profile, enum lp_row_id id, void *row);

/** Hash of the members that `wanted` chooses; all keys for NULL. */
uint64_t lp_row_hash(enum lp_row_id id, const void *row,
                     bool (*wanted)(const struct lp_row_field *));

/** Order of two rows by their keys, as they follow in the table; 0: the same keys. */
int lp_row_compare(enum lp_row_id id, const void *a, const void *b);

/** Add the members of `more` that are merged by SUM, SUM_KNOWN, MIN, MAX and WEIGHTED. */
void lp_row_add(enum lp_row_id id, void *into, const void *more, double weight_into,
                double weight_more);

/** Is the member of this row known? */
bool lp_field_known(const struct lp_row_field *field, const void *row);

/** Make it unknown. */
void lp_field_forget(const struct lp_row_field *field, void *row);

/** Make all members unknown that can be; blobs stay. */
void lp_row_forget(enum lp_row_id id, void *row);

/** Value of a COUNT, WORD or NUMBER; NaN: not known. */
double lp_field_value(const struct lp_row_field *field, const void *row);

#define LP_TIME_CONSTANT(constant, ...) LP_TIME_##constant,
enum lp_iteration_time { LP_ITERATION_TIMES(LP_TIME_CONSTANT) LP_TIMES };

struct lp_time_name {
    const char *name, *member; /* "idle_launch", "idle_launch_ms" */
    int level;
    const char *heading;
};
extern const struct lp_time_name lp_time_names[LP_TIMES];

/** The time with this name; LP_TIMES: none has it. */
enum lp_iteration_time lp_time_named(const char *name);

#endif
