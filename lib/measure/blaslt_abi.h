/* SPDX-License-Identifier: Apache-2.0 */
/** Our declarations of cuBLASLt's ABI; blaslt_check.c compares them with NVIDIA's headers where
 * they are found.
 * @threads any thread */
#ifndef LP_MEASURE_BLASLT_ABI_H
#define LP_MEASURE_BLASLT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Our name, the number, the name in NVIDIA's headers. */
#define LP_BLAS_NUMBERS(NUMBER)                                                                    \
    NUMBER(LP_BLAS_COMPUTE_32F, 68, CUBLAS_COMPUTE_32F)                                            \
    NUMBER(LP_BLAS_COMPUTE_32F_FAST_TF32, 77, CUBLAS_COMPUTE_32F_FAST_TF32)                        \
    NUMBER(LP_BLAS_R_32F, 0, CUDA_R_32F)                                                           \
    NUMBER(LP_BLAS_R_16F, 2, CUDA_R_16F)                                                           \
    NUMBER(LP_BLAS_R_16BF, 14, CUDA_R_16BF)                                                        \
    NUMBER(LP_BLAS_R_8F_E4M3, 28, CUDA_R_8F_E4M3)                                                  \
    NUMBER(LP_BLAS_OP_N, 0, CUBLAS_OP_N)                                                           \
    NUMBER(LP_BLAS_OP_T, 1, CUBLAS_OP_T)                                                           \
    NUMBER(LP_BLAS_DESC_TRANSA, 3, CUBLASLT_MATMUL_DESC_TRANSA)                                    \
    NUMBER(LP_BLAS_DESC_TRANSB, 4, CUBLASLT_MATMUL_DESC_TRANSB)                                    \
    NUMBER(LP_BLAS_DESC_FAST_ACCUM, 25, CUBLASLT_MATMUL_DESC_FAST_ACCUM)                           \
    NUMBER(LP_BLAS_PREFERENCE_WORKSPACE, 1, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)

#define LP_BLAS_ENUMERATOR(name, number, theirs) name = number,
enum { LP_BLAS_NUMBERS(LP_BLAS_ENUMERATOR) };
#undef LP_BLAS_ENUMERATOR

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
