/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/format/markdown.h"
#include "lib/output/md/ncu_md.h"
#include "lib/output/md/table.h"

static void show_kernel(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_ncu_kernel *kernel = row;

    (void)findings;
    if (kernel->name)
        lp_md_code(out, kernel->short_name);
    else
        lp_text_puts(out, "(whole range)");
}

#define PERCENT(title, member) LP_COLUMN(title, struct lp_ncu_kernel, member##_percent)

static const struct lp_column columns[] = {
    LP_COLUMN_WORDS("Kernel", show_kernel),
    LP_COLUMN_REGION("Region", struct lp_ncu_kernel, region),
    LP_COLUMN("Measured calls", struct lp_ncu_kernel, results),
    LP_COLUMN_TIMES("Mean us", struct lp_ncu_kernel, duration_ms, 1e3),
    LP_COLUMN_TIMES("Time %", struct lp_ncu_kernel, share, 100),
    LP_COLUMN("Bound", struct lp_ncu_kernel, bound),
    PERCENT("SM %", sm),
    PERCENT("Memory %", memory),
    LP_COLUMN("DRAM GB/s", struct lp_ncu_kernel, dram_gbs),
    PERCENT("L1 hit %", l1_hit),
    PERCENT("L2 hit %", l2_hit),
    PERCENT("Occupancy %", occupancy),
    PERCENT("Theoretical %", occupancy_limit),
    LP_COLUMN("Registers", struct lp_ncu_kernel, registers),
    LP_COLUMN("Waves", struct lp_ncu_kernel, waves),
    LP_COLUMN("Warps wait for", struct lp_ncu_kernel, stalls),
};

void lp_ncu_rows_md(const struct lp_findings *findings, const struct lp_ncu_kernel *const *rows,
                    size_t count, struct lp_text *out)
{
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows, .row_count = count };

    lp_table_add(findings, &table, out);
}

void lp_ncu_md(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    const struct lp_ncu_kernels *kernels = &findings->ncu_kernels;
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&kernels->rows),
                                    .limit = limit, .all_in = "kernels.md" };

    if (kernels->rows.count == 0)
        return;
    lp_table_add(findings, &table, out);
    lp_text_puts(out,
                 "\nMeans over the measured calls. Time: share of the time of all kernels that "
                 "ncu measured. Bound: by the thresholds of ncu's Speed of Light rule. Metrics "
                 "by section: regions/; all metrics: metrics.json.\n");
    lp_md_reasons(out, LP_MD_UNKNOWN " in the table", &kernels->rows.items[0].reason,
                  kernels->rows.count, sizeof(kernels->rows.items[0]));
}
