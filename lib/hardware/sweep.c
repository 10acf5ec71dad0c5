/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/hardware/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void lp_sweep_add(struct lp_sweep *sweep, const char *what, uint64_t m, uint64_t n, uint64_t k,
                  uint64_t ns)
{
    struct lp_sweep_point *point = &sweep->points[sweep->count];

    if (sweep->count == LP_SWEEP_MOST || m == 0 || n == 0 || k == 0 || ns == 0)
        return;
    *point = (struct lp_sweep_point){ .m = m, .n = n, .k = k, .ns = ns };
    snprintf(point->what, sizeof(point->what), "%s", what);
    sweep->count++;
}

void lp_sweep_write(const struct lp_sweep *sweep, struct lp_text *out)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct lp_sweep_point *point = &sweep->points[i];

        lp_text_printf(out, "%s%s:%" PRIu64 "x%" PRIu64 "x%" PRIu64 "=%" PRIu64, i ? " " : "",
                       point->what, point->m, point->n, point->k, point->ns);
    }
}

void lp_sweep_read(struct lp_sweep *sweep, const char *text)
{
    struct lp_sweep_point point;
    int length = 0;

    sweep->count = 0;
    for (; text && sscanf(text, "%15[^: ]:%" SCNu64 "x%" SCNu64 "x%" SCNu64 "=%" SCNu64 " %n",
                          point.what, &point.m, &point.n, &point.k, &point.ns, &length) == 5;
         text += length)
        lp_sweep_add(sweep, point.what, point.m, point.n, point.k, point.ns);
}

static double ratio_of(uint64_t a, uint64_t b)
{
    return fabs(log((double)a / (double)b));
}

const struct lp_sweep_point *lp_sweep_nearest(const struct lp_sweep *sweep, const char *what,
                                              uint64_t m, uint64_t n, uint64_t k)
{
    const struct lp_sweep_point *best = NULL;
    double best_distance = 0;
    bool best_covers = false;

    for (size_t i = 0; i < sweep->count; i++) {
        const struct lp_sweep_point *point = &sweep->points[i];
        double distance = ratio_of(point->m, m) + ratio_of(point->n, n) + ratio_of(point->k, k);
        bool covers = point->m >= m && point->n >= n && point->k >= k;

        if (strcmp(point->what, what) != 0)
            continue;
        if (!best || covers > best_covers || (covers == best_covers && distance < best_distance)) {
            best = point;
            best_distance = distance;
            best_covers = covers;
        }
    }
    return best;
}
