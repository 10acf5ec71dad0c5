/* SPDX-License-Identifier: Apache-2.0 */
/* Regions are numbered circles, kernels are squares with letters: never distinguished by colour
 * alone. */
#include <math.h>
#include <stdio.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/output/format/html.h"
#include "lib/findings/kernel_work.h"
#include "lib/output/html/svg.h"

#define HEIGHT 400
#define LEFT   70
#define TOP    34
#define BOTTOM 350
#define SIDE   11 /* size of a kernel's square */

#define PX(value) LP_NUMBER(value, 5)

struct chart {
    const struct lp_findings *findings;
    const struct lp_kernel_works *works;
    const struct lp_roof *roof;
    struct lp_svg_scale x, y;
};

static bool is_shown(const struct lp_region_finding *region)
{
    return region->use.intensity > 0 && region->use.achieved_tflops > 0;
}

static double attainable(const struct chart *chart, double intensity)
{
    return fmin(chart->roof->peak_tflops, intensity * chart->roof->bandwidth_gbs / 1e3);
}

struct bounds {
    double low, high, least; /* FLOP/B from, to; TFLOP/s from */
    size_t points;
};

static void take_in(struct bounds *bounds, double intensity, double tflops)
{
    bounds->low = fmin(bounds->low, intensity / 1.5);
    bounds->high = fmax(bounds->high, intensity * 1.5);
    bounds->least = fmin(bounds->least, tflops / 1.5);
    bounds->points++;
}

/* Whole decades around the ridge and all points. Returns the number of points. */
static size_t set_scales(struct chart *chart)
{
    double ridge = chart->roof->ridge;
    struct bounds bounds = { ridge / 10, ridge * 10, chart->roof->peak_tflops / 100, 0 };

    for (size_t i = 0; i < chart->findings->regions.count; i++) {
        const struct lp_region_finding *region = &chart->findings->regions.items[i];

        if (is_shown(region))
            take_in(&bounds, region->use.intensity, region->use.achieved_tflops);
    }
    for (size_t i = 0; i < chart->works->rows.count; i++) {
        const struct lp_kernel_work *work = &chart->works->rows.items[i];

        if (lp_kernel_work_has_point(work))
            take_in(&bounds, work->intensity, work->achieved_tflops);
    }
    bounds.low = pow(10, floor(log10(bounds.low)));
    bounds.high = pow(10, ceil(log10(bounds.high)));
    bounds.least = pow(10, floor(log10(fmin(bounds.least, attainable(chart, bounds.low)))));
    chart->x = (struct lp_svg_scale){ bounds.low, bounds.high, LEFT, LP_SVG_RIGHT, true };
    chart->y =
        (struct lp_svg_scale){ bounds.least, pow(10, ceil(log10(chart->roof->peak_tflops * 1.2))),
                               BOTTOM, TOP, true };
    return bounds.points;
}

static void add_roof(const struct chart *chart, struct lp_text *out)
{
    const struct lp_svg_scale *x = &chart->x, *y = &chart->y;
    double ridge = chart->roof->ridge, peak_y = lp_svg_at(y, chart->roof->peak_tflops);
    char peak[64];

    snprintf(peak, sizeof(peak), "peak of %s", chart->roof->dtype);
    lp_text_printf(out, "<polyline class=\"roof\" points=\"%s,%s %s,%s %s,%s\"/>\n", PX(x->from),
                   PX(lp_svg_at(y, attainable(chart, x->low))), PX(lp_svg_at(x, ridge)), PX(peak_y),
                   PX(x->to), PX(peak_y));
    lp_svg_line(out, "mark", lp_svg_at(x, ridge), peak_y, lp_svg_at(x, ridge), BOTTOM);
    lp_svg_text(out, "s", lp_svg_at(x, ridge) + 6, BOTTOM - 8, "start", "ridge");
    lp_svg_text(out, "s", x->to, peak_y - 7, "end", peak);
    /* Below the middle of the slope, so that the line does not cross the text. */
    lp_svg_text(out, "s", (x->from + lp_svg_at(x, ridge)) / 2 + 12,
                lp_svg_at(y, attainable(chart, sqrt(x->low * ridge))) + 14, "start", "bandwidth");
}

/* Alternate the side of the name, so that neighbours do not overlap. */
static void add_mark(size_t number, double x, double y, const char *text, struct lp_text *out)
{
    lp_svg_text(out, "", x + (number % 2 ? 9 : -9), y, number % 2 ? "start" : "end", text);
}

static void add_regions(const struct chart *chart, struct lp_text *out)
{
    size_t number = 0;

    for (size_t i = 0; i < chart->findings->regions.count; i++) {
        const struct lp_region_finding *region = &chart->findings->regions.items[i];
        double px, py;
        char text[24];

        if (!is_shown(region))
            continue;
        px = lp_svg_at(&chart->x, region->use.intensity);
        py = lp_svg_at(&chart->y, region->use.achieved_tflops);
        snprintf(text, sizeof(text), "%zu", ++number);
        lp_text_printf(out,
                       "<circle class=\"point\" cx=\"%s\" cy=\"%s\" r=\"6\" data-metric=\""
                       "/regions/%zu/achieved_tflops\" data-value=\"",
                       PX(px), PX(py), i);
        lp_html_raw(out, region->use.achieved_tflops);
        lp_text_puts(out, "\"><title>");
        lp_html_text(out, region->stats.path);
        lp_text_puts(out, "</title></circle>");
        add_mark(number, px, py + (number % 4 < 2 ? 14 : -7), text, out);
    }
}

static void add_kernels(const struct chart *chart, struct lp_text *out)
{
    size_t number = 0;

    for (size_t i = 0; i < chart->works->rows.count; i++) {
        const struct lp_kernel_work *work = &chart->works->rows.items[i];
        double px, py;
        char text[2] = "A";

        if (!lp_kernel_work_has_point(work))
            continue;
        px = lp_svg_at(&chart->x, work->intensity);
        py = lp_svg_at(&chart->y, work->achieved_tflops);
        text[0] = (char)('A' + number++); /* LP_KERNEL_WORK_MOST is below 26 */
        lp_text_printf(out,
                       "<rect class=\"kernel\" x=\"%s\" y=\"%s\" width=\"%d\" height=\"%d\" "
                       "data-metric=\"/kernel_roofline/%zu/achieved_tflops\" data-value=\"",
                       PX(px - SIDE / 2.0), PX(py - SIDE / 2.0), SIDE, SIDE, i);
        lp_html_raw(out, work->achieved_tflops);
        lp_text_puts(out, "\"><title>");
        lp_html_text(out, work->demangled);
        lp_text_puts(out, "</title></rect>");
        add_mark(number, px, py + 16, text, out); /* below the mark, since the roof is above it */
    }
}

static void add_region_names(const struct chart *chart, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < chart->findings->regions.count; i++) {
        const struct lp_region_finding *region = &chart->findings->regions.items[i];

        if (!is_shown(region))
            continue;
        if (!any)
            lp_text_puts(out, "<ol class=\"points\">");
        any = true;
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
    lp_text_puts(out, any ? "</ol>\n" : "");
}

static void add_kernel_names(const struct chart *chart, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < chart->works->rows.count; i++) {
        const struct lp_kernel_work *work = &chart->works->rows.items[i];

        if (!lp_kernel_work_has_point(work))
            continue;
        if (!any)
            lp_text_puts(out, "<ol class=\"points kernels\">");
        any = true;
        lp_text_puts(out, "<li><code>");
        lp_html_text(out, work->short_name);
        lp_text_puts(out, "</code>: ");
        lp_html_number(out, LP_POINTER("/kernel_roofline/%zu/intensity", i), work->intensity);
        lp_text_puts(out, " FLOP/B, ");
        lp_html_number(out, LP_POINTER("/kernel_roofline/%zu/achieved_tflops", i),
                       work->achieved_tflops);
        lp_text_puts(out, " of ");
        lp_html_number(out, LP_POINTER("/kernel_roofline/%zu/attainable_tflops", i),
                       work->attainable_tflops);
        lp_text_puts(out, " TFLOP/s");
        if (work->dtype) {
            lp_text_puts(out, " in ");
            lp_html_text(out, work->dtype);
        }
        lp_text_puts(out, "</li>");
    }
    lp_text_puts(out, any ? "</ol>\n" : "");
}

static void draw(const struct chart *chart, struct lp_text *out)
{
    lp_text_puts(out, "<figure>\n");
    lp_svg_open(
        out, "roofline", HEIGHT, "Roofline",
        "Both axes are logarithmic: FLOPs per byte and achieved TFLOP/s. The line is the roofline "
        "of the GPU; circles are regions and squares are kernels, named in the lists below.");
    lp_svg_axis_x(out, &chart->x, TOP, BOTTOM, "FLOP/B");
    lp_svg_axis_y(out, &chart->y, LEFT, LP_SVG_RIGHT, "TFLOP/s");
    add_roof(chart, out);
    add_regions(chart, out);
    add_kernels(chart, out);
    lp_svg_close(out);
    add_region_names(chart, out);
    add_kernel_names(chart, out);
    lp_text_puts(out, "</figure>\n");
}

static void put_reason(const struct lp_findings *findings, struct lp_text *out)
{
    /* Counters of kernels are valid whatever the ledger says; times of regions are not. */
    lp_text_puts(
        out,
        findings->withheld
            ? "<p>Withheld: too much of the work is missing from the ledger.</p>\n"
            : "<p>No roofline: it needs the peak of the dtype, the bandwidth, and and a region or "
              "kernel with FLOPs, bytes and device time. The notes list what is missing.</p>\n");
}

void lp_svg_roofline(const struct lp_findings *findings, struct lp_text *out)
{
    struct chart chart = { .findings = findings,
                           .works = &findings->kernel_works,
                           .roof = &findings->kernel_works.roof };

    if (!(chart.roof->ridge > 0) || set_scales(&chart) == 0)
        put_reason(findings, out);
    else
        draw(&chart, out);
}
