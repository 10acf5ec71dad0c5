/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges of ncu's results. @threads any thread */
#ifndef LP_VENDOR_NCU_NVTX_H
#define LP_VENDOR_NCU_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Part of a text. */
struct lp_ncu_slice {
    const char *text;
    size_t length;
};

/** Region path of the ranges in a cell, outermost first, created in the path tree. 0 or
 * LLMPERF_ENOMEM.
 * @param started  The cell has start/end ranges, not push/pop ranges.
 * @param most  Number of ranges that count: 1 for results of a range, whose cell may also have
 * inner ones.
 * @param flags  LLMPERF_IMPORT_…
 * @param node_out  LP_PATH_ROOT: no range was open. */
int lp_ncu_path(const char *cell, bool started, size_t most, uint32_t flags, uint32_t *node_out);

/** Move *node to the region of a range directly nested in it.
 * @param domain  Empty: the default domain.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_ncu_open_range(struct lp_ncu_slice domain, struct lp_ncu_slice name, uint32_t flags,
                      uint32_t *node);

#endif
