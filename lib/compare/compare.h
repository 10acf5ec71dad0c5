/* SPDX-License-Identifier: Apache-2.0 */
/** Runs held against each other: times per instance of regions, and whether a difference is more
 * than noise. A side is one run, or repeats of one.
 * @threads one at a time per object */
#ifndef LP_COMPARE_COMPARE_H
#define LP_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/compare/run.h"
#include "llmperf/profile.h"

enum lp_compare_verdict {
    LP_COMPARE_SAME,   /* within the threshold, or within noise */
    LP_COMPARE_SLOWER, /* a regression */
    LP_COMPARE_FASTER,
    LP_COMPARE_ONLY_BASE, /* only one side has it */
    LP_COMPARE_ONLY_NEW,
    LP_COMPARE_MINOR,  /* below 1 % of the time of both sides: not judged */
    LP_COMPARE_UNLIKE, /* a sum over other numbers of GPUs: not judged */
    LP_COMPARE_LONE,   /* of a single instance that was sampled: not judged */
    LP_COMPARE_WORK    /* what it says depends on how time follows work that is not the same */
};

/** A quantity on one side. */
struct lp_compare_side {
    struct lp_compare_mean
        of; /* of several runs: their mean, and its standard error between them */
    struct lp_compare_work work;
    double whole_ms; /* time of the run that of.total_ms is a part of */
    bool lone;       /* of a single run, as in lp_compare_value */
    uint32_t runs;   /* that have it */
    uint32_t number; /* as in lp_compare_value; of several runs LP_COMPARE_NOBODY */
};

/** How the work of an instance differs, and what that may do to its time: it need not follow, and
 * it follows at most the amount that changed most; in the square where FLOPs are not known, since
 * attention costs the square of the tokens. */
struct lp_compare_work_change {
    double least, most;            /* factors of time: at most and at least 1 */
    enum lp_compare_amount amount; /* the first that differs by more than 1 %, or that is known;
                                      LP_COMPARE_AMOUNTS: none is */
    double ratio;                  /* of it, new / base; 1 within 1 %; NaN: none is known */
};

struct lp_compare_row {
    struct lp_compare_key key;
    struct lp_compare_side base, fresh;
    struct lp_compare_work_change work;
    double change;   /* new / base - 1; NaN: one of them is missing */
    double noise_ms; /* difference that chance alone makes in 1 of 100 cases; NaN: not known */
    enum lp_compare_verdict verdict;
};

/** Shares of the time of a run that the other side has too: device time in regions that both have
 * (or in regions within them), and outside of regions in kernels of the same name; host time in
 * regions that both have. NaN: the run has no such time. */
struct lp_compare_coverage {
    double device, host;
};

/** Runs of a side, borrowed. */
struct lp_compare_runs {
    const llmperf_profile *const *profiles;
    size_t count;
};

struct lp_comparison {
    LP_VECTOR(struct lp_compare_row)
    rows;                                     /* what both sides have first, then largest difference
                                                 of totals first */
    LP_VECTOR(struct lp_compare_ranks) ranks; /* of the runs: base, then new */
    bool has_ranks;                           /* some run has several processes or GPUs */
    bool paired;                         /* and all have the same: rows of single ones are there */
    bool same_gpus;                      /* all have as many */
    uint64_t slower, faster, other_work; /* rows of the job */
    uint64_t parts_slower, parts_faster; /* rows of single ranks */
    double threshold;                    /* share: 0.05 */
    LP_VECTOR(struct lp_compare_coverage) coverage; /* of the runs: base, then new */
    char reason[160]; /* why the sides cannot be compared; "": they can */
};

/** Zero-initialised comparison of runs that outlive it. 0 or LLMPERF_ENOMEM. Clear it afterwards in
 * both cases. */
int lp_compare(const struct lp_compare_runs *base, const struct lp_compare_runs *fresh,
               double threshold, struct lp_comparison *out);
void lp_compare_clear(struct lp_comparison *comparison);

/** Coverage and reason of a comparison that has its rows. 0 or LLMPERF_ENOMEM. */
int lp_compare_cover(struct lp_comparison *out, const struct lp_compare_table *table,
                     const struct lp_compare_runs *base, const struct lp_compare_runs *fresh);

const char *lp_compare_verdict_name(enum lp_compare_verdict verdict);

/** What the numbers of a key count: "rank" where each process has a GPU of its own, else "process"
 * or "gpu". */
const char *lp_compare_noun(const struct lp_comparison *comparison,
                            const struct lp_compare_key *key);

/** "regression", "no regression" or "not comparable". */
const char *lp_compare_outcome(const struct lp_comparison *comparison);

uint32_t lp_compare_run_verdict(const llmperf_profile *profile);

/** @param same_gpus  Both sides have as many GPUs: FLOPs of a process are of the same share. */
struct lp_compare_work_change lp_compare_work_change(const struct lp_compare_row *row,
                                                     bool same_gpus);

/** "tokens"; NULL: of LP_COMPARE_AMOUNTS. */
const char *lp_compare_amount_name(enum lp_compare_amount amount);

/** New / base - 1 of the time for each of what row->work.amount counts; NaN: not known, or of the
 * context, which no time is in proportion to. */
double lp_compare_change_of_each(const struct lp_compare_row *row);

/** What a row with both sides, its noise and its work says. @param sum  It is one over the GPUs of
 * a job. */
enum lp_compare_verdict lp_compare_judge(const struct lp_comparison *comparison,
                                         const struct lp_compare_row *row, bool sum);

/** Difference of two means that chance alone makes in 1 of 100 cases (Welch 1947, Satterthwaite
 * 1946); NaN: not known. */
double lp_compare_noise(const struct lp_compare_mean *a, const struct lp_compare_mean *b);

#endif
