/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/run_dir/region_ncu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/findings/ncu/ncu_table.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/ncu_md.h"

bool lp_region_ncu_has(const llmperf_region_stats *region, const struct lp_ncu_kernel *row,
                       bool nested)
{
    return row->region && (row->device < 0 || row->device == region->device) &&
           (row->process_id == 0 || row->process_id == region->process_id) &&
           (nested && row->name ? lp_region_is_in(row->region, region->path)
                                : strcmp(row->region, region->path) == 0);
}

/* Sections */

struct printer {
    struct lp_text *out;
    void (*section)(struct lp_text *out, const char *name);
    void (*line)(struct lp_text *out, const char *label, const char *unit, double factor,
                 const llmperf_metric_stats *metric);
};

static void section_md(struct lp_text *out, const char *name)
{
    lp_text_printf(out,
                   "\n| %s | unit | mean | min | max | results |\n"
                   "| --- | --- | ---: | ---: | ---: | ---: |\n",
                   name);
}

static void line_md(struct lp_text *out, const char *label, const char *unit, double factor,
                    const llmperf_metric_stats *metric)
{
    lp_text_printf(out, "| %s | %s |", label, unit);
    lp_md_cell_number(out, metric->mean * factor);
    lp_md_cell_number(out, metric->min * factor);
    lp_md_cell_number(out, metric->max * factor);
    lp_md_cell_count(out, metric->count);
    lp_text_puts(out, "\n");
}

static void section_text(struct lp_text *out, const char *name)
{
    lp_text_printf(out, "  Section: %s\n", name);
}

static void line_text(struct lp_text *out, const char *label, const char *unit, double factor,
                      const llmperf_metric_stats *metric)
{
    lp_text_printf(out, "    %-42s %-10s %s\n", label, unit, LP_NUMBER(metric->mean * factor, 6));
}

static bool is_of(const llmperf_metric_stats *metric, const struct lp_ncu_kernel *row)
{
    return metric->source && strcmp(metric->source, "ncu") == 0 && metric->count > 0 &&
           metric->device == row->device && metric->process_id == row->process_id &&
           lp_text_same(metric->kernel, row->name) && lp_text_same(metric->region, row->region);
}

static const llmperf_metric_stats *metric_of(const struct lp_region_set *set,
                                             const struct lp_ncu_kernel *row, size_t index)
{
    const llmperf_metric_stats *metric = lp_row_at(set->findings->profile, LP_ROW_METRIC, index);

    return metric && is_of(metric, row) ? metric : NULL;
}

/* Sections in the order of the table, then the states of warps. Metrics of a region are adjacent.
 */
static void put_sections(const struct lp_region_set *set, const struct lp_ncu_kernel *row,
                         const struct printer *printer)
{
    size_t first = lp_counter_index_find(&set->counters, row->region), end = first;
    const llmperf_profile *profile = set->findings->profile;
    const llmperf_metric_stats *metric;
    const char *section = "", *state;

    while ((metric = lp_row_at(profile, LP_ROW_METRIC, end)) &&
           lp_text_same(metric->region, row->region))
        end++;
    for (const struct lp_ncu_metric_row *known = lp_ncu_table; known->section; known++)
        for (size_t i = first; i < end; i++) {
            if (!(metric = metric_of(set, row, i)) || lp_ncu_row_of(metric) != known)
                continue;
            if (strcmp(section, known->section) != 0)
                printer->section(printer->out, known->section);
            section = known->section;
            printer->line(printer->out, known->label, known->unit, known->factor, metric);
        }
    for (size_t i = first; i < end; i++) {
        char label[64];
        size_t length;

        if (!(metric = metric_of(set, row, i)) || !(length = lp_ncu_warp_state(metric, &state)))
            continue;
        if (section)
            printer->section(printer->out,
                             "Warp State Statistics: cycles of a warp per instruction");
        section = NULL;
        snprintf(label, sizeof(label), "Stall %.*s", (int)length, state);
        printer->line(printer->out, label, "cycle", 1, metric);
    }
}

void lp_region_ncu_md(const struct lp_region_set *set, const llmperf_region_stats *region,
                      struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &set->findings->ncu_kernels;
    const struct printer printer = { out, section_md, line_md };
    bool any = false;

    for (size_t i = 0; i < kernels->rows.count; i++) {
        if (!lp_region_ncu_has(region, &kernels->rows.items[i], true))
            continue;
        if (!any) {
            lp_text_puts(out, "\nMeasured by ncu:\n\n");
            lp_ncu_head_md(out);
        }
        any = true;
        lp_ncu_row_md(&kernels->rows.items[i], out);
    }
    for (size_t i = 0; i < kernels->rows.count; i++)
        if (!kernels->rows.items[i].name &&
            lp_region_ncu_has(region, &kernels->rows.items[i], false))
            put_sections(set, &kernels->rows.items[i], &printer);
    if (any)
        lp_text_puts(out, "\nmetrics.json has all metrics, also attributes of the device.\n");
}

void lp_region_ncu_text(const struct lp_region_set *set, const llmperf_region_stats *region,
                        struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &set->findings->ncu_kernels;
    const struct printer printer = { out, section_text, line_text };

    for (size_t i = 0; i < kernels->rows.count; i++) {
        const struct lp_ncu_kernel *row = &kernels->rows.items[i];

        if (!lp_region_ncu_has(region, row, false))
            continue;
        lp_text_printf(out, "%s%s, region %s, device %d, %" PRIu64 " measured calls\n",
                       out->length ? "\n" : "", row->name ? row->demangled : "(whole range)",
                       row->region, row->device, row->results);
        put_sections(set, row, &printer);
    }
}
