/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/md/limits_md.h"

#include <math.h>
#include <stdio.h>

#include "lib/output/format/markdown.h"
#include "llmperf/sys/hardware.h"

static void add_limit(struct lp_text *out, const char *name, const llmperf_hardware_value *value,
                      double measured_peak)
{
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_number(out, value->value);
    lp_md_cell_text(out, value->source ? llmperf_name(LLMPERF_NAME_ORIGIN, value->origin) : NULL);
    lp_md_cell_number(out, measured_peak);
    lp_md_cell_number(out, 100 * measured_peak / value->value);
    lp_text_puts(out, "\n");
}

static void add_limits(const struct lp_limits *limits, struct lp_text *out)
{
    const char *measured = llmperf_hardware_measured(limits->hardware);
    char name[64];

    lp_text_puts(
        out,
        "| limit | in use | source | measured | % of it |\n| --- | ---: | --- | ---: | ---: |\n");
    if (limits->dtype[0]) {
        snprintf(name, sizeof(name), "%s, TFLOP/s", limits->dtype);
        add_limit(out, name, &limits->peak, limits->measured_tflops);
    }
    add_limit(out, "memory bandwidth, GB/s", &limits->bandwidth, limits->measured_bandwidth_gbs);
    lp_text_puts(out, "\n");
    lp_md_text(out, measured ? measured
                             : "No peaks were measured on this GPU with this driver; see llmperf "
                               "hardware --measure.");
    lp_text_puts(out, "\n");
    if (limits->dtype_reason[0]) {
        lp_text_puts(out, "\nMFU, floors and bounds are unknown: ");
        lp_md_text(out, limits->dtype_reason);
        lp_text_puts(out, ".\n");
    }
}

void lp_limits_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (!findings->limits.hardware) {
        lp_text_puts(out, "Peaks and bandwidth are unknown: ");
        lp_md_text(out, findings->limits.hardware_reason);
        lp_text_puts(out, "\n");
        return;
    }
    add_limits(&findings->limits, out);
}
