/* SPDX-License-Identifier: Apache-2.0 */
/** The stages of a profile for the public API (llmperf_profile_stage()).
 * @threads any thread */
#ifndef LP_FINDINGS_STAGES_H
#define LP_FINDINGS_STAGES_H

#include "lib/base/vector.h"
#include "llmperf/findings.h"

struct lp_findings;

/** Values with a reason if not known. */
enum lp_stage_fact {
    LP_STAGE_CALLS,
    LP_STAGE_TOKENS,
    LP_STAGE_MFU,
    LP_STAGE_MBU,
    LP_STAGE_MFU_ELAPSED,
    LP_STAGE_MBU_ELAPSED,
    LP_STAGE_DEVICE,
    LP_STAGE_BUSY,
    LP_STAGE_INTERVAL,
    LP_STAGE_IDLE,
    LP_STAGE_FLOOR,
    LP_STAGE_RATIO,
    LP_STAGE_BOUND,
    LP_STAGE_ENERGY,
    LP_STAGE_TOKEN_ENERGY,
    LP_STAGE_CLOCK,
    LP_STAGE_FACTS
};

struct lp_stage_row {
    llmperf_stage stage;
    const char *reasons[LP_STAGE_FACTS]; /* NULL: known */
};

/** Zero-initialised: none. */
struct lp_stage_rows {
    LP_VECTOR(struct lp_stage_row) rows; /* in the order of regions */
};

/** Fill findings->stage_rows and the rates of their regions; everything else must be there. 0 or
 * LLMPERF_ENOMEM. */
int lp_stage_rows_add(struct lp_findings *findings);

/** Reason for a field of llmperf_stage; NULL: known, or no such field. */
const char *lp_stage_reason(const struct lp_stage_row *row, const char *field);

#endif
