/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/number.h"
#include "lib/output/format/html.h"
#include "lib/output/html/svg.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

#define HEIGHT 240
#define LEFT   70
#define TOP    30
#define BOTTOM 192

#define PX(value) LP_NUMBER(value, 5)

static uint64_t most_of(const struct lp_bucket *buckets, size_t count)
{
    uint64_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = buckets[i].count > most ? buckets[i].count : most;
    return most;
}

static void add_bars(size_t stage, const struct lp_bucket *buckets, size_t count,
                     const struct lp_svg_scale *x, const struct lp_svg_scale *y,
                     struct lp_text *out)
{
    for (size_t i = 0; i < count; i++) {
        double from = lp_svg_at(x, buckets[i].low_ms), to = lp_svg_at(x, buckets[i].high_ms);
        /* One slow call in a million must be visible. */
        double top = fmin(lp_svg_at(y, (double)buckets[i].count), BOTTOM - 2);

        lp_text_printf(
            out,
            "<rect class=\"busy\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" data-metric=\""
            "/iterations/%zu/wall_histogram/%zu/2\" data-value=\"%" PRIu64 "\"><title>%s to "
            "%s ms: %" PRIu64 "</title></rect>\n",
            PX(from), PX(top), PX(fmax(1, to - from - 0.5)), PX(BOTTOM - top), stage, i,
            buckets[i].count, LP_NUMBER(buckets[i].low_ms, 4), LP_NUMBER(buckets[i].high_ms, 4),
            buckets[i].count);
    }
}

static void add_mark(struct lp_text *out, const struct lp_svg_scale *x, double value,
                     const char *name, bool left)
{
    double at;

    if (!(value >= x->low && value <= x->high))
        return;
    at = lp_svg_at(x, value);
    lp_svg_line(out, "mark", at, TOP - 12, at, BOTTOM);
    lp_svg_text(out, "s", at + (left ? -4 : 4), TOP - 6, left ? "end" : "start", name);
}

/* Margins, so that a histogram with one bucket has a visible bar. */
static struct lp_svg_scale scale_of(const struct lp_bucket *buckets, size_t count)
{
    double low = fmax(buckets[0].low_ms, 1e-6), high = buckets[count - 1].high_ms;

    return (struct lp_svg_scale){ low / 1.15, high * 1.2, LEFT, LP_SVG_RIGHT, true };
}

void lp_svg_histogram(const struct lp_findings *findings, size_t stage, struct lp_text *out)
{
    const struct lp_stage_iterations *iterations = &findings->stages.items[stage];
    struct lp_bucket *buckets = NULL;
    struct lp_svg_scale x, y;
    char id[32], title[64];
    size_t count = 0;

    if (lp_profile_row_histogram(findings->profile, LP_ROW_SPREAD, iterations->wall_row, &buckets,
                                 &count) < 0 ||
        count == 0) {
        free(buckets);
        return;
    }
    x = scale_of(buckets, count);
    y = (struct lp_svg_scale){ 0, 1.05 * (double)most_of(buckets, count), BOTTOM, TOP, false };
    snprintf(id, sizeof(id), "histogram-%zu", stage);
    snprintf(title, sizeof(title), "Histogram of wall times, stage %zu", stage + 1);
    lp_text_puts(out, "<figure>\n");
    lp_svg_open(out, id, HEIGHT, title,
                "Number of iterations by host time, on a logarithmic time axis. Dashed lines mark "
                "the median and the 99th percentile.");
    lp_svg_axis_y(out, &y, LEFT, LP_SVG_RIGHT, "iterations");
    lp_svg_axis_x(out, &x, TOP, BOTTOM, "ms wall time");
    add_bars(stage, buckets, count, &x, &y, out);
    add_mark(out, &x, iterations->times[LP_TIME_WALL].p50_ms, "p50", true);
    add_mark(out, &x, iterations->times[LP_TIME_WALL].p99_ms, "p99", false);
    lp_svg_close(out);
    lp_text_puts(out, "</figure>\n");
    free(buckets);
}
