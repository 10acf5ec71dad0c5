/* SPDX-License-Identifier: Apache-2.0 */
/** Collectives by stage, GPU, kernel and message size: bus bandwidth, waiting against transfer,
 * overlap with compute.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_COLLECTIVES_H
#define LP_FINDINGS_COLLECTIVES_H

#include "lib/base/vector.h"
#include "lib/findings/kernels/collective_match.h"
#include "lib/profile/fields.h"

struct lp_findings;

/** transfer_source of a row. */
#define LP_TRANSFER_RANKS    "ranks"
#define LP_TRANSFER_SHORTEST "shortest calls"

/** Zero-initialised: none. */
struct lp_collectives_found {
    LP_VECTOR(struct lp_collective) rows; /* longest first */
    LP_VECTOR(struct lp_matched) matched; /* by row of LP_ROW_COLLECTIVE_CALLS */
};

/** 0 or LLMPERF_ENOMEM; clear it in any case. */
int lp_collectives_init(struct lp_collectives_found *found, const struct lp_findings *findings);
void lp_collectives_found_clear(struct lp_collectives_found *found);

#endif
