/* SPDX-License-Identifier: Apache-2.0 */
/* The section of report.md about energy, clocks and memory. */
#include <math.h>
#include <string.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/profile.h"

static void put_number(struct lp_text *out, const char *before, double value, const char *after)
{
    if (isnan(value))
        return;
    lp_text_puts(out, before);
    lp_md_number(out, value);
    lp_text_puts(out, after);
}

static void put_energy(const llmperf_energy *gpu, struct lp_text *out)
{
    if (gpu->reason) {
        lp_text_puts(out, "energy is not known: ");
        lp_md_text(out, gpu->reason);
        lp_text_puts(out, ".");
        return;
    }
    put_number(out, "", gpu->energy_j, " J");
    put_number(out, " ± ", gpu->energy_error_j, " J");
    put_number(out, " in ", gpu->duration_ms / 1e3, " s");
    put_number(out, ", ", gpu->power_w, " W on average");
    put_number(out, " (limit ", gpu->power_limit_w, " W)");
    put_number(out, "; ", gpu->stages_j, " J in stages");
    put_number(out, ", ", gpu->outside_j, " J outside of them");
    lp_text_puts(out, strcmp(gpu->source, "power") == 0 ? ". Integrated power readings: this GPU "
                                                          "has no energy counter."
                                                        : ".");
}

static void put_clock(const char *name, double mean, double least, double most, struct lp_text *out)
{
    if (isnan(mean))
        return;
    lp_text_printf(out, "  %s clock while not idle: ", name);
    put_number(out, "", mean, " MHz on average");
    put_number(out, ", lowest ", least, " MHz");
    put_number(out, ", highest possible ", most, " MHz");
    lp_text_puts(out, ".\n");
}

static void put_throttling(const llmperf_energy *gpu, struct lp_text *out)
{
    if (isnan(gpu->throttled_share))
        return;
    if (gpu->throttled_share == 0) {
        lp_text_puts(out, "  Clocks were not throttled.\n");
        return;
    }
    put_number(out, "  **Clocks were throttled ", 100 * gpu->throttled_share,
               " % of the time** in which the GPU was not idle:");
    put_number(out, " power cap ", 100 * gpu->power_cap_share, " %,");
    put_number(out, " temperature ", 100 * gpu->thermal_share, " %,");
    put_number(out, " hardware slowdown ", 100 * gpu->slowdown_share, " %.\n");
}

static double gib(uint64_t bytes)
{
    return bytes == LLMPERF_UNKNOWN ? (double)NAN : (double)bytes / (double)(1u << 30);
}

static void put_memory(const llmperf_energy *gpu, struct lp_text *out)
{
    if (gpu->memory_peak_bytes == LLMPERF_UNKNOWN)
        return;
    put_number(out, "  Device memory of all processes: ", gib(gpu->memory_begin_bytes),
               " GiB at the start");
    put_number(out, ", ", gib(gpu->memory_peak_bytes), " GiB at most");
    put_number(out, ", ", gib(gpu->memory_end_bytes), " GiB at the end");
    put_number(out, ", of ", gib(gpu->memory_total_bytes), " GiB");
    lp_text_puts(out, ".\n");
}

static void put_gpu(const llmperf_energy *gpu, struct lp_text *out)
{
    lp_text_printf(out, "- GPU %d: ", gpu->device);
    put_energy(gpu, out);
    lp_text_puts(out, "\n");
    put_clock("SM", gpu->sm_clock_mhz, gpu->sm_clock_min_mhz, gpu->sm_clock_max_mhz, out);
    put_clock("Memory", gpu->memory_clock_mhz, gpu->memory_clock_min_mhz, gpu->memory_clock_max_mhz,
              out);
    put_throttling(gpu, out);
    put_memory(gpu, out);
}

static bool has_energy(const struct lp_findings *findings, const void *row)
{
    (void)findings;
    return !isnan(((const struct lp_region_finding *)row)->stats.energy_j);
}

static void put_stages(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION_OF("Stage", struct lp_region_finding, stats.path, stats.process_id),
        LP_COLUMN("GPU", struct lp_region_finding, stats.device),
        LP_COLUMN("Energy J", struct lp_region_finding, stats.energy_j),
        LP_COLUMN("Error ± J", struct lp_region_finding, stats.energy_error_j),
        LP_COLUMN("J per token", struct lp_region_finding, token_j),
        LP_COLUMN("SM clock MHz", struct lp_region_finding, stats.sm_clock_mhz),
        LP_COLUMN_TIMES("MFU %", struct lp_region_finding, use.mfu, 100),
        LP_COLUMN_TIMES("MFU at this clock %", struct lp_region_finding, mfu_at_clock, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&findings->regions),
                                    .has = has_energy };
    size_t before;

    lp_text_puts(out, "\n");
    before = out->length;
    lp_table_add(findings, &table, out);
    if (out->length == before)
        return;
    lp_text_puts(out, "\nNested stages are included in the stage around them. Errors are bounds "
                      "from the times of the samples, without the error of the sensor.");
    lp_text_puts(out, lp_is_sampled(findings->profile)
                          ? " In tier light energy is charged by host times: work that runs on "
                            "after a call counts for what follows.\n"
                          : "\n");
}

void lp_energy_md(const struct lp_findings *findings, struct lp_text *out)
{
    const llmperf_profile *profile = findings->profile;
    const char *reason = llmperf_profile_fact(profile, LP_ENERGY_FACT);
    size_t count = lp_row_count(profile, LP_ROW_ENERGY);

    if (count == 0 && !reason)
        return;
    if (count == 0) {
        lp_text_puts(out, "Not read: ");
        lp_md_text(out, reason);
        lp_text_puts(out, ".\n");
    }
    for (size_t i = 0; i < count; i++)
        put_gpu(lp_row_at(profile, LP_ROW_ENERGY, i), out);
    put_stages(findings, out);
}
