/* SPDX-License-Identifier: Apache-2.0 */
/** Dtypes that units of a GPU compute in, and their other names.
 * @threads any thread */
#ifndef LP_HARDWARE_GPU_DTYPE_H
#define LP_HARDWARE_GPU_DTYPE_H

#include <stdbool.h>

/** Dtypes that peaks exist for, at the index of llmperf_hardware_dtype(). */
enum { LP_PEAK_FP64, LP_PEAK_FP64_TC, LP_PEAK_FP32, LP_PEAK_TF32, LP_PEAK_FP16, LP_PEAK_BF16 };
#define LP_PEAKS 9

/** Index of a dtype that is computed in, -1: none. */
int lp_hardware_dtype_index(const char *name);

/** Peaks of tensor dtypes are quoted at the tensor clock; fp64 ones at the higher clock, tensor
 * units or not. */
bool lp_hardware_is_tensor(int dtype);

/** Is it only a storage format of weights, with products computed in the activations' dtype? */
bool lp_hardware_dtype_is_stored(const char *name);

#endif
