/* SPDX-License-Identifier: Apache-2.0 */
/** Launch geometry of kernels from the launch__ metrics of ncu. For lib/vendor/ncu only.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NCU_SHAPES_H
#define LP_VENDOR_NCU_SHAPES_H

#include "lib/record/shapes.h"
#include "lib/vendor/ncu/ncu.h"

/** By target: the shape of all of its launches; without a grid (0) where they differ, and where ncu
 * does not report it. Yours: free(); NULL without memory. */
struct lp_shape *lp_ncu_shapes(const struct lp_ncu *ncu);

#endif
