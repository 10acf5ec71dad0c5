/* SPDX-License-Identifier: Apache-2.0 */
/** The NVTX cells of ncu's tables. @threads any thread */
#ifndef LP_VENDOR_NCU_NVTX_H
#define LP_VENDOR_NCU_NVTX_H

#include <stddef.h>
#include <stdint.h>

/** Region path of the ranges in a cell, outermost first, made in the tree of paths.
 * @param most  ranges that count: 1 for results of a range, whose cell may hold inner ones, too.
 * @param flags  LLMPERF_IMPORT_…
 * @param node_out  LP_PATH_ROOT: no range was open. 0 or LLMPERF_ENOMEM. */
int lp_ncu_path(const char *cell, size_t most, uint32_t flags, uint32_t *node_out);

#endif
