/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/ncu_md.h"

#define REASONS_MOST 4

void lp_ncu_head_md(struct lp_text *out)
{
    lp_text_puts(
        out, "| Kernel | Region | Measured calls | Mean us | Time % | Bound | SM % | Memory % | "
             "DRAM GB/s | L1 hit % | L2 hit % | Occupancy % | Theoretical % | Registers | Waves "
             "| Warps wait for |\n"
             "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: "
             "| ---: | ---: | ---: | --- |\n");
}

void lp_ncu_row_md(const struct lp_ncu_kernel *row, struct lp_text *out)
{
    const double numbers[] = { row->sm_percent,
                               row->memory_percent,
                               row->dram_gbs,
                               row->l1_hit_percent,
                               row->l2_hit_percent,
                               row->occupancy_percent,
                               row->occupancy_limit_percent,
                               row->registers,
                               row->waves };

    lp_text_puts(out, "|");
    if (row->name)
        lp_md_cell_code(out, row->short_name);
    else
        lp_md_cell_text(out, "(whole range)");
    lp_md_cell_region(out, row->region);
    lp_md_cell_count(out, row->results);
    lp_md_cell_number(out, 1e3 * row->duration_ms);
    lp_md_cell_number(out, 100 * row->share);
    lp_md_cell_text(out, row->bound);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        lp_md_cell_number(out, numbers[i]);
    lp_md_cell_text(out, row->stalls);
    lp_text_puts(out, "\n");
}

/* Why numbers are unknown, without repetition. */
static void put_reasons(const struct lp_ncu_kernels *kernels, size_t count, struct lp_text *out)
{
    const char *reasons[REASONS_MOST] = { NULL };

    for (size_t i = 0; i < count; i++) {
        const char *reason = kernels->rows.items[i].reason;
        size_t at = 0;

        while (reason && at < REASONS_MOST && reasons[at] && strcmp(reasons[at], reason) != 0)
            at++;
        if (!reason || at == REASONS_MOST || reasons[at])
            continue;
        reasons[at] = reason;
        lp_text_puts(out, "\n" LP_MD_UNKNOWN " in the table: ");
        lp_md_text(out, reason);
        lp_text_puts(out, ".\n");
    }
}

void lp_ncu_md(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &findings->ncu_kernels;
    size_t count = kernels->rows.count < limit ? kernels->rows.count : limit;

    if (count == 0)
        return;
    lp_ncu_head_md(out);
    for (size_t i = 0; i < count; i++)
        lp_ncu_row_md(&kernels->rows.items[i], out);
    if (kernels->rows.count > count)
        lp_text_printf(out, "\n%zu more in kernels.md.\n", kernels->rows.count - count);
    lp_text_puts(out,
                 "\nMeans over the measured calls. Time: share of the time of all kernels that "
                 "ncu measured. Bound: by the thresholds of ncu's Speed of Light rule. Metrics "
                 "by section: regions/; all metrics: metrics.json.\n");
    put_reasons(kernels, count, out);
}
