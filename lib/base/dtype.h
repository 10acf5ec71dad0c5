/* SPDX-License-Identifier: Apache-2.0 */
/** Dtypes: formats of elements, and what a GPU computes them in. All names, sizes and messages of
 * dtypes come from one table.
 * @threads any thread */
#ifndef LP_BASE_DTYPE_H
#define LP_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/** Wide enough for counts and sums that may not fit 64 bits. */
__extension__ typedef unsigned __int128 lp_u128;

/** Dtypes that peaks exist for, at the index of llmperf_hardware_dtype(). */
enum {
    LP_PEAK_FP64,
    LP_PEAK_FP64_TC,
    LP_PEAK_FP32,
    LP_PEAK_TF32,
    LP_PEAK_FP16,
    LP_PEAK_BF16,
    LP_PEAK_FP8,
    LP_PEAK_INT8,
    LP_PEAK_FP4,
    LP_PEAKS
};

/** Size of an element in bytes: numerator / denominator; 0: not a format of weights. */
struct lp_dtype {
    const char *name, *aliases; /* aliases: separated and enclosed by blanks; NULL: none */
    int peak; /* peak of its products, LP_PEAK_…; LP_PEAKS: that of the activations' dtype */
    uint32_t numerator, denominator;
    bool quantised; /* then tables, norms and routers have 16 bits */
    bool for_cache; /* is it a format of the KV cache? */
};

/** Format LLMPERF_DTYPE_…; NULL for an unknown number. */
const struct lp_dtype *lp_dtype(uint32_t dtype);

/** Its name; "default" for LLMPERF_DTYPE_DEFAULT, "unknown" for an unknown number. */
const char *lp_dtype_name(uint32_t dtype);

/** Bytes of `elements`, rounded up. */
lp_u128 lp_dtype_bytes(uint32_t dtype, lp_u128 elements);

/** Index of the peak of a dtype's products, by its name or an alias; -1: none. */
int lp_peak_find(const char *name);

/** As lp_peak_find() for what a user wrote. An index; LLMPERF_EINVAL, listing the valid dtypes. */
int lp_peak_read(const char *name);

/** Peaks of tensor dtypes are quoted at the tensor clock; fp64 ones at the higher clock, tensor
 * units or not. */
bool lp_peak_is_tensor(int peak);

#endif
