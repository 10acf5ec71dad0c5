/* SPDX-License-Identifier: Apache-2.0 */
/** Where steps end: the gaps between two units, and what launches in them say. For lib/structure
 * only. @threads one at a time per object */
#ifndef LP_STRUCTURE_GAPS_H
#define LP_STRUCTURE_GAPS_H

#include "lib/base/hashmap.h"
#include "lib/structure/steps.h"

/** A kernel name, or two that follow one another: how many units lie between its occurrences. */
struct lp_gap_key {
    uint32_t last,
        part;           /* unit before the last occurrence, and in which part without cuts it was */
    uint32_t intervals; /* with units */
    uint32_t sizes[4], hits[4];
};

/** A number of units that lies between the occurrences of several keys. */
struct lp_gap_level {
    uint32_t units, keys, hits;
};

/** Tokens between two units; the first gap is before the first unit. */
struct lp_gap {
    uint64_t pause_ns; /* longest time between two launches */
    uint32_t weight;   /* keys that mark the level */
    uint32_t evidence; /* LP_GAP_…: that the host acts there */
};

struct lp_gaps {
    const struct lp_token *tokens;
    uint32_t count;
    const struct lp_steps *steps;
    struct lp_hashmap rows;
    LP_VECTOR(struct lp_gap_key) keys;
    LP_VECTOR(struct lp_gap_level) levels; /* most frequent first */
    LP_VECTOR(struct lp_gap) items;        /* one more than units */
    uint32_t *single, *pair;               /* row of each token, and with the token before */
};

/** Evidence of a gap. A copy to the host or the choice of a token ends a step; a pause of the host
 * is weaker, because any launch may be late; copies to the device come anywhere. */
#define LP_GAP_COPY_OUT 8u
#define LP_GAP_SAMPLING 4u
#define LP_GAP_PAUSE    2u
#define LP_GAP_COPY_IN  1u
#define LP_GAP_EVIDENT  2u /* this and all above is enough for the end of a step */

/** 0 or LLMPERF_ENOMEM; clear in any case. */
int lp_gaps_make(struct lp_gaps *gaps, const struct lp_token *tokens, uint32_t count,
                 const struct lp_steps *steps);

/** Find the gaps that mark a level, a level's units or more apart. 0 or LLMPERF_ENOMEM. */
typedef LP_VECTOR(uint32_t) lp_gap_list;
int lp_gaps_mark(struct lp_gaps *gaps, uint32_t level, lp_gap_list *marked_out);

/** Role of a token; LP_ROLE_OTHER if it is the same between all units: the choice of experts, and
 * its copy to the host, says nothing of steps. */
uint8_t lp_gaps_role(const struct lp_gaps *gaps, uint32_t token);

void lp_gaps_clear(struct lp_gaps *gaps);

#endif
