/* SPDX-License-Identifier: Apache-2.0 */
/** Two runs held against each other: times per instance of regions, and whether a difference is
 * more than noise. @threads one at a time per object */
#ifndef LP_OUTPUT_COMPARE_H
#define LP_OUTPUT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/analysis/analysis.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

enum lp_compare_verdict {
    LP_COMPARE_SAME,   /* within the threshold, or within noise */
    LP_COMPARE_SLOWER, /* a regression */
    LP_COMPARE_FASTER,
    LP_COMPARE_ONLY_BASE, /* only one run has it */
    LP_COMPARE_ONLY_NEW,
    LP_COMPARE_MINOR /* below 1 % of the time of both runs: not judged */
};

/** A quantity of a region in one run. */
struct lp_compare_side {
    double mean_ms;  /* per instance; NaN: the run does not have it */
    double error_ms; /* standard error of the mean; NaN: not known */
    double freedom;  /* degrees of freedom of it */
    double total_ms;
    uint64_t instances;
};

struct lp_compare_row {
    const char *region;   /* path; "": no region */
    const char *quantity; /* "wall", "device" or a kernel class */
    struct lp_compare_side base, fresh;
    double change;   /* new / base - 1; NaN: one of them is missing */
    double noise_ms; /* difference that chance alone makes in 1 of 100 cases; NaN: not known */
    enum lp_compare_verdict verdict;
};

struct lp_comparison {
    LP_VECTOR(struct lp_compare_row) rows; /* what both runs have first, then largest
                                              difference of totals first */
    struct lp_kernel_classes *classes;     /* texts of quantities; NULL: could not be read */
    uint64_t slower, faster;
    double threshold;          /* share: 0.05 */
    double reference_ms[2][2]; /* wall and device time of the runs */
};

/** Zero-initialised comparison. 0 or LLMPERF_ENOMEM. Clear it afterwards in both cases. */
int lp_compare(const llmperf_profile *base, const llmperf_profile *fresh, double threshold,
               struct lp_comparison *out);
void lp_compare_clear(struct lp_comparison *comparison);

const char *lp_compare_verdict_name(enum lp_compare_verdict verdict);

/** Half the width of Student's t that holds 99 % of it. */
double lp_student_99(double freedom);

#endif
