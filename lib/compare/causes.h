/* SPDX-License-Identifier: Apache-2.0 */
/** What made a stage slower or faster: the difference of its waterfalls, part by part.
 * @threads one at a time per object */
#ifndef LP_COMPARE_CAUSES_H
#define LP_COMPARE_CAUSES_H

#include <stdbool.h>

#include "lib/base/vector.h"
#include "lib/compare/run.h"
#include "lib/findings/waterfall.h"

struct lp_comparison;
struct lp_compare_runs;

/** Means per call of the stage. */
struct lp_cause_side {
    double ms, error_ms; /* error_ms: standard error; NaN: not known */
    double calls, bytes; /* KERNELS, NESTED: how many ran; memcpys and memsets: their bytes */
};

/** A part of the waterfall, KERNELS by name. Texts belong to the profiles. */
struct lp_cause {
    enum lp_part_kind kind;
    const char *name;     /* KERNELS: of the kernel, or "[memcpy DtoH]" */
    const char *region;   /* as in lp_waterfall_part */
    const char *replaced; /* the kernel of base whose place it took; NULL: none */
    const char *kernel_class;
    struct lp_cause_side base, fresh;
    const char *call; /* gaps, and host times around the kernels: the function of the driver that
                         fills most of the change; NULL: none is known */
    double call_ms;   /* how much of it */
    double change_ms;
    bool significant; /* beyond chance, as far as that is known */
};

/** Elapsed time of a call of a stage, or what its first call takes in addition. Where no stage is
 * marked on both sides: time from the first to the last work of the GPUs, of the whole run. */
struct lp_stage_change {
    const char *region; /* path; "": the whole run */
    bool first_call;    /* base and fresh: warm-up - as many of the later calls; no causes */
    struct lp_compare_mean base, fresh;
    double change_ms;
    double noise_ms;    /* as in lp_compare_row */
    double total_ms;    /* of all calls of the new run */
    bool significant;   /* beyond chance; where that is not known, above the threshold */
    const char *reason; /* why causes are not known, and the times are host times; NULL */
    LP_VECTOR(struct lp_cause)
    causes; /* those that push in the direction of the change first; of
               these the largest first */
};

/** The change of each stage that both sides have, or of the run; significant ones first, of these
 * the largest first. After out->rows are there. 0 or LLMPERF_ENOMEM. */
int lp_compare_explain(struct lp_comparison *out, const struct lp_compare_runs *base,
                       const struct lp_compare_runs *fresh);

/** Causes worth a word: at least 5 % of the change, those that may be chance a quarter of it. If
 * the call did not change: significant ones above the threshold's share of the call. */
bool lp_cause_counts(const struct lp_stage_change *change, const struct lp_cause *cause,
                     double threshold);

#endif
