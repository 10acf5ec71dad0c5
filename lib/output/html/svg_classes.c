/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/output/format/html.h"
#include "lib/output/html/svg.h"

#define LANE    34
#define TOP     10
#define COLOURS 12

#define PX(value) LP_NUMBER(value, 5)

/* Classes by time, so that the largest get the first colours. */
struct legend {
    struct {
        const char *name;
        double ms;
    } items[COLOURS];
    size_t count;
};

static size_t colour_of(const struct legend *legend, const char *name)
{
    size_t i = 0;

    while (i < legend->count && strcmp(legend->items[i].name, name) != 0)
        i++;
    return i < COLOURS ? i : COLOURS - 1;
}

static void add_to_legend(struct legend *legend, const struct lp_class_total *row)
{
    size_t i = colour_of(legend, row->kernel_class);

    if (i == legend->count && legend->count < COLOURS) {
        legend->items[i].name = row->kernel_class;
        legend->items[i].ms = 0;
        legend->count++;
    }
    legend->items[i].ms += row->total_ms;
}

static void sort_legend(struct legend *legend)
{
    for (size_t i = 1; i < legend->count; i++)
        for (size_t k = i; k > 0 && legend->items[k].ms > legend->items[k - 1].ms; k--) {
            const char *name = legend->items[k].name;
            double ms = legend->items[k].ms;

            legend->items[k] = legend->items[k - 1];
            legend->items[k - 1].name = name;
            legend->items[k - 1].ms = ms;
        }
}

static void add_part(struct lp_text *out, size_t index, const struct lp_class_total *row, double y,
                     double from, double to, size_t colour)
{
    lp_text_printf(
        out,
        "<rect class=\"k%zu\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"22\" data-metric=\""
        "/kernel_classes/%zu/share\" data-value=\"",
        colour, PX(from), PX(y), PX(fmax(0, to - from)), index);
    lp_html_raw(out, row->share);
    lp_text_puts(out, "\"><title>");
    lp_html_text(out, row->kernel_class);
    lp_text_printf(out, ": %s %%</title></rect>\n", LP_NUMBER(100 * row->share, 4));
}

static void add_legend(const struct legend *legend, struct lp_text *out)
{
    lp_text_puts(out, "<ul class=\"legend\">");
    for (size_t i = 0; i < legend->count; i++) {
        lp_text_printf(out, "<li><i class=\"k%zu\"></i>", i);
        lp_html_text(out, legend->items[i].name);
        lp_text_puts(out, "</li>");
    }
    lp_text_puts(out, "</ul>\n");
}

/* Rows of a stage are adjacent. */
static size_t count_stages(const struct lp_class_totals *totals)
{
    size_t count = 0;

    for (size_t i = 0; i < totals->rows.count; i++)
        count +=
            i == 0 || !lp_text_same(totals->rows.items[i].stage, totals->rows.items[i - 1].stage);
    return count;
}

static void add_bars(const struct lp_class_totals *totals, const struct legend *legend,
                     struct lp_text *out)
{
    const double width = LP_SVG_RIGHT - LP_SVG_LEFT;
    double y = TOP - LANE, sum = 0;

    for (size_t i = 0; i < totals->rows.count; i++) {
        const struct lp_class_total *row = &totals->rows.items[i];

        if (i == 0 || !lp_text_same(row->stage, row[-1].stage)) {
            y += LANE;
            sum = 0;
            lp_svg_name(out, LP_SVG_LEFT - 8, y + 15, 26, row->stage ? row->stage : "(no stage)");
        }
        add_part(out, i, row, y, LP_SVG_LEFT + width * sum,
                 LP_SVG_LEFT + width * (sum + row->share), colour_of(legend, row->kernel_class));
        sum += row->share;
    }
}

void lp_svg_classes(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_class_totals *totals = &findings->class_totals;
    struct lp_svg_scale scale = { 0, 100, LP_SVG_LEFT, LP_SVG_RIGHT, false };
    struct legend legend = { .count = 0 };
    double bottom = TOP + LANE * (double)count_stages(totals);

    if (totals->rows.count == 0) {
        lp_text_puts(out, "<p>No kernel classes: no device activity was seen, or "
                          "kernel_classes.yaml could not be read.</p>\n");
        return;
    }
    for (size_t i = 0; i < totals->rows.count; i++)
        add_to_legend(&legend, &totals->rows.items[i]);
    sort_legend(&legend);
    lp_text_puts(out, "<figure>\n");
    lp_svg_open(out, "classes", (int)bottom + 38, "Kernel classes of each stage",
                "One bar per stage, divided into kernel classes by their share of its device time. "
                "The table below has the numbers.");
    lp_svg_axis_x(out, &scale, TOP - 6, bottom, "% of the device time of the stage");
    add_bars(totals, &legend, out);
    lp_svg_close(out);
    add_legend(&legend, out);
    lp_text_puts(out, "</figure>\n");
}
