/* SPDX-License-Identifier: Apache-2.0 */
/* Region reports as JSON: conf/schema/region_report.schema.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/sha256.h"
#include "lib/output/format/json_writer.h"
#include "lib/output/format/row_fields.h"
#include "lib/output/run_dir/region_ncu.h"
#include "lib/output/run_dir/region_report.h"
#include "lib/output/format/counters.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"

static double device_value(const struct lp_region_set *set, double value)
{
    return set->findings->device_known ? value : NAN;
}

static uint64_t device_count(const struct lp_region_set *set, uint64_t value)
{
    return set->findings->device_known ? value : LLMPERF_UNKNOWN;
}

static void put_device(struct lp_json *json, int32_t device)
{
    char name[32];

    if (device < 0)
        lp_json_null(json, "device");
    else
        lp_json_integer(json, "device", device);
    snprintf(name, sizeof(name), "cuda:%d", device);
    lp_json_string(json, "device_name", device < 0 ? NULL : name);
}

static void put_metrics(struct lp_json *json, const struct lp_region_set *set,
                        const struct lp_region_part *part)
{
    const llmperf_region_stats *region = &part->row->known;

    lp_json_open(json, "metrics", '{');
    lp_json_count(json, "instances", region->instances);
    lp_json_number(json, "wall_ms", region->wall_sum_ms);
    lp_json_number(json, "gpu_busy_ms", region->gpu_busy_ms);
    lp_json_number(json, "exclusive_gpu_busy_ms", region->exclusive_gpu_busy_ms);
    lp_json_count(json, "kernel_count", device_count(set, part->calls));
    lp_json_number(json, "kernel_ms", device_value(set, part->total_ms));
    lp_json_count(json, "selected_kernel_count", device_count(set, part->selected_calls));
    lp_json_number(json, "selected_kernel_ms", device_value(set, part->selected_ms));
    lp_json_close(json, '}');
}

static void put_time(struct lp_json *json, const struct lp_region_part *part)
{
    const llmperf_region_stats *region = &part->row->known;

    lp_json_open(json, lp_section_names[LP_SECTION_TIME], '{');
    lp_json_number(json, "wall_mean_ms", region->wall_mean_ms);
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        lp_json_number(json, lp_percentiles[i].wall_name, lp_percentile(LP_ROW_REGION, region, i));
    lp_json_number(json, "idle_ms", region->idle_ms);
    lp_json_number(json, "memcpy_ms", region->memcpy_ms);
    lp_json_number(json, "memset_ms", region->memset_ms);
    lp_json_count(json, "truncated", region->truncated);
    lp_json_close(json, '}');
}

/* Work that program or model gave, and work that counters measured. */
static void put_work(struct lp_json *json, const struct lp_region_part *part)
{
    const llmperf_region_stats *region = &part->row->stats;
    const struct lp_measured *measured = &part->row->measured;

    lp_json_open(json, lp_section_names[LP_SECTION_WORK], '{');
    lp_json_count(json, "tokens", region->tokens);
    lp_json_count(json, "flops", region->flops);
    lp_json_count(json, "bytes", region->bytes);
    lp_json_number(json, "mfu", part->row->use.mfu);
    lp_json_number(json, "mbu", part->row->use.mbu);
    lp_json_number(json, "mfu_elapsed", part->row->use.mfu_elapsed);
    lp_json_number(json, "mbu_elapsed", part->row->use.mbu_elapsed);
    lp_json_number(json, "hfu", measured->hfu);
    lp_json_number(json, "measured_flops_per_instance", measured->flops);
    lp_json_number(json, "measured_bytes_per_instance", measured->bytes);
    lp_json_number(json, "measured_intensity", measured->intensity);
    lp_json_number(json, "measured_instances", measured->instances);
    lp_json_close(json, '}');
}

static void put_counters(struct lp_json *json, const struct lp_region_set *set,
                         const struct lp_region_part *part)
{
    const struct lp_ncu_kernels *kernels = &set->findings->ncu_kernels;

    lp_counters_json(json, &set->counters, &part->row->stats);
    lp_json_open(json, "ncu", '[');
    for (size_t i = 0; i < kernels->rows.count; i++) {
        if (!lp_region_ncu_has(&part->row->stats, &kernels->rows.items[i], true))
            continue;
        lp_json_open(json, NULL, '{');
        lp_row_json(json, LP_ROW_NCU_KERNEL, &kernels->rows.items[i]);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static void put_fingerprint(struct lp_json *json, const llmperf_profile *profile)
{
    const char *fingerprint = llmperf_profile_fact(profile, "config_fingerprint");
    char empty[65];

    lp_sha256("", 0, empty);
    lp_json_string(json, "config_fingerprint", fingerprint ? fingerprint : empty);
}

static void put_sections(struct lp_json *json, const struct lp_region_set *set,
                         const struct lp_region_part *part)
{
    const bool *wanted = set->options.sections;

    lp_json_open(json, "sections", '{');
    if (wanted[LP_SECTION_TIME])
        put_time(json, part);
    if (wanted[LP_SECTION_WORK])
        put_work(json, part);
    if (wanted[LP_SECTION_COUNTERS])
        put_counters(json, set, part);
    lp_json_close(json, '}');
}

static void put_kernels(struct lp_json *json, const struct lp_region_set *set,
                        const struct lp_region_part *part)
{
    lp_json_open(json, "kernels", '[');
    for (size_t i = 0; set->options.sections[LP_SECTION_KERNELS] && i < part->kernels.count; i++) {
        const struct lp_region_kernel *kernel = &part->kernels.items[i];

        lp_json_open(json, NULL, '{');
        lp_json_string(json, "kernel_name", kernel->name);
        lp_json_number(json, "total_ms", kernel->total_ms);
        lp_json_count(json, "calls", kernel->calls);
        lp_json_number(json, "mean_ms", kernel->total_ms / (double)kernel->calls);
        put_device(json, kernel->device);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
    lp_json_open(json, "kernels_omitted", '{');
    lp_json_count(json, "kernels", part->kernels_left);
    lp_json_number(json, "total_ms", part->left_ms);
    lp_json_close(json, '}');
}

static void put_patterns(struct lp_json *json, const char *key, const struct lp_patterns *patterns)
{
    lp_json_open(json, key, '[');
    for (size_t i = 0; i < lp_patterns_count(patterns); i++)
        lp_json_string(json, NULL, lp_patterns_text(patterns, i));
    lp_json_close(json, ']');
}

static void put_selection(struct lp_json *json, const struct lp_region_part *part)
{
    lp_json_open(json, "selection", '{');
    put_patterns(json, "include_patterns", part->rule ? part->rule->include : NULL);
    put_patterns(json, "exclude_patterns", part->rule ? part->rule->exclude : NULL);
    lp_json_bool(json, "nothing_selected", part->calls > 0 && part->selected_calls == 0);
    lp_json_close(json, '}');
}

static void put_region(struct lp_json *json, const struct lp_region_set *set,
                       const struct lp_region_part *part)
{
    const llmperf_region_stats *region = &part->row->stats;

    lp_json_open(json, NULL, '{');
    lp_json_string(json, "name", region->path);
    lp_json_string(json, "label", region->label);
    lp_json_string(json, "parent", region->parent);
    lp_json_integer(json, "depth", region->depth);
    put_device(json, region->device);
    lp_json_integer(json, "process_id", region->process_id);
    put_metrics(json, set, part);
    put_sections(json, set, part);
    put_kernels(json, set, part);
    put_selection(json, part);
    lp_json_close(json, '}');
}

static void put_notes(struct lp_json *json, const struct lp_region_set *set, size_t regions)
{
    const char *note;
    char line[200];

    lp_json_open(json, "notes", '[');
    if (regions == 0)
        lp_json_string(json, NULL, lp_region_nothing(set));
    if (set->matched > set->parts.count) {
        snprintf(line, sizeof(line),
                 "%zu of %zu regions are shown: those with the most device time.", set->parts.count,
                 set->matched);
        lp_json_string(json, NULL, line);
    }
    for (size_t i = 0; (note = llmperf_profile_note(set->findings->profile, i)); i++)
        if (strncmp(note, "counters", 8) == 0 || strncmp(note, "no hardware counters", 20) == 0)
            lp_json_string(json, NULL, note);
    lp_json_close(json, ']');
}

static void put_totals(struct lp_json *json, const struct lp_region_set *set,
                       const struct lp_region_totals *totals)
{
    lp_json_open(json, "totals", '{');
    lp_json_count(json, "regions", totals->regions);
    lp_json_count(json, "regions_omitted", set->matched - set->parts.count);
    lp_json_count(json, "kernel_count", device_count(set, totals->calls));
    lp_json_number(json, "kernel_ms", device_value(set, totals->kernel_ms));
    lp_json_number(json, "mfu", set->findings->overall.values.mfu);
    lp_json_number(json, "mbu", set->findings->overall.values.mbu);
    lp_json_close(json, '}');
}

int lp_region_report_json(const struct lp_region_set *set, const struct lp_region_filter *filter,
                          struct lp_text *out)
{
    struct lp_region_totals totals;
    struct lp_json json = { 0 };
    char scope[64];

    lp_region_scope_name(filter, scope, sizeof(scope));
    lp_region_totals_of(set, filter, &totals);
    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 1);
    lp_json_string(&json, "scope", scope);
    lp_json_string(&json, "label", filter->label);
    lp_json_string(&json, "run_id", llmperf_profile_fact(set->findings->profile, "run_id"));
    lp_json_string(&json, "verdict",
                   llmperf_name(LLMPERF_NAME_VERDICT, set->findings->ledger.verdict));
    lp_json_open(&json, "regions", '[');
    for (size_t i = 0; i < set->parts.count; i++)
        if (lp_region_filter_shows(filter, &set->parts.items[i]))
            put_region(&json, set, &set->parts.items[i]);
    lp_json_close(&json, ']');
    put_totals(&json, set, &totals);
    put_notes(&json, set, totals.regions);
    lp_json_string(&json, "generated_at", set->generated_at);
    put_fingerprint(&json, set->findings->profile);
    lp_json_close(&json, '}');
    lp_text_move(out, &json.text);
    lp_text_clear(&json.text);
    return out->failed ? LLMPERF_ENOMEM : 0;
}
