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

/* The metrics of a region are adjacent. */
struct span {
    const struct lp_region_set *set;
    const struct lp_ncu_kernel *row;
    size_t first, end;
};

static struct span span_of(const struct lp_region_set *set, const struct lp_ncu_kernel *row)
{
    struct span span = { set, row, lp_counter_index_find(&set->counters, row->region), 0 };
    const llmperf_metric_stats *metric;

    span.end = span.first;
    while ((metric = lp_row_at(set->findings->profile, LP_ROW_METRIC, span.end)) &&
           lp_text_same(metric->region, row->region))
        span.end++;
    return span;
}

/* A metric of the row; NULL: of another one. */
static const llmperf_metric_stats *metric_at(const struct span *span, size_t index)
{
    const llmperf_metric_stats *metric =
        lp_row_at(span->set->findings->profile, LP_ROW_METRIC, index);

    return is_of(metric, span->row) ? metric : NULL;
}

static void put_table(const struct span *span, const struct printer *printer)
{
    const llmperf_metric_stats *metric;
    const char *section = "";

    for (const struct lp_ncu_metric_row *known = lp_ncu_table; known->section; known++)
        for (size_t i = span->first; i < span->end; i++) {
            if (!(metric = metric_at(span, i)) || lp_ncu_row_of(metric) != known)
                continue;
            if (strcmp(section, known->section) != 0)
                printer->section(printer->out, known->section);
            section = known->section;
            printer->line(printer->out, known->label, known->unit, known->factor, metric);
        }
}

static void put_states(const struct span *span, const struct printer *printer)
{
    bool any = false;

    for (size_t i = span->first; i < span->end; i++) {
        const llmperf_metric_stats *metric = metric_at(span, i);
        const char *state = NULL;
        size_t length = metric ? lp_ncu_warp_state(metric, &state) : 0;
        char label[64];

        if (length == 0)
            continue;
        if (!any)
            printer->section(printer->out,
                             "Warp State Statistics: cycles of a warp per instruction");
        any = true;
        snprintf(label, sizeof(label), "Stall %.*s", (int)length, state);
        printer->line(printer->out, label, "cycle", 1, metric);
    }
}

/* Sections in the order of the table, then the states of warps. */
static void put_sections(const struct lp_region_set *set, const struct lp_ncu_kernel *row,
                         const struct printer *printer)
{
    struct span span = span_of(set, row);

    put_table(&span, printer);
    put_states(&span, printer);
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
