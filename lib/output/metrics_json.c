/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/analysis/analysis.h"
#include "lib/output/class_totals.h"
#include "lib/output/counters.h"
#include "lib/output/facts.h"
#include "lib/output/limits.h"
#include "lib/output/output.h"
#include "llmperf/activity.h"
#include "llmperf/region.h"

/* Why a value is null. Each reason that was used becomes one line of notes[]. */
enum reason {
    REASON_NO_MODEL,
    REASON_NO_COUNTERS,
    REASON_NO_DEVICE,
    REASON_NO_ACTIVITY,
    REASON_NO_INSTANCE,
    REASON_NOT_COUNTED,
    REASON_NOT_COLLECTED,
    REASON_NO_ITERATIONS,
    REASON_NO_CLASSES,
    REASON_NO_GPU,
    REASON_NO_LIMITS,
    REASON_NO_FACT,
    REASON_COUNT
};

static const char *const reasons[REASON_COUNT] = {
    [REASON_NO_MODEL] = "model is null: no model description was given.",
    [REASON_NO_COUNTERS] = "hfu is null: it needs hardware counters.",
    [REASON_NO_DEVICE] = "Device times and counts are null: no device was observed, or no kernel "
                         "of it (see the ledger).",
    [REASON_NO_ACTIVITY] =
        "device and idle_ms are null where a region started no device activity; idle_ms also where "
        "the start or the end of the session cut an instance.",
    [REASON_NO_INSTANCE] = "wall_ms and idle_ms hold null where no instance of a region was "
                           "complete; std needs two instances.",
    [REASON_NOT_COUNTED] =
        "tokens, sequences, context, flops and bytes are null where the program did "
        "not give them; tokens_per_s needs tokens and a wall time.",
    [REASON_NOT_COLLECTED] =
        "Values of the ledger and of kernels that are null were not collected.",
    [REASON_NO_ITERATIONS] =
        "iterations is null: this version keeps totals, not single iterations.",
    [REASON_NO_CLASSES] =
        "kernel_class and kernel_classes are null: kernel_classes.yaml could not be read (set "
        "LLMPERF_CONFIG_DIR to the folder that holds it).",
    [REASON_NO_GPU] = "hardware is not known: env.json names no GPU.",
    [REASON_NO_LIMITS] = "Peaks or bandwidth of the GPU are not known: see llmperf hardware.",
    [REASON_NO_FACT] = "Facts of the run that are null, and duration_ms, were not recorded.",
};

/* Most pairs of a value and a reason that notes[] tells of. */
#define WHY_MOST 48

struct metrics {
    const llmperf_profile *profile;
    llmperf_ledger ledger;
    struct lp_machine *machine;
    struct lp_kernel_classes *classes; /* NULL: the table could not be read */
    struct lp_json json;
    struct lp_limits limits;
    struct lp_counter_index counters;
    bool device_known;
    bool used[REASON_COUNT];
    struct {
        const char *key, *reason;
    } why[WHY_MOST]; /* reasons of utilisation: static texts, or those of the limits */
    size_t why_count;
};

static void put_null(struct metrics *metrics, const char *key, enum reason reason)
{
    metrics->used[reason] = true;
    lp_json_null(&metrics->json, key);
}

static void put_number(struct metrics *metrics, const char *key, double value, enum reason reason)
{
    if (!isfinite(value))
        metrics->used[reason] = true;
    lp_json_number(&metrics->json, key, value);
}

/* A number of the utilisation, or null with the reason that came with it. */
static void put_utilisation(struct metrics *metrics, const char *key, double value,
                            const char *reason)
{
    size_t i = 0;

    lp_json_number(&metrics->json, key, value);
    if (isfinite(value) || !reason)
        return;
    while (i < metrics->why_count &&
           (metrics->why[i].reason != reason || strcmp(metrics->why[i].key, key) != 0))
        i++;
    if (i < WHY_MOST && i == metrics->why_count) {
        metrics->why[i].key = key;
        metrics->why[i].reason = reason;
        metrics->why_count++;
    }
}

static void put_count(struct metrics *metrics, const char *key, uint64_t value, enum reason reason)
{
    if (value == LLMPERF_UNKNOWN)
        metrics->used[reason] = true;
    lp_json_count(&metrics->json, key, value);
}

static void put_string(struct metrics *metrics, const char *key, const char *value,
                       enum reason reason)
{
    if (!value)
        metrics->used[reason] = true;
    lp_json_string(&metrics->json, key, value);
}

static void put_fact(struct metrics *metrics, const char *key, const char *fact)
{
    put_string(metrics, key, llmperf_profile_fact(metrics->profile, fact), REASON_NO_FACT);
}

/* Values that only a device gives: what the profile holds, or null if none was observed. */
static void put_device_number(struct metrics *metrics, const char *key, double value)
{
    put_number(metrics, key, metrics->device_known ? value : NAN, REASON_NO_DEVICE);
}

static void put_device_count(struct metrics *metrics, const char *key, uint64_t value)
{
    put_count(metrics, key, metrics->device_known ? value : LLMPERF_UNKNOWN, REASON_NO_DEVICE);
}

/* A device of -1 means that there is none to name. */
static void put_device(struct metrics *metrics, int32_t device)
{
    if (device < 0)
        put_null(metrics, "device", metrics->device_known ? REASON_NO_ACTIVITY : REASON_NO_DEVICE);
    else
        lp_json_integer(&metrics->json, "device", device);
}

static void put_wall(struct metrics *metrics, const llmperf_region_stats *region)
{
    bool any = region->instances > 0;

    lp_json_open(&metrics->json, "wall_ms", '{');
    put_number(metrics, "sum", any ? region->wall_sum_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "mean", any ? region->wall_mean_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "std", any ? region->wall_std_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "min", any ? region->wall_min_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "max", any ? region->wall_max_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "p50", any ? region->wall_p50_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "p95", any ? region->wall_p95_ms : NAN, REASON_NO_INSTANCE);
    put_number(metrics, "p99", any ? region->wall_p99_ms : NAN, REASON_NO_INSTANCE);
    lp_json_close(&metrics->json, '}');
}

static void put_region_device(struct metrics *metrics, const llmperf_region_stats *region)
{
    put_device_number(metrics, "gpu_busy_ms", region->gpu_busy_ms);
    put_device_number(metrics, "kernel_ms", region->kernel_ms);
    put_device_number(metrics, "exclusive_gpu_busy_ms", region->exclusive_gpu_busy_ms);
    put_device_number(metrics, "exclusive_kernel_ms", region->exclusive_kernel_ms);
    put_device_count(metrics, "kernel_count", region->kernel_count);
    put_device_number(metrics, "memcpy_ms", region->memcpy_ms);
    put_device_count(metrics, "memcpy_count", region->memcpy_count);
    put_device_count(metrics, "memcpy_bytes", region->memcpy_bytes);
    put_device_number(metrics, "memset_ms", region->memset_ms);
    put_device_count(metrics, "memset_count", region->memset_count);
    if (!metrics->device_known)
        put_null(metrics, "idle_ms", REASON_NO_DEVICE);
    else if (region->instances == 0)
        put_null(metrics, "idle_ms", REASON_NO_INSTANCE);
    else
        put_number(metrics, "idle_ms", region->idle_ms, REASON_NO_ACTIVITY);
}

/* Does `hardware` describe this device? A run may use GPUs that are not alike. */
static bool is_described(const struct metrics *metrics, int32_t device)
{
    const struct lp_machine *machine = metrics->machine;

    for (size_t i = 0; i < lp_machine_gpu_count(machine); i++) {
        const char *name = lp_machine_gpu_text(machine, i, "name");

        if (lp_machine_gpu_number(machine, i, "device") == device)
            return name && metrics->limits.gpu_name && strcmp(name, metrics->limits.gpu_name) == 0;
    }
    return true;
}

/* The first thing that keeps a value from being known. */
static const char *why_not(const struct metrics *metrics, const llmperf_region_stats *region,
                           bool compute, const char *reason)
{
    const struct lp_limits *limits = &metrics->limits;
    bool given = (compute ? region->flops : region->bytes) != LLMPERF_UNKNOWN;

    if (given && !is_described(metrics, region->device))
        return "the region ran on another GPU than hardware describes";
    if (given && limits->hardware_reason[0])
        return limits->hardware_reason;
    return given && compute && limits->dtype_reason[0] ? limits->dtype_reason : reason;
}

static void put_region_utilisation(struct metrics *metrics, const llmperf_region_stats *region)
{
    llmperf_utilisation out;
    bool above;

    lp_limits_apply(is_described(metrics, region->device) ? &metrics->limits : NULL, region,
                    metrics->device_known, &out);
    /* The schema, like every reader, takes a utilisation for a share. */
    above = out.mbu > 1;
    put_utilisation(metrics, "mfu", out.mfu, why_not(metrics, region, true, out.mfu_reason));
    put_null(metrics, "hfu", REASON_NO_COUNTERS);
    put_utilisation(metrics, "mbu", above ? NAN : out.mbu,
                    above ? "above 1: the bytes fit in the L2 cache and need not come from device "
                            "memory"
                          : why_not(metrics, region, false, out.mbu_reason));
    if (out.bound == LLMPERF_BOUND_UNKNOWN)
        put_utilisation(metrics, "bound", NAN, why_not(metrics, region, true, out.bound_reason));
    else
        lp_json_string(&metrics->json, "bound", llmperf_bound_name(out.bound));
    put_utilisation(metrics, "time_floor_ms", out.time_floor_ms, out.floor_reason);
    put_utilisation(metrics, "floor_ratio", out.floor_ratio, out.ratio_reason);
}

static void put_region_work(struct metrics *metrics, const llmperf_region_stats *region)
{
    bool rate = region->tokens != LLMPERF_UNKNOWN && region->wall_sum_ms > 0;

    put_count(metrics, "tokens", region->tokens, REASON_NOT_COUNTED);
    put_number(metrics, "tokens_per_s",
               rate ? (double)region->tokens * 1e3 / region->wall_sum_ms : NAN, REASON_NOT_COUNTED);
    put_count(metrics, "sequences", region->sequences, REASON_NOT_COUNTED);
    put_count(metrics, "context", region->context, REASON_NOT_COUNTED);
    put_count(metrics, "flops", region->flops, REASON_NOT_COUNTED);
    put_count(metrics, "bytes", region->bytes, REASON_NOT_COUNTED);
    put_region_utilisation(metrics, region);
    lp_counters_json(&metrics->json, &metrics->counters, region);
}

static void put_region(struct metrics *metrics, const llmperf_region_stats *region)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_json_string(json, "path", region->path);
    lp_json_string(json, "label", region->label);
    lp_json_string(json, "parent", region->parent);
    lp_json_string(json, "stage", region->stage);
    lp_json_string(json, "kind", region->kind == LLMPERF_REGION_STAGE ? "stage" : "operator");
    lp_json_integer(json, "depth", region->depth);
    lp_json_integer(json, "process_id", region->process_id);
    put_device(metrics, region->device);
    lp_json_count(json, "instances", region->instances);
    lp_json_count(json, "truncated", region->truncated);
    put_wall(metrics, region);
    put_region_device(metrics, region);
    put_region_work(metrics, region);
    lp_json_close(json, '}');
}

static void put_regions(struct metrics *metrics, const char *key, bool stages_only)
{
    size_t count = llmperf_profile_region_count(metrics->profile);

    lp_json_open(&metrics->json, key, '[');
    for (size_t i = 0; i < count; i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(metrics->profile, i, &region);
        if (!stages_only || region.kind == LLMPERF_REGION_STAGE)
            put_region(metrics, &region);
    }
    lp_json_close(&metrics->json, ']');
}

static void put_operators(struct metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    size_t count = llmperf_profile_operator_count(metrics->profile);

    lp_json_open(json, "operators", '[');
    for (size_t i = 0; i < count; i++) {
        llmperf_operator_stats op = LLMPERF_OPERATOR_STATS_INIT;

        llmperf_profile_operator(metrics->profile, i, &op);
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "op_name", op.name);
        put_number(metrics, "total_time_ms", op.total_time_ms, REASON_NO_INSTANCE);
        put_device_number(metrics, "cuda_time_ms", op.cuda_time_ms);
        lp_json_count(json, "calls", op.calls);
        put_number(metrics, "mean_ms", op.mean_ms, REASON_NO_INSTANCE);
        lp_json_string(json, "stage", op.stage);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static void put_kernel(struct metrics *metrics, const llmperf_kernel_stats *kernel)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_json_string(json, "kernel_name", kernel->demangled);
    lp_json_string(json, "kernel_name_raw", kernel->name);
    lp_json_string(json, "short_name", kernel->short_name);
    lp_json_string(json, "kind", llmperf_activity_kind_name(kernel->kind));
    put_device(metrics, kernel->device);
    lp_json_string(json, "region", kernel->region);
    lp_json_string(json, "captured_in", kernel->captured_in);
    put_string(metrics, "kernel_class",
               metrics->classes ? lp_kernel_class(metrics->classes, kernel->demangled, kernel->kind)
                                : NULL,
               REASON_NO_CLASSES);
    lp_json_count(json, "calls", kernel->calls);
    lp_json_count(json, "bytes", kernel->bytes);
    put_number(metrics, "total_ms", kernel->total_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "mean_ms", kernel->mean_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "min_ms", kernel->min_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "max_ms", kernel->max_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "p50_ms", kernel->p50_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "p95_ms", kernel->p95_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "p99_ms", kernel->p99_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "share", kernel->share, REASON_NOT_COLLECTED);
    lp_json_close(json, '}');
}

static void put_kernels(struct metrics *metrics)
{
    size_t count = llmperf_profile_kernel_count(metrics->profile);

    lp_json_open(&metrics->json, "kernels", '[');
    for (size_t i = 0; i < count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(metrics->profile, i, &kernel);
        put_kernel(metrics, &kernel);
    }
    lp_json_close(&metrics->json, ']');
}

static void put_ledger(struct metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    const llmperf_ledger *ledger = &metrics->ledger;
    /* Without a device source nobody counted launches: not known is not none. */
    bool counted = ledger->verdict != LLMPERF_VERDICT_NO_DEVICE;
    const char *problem;

    lp_json_open(json, "ledger", '{');
    put_count(metrics, "launches_expected", counted ? ledger->launches_expected : LLMPERF_UNKNOWN,
              REASON_NOT_COLLECTED);
    put_count(metrics, "graph_launches", counted ? ledger->graph_launches : LLMPERF_UNKNOWN,
              REASON_NOT_COLLECTED);
    put_count(metrics, "memory_calls", counted ? ledger->memory_calls : LLMPERF_UNKNOWN,
              REASON_NOT_COLLECTED);
    lp_json_count(json, "kernels_seen", ledger->kernels_seen);
    lp_json_count(json, "graph_kernels_seen", ledger->graph_kernels_seen);
    lp_json_count(json, "memory_seen", ledger->memory_seen);
    lp_json_count(json, "kernels_attributed", ledger->kernels_attributed);
    lp_json_count(json, "kernels_outside", ledger->kernels_outside);
    lp_json_count(json, "kernels_unattributed", ledger->kernels_unattributed);
    put_count(metrics, "launches_missing", counted ? ledger->launches_missing : LLMPERF_UNKNOWN,
              REASON_NOT_COLLECTED);
    lp_json_count(json, "records_dropped", ledger->records_dropped);
    lp_json_count(json, "records_invalid_time", ledger->records_invalid_time);
    lp_json_count(json, "records_incomplete", ledger->records_incomplete);
    lp_json_count(json, "records_duplicate", ledger->records_duplicate);
    lp_json_count(json, "records_late", ledger->records_late);
    lp_json_count(json, "graph_nodes_unmapped", ledger->graph_nodes_unmapped);
    lp_json_count(json, "regions_dropped", ledger->regions_dropped);
    lp_json_count(json, "regions_truncated", ledger->regions_truncated);
    lp_json_count(json, "regions_unbalanced", ledger->regions_unbalanced);
    put_number(metrics, "cupti_overhead_ms", ledger->cupti_overhead_ms, REASON_NOT_COLLECTED);
    put_number(metrics, "sampled_fraction", counted ? ledger->sampled_fraction : NAN,
               REASON_NOT_COLLECTED);
    put_number(metrics, "attributed_gpu_time_share", ledger->attributed_gpu_time_share,
               REASON_NOT_COLLECTED);
    lp_json_string(json, "verdict", llmperf_verdict_name(ledger->verdict));
    lp_json_open(json, "problems", '[');
    for (size_t i = 0; (problem = llmperf_profile_problem(metrics->profile, i)); i++)
        lp_json_string(json, NULL, problem);
    lp_json_close(json, ']');
    lp_json_close(json, '}');
}

static void put_model(struct metrics *metrics)
{
    const char *path = llmperf_profile_fact(metrics->profile, "model");
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!path) {
        put_null(metrics, "model", REASON_NO_MODEL);
        return;
    }
    lp_json_open(&metrics->json, "model", '{');
    lp_json_string(&metrics->json, "name", slash ? slash + 1 : path);
    lp_json_string(&metrics->json, "path", path);
    lp_json_close(&metrics->json, '}');
}

/* The GPU that the profile is about: the first device that shows up in its rows. */
static size_t used_gpu(const struct metrics *metrics)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    if (llmperf_profile_kernel_count(metrics->profile) > 0)
        llmperf_profile_kernel(metrics->profile, 0, &kernel);
    for (size_t i = 0; i < lp_machine_gpu_count(metrics->machine); i++)
        if (lp_machine_gpu_number(metrics->machine, i, "device") == kernel.device)
            return i;
    return 0;
}

static void put_peaks(struct metrics *metrics)
{
    const char *dtype;

    lp_json_open(&metrics->json, "peak", '{');
    for (size_t i = 0; (dtype = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

        if (metrics->limits.hardware &&
            llmperf_hardware_peak(metrics->limits.hardware, dtype, &value) == 0 &&
            isfinite(value.value))
            lp_json_number(&metrics->json, dtype, value.value);
    }
    lp_json_close(&metrics->json, '}');
}

static void put_source(struct metrics *metrics, const char *key,
                       const llmperf_hardware_value *value)
{
    char text[512];

    snprintf(text, sizeof(text), "%s: %s", llmperf_origin_name(value->origin),
             value->source ? value->source : "");
    put_string(metrics, key, value->source ? text : NULL, REASON_NO_LIMITS);
}

/* Source of the peak that the run is held against; without a dtype that of its 16-bit peak. */
static void put_peak_source(struct metrics *metrics)
{
    llmperf_hardware_value value = metrics->limits.peak;

    if (!value.source && metrics->limits.hardware)
        llmperf_hardware_peak(metrics->limits.hardware, "fp16", &value);
    put_source(metrics, "peak_source", &value);
}

static void put_hardware(struct metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    const struct lp_machine *machine = metrics->machine;
    size_t gpu = used_gpu(metrics);

    lp_limits_init(&metrics->limits, metrics->profile, machine, gpu);
    lp_json_open(json, "hardware", '{');
    put_string(metrics, "name", metrics->limits.gpu_name, REASON_NO_GPU);
    put_string(metrics, "compute_capability",
               lp_machine_gpu_text(machine, gpu, "compute_capability"), REASON_NO_GPU);
    put_number(metrics, "sm_count", lp_machine_gpu_number(machine, gpu, "sm_count"), REASON_NO_GPU);
    put_peaks(metrics);
    put_peak_source(metrics);
    put_number(metrics, "bandwidth_gbs", metrics->limits.bandwidth.value, REASON_NO_LIMITS);
    put_source(metrics, "bandwidth_source", &metrics->limits.bandwidth);
    lp_json_open(json, "measured", '{');
    lp_json_close(json, '}');
    lp_json_close(json, '}');
}

struct totals {
    double kernel_ms, memcpy_ms, memset_ms, outside_ms, unknown_launch_ms;
    uint64_t kernel_count, memcpy_count, memset_count;
};

static void add_kernel(struct totals *totals, const llmperf_kernel_stats *kernel)
{
    double *time = kernel->kind == LLMPERF_ACTIVITY_MEMCPY   ? &totals->memcpy_ms
                   : kernel->kind == LLMPERF_ACTIVITY_MEMSET ? &totals->memset_ms
                                                             : &totals->kernel_ms;
    uint64_t *count = kernel->kind == LLMPERF_ACTIVITY_MEMCPY   ? &totals->memcpy_count
                      : kernel->kind == LLMPERF_ACTIVITY_MEMSET ? &totals->memset_count
                                                                : &totals->kernel_count;

    *time += kernel->total_ms;
    *count += kernel->calls;
    if (!kernel->region)
        totals->unknown_launch_ms += kernel->total_ms;
    else if (!*kernel->region)
        totals->outside_ms += kernel->total_ms;
}

static void put_aggregates(struct metrics *metrics)
{
    struct totals totals = { 0 };
    size_t kernels = llmperf_profile_kernel_count(metrics->profile);

    for (size_t i = 0; i < kernels; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(metrics->profile, i, &kernel);
        add_kernel(&totals, &kernel);
    }
    lp_json_open(&metrics->json, "aggregates", '{');
    put_number(metrics, "duration_ms", lp_duration_ms(metrics->profile), REASON_NO_FACT);
    put_device_number(metrics, "device_ms", totals.kernel_ms + totals.memcpy_ms + totals.memset_ms);
    put_device_number(metrics, "kernel_ms", totals.kernel_ms);
    put_device_count(metrics, "kernel_count", totals.kernel_count);
    put_device_number(metrics, "memcpy_ms", totals.memcpy_ms);
    put_device_count(metrics, "memcpy_count", totals.memcpy_count);
    put_device_number(metrics, "memset_ms", totals.memset_ms);
    put_device_count(metrics, "memset_count", totals.memset_count);
    put_device_number(metrics, "outside_regions_ms", totals.outside_ms);
    put_device_number(metrics, "unknown_launch_ms", totals.unknown_launch_ms);
    lp_json_close(&metrics->json, '}');
}

/* What utilisation was held against, and why it is null where it is. */
static void put_limit_notes(struct metrics *metrics)
{
    const struct lp_limits *limits = &metrics->limits;
    const char *warning;
    char text[700];

    if (isfinite(limits->peak.value)) {
        snprintf(text, sizeof(text),
                 "mfu and floors are held against the dense %s peak of %.6g TFLOP/s "
                 "(%s, confidence %s).",
                 limits->dtype, limits->peak.value, llmperf_origin_name(limits->peak.origin),
                 llmperf_confidence_name(limits->peak.confidence));
        lp_json_string(&metrics->json, NULL, text);
    }
    for (size_t i = 0; (warning = llmperf_hardware_warning(limits->hardware, i)); i++) {
        snprintf(text, sizeof(text), "hardware: %s.", warning);
        lp_json_string(&metrics->json, NULL, text);
    }
    for (size_t i = 0; i < metrics->why_count; i++) {
        snprintf(text, sizeof(text), "%s is null in some regions: %s.", metrics->why[i].key,
                 metrics->why[i].reason);
        lp_json_string(&metrics->json, NULL, text);
    }
}

static void put_notes(struct metrics *metrics)
{
    const char *note;

    lp_json_open(&metrics->json, "notes", '[');
    for (size_t i = 0; (note = llmperf_profile_note(metrics->profile, i)); i++)
        lp_json_string(&metrics->json, NULL, note);
    put_limit_notes(metrics);
    for (size_t i = 0; i < REASON_COUNT; i++)
        if (metrics->used[i])
            lp_json_string(&metrics->json, NULL, reasons[i]);
    lp_json_close(&metrics->json, ']');
}

static int put_classes(struct metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    struct lp_class_totals totals;
    int status;

    if (!metrics->classes) {
        put_null(metrics, "kernel_classes", REASON_NO_CLASSES);
        return 0;
    }
    status = lp_class_totals_init(&totals, metrics->profile, metrics->classes);
    lp_json_open(json, "kernel_classes", '[');
    for (size_t i = 0; status == 0 && i < totals.rows.count; i++) {
        const struct lp_class_total *row = &totals.rows.items[i];

        lp_json_open(json, NULL, '{');
        lp_json_string(json, "stage", row->stage);
        lp_json_string(json, "kernel_class", row->kernel_class);
        lp_json_count(json, "calls", row->calls);
        lp_json_number(json, "total_ms", row->total_ms);
        lp_json_number(json, "share", row->share);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
    lp_class_totals_clear(&totals);
    return status;
}

int lp_metrics_json(const llmperf_profile *profile, struct lp_text *out)
{
    struct metrics metrics = { .profile = profile, .ledger = LLMPERF_LEDGER_INIT };
    struct lp_json *json = &metrics.json;
    int status;

    if ((status = lp_counter_index_init(&metrics.counters, profile)) < 0)
        return status;
    llmperf_profile_ledger(profile, &metrics.ledger);
    metrics.device_known = lp_device_known(&metrics.ledger);
    metrics.machine = lp_machine_open(profile);
    if (lp_kernel_classes_open(NULL, &metrics.classes) < 0)
        metrics.classes = NULL;
    lp_json_open(json, NULL, '{');
    lp_json_integer(json, "schema_version", 1);
    put_fact(&metrics, "run_id", "run_id");
    put_fact(&metrics, "created_at", "created_at");
    put_fact(&metrics, "llmperf_version", "llmperf_version");
    put_fact(&metrics, "tier", "tier");
    put_fact(&metrics, "source", "source");
    put_model(&metrics);
    put_hardware(&metrics);
    put_regions(&metrics, "regions", false);
    put_regions(&metrics, "stages", true);
    put_operators(&metrics);
    put_kernels(&metrics);
    status = put_classes(&metrics);
    lp_metrics_rows_json(json, profile);
    put_null(&metrics, "iterations", REASON_NO_ITERATIONS);
    put_ledger(&metrics);
    put_aggregates(&metrics);
    put_notes(&metrics);
    lp_json_close(json, '}');
    lp_counter_index_clear(&metrics.counters);
    lp_limits_clear(&metrics.limits);
    lp_machine_free(metrics.machine);
    lp_kernel_classes_free(metrics.classes);
    lp_text_add(out, json->text.bytes ? json->text.bytes : "", json->text.length);
    out->failed |= json->text.failed;
    lp_text_clear(&json->text);
    return out->failed ? LLMPERF_ENOMEM : status;
}
