/* SPDX-License-Identifier: Apache-2.0 */
/** Measured times of matrix products by shape and of memcpys by size, as one text in the file of
 * measured peaks and in env.json.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_SWEEP_H
#define LP_HARDWARE_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_SWEEP_MOST 128

/** A matrix product of a dtype, m x n sums of k products; or a memcpy of m bytes, n and k 1. */
struct lp_sweep_point {
    char what[16]; /* "bf16", "htod_pinned" */
    uint64_t m, n, k;
    uint64_t ns; /* median of a repeat */
};

struct lp_sweep {
    struct lp_sweep_point points[LP_SWEEP_MOST];
    size_t count;
};

/** Further points than LP_SWEEP_MOST are left out. */
void lp_sweep_add(struct lp_sweep *sweep, const char *what, uint64_t m, uint64_t n, uint64_t k,
                  uint64_t ns);

/** "bf16:8x4096x4096=12345 htod_pinned:65536x1x1=9000". Reading stops at the first malformed
 * point. */
void lp_sweep_write(const struct lp_sweep *sweep, struct lp_text *out);
void lp_sweep_read(struct lp_sweep *sweep, const char *text);

/** The nearest point by ratio whose sides are all at least as long; without one the nearest of all.
 * NULL: nothing of this kind was measured. */
const struct lp_sweep_point *lp_sweep_nearest(const struct lp_sweep *sweep, const char *what,
                                              uint64_t m, uint64_t n, uint64_t k);

#endif
