/* SPDX-License-Identifier: Apache-2.0 */
/** Charts of report.html as inline SVG of width LP_SVG_WIDTH. Each has a title and a description
 * for screen readers.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_HTML_SVG_H
#define LP_OUTPUT_HTML_SVG_H

#include <stdbool.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"

#define LP_SVG_WIDTH 900
/** Start of lanes and bars; their names are to the left. */
#define LP_SVG_LEFT  190
#define LP_SVG_RIGHT 880

/** Maps values [low, high] to pixels [from, to]. */
struct lp_svg_scale {
    double low, high, from, to;
    bool logarithmic;
};

double lp_svg_at(const struct lp_svg_scale *scale, double value);

/** @param id  Unique on the page.
 * @param title, description  Are escaped. */
void lp_svg_open(struct lp_text *out, const char *id, int height, const char *title,
                 const char *description);
void lp_svg_close(struct lp_text *out);

void lp_svg_line(struct lp_text *out, const char *style, double x1, double y1, double x2,
                 double y2);

/** @param anchor  "start", "middle" or "end". */
void lp_svg_text(struct lp_text *out, const char *style, double x, double y, const char *anchor,
                 const char *text);

/** A name, cut to `most` characters with an ellipsis; the tooltip has the full name. */
void lp_svg_name(struct lp_text *out, double x, double y, size_t most, const char *name);

/** Ticks and grid lines of a horizontal axis, with its unit at the end. */
void lp_svg_axis_x(struct lp_text *out, const struct lp_svg_scale *scale, double top, double bottom,
                   const char *unit);
/** The same for a vertical axis. */
void lp_svg_axis_y(struct lp_text *out, const struct lp_svg_scale *scale, double left, double right,
                   const char *unit);

/** The charts. Each adds a figure, or a line that says why there is none. */
void lp_svg_timeline(const struct lp_findings *findings, struct lp_text *out);
void lp_svg_classes(const struct lp_findings *findings, struct lp_text *out);
void lp_svg_roofline(const struct lp_findings *findings, struct lp_text *out);
/** @param stage  Index into findings->stages. */
void lp_svg_histogram(const struct lp_findings *findings, size_t stage, struct lp_text *out);

#endif
