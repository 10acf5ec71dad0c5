/* SPDX-License-Identifier: Apache-2.0 */
/** What ncu measured of each kernel, and of each range that it measured as a whole.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_NCU_KERNELS_H
#define LP_FINDINGS_NCU_KERNELS_H

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/profile/fields.h"

/** Zero-initialised: none. */
struct lp_ncu_kernels {
    LP_VECTOR(struct lp_ncu_kernel) rows; /* most measured time first; ranges after kernels */
    struct lp_strings pool;
};

/** 0 or LLMPERF_ENOMEM. Clear `kernels` in any case. */
int lp_ncu_kernels_read(struct lp_ncu_kernels *kernels, const llmperf_profile *profile);
void lp_ncu_kernels_clear(struct lp_ncu_kernels *kernels);

/** What limits a kernel by ncu's Speed of Light rule; NULL: not known. */
const char *lp_ncu_bound(double sm_percent, double memory_percent);

#endif
