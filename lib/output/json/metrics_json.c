/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/output/format/metrics_put.h"
#include "lib/output/format/documents.h"
#include "lib/output/format/row_fields.h"
#include "lib/profile/profile.h"
#include "lib/structure/structure.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/sys/hardware.h"
#include "lib/findings/recommend.h"
#include "lib/output/format/json_writer.h"
#include "lib/base/text.h"
#include "lib/findings/limits/measured.h"

static void put_region_utilisation(struct lp_metrics *metrics,
                                   const struct lp_region_finding *region)
{
    const llmperf_utilisation *use = &region->use;

    lp_put_utilisation(metrics, "mfu", use->mfu, region->mfu_reason);
    lp_put_utilisation(metrics, "hfu", region->measured.hfu, region->measured.hfu_reason);
    lp_put_utilisation(metrics, "mbu", use->mbu, region->mbu_reason);
    lp_put_utilisation(metrics, "mfu_elapsed", use->mfu_elapsed, region->mfu_elapsed_reason);
    lp_put_utilisation(metrics, "mbu_elapsed", use->mbu_elapsed, region->mbu_elapsed_reason);
    lp_put_utilisation(metrics, "mfu_measured", region->mfu_measured, region->mfu_measured_reason);
    lp_put_utilisation(metrics, "mbu_measured", region->mbu_measured, region->mbu_measured_reason);
    lp_put_utilisation(metrics, "mfu_at_clock", region->mfu_at_clock, region->clock_reason);
    lp_put_utilisation(metrics, "joules_per_token", region->token_j, region->token_j_reason);
    if (use->bound == LLMPERF_BOUND_UNKNOWN)
        lp_put_utilisation(metrics, "bound", NAN, region->bound_reason);
    else
        lp_json_string(&metrics->json, "bound", llmperf_name(LLMPERF_NAME_BOUND, use->bound));
    lp_put_utilisation(metrics, "time_floor_ms", use->time_floor_ms, region->floor_reason);
    lp_put_utilisation(metrics, "floor_ratio", use->floor_ratio, region->ratio_reason);
    lp_put_number(metrics, "wall_ratio", use->wall_ratio, LP_REASON_NO_ROOFLINE);
    lp_put_number(metrics, "intensity", use->intensity, LP_REASON_NO_ROOFLINE);
    lp_put_number(metrics, "achieved_tflops", use->achieved_tflops, LP_REASON_NO_ROOFLINE);
    lp_put_number(metrics, "attainable_tflops", use->attainable_tflops, LP_REASON_NO_ROOFLINE);
    lp_put_number(metrics, "achieved_gbs", use->achieved_gbs, LP_REASON_NO_ROOFLINE);
    lp_put_number(metrics, "mfu_limit", use->mfu_limit, LP_REASON_NO_ROOFLINE);
}

/* Origin of FLOPs or bytes. */
static void put_origin(struct lp_metrics *metrics, const char *key, uint32_t origin)
{
    lp_put_string(metrics, key, lp_work_origin(origin), LP_REASON_NOT_COUNTED);
}

/* "estimate" of a row with the members of LP_ESTIMATE_FIELDS, if its calls were sampled. */
static void put_estimate(struct lp_metrics *metrics, enum lp_row_id id, const void *row,
                         uint64_t collected, const char *reason)
{
    if (collected == LLMPERF_UNKNOWN && !reason)
        return;
    lp_json_open(&metrics->json, "estimate", '{');
    lp_put_row(metrics, id, "estimate", row, 1);
    lp_json_close(&metrics->json, '}');
}

static void put_interval(struct lp_metrics *metrics, const char *key, struct lp_interval interval)
{
    if (!(interval.low < interval.high))
        return;
    lp_json_open(&metrics->json, key, '[');
    lp_json_number(&metrics->json, NULL, interval.low);
    lp_json_number(&metrics->json, NULL, interval.high);
    lp_json_close(&metrics->json, ']');
}

/* Of the numbers that follow from device times of sampled calls. */
static void put_intervals(struct lp_metrics *metrics, const struct lp_region_finding *row)
{
    const llmperf_utilisation *use = &row->use;

    if (!(row->stats.skipped_fraction > 0))
        return;
    lp_json_open(&metrics->json, "intervals", '{');
    put_interval(metrics, "time_ms", lp_interval_of(row->call_ms, row->call_error));
    put_interval(metrics, "tokens_per_s", lp_interval_of_rate(row->tokens_per_s, row->call_error));
    put_interval(metrics, "mfu", lp_interval_of_rate(use->mfu, row->busy_error));
    put_interval(metrics, "mbu", lp_interval_of_rate(use->mbu, row->busy_error));
    put_interval(metrics, "mfu_elapsed", lp_interval_of_rate(use->mfu_elapsed, row->call_error));
    put_interval(metrics, "mbu_elapsed", lp_interval_of_rate(use->mbu_elapsed, row->call_error));
    put_interval(metrics, "floor_ratio", lp_interval_of(use->floor_ratio, row->busy_error));
    lp_json_close(&metrics->json, '}');
}

static void put_region(struct lp_metrics *metrics, const struct lp_region_finding *row)
{
    const llmperf_region_stats *region = &row->stats;
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_put_row(metrics, LP_ROW_REGION, NULL, region, region->instances);
    lp_json_string(json, "kind", region->kind == LLMPERF_REGION_STAGE ? "stage" : "operator");
    lp_json_open(json, "wall_ms", '{');
    lp_put_row(metrics, LP_ROW_REGION, "wall_ms", region, region->instances);
    lp_put_number(metrics, "cv", lp_variation(region->wall_std_ms, region->wall_mean_ms),
                  LP_REASON_NO_INSTANCE);
    lp_json_close(json, '}');
    lp_json_string(json, "clock", row->clock == LLMPERF_CLOCK_DEVICE ? "gpu" : "host");
    lp_put_number(metrics, "time_ms", row->call_ms, LP_REASON_NO_INSTANCE);
    lp_json_count(json, "warm_up_calls",
                  row->warm_up_calls > 0 ? row->warm_up_calls : LLMPERF_UNKNOWN);
    lp_put_number(metrics, "warm_up_ms", row->warm_up_ms, LP_REASON_NO_WARM_UP);
    lp_put_number(metrics, "tokens_per_s", row->tokens_per_s, LP_REASON_NOT_COUNTED);
    lp_json_number(json, "sampled_fraction", 1 - region->skipped_fraction);
    lp_put_count(metrics, "collected_instances", row->collected_calls, LP_REASON_PART_OF_CALLS);
    put_origin(metrics, "flops_origin", region->flops_origin);
    put_origin(metrics, "bytes_origin", region->bytes_origin);
    put_region_utilisation(metrics, row);
    put_estimate(metrics, LP_ROW_REGION, region, region->estimate_collected,
                 region->estimate_reason);
    put_intervals(metrics, row);
    lp_counters_json(json, &metrics->counters, region);
    lp_json_close(json, '}');
}

static void put_regions(struct lp_metrics *metrics, const char *key, bool stages_only)
{
    lp_json_open(&metrics->json, key, '[');
    for (size_t i = 0; i < metrics->findings->regions.count; i++) {
        const struct lp_region_finding *region = &metrics->findings->regions.items[i];

        if (!stages_only || region->stats.kind == LLMPERF_REGION_STAGE)
            put_region(metrics, region);
    }
    lp_json_close(&metrics->json, ']');
}

static void put_kernel(struct lp_metrics *metrics, size_t index)
{
    const struct lp_findings *findings = metrics->findings;
    const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, index);
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_put_row(metrics, LP_ROW_KERNEL, NULL, kernel, 1);
    lp_json_string(json, "kind", llmperf_name(LLMPERF_NAME_ACTIVITY, kernel->kind));
    lp_put_string(metrics, "kernel_class",
                  findings->classes ? findings->kernel_classes.items[index] : NULL,
                  LP_REASON_NO_CLASSES);
    put_estimate(metrics, LP_ROW_KERNEL, kernel, kernel->estimate_collected,
                 kernel->estimate_reason);
    lp_json_close(json, '}');
}

static void put_operators(struct lp_metrics *metrics)
{
    lp_json_open(&metrics->json, "operators", '[');
    for (size_t i = 0; i < lp_row_count(metrics->findings->profile, LP_ROW_OPERATOR); i++) {
        const llmperf_operator_stats *row =
            lp_row_at(metrics->findings->profile, LP_ROW_OPERATOR, i);

        lp_json_open(&metrics->json, NULL, '{');
        lp_put_row(metrics, LP_ROW_OPERATOR, NULL, row, 1);
        put_estimate(metrics, LP_ROW_OPERATOR, row, row->estimate_collected, row->estimate_reason);
        lp_json_close(&metrics->json, '}');
    }
    lp_json_close(&metrics->json, ']');
}

static void put_kernels(struct lp_metrics *metrics)
{
    lp_json_open(&metrics->json, "kernels", '[');
    for (size_t i = 0; i < lp_row_count(metrics->findings->profile, LP_ROW_KERNEL); i++)
        put_kernel(metrics, i);
    lp_json_close(&metrics->json, ']');
}

static void put_ledger(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    llmperf_ledger room;
    const llmperf_ledger *ledger =
        lp_shown_row(metrics->findings->profile, LP_ROW_LEDGER, 0, &room);
    const char *problem;

    lp_json_open(json, "ledger", '{');
    lp_put_row(metrics, LP_ROW_LEDGER, NULL, ledger, 1);
    lp_json_string(json, "verdict", llmperf_name(LLMPERF_NAME_VERDICT, ledger->verdict));
    lp_json_open(json, "problems", '[');
    for (size_t i = 0; (problem = llmperf_profile_problem(metrics->findings->profile, i)); i++)
        lp_json_string(json, NULL, problem);
    lp_json_close(json, ']');
    lp_json_close(json, '}');
}

/* Without a parallel layout the work is that of the whole model. */
static void put_gpus(struct lp_metrics *metrics, const char *key, const char *fact)
{
    double gpus = lp_fact_number(metrics->findings->profile, fact);

    lp_json_count(&metrics->json, key, gpus >= 1 ? (uint64_t)gpus : 1);
}

static void put_model(struct lp_metrics *metrics)
{
    const char *path = llmperf_profile_fact(metrics->findings->profile, "model");

    if (!path) {
        lp_put_null(metrics, "model", LP_REASON_NO_MODEL);
        return;
    }
    lp_json_open(&metrics->json, "model", '{');
    lp_json_string(&metrics->json, "name", lp_model_fact(metrics->findings->profile));
    lp_json_string(&metrics->json, "path", path);
    put_gpus(metrics, "tensor_parallel", LP_TENSOR_FACT);
    put_gpus(metrics, "expert_parallel", LP_EXPERT_FACT);
    lp_json_close(&metrics->json, '}');
}

static void put_peaks(struct lp_metrics *metrics)
{
    const char *dtype;

    lp_json_open(&metrics->json, "peak", '{');
    for (size_t i = 0; (dtype = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

        if (metrics->findings->limits.hardware &&
            llmperf_hardware_peak(metrics->findings->limits.hardware, dtype, &value) == 0 &&
            isfinite(value.value))
            lp_json_number(&metrics->json, dtype, value.value);
    }
    lp_json_close(&metrics->json, '}');
}

static void put_source(struct lp_metrics *metrics, const char *key,
                       const llmperf_hardware_value *value)
{
    char text[512];

    snprintf(text, sizeof(text), "%s: %s", llmperf_name(LLMPERF_NAME_ORIGIN, value->origin),
             value->source ? value->source : "");
    lp_put_string(metrics, key, value->source ? text : NULL, LP_REASON_NO_LIMITS);
}

/* Source of the peak that MFU is relative to; without a dtype, of the 16-bit peak. */
static void put_peak_source(struct lp_metrics *metrics)
{
    llmperf_hardware_value value = metrics->findings->limits.peak;

    if (!value.source && metrics->findings->limits.hardware)
        llmperf_hardware_peak(metrics->findings->limits.hardware, "fp16", &value);
    put_source(metrics, "peak_source", &value);
}

/* The dtype, and the ridge of its roofline. */
static void put_dtype(struct lp_metrics *metrics)
{
    const struct lp_limits *limits = &metrics->findings->limits;

    lp_put_string(metrics, "dtype", limits->dtype[0] ? limits->dtype : NULL, LP_REASON_NO_DTYPE);
    lp_put_number(metrics, "ridge", limits->ridge, LP_REASON_NO_DTYPE);
}

/* Measured peaks of this GPU, if any. */
static void put_measured(struct lp_metrics *metrics)
{
    const llmperf_hardware *hardware = metrics->findings->limits.hardware;
    const char *name;

    lp_json_open(&metrics->json, "measured", '{');
    for (size_t i = 0; hardware && (name = llmperf_measured_peak_name(i)); i++) {
        llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;

        if (llmperf_hardware_measured_peak(hardware, name, &measured_peak) == 0 &&
            isfinite(measured_peak.best))
            lp_json_number(&metrics->json, name, measured_peak.best);
    }
    lp_json_close(&metrics->json, '}');
    lp_put_string(metrics, "measured_source", llmperf_hardware_measured(hardware),
                  LP_REASON_NO_MEASURED_PEAKS);
}

static void put_hardware(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;
    const struct lp_machine *machine = metrics->findings->machine;
    size_t gpu = metrics->findings->gpu;

    lp_json_open(json, "hardware", '{');
    lp_put_string(metrics, "name", metrics->findings->limits.gpu_name, LP_REASON_NO_GPU);
    lp_put_string(metrics, "compute_capability",
                  lp_machine_gpu_text(machine, gpu, "compute_capability"), LP_REASON_NO_GPU);
    lp_put_number(metrics, "sm_count", lp_machine_gpu_number(machine, gpu, "sm_count"),
                  LP_REASON_NO_GPU);
    put_peaks(metrics);
    put_peak_source(metrics);
    lp_put_number(metrics, "bandwidth_gbs", metrics->findings->limits.bandwidth.value,
                  LP_REASON_NO_LIMITS);
    put_source(metrics, "bandwidth_source", &metrics->findings->limits.bandwidth);
    put_dtype(metrics);
    put_measured(metrics);
    lp_json_close(json, '}');
}

static void put_aggregates(struct lp_metrics *metrics)
{
    const struct lp_aggregates *sums = &metrics->findings->sums;
    const llmperf_overall *all = &metrics->findings->overall.values;

    lp_json_open(&metrics->json, "aggregates", '{');
    lp_put_number(metrics, "duration_ms", lp_duration_ms(metrics->findings->profile),
                  LP_REASON_NO_FACT);
    lp_put_device_number(metrics, "device_ms", sums->device_ms);
    lp_put_device_number(metrics, "kernel_ms", sums->kernel_ms);
    lp_put_device_count(metrics, "kernel_count", sums->kernel_count);
    lp_put_device_number(metrics, "memcpy_ms", sums->memcpy_ms);
    lp_put_device_count(metrics, "memcpy_count", sums->memcpy_count);
    lp_put_device_number(metrics, "memset_ms", sums->memset_ms);
    lp_put_device_count(metrics, "memset_count", sums->memset_count);
    lp_put_device_number(metrics, "outside_regions_ms", sums->outside_ms);
    lp_put_device_number(metrics, "unknown_launch_ms", sums->unknown_launch_ms);
    lp_put_utilisation(metrics, "stages_busy_ms", all->busy_ms, all->elapsed_reason);
    lp_put_utilisation(metrics, "stages_elapsed_ms", all->elapsed_ms, all->elapsed_reason);
    lp_put_utilisation(metrics, "mfu", all->mfu, all->mfu_reason);
    lp_put_utilisation(metrics, "mbu", all->mbu, all->mbu_reason);
    lp_put_utilisation(metrics, "mfu_elapsed", all->mfu_elapsed,
                       all->mfu_reason ? all->mfu_reason : all->elapsed_reason);
    lp_put_utilisation(metrics, "mbu_elapsed", all->mbu_elapsed,
                       all->mbu_reason ? all->mbu_reason : all->elapsed_reason);
    lp_json_close(&metrics->json, '}');
}

/* The peak that utilisation is relative to, or why it is null. */
static void put_limit_notes(struct lp_metrics *metrics)
{
    const struct lp_limits *limits = &metrics->findings->limits;
    const char *warning;
    char text[700];

    if (isfinite(limits->peak.value)) {
        snprintf(text, sizeof(text),
                 "mfu and floors are relative to the dense %s peak of %.6g TFLOP/s "
                 "(%s, confidence %s).",
                 limits->dtype, limits->peak.value,
                 llmperf_name(LLMPERF_NAME_ORIGIN, limits->peak.origin),
                 llmperf_name(LLMPERF_NAME_CONFIDENCE, limits->peak.confidence));
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

/* If the calls of a stage differ, their mean says little. */
static void put_variation_notes(struct lp_metrics *metrics)
{
    const char *last = "";
    struct lp_text text = { NULL, 0, 0, false };

    for (size_t i = 0; i < metrics->findings->regions.count; i++) {
        const struct lp_region_finding *region = &metrics->findings->regions.items[i];

        /* Rows of further devices repeat the wall times. */
        if (!lp_findings_varies(region) || strcmp(region->stats.path, last) == 0)
            continue;
        last = region->stats.path;
        lp_variation_text(region, &text);
        lp_json_string(&metrics->json, NULL, text.bytes ? text.bytes : "");
        lp_text_clear(&text);
    }
}

static void put_energy_note(struct lp_metrics *metrics)
{
    const char *reason = llmperf_profile_fact(metrics->findings->profile, LP_ENERGY_FACT);
    char text[300];

    if (!reason)
        return;
    snprintf(text, sizeof(text), "Energy and clocks of the GPUs were not read: %s.", reason);
    lp_json_string(&metrics->json, NULL, text);
}

static void put_notes(struct lp_metrics *metrics)
{
    const char *note;

    lp_json_open(&metrics->json, "notes", '[');
    for (size_t i = 0; (note = llmperf_profile_note(metrics->findings->profile, i)); i++)
        lp_json_string(&metrics->json, NULL, note);
    put_energy_note(metrics);
    put_limit_notes(metrics);
    put_variation_notes(metrics);
    lp_put_reasons(metrics);
    lp_json_close(&metrics->json, ']');
}

static void put_profiler_cost(struct lp_metrics *metrics)
{
    const struct lp_findings *findings = metrics->findings;
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "profiler_cost", '{');
    lp_json_string(json, "reason", findings->profiler_reason);
    lp_json_number(json, "launch_us", findings->profiler_rates.launch_us);
    lp_json_number(json, "node_us", findings->profiler_rates.node_us);
    lp_json_string(json, "source", findings->profiler_rates.source);
    lp_json_open(json, "stages", '[');
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_profiler_cost *cost = &findings->regions.items[i].profiler;

        if (isnan(cost->call_ms))
            continue;
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "region", findings->regions.items[i].stats.path);
        lp_json_string(json, "method", isnan(cost->error_ms) ? "estimated" : "measured");
        lp_json_number(json, "call_ms", cost->call_ms);
        lp_json_number(json, "error_ms", cost->error_ms);
        lp_json_number(json, "share", cost->share);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
    lp_json_close(json, '}');
}

#define PUT_VECTOR(metrics, key, id, vector)                                                       \
    lp_put_rows((metrics), (key), (id), (vector)->items, (vector)->count)

static void put_findings(struct lp_metrics *metrics)
{
    const struct lp_findings *findings = metrics->findings;

    PUT_VECTOR(metrics, "kernel_roofline", LP_ROW_KERNEL_WORK, &findings->kernel_works.rows);
    PUT_VECTOR(metrics, "ncu_kernels", LP_ROW_NCU_KERNEL, &findings->ncu_kernels.rows);
    if (findings->classes)
        PUT_VECTOR(metrics, "kernel_classes", LP_ROW_CLASS, &findings->class_totals.rows);
    else
        lp_put_null(metrics, "kernel_classes", LP_REASON_NO_CLASSES);
    PUT_VECTOR(metrics, "collectives", LP_ROW_COLLECTIVE, &findings->collectives.rows);
    PUT_VECTOR(metrics, "ranks", LP_ROW_RANK, &findings->ranks.rows);
}

static void put_evidence(struct lp_json *json, const llmperf_evidence *evidence, uint64_t count)
{
    lp_json_open(json, "evidence", '{');
    for (uint64_t i = 0; i < count; i++)
        if (evidence[i].text)
            lp_json_string(json, evidence[i].name, evidence[i].text);
        else
            lp_json_number(json, evidence[i].name, evidence[i].value);
    lp_json_close(json, '}');
}

static void put_recommendations(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "recommendations", '[');
    for (size_t i = 0; i < metrics->findings->advice.rows.count; i++) {
        const struct lp_recommendation *row = &metrics->findings->advice.rows.items[i];

        lp_json_open(json, NULL, '{');
        lp_put_row(metrics, LP_ROW_ADVICE, NULL, &row->advice, 1);
        lp_json_string(json, "severity", lp_severity_name(row->advice.severity));
        put_evidence(json, row->evidence, row->advice.evidence);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

/* env.json of recordings and of other tools may have none. */
static void put_software(struct lp_metrics *metrics)
{
    const struct lp_machine *machine = metrics->findings->machine;
    const char *name, *version;

    if (!lp_machine_member(machine, "software", 0, &version))
        return;
    lp_json_open(&metrics->json, "software", '{');
    for (size_t i = 0; (name = lp_machine_member(machine, "software", i, &version)); i++)
        lp_json_string(&metrics->json, name, version);
    lp_json_close(&metrics->json, '}');
}

static void put_profile_rows(struct lp_metrics *metrics, const char *key, enum lp_row_id id)
{
    const llmperf_profile *profile = metrics->findings->profile;

    lp_put_rows(metrics, key, id, lp_row_at(profile, id, 0), lp_row_count(profile, id));
}

static void put_document(struct lp_metrics *metrics)
{
    const char *found = llmperf_profile_fact(metrics->findings->profile, LP_FOUND_FACT);
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_json_integer(json, "schema_version", 1);
    lp_put_fact(metrics, "run_id", "run_id");
    lp_put_fact(metrics, "created_at", "created_at");
    lp_put_fact(metrics, "llmperf_version", "llmperf_version");
    lp_put_fact(metrics, "tier", "tier");
    lp_put_fact(metrics, "source", "source");
    put_model(metrics);
    put_hardware(metrics);
    put_software(metrics);
    if (found)
        lp_json_raw(json, "found", found);
    put_regions(metrics, "regions", false);
    put_regions(metrics, "stages", true);
    put_operators(metrics);
    put_kernels(metrics);
    lp_put_kernel_shapes(metrics);
    PUT_VECTOR(metrics, "memory", LP_ROW_MEMORY, &metrics->findings->memory.rows);
    put_profile_rows(metrics, "memory_points", LP_ROW_MEMORY_POINT);
    put_profile_rows(metrics, "stalls", LP_ROW_STALL);
    put_profile_rows(metrics, "hot_instructions", LP_ROW_HOT_INSTRUCTION);
    put_profile_rows(metrics, "host_calls", LP_ROW_HOST_CALL);
    put_findings(metrics);
    lp_put_captures(metrics);
    lp_put_waterfall(metrics);
    put_profiler_cost(metrics);
    lp_metrics_rows_json(json, metrics->findings->profile);
    lp_put_iterations(metrics);
    lp_put_windows(metrics);
    lp_put_requests(metrics);
    put_profile_rows(metrics, "energy", LP_ROW_ENERGY);
    put_recommendations(metrics);
    put_ledger(metrics);
    put_aggregates(metrics);
    put_profile_rows(metrics, "devices", LP_ROW_DEVICE);
    put_notes(metrics);
    lp_json_close(json, '}');
}

int lp_metrics_json(const llmperf_profile *profile, struct lp_text *out)
{
    struct lp_metrics metrics = { .used = { false } };
    struct lp_text *text = &metrics.json.text;
    int status;

    if ((status = lp_findings_of(profile, &metrics.findings)) == 0 &&
        (status = lp_counter_index_init(&metrics.counters, profile)) == 0) {
        put_document(&metrics);
        lp_text_move(out, text);
    }
    lp_text_clear(text);
    lp_counter_index_clear(&metrics.counters);
    return out->failed ? LLMPERF_ENOMEM : status;
}
