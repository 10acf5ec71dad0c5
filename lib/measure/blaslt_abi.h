/* SPDX-License-Identifier: Apache-2.0 */
/** Our declarations of cuBLASLt's ABI; blaslt_check.c compares them with NVIDIA's headers where
 * they are found.
 * @threads any thread */
#ifndef LP_MEASURE_BLASLT_ABI_H
#define LP_MEASURE_BLASLT_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
    LP_BLAS_COMPUTE_32F = 68,
    LP_BLAS_COMPUTE_32F_FAST_TF32 = 77,
    LP_BLAS_R_32F = 0,
    LP_BLAS_R_16F = 2,
    LP_BLAS_R_16BF = 14,
    LP_BLAS_R_8F_E4M3 = 28,
    LP_BLAS_OP_N = 0,
    LP_BLAS_OP_T = 1,
    LP_BLAS_DESC_TRANSA = 3,
    LP_BLAS_DESC_TRANSB = 4,
    LP_BLAS_DESC_FAST_ACCUM = 25,
    LP_BLAS_PREFERENCE_WORKSPACE = 1
};

struct lp_blas_algorithm {
    uint64_t data[8];
};

/** What the heuristic proposes. */
struct lp_blas_proposal {
    struct lp_blas_algorithm algorithm;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

#endif
