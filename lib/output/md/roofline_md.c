/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/findings/kernel_work.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/findings/reports/shown_regions.h"

static void roofline_row(const struct lp_findings *findings, const struct lp_region_finding *region,
                         double ridge, struct lp_text *out)
{
    const llmperf_utilisation *use = &region->use;

    lp_text_puts(out, "|");
    lp_md_cell_region_of(out, region->stats.path,
                         lp_shown_process(findings->profile, region->stats.process_id));
    lp_md_cell_device(out, region->stats.device);
    lp_md_cell_number(out, use->intensity);
    lp_md_cell_text(out, isnan(ridge)             ? NULL
                         : use->intensity < ridge ? "left: memory"
                                                  : "right: compute");
    lp_md_cell_number(out, use->achieved_tflops);
    lp_md_cell_number(out, use->attainable_tflops);
    lp_md_cell_number(out, 100 * use->achieved_tflops / use->attainable_tflops);
    lp_md_cell_number(out, use->achieved_gbs);
    lp_text_puts(out, "\n");
}

static bool has_intensity(const struct lp_region_finding *region)
{
    return !isnan(region->use.intensity);
}

static void region_rows(const struct lp_findings *findings, const struct lp_shown_regions *chosen,
                        struct lp_text *out)
{
    double ridge = findings->limits.ridge;
    bool any = false;

    for (size_t i = 0; i < findings->regions.count; i++) {
        if (!chosen->shown[i])
            continue;
        if (!any)
            lp_text_puts(
                out, "| Region | Device | FLOP/B | Side of the ridge | TFLOP/s | Roof TFLOP/s | % "
                     "of roof | GB/s |\n| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |\n");
        any = true;
        roofline_row(findings, &findings->regions.items[i], ridge, out);
    }
    lp_shown_regions_note(chosen, out);
    if (!any) {
        lp_text_puts(out, "Unknown: no region has both FLOPs and bytes.\n");
    } else if (!isnan(ridge)) {
        lp_text_printf(out, "\nRidge: %s FLOP/B; work to the left of it is memory-bound.\n",
                       LP_NUMBER(ridge, 4));
    }
}

static void regions_md(const struct lp_findings *findings, struct lp_text *out)
{
    struct lp_shown_regions chosen;

    if (lp_work_is_missing(findings, out))
        return;
    if (lp_shown_regions_choose(&chosen, findings, has_intensity) < 0)
        out->failed = true;
    else
        region_rows(findings, &chosen, out);
    lp_shown_regions_clear(&chosen);
}

/* Kernels */

static void kernel_row(const struct lp_kernel_work *work, struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_code(out, work->short_name);
    lp_md_cell_device(out, work->device);
    lp_md_cell_number(out, 100 * work->share);
    lp_md_cell_number(out, work->flops / 1e9);
    lp_md_cell_number(out, work->bytes / 1e6);
    lp_md_cell_number(out, work->intensity);
    lp_md_cell_number(out, work->achieved_tflops);
    lp_md_cell_number(out, work->attainable_tflops);
    lp_md_cell_number(out, 100 * work->achieved_tflops / work->attainable_tflops);
    lp_md_cell_number(out, work->achieved_gbs);
    lp_md_cell_text(out, work->dtype);
    lp_md_cell_text(out, work->source);
    lp_text_puts(out, "\n");
}

/* Without repetition. */
static void kernel_reasons(const struct lp_kernel_works *works, struct lp_text *out)
{
    const char *reasons[4] = { NULL };

    for (size_t i = 0; i < works->rows.count; i++) {
        const char *reason = works->rows.items[i].reason;
        size_t at = 0;

        while (reason && at < 4 && reasons[at] && reasons[at] != reason)
            at++;
        if (!reason || at == 4 || reasons[at])
            continue;
        reasons[at] = reason;
        lp_text_puts(out, "\n– in the table: ");
        lp_md_text(out, reason);
        lp_text_puts(out, ".\n");
    }
}

static void put_kernels(const struct lp_kernel_works *works, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < works->rows.count; i++)
        any |= works->rows.items[i].source != NULL;
    if (works->rows.count == 0)
        return;
    lp_text_puts(out, "\n### Top kernels on the roofline\n\n");
    if (!any) {
        lp_text_puts(out, "Unknown: ");
        lp_md_text(out, works->rows.items[0].reason);
        lp_text_puts(out, ".\n");
        return;
    }
    lp_text_puts(out, "| Kernel | Device | Kernel time % | GFLOP | MB | FLOP/B | TFLOP/s | Roof "
                      "TFLOP/s | % of roof | GB/s | Most FLOPs in | Counted by |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- "
                      "| --- |\n");
    for (size_t i = 0; i < works->rows.count; i++)
        kernel_row(&works->rows.items[i], out);
    lp_text_puts(
        out,
        "\nFLOPs and bytes are per call; the roof is that of the dtype with the most FLOPs.\n");
    kernel_reasons(works, out);
}

void lp_roofline_md(const struct lp_findings *findings, struct lp_text *out)
{
    regions_md(findings, out);
    put_kernels(&findings->kernel_works, out);
}
