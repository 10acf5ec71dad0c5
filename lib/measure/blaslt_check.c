/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of cuBLASLt's ABI with the toolkit's headers. Compiled where the build
 * finds them; generates no code. */
#include <assert.h>

#include "lib/measure/blaslt_abi.h"

#include <cublasLt.h>

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

#define SAME_NAMED(ours, number, theirs) SAME(ours, theirs);
LP_BLAS_NUMBERS(SAME_NAMED)
SAME(0, CUBLAS_STATUS_SUCCESS);
SAME(sizeof(struct lp_blas_algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(struct lp_blas_proposal), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(struct lp_blas_proposal, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(struct lp_blas_proposal, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
