/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/energy/curve.h"

#include <math.h>

static void thin(struct lp_energy_curve *curve)
{
    size_t half = curve->knots.count / 2, kept = 1;

    for (size_t i = 1; i < curve->knots.count; i++)
        if (i >= half || i % 2 == 0)
            curve->knots.items[kept++] = curve->knots.items[i];
    curve->knots.count = kept;
}

int lp_energy_curve_add(struct lp_energy_curve *curve, const struct lp_energy_knot *knot,
                        uint64_t unread_ns)
{
    uint64_t update_ns;

    if (curve->knots.count > 0 && unread_ns > 0) {
        update_ns = knot->time_ns - lp_energy_curve_end(curve) + unread_ns;
        if (curve->update_ns == 0 || update_ns < curve->update_ns)
            curve->update_ns = update_ns;
        curve->unread_ns = unread_ns;
    }
    if (curve->knots.count == LP_ENERGY_KNOTS)
        thin(curve);
    return lp_vector_push(&curve->knots, *knot);
}

uint64_t lp_energy_curve_begin(const struct lp_energy_curve *curve)
{
    return curve->knots.count > 0 ? curve->knots.items[0].time_ns : 0;
}

uint64_t lp_energy_curve_end(const struct lp_energy_curve *curve)
{
    return curve->knots.count > 0 ? curve->knots.items[curve->knots.count - 1].time_ns : 0;
}

const struct lp_energy_knot *lp_energy_curve_piece(const struct lp_energy_curve *curve,
                                                   uint64_t time_ns, bool until)
{
    size_t from = 0, to = curve->knots.count < 2 ? 0 : curve->knots.count - 2;

    if (curve->knots.count < 2)
        return NULL;
    while (from < to) {
        size_t middle = from + (to - from + 1) / 2;
        uint64_t begin_ns = curve->knots.items[middle].time_ns;

        if (until ? begin_ns < time_ns : begin_ns <= time_ns)
            from = middle;
        else
            to = middle - 1;
    }
    return &curve->knots.items[from];
}

struct lp_energy_knot lp_energy_curve_at(const struct lp_energy_curve *curve, uint64_t time_ns)
{
    const struct lp_energy_knot *piece = lp_energy_curve_piece(curve, time_ns, false);
    const struct lp_energy_knot *a = &piece[0], *b = &piece[1];
    double share = (double)(time_ns - a->time_ns) / (double)(b->time_ns - a->time_ns);

    return (struct lp_energy_knot){ time_ns, a->joules + share * (b->joules - a->joules),
                                    a->clock_s + share * (b->clock_s - a->clock_s),
                                    a->clock_cycles + share * (b->clock_cycles - a->clock_cycles) };
}

double lp_energy_part_error(const struct lp_energy_part *part, double most_w)
{
    double length = (double)(part->end_ns - part->begin_ns) / 1e9;
    double covered = fmin((double)part->covered_ns / 1e9, length), rest = length - covered;
    double power, room;

    if (part->end_ns <= part->begin_ns)
        return 0;
    power = part->joules / length;
    room = fmax(most_w - power, 0);
    return fmax(fmin(room * covered, power * rest), fmin(power * covered, room * rest));
}

static double power_of(const struct lp_energy_knot *piece)
{
    return (piece[1].joules - piece[0].joules) * 1e9 /
           (double)(piece[1].time_ns - piece[0].time_ns);
}

double lp_energy_curve_contrast(const struct lp_energy_curve *curve, uint64_t time_ns)
{
    const struct lp_energy_knot *piece = lp_energy_curve_piece(curve, time_ns, false);
    const struct lp_energy_knot *end = curve->knots.items + curve->knots.count - 1;
    double least = power_of(piece), most = least;

    if (piece > curve->knots.items) {
        least = fmin(least, power_of(piece - 1));
        most = fmax(most, power_of(piece - 1));
    }
    if (piece + 1 < end) {
        least = fmin(least, power_of(piece + 1));
        most = fmax(most, power_of(piece + 1));
    }
    return most - least;
}

uint64_t lp_energy_curve_lag(const struct lp_energy_curve *curve)
{
    return curve->update_ns < curve->unread_ns ? curve->update_ns : curve->unread_ns;
}

void lp_energy_curve_clear(struct lp_energy_curve *curve)
{
    lp_vector_clear(&curve->knots);
}
