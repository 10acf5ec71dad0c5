/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "lib/base/number.h"
#include "lib/output/html.h"
#include "lib/output/svg.h"

#define HEIGHT 400
#define LEFT   70
#define TOP    34
#define BOTTOM 350

#define PX(value) LP_NUMBER(value, 5)

static bool is_shown(const struct lp_region_view *region)
{
    return region->use.intensity > 0 && region->use.achieved_tflops > 0;
}

static double attainable(const struct lp_limits *limits, double intensity)
{
    return fmin(limits->peak.value, intensity * limits->bandwidth.value / 1e3);
}

/* Whole decades around the ridge and all points. */
static void set_scales(const struct lp_view *view, struct lp_svg_scale *x, struct lp_svg_scale *y)
{
    double ridge = view->limits.peak.value * 1e3 / view->limits.bandwidth.value;
    double low = ridge / 10, high = ridge * 10, least = view->limits.peak.value / 100;

    for (size_t i = 0; i < view->regions.count; i++) {
        const struct lp_region_view *region = &view->regions.items[i];

        if (!is_shown(region))
            continue;
        low = fmin(low, region->use.intensity / 1.5);
        high = fmax(high, region->use.intensity * 1.5);
        least = fmin(least, region->use.achieved_tflops / 1.5);
    }
    low = pow(10, floor(log10(low)));
    high = pow(10, ceil(log10(high)));
    least = pow(10, floor(log10(fmin(least, attainable(&view->limits, low)))));
    *x = (struct lp_svg_scale){ low, high, LEFT, LP_SVG_RIGHT, true };
    *y = (struct lp_svg_scale){ least, pow(10, ceil(log10(view->limits.peak.value * 1.2))), BOTTOM,
                                TOP, true };
}

static void add_roof(const struct lp_view *view, const struct lp_svg_scale *x,
                     const struct lp_svg_scale *y, struct lp_text *out)
{
    const struct lp_limits *limits = &view->limits;
    double ridge = limits->peak.value * 1e3 / limits->bandwidth.value;
    double peak_y = lp_svg_at(y, limits->peak.value);

    lp_text_printf(out, "<polyline class=\"roof\" points=\"%s,%s %s,%s %s,%s\"/>\n", PX(x->from),
                   PX(lp_svg_at(y, attainable(limits, x->low))), PX(lp_svg_at(x, ridge)),
                   PX(peak_y), PX(x->to), PX(peak_y));
    lp_svg_line(out, "mark", lp_svg_at(x, ridge), peak_y, lp_svg_at(x, ridge), BOTTOM);
    lp_svg_text(out, "s", lp_svg_at(x, ridge) + 6, BOTTOM - 8, "start", "ridge");
    lp_svg_text(out, "s", x->to, peak_y - 7, "end", "peak");
    /* Below the middle of the slope: the line rises away from the text. */
    lp_svg_text(out, "s", (x->from + lp_svg_at(x, ridge)) / 2 + 12,
                lp_svg_at(y, attainable(limits, sqrt(x->low * ridge))) + 14, "start", "bandwidth");
}

static void add_points(const struct lp_view *view, const struct lp_svg_scale *x,
                       const struct lp_svg_scale *y, struct lp_text *out)
{
    size_t number = 0;

    for (size_t i = 0; i < view->regions.count; i++) {
        const struct lp_region_view *region = &view->regions.items[i];
        double px, py;
        char text[24];

        if (!is_shown(region))
            continue;
        px = lp_svg_at(x, region->use.intensity);
        py = lp_svg_at(y, region->use.achieved_tflops);
        snprintf(text, sizeof(text), "%zu", ++number);
        lp_text_printf(out,
                       "<circle class=\"point\" cx=\"%s\" cy=\"%s\" r=\"6\" data-metric=\""
                       "/regions/%zu/achieved_tflops\" data-value=\"",
                       PX(px), PX(py), i);
        lp_html_raw(out, region->use.achieved_tflops);
        lp_text_puts(out, "\"><title>");
        lp_html_text(out, region->stats.path);
        lp_text_puts(out, "</title></circle>");
        /* Neighbours get their numbers on different sides. */
        lp_svg_text(out, "", px + (number % 2 ? 9 : -9), py + (number % 4 < 2 ? 14 : -7),
                    number % 2 ? "start" : "end", text);
    }
}

static void add_names(const struct lp_view *view, struct lp_text *out)
{
    lp_text_puts(out, "<ol class=\"points\">");
    for (size_t i = 0; i < view->regions.count; i++) {
        const struct lp_region_view *region = &view->regions.items[i];

        if (!is_shown(region))
            continue;
        lp_text_puts(out, "<li><code>");
        lp_html_text(out, region->stats.path);
        lp_text_puts(out, "</code>: ");
        lp_html_number(out, LP_POINTER("/regions/%zu/intensity", i), region->use.intensity);
        lp_text_puts(out, " FLOP/B, ");
        lp_html_number(out, LP_POINTER("/regions/%zu/achieved_tflops", i),
                       region->use.achieved_tflops);
        lp_text_puts(out, " of ");
        lp_html_number(out, LP_POINTER("/regions/%zu/attainable_tflops", i),
                       region->use.attainable_tflops);
        lp_text_puts(out, " TFLOP/s</li>");
    }
    lp_text_puts(out, "</ol>\n");
}

static bool has_points(const struct lp_view *view)
{
    for (size_t i = 0; i < view->regions.count; i++)
        if (is_shown(&view->regions.items[i]))
            return true;
    return false;
}

void lp_svg_roofline(const struct lp_view *view, struct lp_text *out)
{
    struct lp_svg_scale x, y;

    if (!(view->limits.peak.value > 0 && view->limits.bandwidth.value > 0) || !has_points(view)) {
        lp_text_puts(out,
                     "<p>No roofline: it needs the peak of the dtype, the bandwidth, and a region "
                     "with FLOPs, bytes and device time. The notes say what is missing.</p>\n");
        return;
    }
    set_scales(view, &x, &y);
    lp_text_puts(out, "<figure>\n");
    lp_svg_open(
        out, "roofline", HEIGHT, "Roofline",
        "Both axes are logarithmic: FLOPs for each byte, and TFLOP/s that were reached. The "
        "line is the most that the GPU can do; points are regions, named in the list below.");
    lp_svg_axis_x(out, &x, TOP, BOTTOM, "FLOP/B");
    lp_svg_axis_y(out, &y, LEFT, LP_SVG_RIGHT, "TFLOP/s");
    add_roof(view, &x, &y, out);
    add_points(view, &x, &y, out);
    lp_svg_close(out);
    add_names(view, out);
    lp_text_puts(out, "</figure>\n");
}
