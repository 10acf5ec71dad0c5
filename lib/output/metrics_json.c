/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/analysis/analysis.h"
#include "lib/output/class_totals.h"
#include "lib/output/facts.h"
#include "lib/output/output.h"
#include "llmperf/activity.h"
#include "llmperf/region.h"

/* Why a value is null. Each reason that was used becomes one line of notes[]. */
enum reason {
    REASON_NO_MODEL,
    REASON_NO_PEAK,
    REASON_NO_DEVICE,
    REASON_NO_ACTIVITY,
    REASON_NO_INSTANCE,
    REASON_NOT_COUNTED,
    REASON_NOT_COLLECTED,
    REASON_NO_ITERATIONS,
    REASON_NO_CLASSES,
    REASON_NO_GPU,
    REASON_NO_FACT,
    REASON_COUNT
};

static const char *const reasons[REASON_COUNT] = {
    [REASON_NO_MODEL] =
        "mfu, hfu, mbu, bound, time_floor_ms, floor_ratio and model are null: no model "
        "description was given, or this version does not compute them.",
    [REASON_NO_PEAK] = "hardware.peak is empty: no table of peaks is part of this version.",
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
    [REASON_NO_FACT] = "Facts of the run that are null, and duration_ms, were not recorded.",
};

struct metrics {
    const llmperf_profile *profile;
    llmperf_ledger ledger;
    struct lp_machine *machine;
    struct lp_kernel_classes *classes; /* NULL: the table could not be read */
    struct lp_json json;
    bool device_known;
    bool used[REASON_COUNT];
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
    put_null(metrics, "mfu", REASON_NO_MODEL);
    put_null(metrics, "hfu", REASON_NO_MODEL);
    put_null(metrics, "mbu", REASON_NO_MODEL);
    put_null(metrics, "bound", REASON_NO_MODEL);
    put_null(metrics, "time_floor_ms", REASON_NO_MODEL);
    put_null(metrics, "floor_ratio", REASON_NO_MODEL);
    lp_json_open(&metrics->json, "counters", '{');
    lp_json_close(&metrics->json, '}');
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

/* 2 x memory clock x bus width / 8: two transfers a clock on GDDR and HBM. kHz x bit = 1000 bit/s.
 * H100 SXM: 2 x 2619 MHz x 5120 bit / 8 = 3352 GB/s. */
static double bandwidth_gbs(const struct lp_machine *machine, size_t gpu)
{
    double clock_khz = lp_machine_gpu_number(machine, gpu, "memory_clock_khz");
    double width = lp_machine_gpu_number(machine, gpu, "bus_width_bits");
    double rate = 2 * clock_khz * 1e3 * width / 8 / 1e9;

    return rate > 0 ? rate : NAN;
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

static void put_hardware(struct metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    const struct lp_machine *machine = metrics->machine;
    size_t gpu = used_gpu(metrics);
    double bandwidth = bandwidth_gbs(machine, gpu);

    lp_json_open(json, "hardware", '{');
    put_string(metrics, "name", lp_machine_gpu_text(machine, gpu, "name"), REASON_NO_GPU);
    put_string(metrics, "compute_capability",
               lp_machine_gpu_text(machine, gpu, "compute_capability"), REASON_NO_GPU);
    put_number(metrics, "sm_count", lp_machine_gpu_number(machine, gpu, "sm_count"), REASON_NO_GPU);
    lp_json_open(json, "peak", '{');
    lp_json_close(json, '}');
    put_null(metrics, "peak_source", REASON_NO_PEAK);
    put_number(metrics, "bandwidth_gbs", bandwidth, REASON_NO_GPU);
    put_string(metrics, "bandwidth_source",
               isnan(bandwidth) ? NULL : "2 x memory clock x bus width, as the driver gives them",
               REASON_NO_GPU);
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

static void put_notes(struct metrics *metrics)
{
    const char *note;

    lp_json_open(&metrics->json, "notes", '[');
    for (size_t i = 0; (note = llmperf_profile_note(metrics->profile, i)); i++)
        lp_json_string(&metrics->json, NULL, note);
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
    put_null(&metrics, "iterations", REASON_NO_ITERATIONS);
    put_ledger(&metrics);
    put_aggregates(&metrics);
    put_notes(&metrics);
    lp_json_close(json, '}');
    lp_machine_free(metrics.machine);
    lp_kernel_classes_free(metrics.classes);
    lp_text_add(out, json->text.bytes ? json->text.bytes : "", json->text.length);
    out->failed |= json->text.failed;
    lp_text_clear(&json->text);
    return out->failed ? LLMPERF_ENOMEM : status;
}
