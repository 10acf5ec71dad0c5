/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"

static bool is_counted(const struct lp_findings *findings, const void *row)
{
    const struct lp_measured *measured = &((const struct lp_region_finding *)row)->measured;

    (void)findings;
    return !isnan(measured->flops) || !isnan(measured->bytes);
}

static void show_calls(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    (void)findings;
    lp_md_count(out, (uint64_t)((const struct lp_region_finding *)row)->measured.instances);
}

void lp_measured_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION("Region", struct lp_region_finding, stats.path),
        LP_COLUMN("GPU", struct lp_region_finding, stats.device),
        LP_COLUMN_NUMBER("Counted calls", show_calls),
        LP_COLUMN_TIMES("Model GFLOP", struct lp_region_finding, flops_call, 1e-9),
        LP_COLUMN_TIMES("Counted GFLOP", struct lp_region_finding, measured.flops, 1e-9),
        LP_COLUMN_PER("Counted/model", struct lp_region_finding, measured.flops, 1, flops_call),
        LP_COLUMN_TIMES("Model GB", struct lp_region_finding, bytes_call, 1e-9),
        LP_COLUMN_TIMES("Counted GB", struct lp_region_finding, measured.bytes, 1e-9),
        LP_COLUMN_PER("Counted/model", struct lp_region_finding, measured.bytes, 1, bytes_call),
        LP_COLUMN_TIMES("HFU %", struct lp_region_finding, measured.hfu, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&findings->regions),
                                    .has = is_counted };
    size_t before = out->length;

    lp_table_add(findings, &table, out);
    if (out->length > before)
        lp_text_puts(
            out,
            "\nPer call. FLOPs: those of the dtypes that the preset counts, including padding and "
            "recomputation; larger than the model's if tiles are padded, smaller if work runs in "
            "units that are not counted. Bytes: device memory traffic; larger than the model's "
            "because of activations and repeated reads, smaller because of cache hits. More in "
            "regions/.\n");
}
