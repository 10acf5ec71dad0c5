/* SPDX-License-Identifier: Apache-2.0 */
/** Log-linear histogram of durations: 32 buckets an octave, so the middle of a bucket is within
 * 1/65 (1.6 %) of any value in it. Memory only for octaves that occur. @threads one at a time per
 * object */
#ifndef LP_RESULT_HISTOGRAM_H
#define LP_RESULT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_HISTOGRAM_OCTAVES 60u

/** Zero-initialised: empty. */
struct lp_histogram {
    uint64_t *octaves[LP_HISTOGRAM_OCTAVES]; /* 32 counts each, NULL: none */
};

/** 0 or LLMPERF_ENOMEM. */
int lp_histogram_add(struct lp_histogram *histogram, uint64_t value);

/** Value below which `fraction` (0 to 1) of the values lie, within 2 %; 0 if empty. */
double lp_histogram_quantile(const struct lp_histogram *histogram, double fraction);

/** Append as varints: bucket difference, count; empty buckets left out. */
void lp_histogram_encode(const struct lp_histogram *histogram, struct lp_text *text);

void lp_histogram_clear(struct lp_histogram *histogram);

#endif
