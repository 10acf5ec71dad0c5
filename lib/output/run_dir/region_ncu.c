/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/run_dir/region_ncu.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/findings/ncu/ncu_table.h"
#include "lib/output/md/ncu_md.h"

bool lp_region_ncu_has(const llmperf_region_stats *region, const struct lp_ncu_kernel *row,
                       bool nested)
{
    return row->region && (row->device < 0 || row->device == region->device) &&
           (row->process_id == 0 || row->process_id == region->process_id) &&
           (nested && row->name ? lp_region_is_in(row->region, region->path)
                                : strcmp(row->region, region->path) == 0);
}

static void put_line(struct lp_text *out, const char *label, const char *unit, double value)
{
    lp_text_printf(out, "    %-42s %-10s %s\n", label, unit, LP_NUMBER(value, 6));
}

/* Sections in the order of the table, then the states of warps. */
static void put_sections(const llmperf_profile *profile, const struct lp_ncu_kernel *row,
                         struct lp_text *out)
{
    const struct lp_stall_reason *reason;
    const char *section = "";

    for (const struct lp_ncu_metric_row *known = lp_ncu_table; known->section; known++)
        for (size_t i = row->first_metric; i < row->end_metric; i++) {
            const llmperf_metric_stats *metric = lp_row_at(profile, LP_ROW_METRIC, i);

            if (metric->count == 0 || lp_ncu_row_of(metric) != known)
                continue;
            if (strcmp(section, known->section) != 0)
                lp_text_printf(out, "  Section: %s\n", known->section);
            section = known->section;
            put_line(out, known->label, known->unit, metric->mean * known->factor);
        }
    if (row->stalls_cycles > 0)
        lp_text_puts(out, "  Section: Warp State Statistics, cycles between two instructions\n");
    for (size_t i = row->first_metric; i < row->end_metric; i++) {
        const llmperf_metric_stats *metric = lp_row_at(profile, LP_ROW_METRIC, i);

        if (lp_ncu_warp_state(metric, &reason) && reason)
            put_line(out, reason->name, "cycle", metric->mean);
    }
}

void lp_region_ncu_md(const struct lp_region_set *set, const llmperf_region_stats *region,
                      struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &set->findings->ncu_kernels;
    LP_VECTOR(const struct lp_ncu_kernel *) rows = { NULL, 0, 0 };

    for (size_t i = 0; i < kernels->rows.count; i++)
        if (lp_region_ncu_has(region, &kernels->rows.items[i], true))
            out->failed |= lp_vector_push(&rows, &kernels->rows.items[i]) < 0;
    if (rows.count > 0) {
        lp_text_puts(out, "\nMeasured by ncu; metrics.json has all metrics:\n\n");
        lp_ncu_rows_md(set->findings, rows.items, rows.count, out);
    }
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.items[i]->name)
            continue;
        lp_text_puts(out, "\n```\n");
        put_sections(set->findings->profile, rows.items[i], out);
        lp_text_puts(out, "```\n");
    }
    lp_vector_clear(&rows);
}

void lp_region_ncu_text(const struct lp_region_set *set, const llmperf_region_stats *region,
                        struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &set->findings->ncu_kernels;

    for (size_t i = 0; i < kernels->rows.count; i++) {
        const struct lp_ncu_kernel *row = &kernels->rows.items[i];

        if (!lp_region_ncu_has(region, row, false))
            continue;
        lp_text_printf(out, "%s%s, region %s, device %d, %" PRIu64 " measured calls\n",
                       out->length ? "\n" : "", row->name ? row->demangled : "(whole range)",
                       row->region, row->device, row->results);
        put_sections(set->findings->profile, row, out);
    }
}
