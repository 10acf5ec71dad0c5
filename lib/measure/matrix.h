/* SPDX-License-Identifier: Apache-2.0 */
/** Measures matrix products with cuBLASLt.
 * @threads one at a time per object */
#ifndef LP_MEASURE_MATRIX_H
#define LP_MEASURE_MATRIX_H

#include "lib/measure/kernels.h"
#include "lib/hardware/measured_peaks.h"

/** Measure all dtypes that we have a product for; failures set the reason. */
void lp_measure_matrix(const struct lp_kernels *kernels, struct lp_bench *bench, int32_t capability,
                       struct lp_measured_peaks *measured_peaks);

#endif
