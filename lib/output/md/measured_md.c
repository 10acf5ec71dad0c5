/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"

static void put_pair(struct lp_text *out, double analytic, double counted)
{
    lp_md_cell_number(out, analytic);
    lp_md_cell_number(out, counted);
    lp_md_cell_number(out, analytic > 0 ? counted / analytic : NAN);
}

static void put_row(const struct lp_region_finding *region, struct lp_text *out)
{
    const struct lp_measured *measured = &region->measured;

    lp_text_puts(out, "|");
    lp_md_cell_region(out, region->stats.path);
    lp_md_cell_device(out, region->stats.device);
    lp_md_cell_count(out, (uint64_t)measured->instances);
    put_pair(out, region->flops_call / 1e9, measured->flops / 1e9);
    put_pair(out, region->bytes_call / 1e9, measured->bytes / 1e9);
    lp_md_cell_number(out, 100 * measured->hfu);
    lp_text_puts(out, "\n");
}

static void put_head(struct lp_text *out)
{
    lp_text_puts(out, "\n## Hardware counters\n\n"
                      "| Region | Device | Counted calls | Model GFLOP | Counted GFLOP | "
                      "Counted/model | Model GB | Counted GB | Counted/model | HFU % |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
}

static void put_foot(struct lp_text *out)
{
    lp_text_puts(
        out,
        "\nPer call. FLOPs: those of the dtypes that the preset counts, including padding and "
        "recomputation; larger than the model's if tiles are padded, smaller if work runs in units "
        "that are not counted. Bytes: device memory traffic; larger than the model's because of "
        "activations and repeated reads, smaller because of cache hits. More in regions/.\n");
}

void lp_measured_md(const struct lp_findings *findings, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (isnan(region->measured.flops) && isnan(region->measured.bytes))
            continue;
        if (!any)
            put_head(out);
        any = true;
        put_row(region, out);
    }
    if (any)
        put_foot(out);
}
