/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/md/limits_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/findings/reports/shown_regions.h"

static bool has_work(const struct lp_region_finding *region)
{
    return region->stats.flops != LLMPERF_UNKNOWN || region->stats.bytes != LLMPERF_UNKNOWN;
}

static bool has_any_work(const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        if (has_work(&findings->regions.items[i]))
            return true;
    return false;
}

/* Source of a peak or bandwidth. */
static void add_source(struct lp_text *out, const char *what, const llmperf_hardware_value *value)
{
    if (isnan(value->value) || !value->source)
        return;
    lp_text_printf(out, "- %s: ", what);
    lp_md_text(out, value->source);
    lp_text_printf(out, " (confidence %s)\n",
                   llmperf_name(LLMPERF_NAME_CONFIDENCE, value->confidence));
}

/* Regions lack different values; each reason appears once. */
static void add_reason(const char *name, const char *reason, const char **last, struct lp_text *out)
{
    if (!reason || (*last && strcmp(*last, reason) == 0))
        return;
    *last = reason;
    lp_text_printf(out, "- %s is unknown in some rows: ", name);
    lp_md_text(out, reason);
    lp_text_puts(out, "\n");
}

static void add_reasons(const struct lp_findings *findings, struct lp_text *out)
{
    const char *mfu = findings->limits.dtype_reason, *mbu = NULL,
               *bound = mfu; /* the dtype is reported above */

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (!has_work(region))
            continue;
        add_reason("MFU", region->mfu_reason, &mfu, out);
        add_reason("MBU", region->mbu_reason, &mbu, out);
        add_reason("The bound", region->bound_reason, &bound, out);
    }
}

static void add_origin(const llmperf_region_stats *stats, struct lp_text *out)
{
    const char *flops = lp_work_origin(stats->flops_origin);
    const char *bytes = lp_work_origin(stats->bytes_origin);
    const char *other = flops && bytes && strcmp(flops, bytes) != 0 ? bytes : NULL;

    lp_text_printf(out, " %s%s%s |",
                   flops   ? flops
                   : bytes ? bytes
                           : LP_MD_UNKNOWN,
                   other ? ", " : "", other ? other : "");
}

static void utilisation_row(const struct lp_findings *findings,
                            const struct lp_region_finding *region, struct lp_text *out)
{
    const llmperf_utilisation *use = &region->use;

    lp_text_puts(out, "|");
    lp_md_cell_region_of(out, region->stats.path,
                         lp_shown_process(findings->profile, region->stats.process_id));
    lp_md_cell_device(out, region->stats.device);
    lp_md_cell_number(out, use->time_floor_ms);
    lp_md_cell_number(out, use->wall_ratio);
    lp_md_cell_number(out, use->floor_ratio);
    lp_md_cell_number(out, 100 * use->mbu_elapsed);
    lp_md_cell_number(out, 100 * use->mbu);
    lp_md_cell_number(out, 100 * region->mbu_measured);
    lp_md_cell_number(out, 100 * use->mfu_elapsed);
    lp_md_cell_number(out, 100 * use->mfu);
    lp_md_cell_number(out, 100 * region->mfu_measured);
    lp_md_cell_number(out, 100 * use->mfu_limit);
    lp_md_cell_text(out, llmperf_name(LLMPERF_NAME_BOUND, use->bound));
    add_origin(&region->stats, out);
    lp_text_puts(out, "\n");
}

bool lp_work_is_missing(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->withheld) {
        lp_text_puts(out, "Withheld: too much of the work is missing from the ledger.\n");
        return true;
    }
    if (has_any_work(findings))
        return false;
    lp_text_puts(out, "Unknown: the program counted no FLOPs or bytes (llmperf\\_region\\_count), "
                      "and no model was given to compute them from.\n");
    return true;
}

static void add_table(const struct lp_findings *findings, const struct lp_shown_regions *chosen,
                      struct lp_text *out)
{
    lp_text_puts(
        out, "| Region | Device | Bound ms | Wall/bound | Busy/bound | MBU % | while busy % | of "
             "measured % | MFU % | while busy % | of measured % | MFU limit % | Limited by | Work "
             "from |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
             "| ---: | --- | --- |\n");
    for (size_t i = 0; i < findings->regions.count; i++)
        if (chosen->shown[i])
            utilisation_row(findings, &findings->regions.items[i], out);
    lp_shown_regions_note(chosen, out);
}

static void add_legend(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_printf(out,
                   "\nThe bound is the roofline lower bound on time: the least time that the work "
                   "of %s calls takes at the GPU's peak and bandwidth. ",
                   lp_is_sampled(findings->profile) ? "the collected" : "all");
    lp_text_puts(
        out,
        "Wall/bound is wall time over it, busy/bound GPU busy time over it; both are equal where "
        "the device worked longer than the host was in the region.\n\n"
        "MFU and MBU are over elapsed time: wall time, or GPU busy time where that is longer. "
        "While busy: over GPU busy time; of measured: the same, over measured peaks. The MFU limit "
        "is the highest MFU possible at this intensity: for decode look at wall/bound first, then "
        "at MBU.\n\n"
        "Limited by: memory or compute, the one whose bound is at least 1.2x the other; balanced, "
        "neither is; communication, the links between GPUs; launch, wall/bound is above 3 and the "
        "GPU is busy for less than half of the wall time, so launches or the host are the "
        "limit.\n\n");
}

void lp_utilisation_md(const struct lp_findings *findings, struct lp_text *out)
{
    struct lp_shown_regions chosen;

    lp_limits_md(findings, out);
    lp_text_puts(out, "\n");
    if (lp_work_is_missing(findings, out))
        return;
    if (lp_shown_regions_choose(&chosen, findings, has_work) < 0)
        out->failed = true;
    else
        add_table(findings, &chosen, out);
    lp_shown_regions_clear(&chosen);
    add_legend(findings, out);
    add_source(out, "Peak", &findings->limits.peak);
    add_source(out, "Bandwidth", &findings->limits.bandwidth);
    add_reasons(findings, out);
}
