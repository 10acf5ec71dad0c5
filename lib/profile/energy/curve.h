/* SPDX-License-Identifier: Apache-2.0 */
/** Cumulative energy of a GPU over time, in bounded memory: a knot for each moment at which the
 * energy is known, straight lines in between. When all knots are in use, every second one of the
 * older half is dropped, so the newest minutes keep the full resolution.
 * @threads one at a time per object, all functions */
#ifndef LP_PROFILE_ENERGY_CURVE_H
#define LP_PROFILE_ENERGY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

#define LP_ENERGY_KNOTS 4096u /* 128 KiB; 6.8 minutes at 10 Hz */

struct lp_energy_knot {
    uint64_t time_ns;
    double joules;
    double clock_s, clock_cycles; /* time with a known SM clock, and cycles in it, 10^6 */
};

/** Zero-initialised: empty. */
struct lp_energy_curve {
    LP_VECTOR(struct lp_energy_knot) knots; /* by time */
    /* An upper limit of the time between two updates of the energy counter; 0: not known yet. */
    uint64_t update_ns;
    uint64_t unread_ns; /* time between the newest knot and the read before it */
};

/** Add a knot later than all others.
 * @param unread_ns  Time since the read before: the counter changed somewhere in it; 0: the energy
 * is not from a change of the counter.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_energy_curve_add(struct lp_energy_curve *curve, const struct lp_energy_knot *knot,
                        uint64_t unread_ns);

/** First and last time of the curve; both 0: empty. */
uint64_t lp_energy_curve_begin(const struct lp_energy_curve *curve);
uint64_t lp_energy_curve_end(const struct lp_energy_curve *curve);

/** The interval between two knots that a time lies in: [begin, end), for `until` (begin, end].
 * NULL: fewer than two knots. @return its first knot; the next one ends it. */
const struct lp_energy_knot *lp_energy_curve_piece(const struct lp_energy_curve *curve,
                                                   uint64_t time_ns, bool until);

/** The curve at a time within it; needs two knots. */
struct lp_energy_knot lp_energy_curve_at(const struct lp_energy_curve *curve, uint64_t time_ns);

/** Part of a piece in which a stage ran. */
struct lp_energy_part {
    uint64_t begin_ns, end_ns; /* of the piece; 0: none */
    uint64_t covered_ns;       /* time in the stage */
    double joules;             /* of the piece */
};

/** Most by which the energy of a stage may be wrong because the power varies within a piece, J.
 *
 * The energy E of a piece of length h is known, the way it is spread over the piece is not. With
 * mean power p = E / h, the stage in s = covered_ns of it, something else in r = h - s, and a power
 * between 0 and P at each moment, the stage used p s (the estimate) plus at most
 * min((P - p) s, p r), or less at most min(p s, (P - p) r). A piece that the stage fills has no
 * such error: only the ends of its runs count, and calls that are short against h and alternate
 * with other work.
 * @param most_w  P: the power limit, or the highest power seen. */
double lp_energy_part_error(const struct lp_energy_part *part, double most_w);

/** Difference of the mean power of the pieces around a time, W. The counter shows its last update,
 * which is up to lp_energy_curve_lag() old: a run of a stage that begins or ends here may be wrong
 * by this power times that time. */
double lp_energy_curve_contrast(const struct lp_energy_curve *curve, uint64_t time_ns);
uint64_t lp_energy_curve_lag(const struct lp_energy_curve *curve);

void lp_energy_curve_clear(struct lp_energy_curve *curve);

#endif
