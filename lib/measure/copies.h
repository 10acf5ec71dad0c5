/* SPDX-License-Identifier: Apache-2.0 */
/** Measures memcpys by size, direction and memory.
 * @threads one at a time per object */
#ifndef LP_MEASURE_COPIES_H
#define LP_MEASURE_COPIES_H

#include "lib/hardware/sweep.h"
#include "lib/measure/bench.h"

/** Add points "htod_pinned", "htod_pageable", "dtoh_pinned", "dtoh_pageable" and "dtod"; those that
 * fail are left out. */
void lp_measure_copies(struct lp_bench *bench, struct lp_sweep *sweep);

#endif
