/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/html.h"
#include "lib/output/html/svg.h"

#define LANE 34
#define TOP  14
/* Lanes in the picture; more would be unreadable. */
#define LANES_MOST 16

#define PX(value) LP_NUMBER(value, 5)

struct range {
    uint64_t first_ns;
    double length_ms;
    size_t lanes;
};

static void widen(const struct lp_findings *findings, const struct lp_stage_iterations *stage,
                  uint64_t *first_ns, uint64_t *last_ns)
{
    size_t row = stage->first_recent;
    llmperf_iteration iteration;

    while (lp_stage_iterations_next(stage, findings->profile, &row, &iteration)) {
        uint64_t wall_ns = iteration.wall_ms > 0 ? (uint64_t)(iteration.wall_ms * 1e6) : 0;

        if (iteration.begin_ns < *first_ns)
            *first_ns = iteration.begin_ns;
        if (iteration.begin_ns + wall_ns > *last_ns)
            *last_ns = iteration.begin_ns + wall_ns;
    }
}

static struct range find_range(const struct lp_findings *findings)
{
    struct range range = { UINT64_MAX, 0, 0 };
    uint64_t last_ns = 0;

    range.lanes = findings->stages.count < LANES_MOST ? findings->stages.count : LANES_MOST;
    for (size_t i = 0; i < range.lanes; i++)
        widen(findings, &findings->stages.items[i], &range.first_ns, &last_ns);
    if (last_ns > range.first_ns)
        range.length_ms = (double)(last_ns - range.first_ns) / 1e6;
    return range;
}

/* The bar's height stands for the wall time, its filled part for the share that the GPU was
 * busy. */
static void add_bar(struct lp_text *out, const struct lp_svg_scale *scale, double y,
                    double begin_ms, const llmperf_iteration *iteration, const char *pointer)
{
    double x = lp_svg_at(scale, begin_ms);
    double whole = lp_svg_at(scale, begin_ms + iteration->wall_ms) - x;
    double width = fmax(0.6, whole - (whole > 2 ? 0.5 : 0)); /* a gap between neighbours */
    /* fmin() ignores NaN, which gives 1 */
    double share = iteration->busy_ms / iteration->wall_ms, busy = share > 1 ? 1 : share;

    lp_text_printf(
        out, "<rect class=\"wall%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"20\" data-metric=\"",
        isnan(busy) ? " unknown" : "", PX(x), PX(y), PX(width));
    lp_html_text(out, pointer);
    lp_text_puts(out, "\" data-value=\"");
    lp_html_raw(out, iteration->wall_ms);
    lp_text_printf(out, "\"><title>%s ms%s</title></rect>", LP_NUMBER(iteration->wall_ms, 4),
                   isnan(busy) ? ", device time unknown" : "");
    if (busy > 0)
        lp_text_printf(out, "<rect class=\"busy\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n",
                       PX(x), PX(y + 20 * (1 - busy)), PX(width), PX(20 * busy));
}

static void add_lane(const struct lp_findings *findings, size_t index, const struct range *range,
                     const struct lp_svg_scale *scale, struct lp_text *out)
{
    const struct lp_stage_iterations *stage = &findings->stages.items[index];
    double y = TOP + LANE * (double)index;
    const char *slash = strrchr(stage->region, '/');
    llmperf_iteration iteration;
    size_t row = stage->first_recent;

    lp_svg_name(out, LP_SVG_LEFT - 8, y + 14, 26, slash ? slash + 1 : stage->region);
    for (size_t i = 0; lp_stage_iterations_next(stage, findings->profile, &row, &iteration); i++)
        if (iteration.wall_ms > 0)
            add_bar(out, scale, y, (double)(iteration.begin_ns - range->first_ns) / 1e6, &iteration,
                    LP_POINTER("/iterations/%zu/recent/%zu/wall_ms", index, i));
}

void lp_svg_timeline(const struct lp_findings *findings, struct lp_text *out)
{
    struct range range = find_range(findings);
    struct lp_svg_scale scale = { 0, range.length_ms, LP_SVG_LEFT, LP_SVG_RIGHT, false };
    double bottom = TOP + LANE * (double)range.lanes;

    if (!(range.length_ms > 0)) {
        lp_text_puts(out,
                     findings->stages.count > 0
                         ? "<p>No timeline: single iterations are kept only in the original runs; "
                           "their reports show it.</p>\n"
                         : "<p>No timeline: no stage was recorded iteration by iteration.</p>\n");
        return;
    }
    lp_text_puts(out, "<figure>\n");
    lp_svg_open(out, "timeline", (int)bottom + 38, "Timeline of stages",
                "One row per stage with one bar for each of its newest iterations on the host's "
                "time axis. The filled part of a bar is the time that the device was busy. The "
                "table of iterations has the numbers.");
    lp_svg_axis_x(out, &scale, TOP - 4, bottom, "ms since the first one shown");
    for (size_t i = 0; i < range.lanes; i++)
        add_lane(findings, i, &range, &scale, out);
    lp_svg_close(out);
    lp_text_puts(out, "<figcaption>The newest iterations of each stage on the host's time axis. "
                      "The filled part of a bar is the time that the device was busy; an outlined "
                      "bar means that it is unknown.</figcaption></figure>\n");
}
