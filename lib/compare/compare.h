/* SPDX-License-Identifier: Apache-2.0 */
/** Comparison of runs: time per call of each region, and whether a difference is larger than noise.
 * A side is one run or several repeats of it.
 * @threads one at a time per object */
#ifndef LP_COMPARE_COMPARE_H
#define LP_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/compare/causes.h"
#include "lib/compare/run.h"
#include "llmperf/profile.h"

enum lp_compare_verdict {
    LP_COMPARE_SAME,   /* within the threshold, or within noise */
    LP_COMPARE_SLOWER, /* a regression */
    LP_COMPARE_FASTER,
    LP_COMPARE_ONLY_BASE, /* only one side has the row */
    LP_COMPARE_ONLY_NEW,
    LP_COMPARE_MINOR,  /* below 1 % of the time on both sides: not judged; or a change that is below
                          0.5 % of the time of its stage */
    LP_COMPARE_UNLIKE, /* a sum over different numbers of GPUs: not judged */
    LP_COMPARE_SINGLE, /* only one sampled call: not judged */
    LP_COMPARE_WORK /* amounts of work differ; the verdict depends on how time scales with them */
};

/** One side of a row. */
struct lp_compare_side {
    struct lp_compare_mean
        of; /* of several runs: the mean of their means, and its standard error */
    struct lp_compare_work work;
    double whole_ms;    /* total time of the run; of.total_ms is a part of it */
    double stage_ms;    /* as in lp_compare_value */
    bool single_sample; /* single runs only, as in lp_compare_value */
    uint32_t runs;      /* runs that have the row */
    uint32_t number;    /* as in lp_compare_value; LP_COMPARE_NOBODY with several runs */
};

/** How the work of a call differs, and by which factors its time may differ for that reason. The
 * time may stay the same, and at most follows the amount that changed most. Where FLOPs are not
 * known it may follow the square of that amount, because attention is quadratic in the tokens. */
struct lp_compare_work_change {
    double least, most;            /* factors of time; least <= 1 <= most */
    enum lp_compare_amount amount; /* first amount that differs by more than 1 %, else the first
                                      known one; LP_COMPARE_AMOUNTS: none is known */
    double ratio; /* of this amount, new / base; 1 within 1 %; NaN: none is known */
};

struct lp_compare_row {
    struct lp_compare_key key;
    struct lp_compare_side base, fresh;
    struct lp_compare_work_change work;
    double change;   /* new / base - 1; NaN: a side is missing */
    double noise_ms; /* chance exceeds this difference in 1 of 100 cases; NaN: not known */
    enum lp_compare_verdict verdict;
};

/** Share of a run's time that the other side has as well. Device time: in regions (or their nested
 * regions) of both sides, and outside of regions in kernels of the same name. Host time: in regions
 * of both sides. NaN: the run has no such time. */
struct lp_compare_coverage {
    double device, host;
};

/** Borrowed. */
struct lp_compare_runs {
    const llmperf_profile *const *profiles;
    size_t count;
};

struct lp_comparison {
    LP_VECTOR(struct lp_compare_row)
    rows; /* rows of both sides first, by difference of totals */
    LP_VECTOR(struct lp_compare_ranks) ranks; /* by run: base, then new */
    bool has_ranks;                           /* a run has several processes or GPUs */
    bool paired;    /* all runs have the same ranks: there are rows of single ranks */
    bool same_gpus; /* all runs have as many GPUs */
    uint64_t slower, faster, other_work;            /* rows of whole jobs */
    uint64_t small;                                 /* rows of jobs with such a change */
    uint64_t parts_slower, parts_faster;            /* rows of single ranks */
    double threshold;                               /* relative: 0.05 */
    LP_VECTOR(struct lp_compare_coverage) coverage; /* by run: base, then new */
    LP_VECTOR(struct lp_stage_change) changes;      /* of stages, and what made them */
    char reason[160]; /* why the sides cannot be compared; "" if they can */
};

/** From this growth on a percentage says nothing: the base is near 0. */
#define LP_PERCENT_MOST 9.0

/** Compare runs, which must outlive `out` (zero-initialised). Clear `out` in any case.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_compare(const struct lp_compare_runs *base, const struct lp_compare_runs *fresh,
               double threshold, struct lp_comparison *out);
void lp_compare_clear(struct lp_comparison *comparison);

/** Fill coverage and reason; the rows must be there. 0 or LLMPERF_ENOMEM. */
int lp_compare_cover(struct lp_comparison *out, const struct lp_compare_table *table,
                     const struct lp_compare_runs *base, const struct lp_compare_runs *fresh);

const char *lp_compare_verdict_name(enum lp_compare_verdict verdict);

/** What a row's number counts: "rank" if each process has its own GPU, else "process" or "gpu". */
const char *lp_compare_noun(const struct lp_comparison *comparison,
                            const struct lp_compare_key *key);

/** "regression", "no regression" or "not comparable". */
const char *lp_compare_outcome(const struct lp_comparison *comparison);

uint32_t lp_compare_run_verdict(const llmperf_profile *profile);

/** @param same_gpus  Both sides have as many GPUs; otherwise FLOPs per process do not compare. */
struct lp_compare_work_change lp_compare_work_change(const struct lp_compare_row *row,
                                                     bool same_gpus);

/** "tokens"; NULL for LP_COMPARE_AMOUNTS. */
const char *lp_compare_amount_name(enum lp_compare_amount amount);

/** Relative change of the time per unit of row->work.amount. NaN if not known, and for the context
 * length, to which no time is proportional. */
double lp_compare_change_of_each(const struct lp_compare_row *row);

/** Verdict of a row whose sides, noise and work are set.
 * @param sum  The row is a sum over the GPUs of a job. */
enum lp_compare_verdict lp_compare_judge(const struct lp_comparison *comparison,
                                         const struct lp_compare_row *row, bool sum);

/** Is the change of both times too small for the stage that the row is in? */
bool lp_compare_is_small(const struct lp_comparison *comparison, const struct lp_compare_row *row);

/** Difference of two means that chance alone makes in 1 of 100 cases (Welch 1947, Satterthwaite
 * 1946); NaN: not known. */
double lp_compare_noise(const struct lp_compare_mean *a, const struct lp_compare_mean *b);

#endif
