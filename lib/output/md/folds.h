/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of a table that differ in a number in their name, such as layers, as one row.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_FOLDS_H
#define LP_OUTPUT_MD_FOLDS_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/findings/findings.h"

/** Sums of the rows. Texts are those of the first one. */
struct lp_fold {
    const char *name, *region, *captured_in;
    uint64_t rows, calls;
    bool unlike; /* the names or regions of the rows differ in a number */
    double total_ms, first_ms, wall_ms, call_ms, share;
    double estimate_ms, estimate_low_ms, estimate_high_ms; /* sums, as of operators */
    double least_ms, most_ms;                              /* of one row; NaN: there is only one */
};

/** Zero-initialised: none. */
struct lp_folds {
    LP_VECTOR(struct lp_fold) items;
    struct lp_hashmap kinds;
};

#define LP_ESTIMATE_OF(row)                                                                        \
    .estimate_ms = (row)->estimate_ms, .estimate_low_ms = (row)->estimate_low_ms,                  \
    .estimate_high_ms = (row)->estimate_high_ms

/** Add a row: `row` has its texts, calls, total_ms, wall_ms, estimate and share. Rows are one if
 * their hashes are equal and their regions differ in numbers only. 0 or LLMPERF_ENOMEM. */
int lp_folds_add(struct lp_folds *folds, uint64_t hash, const struct lp_fold *row);

/** Does a row stand for several that differ in a number? */
bool lp_folds_any(const struct lp_folds *folds);

/** The longest first. */
void lp_folds_sort(struct lp_folds *folds);
void lp_folds_clear(struct lp_folds *folds);

/** Texts of a struct lp_fold, as code, with * for numbers that differ. */
void lp_show_fold_name(const struct lp_findings *findings, const void *row, struct lp_text *out);
void lp_show_fold_region(const struct lp_findings *findings, const void *row, struct lp_text *out);
void lp_show_fold_captured(const struct lp_findings *findings, const void *row,
                           struct lp_text *out);

#endif
