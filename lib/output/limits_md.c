/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/limits_md.h"

#include <math.h>
#include <stdio.h>

#include "lib/output/markdown.h"
#include "llmperf/region.h"

static void add_limit(struct lp_text *out, const char *name, const llmperf_hardware_value *value,
                      double ceiling)
{
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_number(out, value->value);
    lp_md_cell_text(out, value->source ? llmperf_origin_name(value->origin) : NULL);
    lp_md_cell_number(out, ceiling);
    lp_md_cell_number(out, 100 * ceiling / value->value);
    lp_text_puts(out, "\n");
}

static void add_limits(const struct lp_limits *limits, struct lp_text *out)
{
    const char *measured = llmperf_hardware_measured(limits->hardware);
    char name[64];

    lp_text_puts(out, "| limit | in use | from | measured | % of it |\n"
                      "| --- | ---: | --- | ---: | ---: |\n");
    if (limits->dtype[0]) {
        snprintf(name, sizeof(name), "%s, TFLOP/s", limits->dtype);
        add_limit(out, name, &limits->peak, limits->ceiling_tflops);
    }
    add_limit(out, "memory bandwidth, GB/s", &limits->bandwidth, limits->ceiling_gbs);
    lp_text_puts(out, "\n");
    lp_md_text(out, measured ? measured
                             : "No ceilings were measured on this GPU with this driver; see "
                               "llmperf hardware --measure.");
    lp_text_puts(out, "\n");
    if (limits->dtype_reason[0]) {
        lp_text_puts(out, "\n");
        lp_md_text(out, limits->dtype_reason);
        lp_text_puts(out, "\n");
    }
}

static bool has_work(const struct lp_region_view *region)
{
    return region->stats.kind == LLMPERF_REGION_STAGE &&
           (region->stats.flops != LLMPERF_UNKNOWN || region->stats.bytes != LLMPERF_UNKNOWN);
}

static void add_use(const struct lp_region_view *region, struct lp_text *out)
{
    const llmperf_utilisation *use = &region->use;

    lp_text_puts(out, "|");
    lp_md_cell_region(out, region->stats.path);
    lp_md_cell_device(out, region->stats.device);
    lp_md_cell_number(out, 100 * use->mfu);
    lp_md_cell_number(out, 100 * region->mfu_measured);
    lp_md_cell_number(out, 100 * use->mbu);
    lp_md_cell_number(out, 100 * region->mbu_measured);
    lp_md_cell_text(out, llmperf_bound_name(use->bound));
    lp_md_cell_number(out, use->time_floor_ms);
    lp_md_cell_number(out, use->floor_ratio);
    lp_text_puts(out, "\n");
}

static void add_uses(const struct lp_view *view, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < view->regions.count; i++) {
        if (!has_work(&view->regions.items[i]))
            continue;
        if (!any)
            lp_text_puts(out, "\n| Stage | GPU | MFU % | of measured % | MBU % | of measured % | "
                              "bound | floor ms | time / floor |\n| --- | ---: | ---: | ---: | "
                              "---: | ---: | --- | ---: | ---: |\n");
        any = true;
        add_use(&view->regions.items[i], out);
    }
    if (!any)
        lp_text_puts(out, "\nNo stage has FLOPs or bytes: neither the program nor a model gave "
                          "them.\n");
}

void lp_limits_md(const struct lp_view *view, struct lp_text *out)
{
    if (!view->limits.hardware) {
        lp_text_puts(out, "Peaks and bandwidth are not known: ");
        lp_md_text(out, view->limits.hardware_reason);
        lp_text_puts(out, "\n");
        return;
    }
    add_limits(&view->limits, out);
    add_uses(view, out);
}
