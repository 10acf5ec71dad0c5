/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a picture: TPOT over the batch size, both logarithmic. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model/sweep.h"

#define WIDTH   900.0
#define HEIGHT  560.0
#define LEFT    70.0
#define RIGHT   270.0 /* the names of the curves */
#define TOP     40.0
#define BOTTOM  50.0
#define LINE_PX 16.0

static const char *const colours[] = { "#1f6feb", "#d9480f", "#2b8a3e", "#862e9c",
                                       "#0b7285", "#a61e4d", "#5c940d", "#495057" };
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

/* Ends of both axes, as logarithms. */
struct frame {
    double left, right, bottom, top;
};

static double x_of(const struct frame *frame, double batch)
{
    double share = frame->right > frame->left
                       ? (log2(batch) - frame->left) / (frame->right - frame->left)
                       : 0.5;

    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *frame, double ms)
{
    return HEIGHT - BOTTOM -
           (log10(ms) - frame->bottom) / (frame->top - frame->bottom) * (HEIGHT - TOP - BOTTOM);
}

static void take_in(struct frame *frame, double ms)
{
    if (!(ms > 0))
        return;
    frame->bottom = fmin(frame->bottom, floor(3 * log10(ms)) / 3);
    frame->top = fmax(frame->top, ceil(3 * log10(ms)) / 3);
}

static struct frame frame_of(const struct sweep *sweep)
{
    struct frame frame = { log2((double)sweep->batch.values[0]),
                           log2((double)sweep->batch.values[sweep->batch.count - 1]), INFINITY,
                           -INFINITY };

    for (size_t i = 0; i < sweep->point_count; i++) {
        take_in(&frame, sweep->points[i].values[SWEEP_TPOT]);
        take_in(&frame, sweep->points[i].values[SWEEP_SCALED_TPOT]);
        take_in(&frame, sweep->points[i].values[SWEEP_MEASURED_TPOT]);
    }
    take_in(&frame, sweep->slo_tpot_ms);
    if (!(frame.top > frame.bottom)) {
        frame.bottom = isinf(frame.bottom) ? 0 : frame.bottom;
        frame.top = frame.bottom + 1;
    }
    return frame;
}

static void print_text_at(double x, double y, const char *anchor, const char *colour)
{
    print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
}

static void print_line_at(double x1, double y1, double x2, double y2, const char *style)
{
    print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

static void print_axes(const struct sweep *sweep, const struct frame *frame)
{
    static const double steps[] = { 1, 2, 5 };

    for (size_t i = 0; i < sweep->batch.count; i++) {
        double x = x_of(frame, (double)sweep->batch.values[i]);

        print_line_at(x, TOP, x, HEIGHT - BOTTOM, "stroke=\"#e9ecef\"");
        print_text_at(x, HEIGHT - BOTTOM + LINE_PX, "middle", "#343a40");
        print("%" PRIu64 "</text>\n", sweep->batch.values[i]);
    }
    for (double decade = floor(frame->bottom); decade <= frame->top; decade++)
        for (size_t i = 0; i < 3; i++) {
            double ms = steps[i] * pow(10, decade);

            if (log10(ms) < frame->bottom - 1e-9 || log10(ms) > frame->top + 1e-9)
                continue;
            print_line_at(LEFT, y_of(frame, ms), WIDTH - RIGHT, y_of(frame, ms),
                          "stroke=\"#e9ecef\"");
            print_text_at(LEFT - 6, y_of(frame, ms) + 4, "end", "#343a40");
            print("%g</text>\n", ms);
        }
    print_text_at((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", "#343a40");
    print("batch size</text>\n");
    print_text_at(LEFT, TOP - 12, "start", "#343a40");
    print("TPOT, ms: roofline bound; dashed: scaled; hollow: does not fit the memory; square: "
          "measured</text>\n");
}

/* Points of one GPU, tp and context: from `first` to before the result. */
static size_t end_of_curve(const struct sweep *sweep, size_t first)
{
    const struct sweep_point *start = &sweep->points[first];
    size_t end = first;

    while (end < sweep->point_count && sweep->points[end].gpu == start->gpu &&
           sweep->points[end].tp == start->tp && sweep->points[end].context == start->context)
        end++;
    return end;
}

static void print_curve(const struct sweep *sweep, const struct frame *frame, size_t first,
                        const char *colour, bool scaled)
{
    size_t end = end_of_curve(sweep, first);

    print("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour,
          scaled ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t i = first; i < end; i++) {
        const struct sweep_point *point = &sweep->points[i];
        double tpot_ms = point->values[scaled ? SWEEP_SCALED_TPOT : SWEEP_TPOT];

        if (tpot_ms > 0)
            print("%.1f,%.1f ", x_of(frame, (double)point->batch), y_of(frame, tpot_ms));
    }
    print("\"/>\n");
}

/* Hollow: it does not fit the memory. */
static void print_marks(const struct sweep *sweep, const struct frame *frame, size_t first,
                        const char *colour)
{
    size_t end = end_of_curve(sweep, first);

    for (size_t i = first; i < end; i++) {
        const struct sweep_point *point = &sweep->points[i];
        double x = x_of(frame, (double)point->batch), tpot_ms = point->values[SWEEP_TPOT];
        double measured_ms = point->values[SWEEP_MEASURED_TPOT];

        if (tpot_ms > 0)
            print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"%s\" fill=\"%s\"/>\n", x,
                  y_of(frame, tpot_ms), colour, point->fits == 0 ? "white" : colour);
        if (measured_ms > 0)
            print("<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\" "
                  "stroke=\"black\"><title>measured: %.4g ms</title></rect>\n",
                  x - 5, y_of(frame, measured_ms) - 5, colour, measured_ms);
    }
}

static void print_name(const struct sweep *sweep, size_t first, size_t number, const char *colour)
{
    const struct sweep_point *point = &sweep->points[first];

    print_text_at(WIDTH - RIGHT + 12, TOP + LINE_PX * (double)(number + 1), "start", colour);
    print("%s, tp %" PRIu64 ", context %" PRIu64 "</text>\n",
          llmperf_hardware_name(sweep->gpus[point->gpu].hardware), point->tp, point->context);
}

static void print_slo_line(const struct sweep *sweep, const struct frame *frame)
{
    double y = y_of(frame, sweep->slo_tpot_ms);

    if (isnan(sweep->slo_tpot_ms))
        return;
    print_line_at(LEFT, y, WIDTH - RIGHT, y, "stroke=\"#c92a2a\" stroke-dasharray=\"2 3\"");
    print_text_at(LEFT + 4, y - 4, "start", "#c92a2a");
    print("SLO %g ms</text>\n", sweep->slo_tpot_ms);
}

void print_sweep_svg(const struct sweep *sweep)
{
    struct frame frame = frame_of(sweep);

    print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          WIDTH, HEIGHT);
    print_axes(sweep, &frame);
    for (size_t first = 0, number = 0; first < sweep->point_count;
         first = end_of_curve(sweep, first), number++) {
        const char *colour = colours[number % COLOURS];

        print_curve(sweep, &frame, first, colour, false);
        if (!isnan(sweep->decode_efficiency))
            print_curve(sweep, &frame, first, colour, true);
        print_marks(sweep, &frame, first, colour);
        print_name(sweep, first, number, colour);
    }
    print_slo_line(sweep, &frame);
    print("</svg>\n");
}
