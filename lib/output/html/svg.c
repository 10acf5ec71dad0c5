/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/html/svg.h"

#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/utf8.h"
#include "lib/output/format/html.h"

/* Precision of pixels. */
#define PX(value) LP_NUMBER(value, 5)

double lp_svg_at(const struct lp_svg_scale *scale, double value)
{
    double share = scale->logarithmic ? log(value / scale->low) / log(scale->high / scale->low)
                                      : (value - scale->low) / (scale->high - scale->low);

    return scale->from + share * (scale->to - scale->from);
}

void lp_svg_open(struct lp_text *out, const char *id, int height, const char *title,
                 const char *description)
{
    lp_text_printf(out,
                   "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
                   "<title id=\"%s-t\">",
                   LP_SVG_WIDTH, height, id, id, id);
    lp_html_text(out, title);
    lp_text_printf(out, "</title><desc id=\"%s-d\">", id);
    lp_html_text(out, description);
    lp_text_puts(out, "</desc>\n");
}

void lp_svg_close(struct lp_text *out)
{
    lp_text_puts(out, "</svg>\n");
}

void lp_svg_line(struct lp_text *out, const char *style, double x1, double y1, double x2, double y2)
{
    lp_text_printf(out, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>", style,
                   PX(x1), PX(y1), PX(x2), PX(y2));
}

void lp_svg_text(struct lp_text *out, const char *style, double x, double y, const char *anchor,
                 const char *text)
{
    lp_text_printf(out, "<text class=\"%s\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">", style, PX(x),
                   PX(y), anchor);
    lp_html_text(out, text);
    lp_text_puts(out, "</text>\n");
}

void lp_svg_name(struct lp_text *out, double x, double y, size_t most, const char *name)
{
    char cut[128];
    size_t length;

    if (most > sizeof(cut) - 4)
        most = sizeof(cut) - 4;
    length = lp_text_sanitise(cut, most + 1, name);
    if (length < strlen(name))
        memcpy(cut + length, "…", sizeof("…"));
    lp_text_printf(out, "<text x=\"%s\" y=\"%s\" text-anchor=\"end\"><title>", PX(x), PX(y));
    lp_html_text(out, name);
    lp_text_puts(out, "</title>");
    lp_html_text(out, cut);
    lp_text_puts(out, "</text>\n");
}

/* 1, 2 or 5 times a power of ten, for about `wanted` ticks on the scale. */
static double step_of(const struct lp_svg_scale *scale, int wanted)
{
    double rough = (scale->high - scale->low) / wanted;
    double power = pow(10, floor(log10(rough))), digit = rough / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* The tick after `value`; NaN gives the first. Logarithmic scales below two decades have ticks at
 * 1, 2 and 5. */
static double next_tick(const struct lp_svg_scale *scale, double value, int wanted)
{
    double step, power, digit;

    if (!scale->logarithmic) {
        step = step_of(scale, wanted);
        return isnan(value) ? ceil(scale->low / step - 1e-9) * step : value + step;
    }
    if (isnan(value)) {
        value = pow(10, floor(log10(scale->low)));
        while (value < scale->low * (1 - 1e-9))
            value = next_tick(scale, value, wanted);
        return value;
    }
    if (log10(scale->high / scale->low) > 2.5)
        return value * 10;
    power = pow(10, floor(log10(value) + 1e-9));
    digit = value / power;
    return power * (digit < 1.5 ? 2 : digit < 3 ? 5 : 10);
}

/* Ticks are round numbers: no trailing zeros. */
static const char *tick_text(char *buffer, double value)
{
    size_t length;

    lp_number(buffer, value, 6);
    length = strlen(buffer);
    if (strchr(buffer, '.')) {
        while (buffer[length - 1] == '0')
            buffer[--length] = '\0';
        if (buffer[length - 1] == '.')
            buffer[--length] = '\0';
    }
    return buffer;
}

void lp_svg_axis_x(struct lp_text *out, const struct lp_svg_scale *scale, double top, double bottom,
                   const char *unit)
{
    char buffer[LP_NUMBER_BYTES];

    for (double tick = next_tick(scale, NAN, 8); tick <= scale->high * (1 + 1e-9);
         tick = next_tick(scale, tick, 8)) {
        double x = lp_svg_at(scale, tick);

        lp_svg_line(out, "grid", x, top, x, bottom);
        lp_svg_text(out, "s", x, bottom + 16, "middle", tick_text(buffer, tick));
    }
    lp_svg_line(out, "axis", scale->from, bottom, scale->to, bottom);
    lp_svg_text(out, "s", scale->to, bottom + 31, "end", unit);
}

void lp_svg_axis_y(struct lp_text *out, const struct lp_svg_scale *scale, double left, double right,
                   const char *unit)
{
    char buffer[LP_NUMBER_BYTES];

    for (double tick = next_tick(scale, NAN, 5); tick <= scale->high * (1 + 1e-9);
         tick = next_tick(scale, tick, 5)) {
        double y = lp_svg_at(scale, tick);

        lp_svg_line(out, "grid", left, y, right, y);
        lp_svg_text(out, "s", left - 6, y + 4, "end", tick_text(buffer, tick));
    }
    lp_svg_line(out, "axis", left, scale->from, left, scale->to);
    lp_svg_text(out, "s", left, scale->to - 8, "start", unit);
}
