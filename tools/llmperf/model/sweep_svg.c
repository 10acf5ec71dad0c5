/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a picture: TPOT over the batch size, both logarithmic. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "model/sweep.h"

#define WIDTH   900.0
#define HEIGHT  560.0
#define LEFT    70.0
#define RIGHT   270.0 /* the names of the curves */
#define TOP     40.0
#define BOTTOM  50.0
#define LINE_PX 16.0
#define GRID    "stroke=\"#e9ecef\""
#define TEXT    "#343a40"

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

static void print_text_at(double x, double y, const char *anchor, const char *colour,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

static void print_text_at(double x, double y, const char *anchor, const char *colour,
                          const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor,
          colour, text);
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

        print_line_at(x, TOP, x, HEIGHT - BOTTOM, GRID);
        print_text_at(x, HEIGHT - BOTTOM + LINE_PX, "middle", TEXT, "%" PRIu64,
                      sweep->batch.values[i]);
    }
    for (double decade = floor(frame->bottom); decade <= frame->top; decade++)
        for (size_t i = 0; i < 3; i++) {
            double ms = steps[i] * pow(10, decade);

            if (log10(ms) < frame->bottom - 1e-9 || log10(ms) > frame->top + 1e-9)
                continue;
            print_line_at(LEFT, y_of(frame, ms), WIDTH - RIGHT, y_of(frame, ms), GRID);
            print_text_at(LEFT - 6, y_of(frame, ms) + 4, "end", TEXT, "%g", ms);
        }
    print_text_at((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", TEXT, "batch size");
    print_text_at(LEFT, TOP - 12, "start", TEXT,
                  "TPOT, ms: roofline bound; dashed: scaled; hollow: does not fit the memory; "
                  "square: measured");
}

/* Points of one GPU, tp and context; hollow: it does not fit the memory. */
static void print_curve(const struct sweep *sweep, const struct frame *frame,
                        const struct sweep_point *points, const char *colour)
{
    for (int scaled = 0; scaled <= !isnan(sweep->decode_efficiency); scaled++) {
        print("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour,
              scaled ? " stroke-dasharray=\"6 4\"" : "");
        for (size_t i = 0; i < sweep->batch.count; i++) {
            double ms = points[i].values[scaled ? SWEEP_SCALED_TPOT : SWEEP_TPOT];

            if (ms > 0)
                print("%.1f,%.1f ", x_of(frame, (double)points[i].batch), y_of(frame, ms));
        }
        print("\"/>\n");
    }
    for (size_t i = 0; i < sweep->batch.count; i++) {
        double x = x_of(frame, (double)points[i].batch), ms = points[i].values[SWEEP_TPOT];
        double measured_ms = points[i].values[SWEEP_MEASURED_TPOT];

        if (ms > 0)
            print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"%s\" fill=\"%s\"/>\n", x,
                  y_of(frame, ms), colour, points[i].fits == 0 ? "white" : colour);
        if (measured_ms > 0)
            print("<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\" "
                  "stroke=\"black\"><title>measured: %.4g ms</title></rect>\n",
                  x - 5, y_of(frame, measured_ms) - 5, colour, measured_ms);
    }
}

void print_sweep_svg(const struct sweep *sweep)
{
    struct frame frame = frame_of(sweep);
    double limit = y_of(&frame, sweep->slo_tpot_ms);

    print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          WIDTH, HEIGHT);
    print_axes(sweep, &frame);
    for (size_t curve = 0; curve < sweep->point_count / sweep->batch.count; curve++) {
        const struct sweep_point *points = &sweep->points[curve * sweep->batch.count];
        const char *colour = colours[curve % COLOURS];

        print_curve(sweep, &frame, points, colour);
        print_text_at(WIDTH - RIGHT + 12, TOP + LINE_PX * (double)(curve + 1), "start", colour,
                      "%s, tp %" PRIu64 ", context %" PRIu64,
                      llmperf_hardware_name(sweep->gpus[points->gpu].hardware), points->tp,
                      points->context);
    }
    if (!isnan(sweep->slo_tpot_ms)) {
        print_line_at(LEFT, limit, WIDTH - RIGHT, limit,
                      "stroke=\"#c92a2a\" stroke-dasharray=\"2 3\"");
        print_text_at(LEFT + 4, limit - 4, "start", "#c92a2a", "SLO %g ms", sweep->slo_tpot_ms);
    }
    print("</svg>\n");
}
