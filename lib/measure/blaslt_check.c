/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of cuBLASLt's ABI with the toolkit's headers. Compiled where the build
 * finds them; generates no code. */
#include <assert.h>

#include "lib/measure/blaslt_abi.h"

#include <cublasLt.h>

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

SAME(LP_BLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(LP_BLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(LP_BLAS_R_32F, CUDA_R_32F);
SAME(LP_BLAS_R_16F, CUDA_R_16F);
SAME(LP_BLAS_R_16BF, CUDA_R_16BF);
SAME(LP_BLAS_R_8F_E4M3, CUDA_R_8F_E4M3);
SAME(LP_BLAS_OP_N, CUBLAS_OP_N);
SAME(LP_BLAS_OP_T, CUBLAS_OP_T);
SAME(LP_BLAS_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(LP_BLAS_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(LP_BLAS_DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
SAME(LP_BLAS_PREFERENCE_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(0, CUBLAS_STATUS_SUCCESS);
SAME(sizeof(struct lp_blas_algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(struct lp_blas_proposal), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(struct lp_blas_proposal, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(struct lp_blas_proposal, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
