/* SPDX-License-Identifier: Apache-2.0 */
/** Log-linear histogram of durations: 32 buckets an octave, so the middle of a bucket is within
 * 1/65 (1.6 %) of any value in it. Memory only for octaves that occur. @threads one at a time per
 * object */
#ifndef LP_PROFILE_HISTOGRAM_H
#define LP_PROFILE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_HISTOGRAM_OCTAVES 60u

#define LP_HISTOGRAM_BITS    5u
#define LP_HISTOGRAM_BUCKETS (1u << LP_HISTOGRAM_BITS) /* of an octave */

/** Zero-initialised: empty. */
struct lp_histogram {
    /* Where the value before went: most durations of one thing are of one octave. */
    uint64_t *recent;
    unsigned recent_octave;                  /* and 1; 0: none */
    uint64_t *octaves[LP_HISTOGRAM_OCTAVES]; /* 32 counts each, NULL: none */
};

/** What lp_histogram_add() leaves over: an octave for the first time, or another one. */
int lp_histogram_add_to(struct lp_histogram *histogram, unsigned octave, unsigned bucket);

/** 0 or LLMPERF_ENOMEM. Octave 0 holds 0 to 31, one value a bucket; octave k the values whose
 * highest bit is k + 4. */
static inline int lp_histogram_add(struct lp_histogram *histogram, uint64_t value)
{
    unsigned octave = value < LP_HISTOGRAM_BUCKETS
                          ? 0
                          : 64u - LP_HISTOGRAM_BITS - (unsigned)__builtin_clzll(value);
    unsigned bucket =
        (unsigned)(octave ? value >> (octave - 1) : value) & (LP_HISTOGRAM_BUCKETS - 1);

    if (octave + 1 != histogram->recent_octave)
        return lp_histogram_add_to(histogram, octave, bucket);
    histogram->recent[bucket]++;
    return 0;
}

/** Value below which `fraction` (0 to 1) of the values lie, within 2 %; 0 if empty. */
double lp_histogram_quantile(const struct lp_histogram *histogram, double fraction);

/** Append as varints: bucket difference, count; empty buckets left out. */
void lp_histogram_encode(const struct lp_histogram *histogram, struct lp_text *text);

/** Where a reader of an encoded histogram stands; starts as zeros. */
struct lp_histogram_position {
    size_t offset;
    uint64_t bucket;
};

/** The values that fall into one bucket: low <= value < high. */
struct lp_histogram_bucket {
    uint64_t low, high, count;
};

/** Read an encoded histogram bucket by bucket, smallest first. @return 1: there is a bucket, 0: no
 * more, LLMPERF_EFORMAT: damaged. */
int lp_histogram_next(const char *bytes, size_t size, struct lp_histogram_position *position,
                      struct lp_histogram_bucket *bucket_out);

/** Add what lp_histogram_encode() wrote. 0; LLMPERF_EFORMAT for other bytes, LLMPERF_ENOMEM: then
 * some counts may have been added. */
int lp_histogram_decode(struct lp_histogram *histogram, const char *bytes, size_t size);

void lp_histogram_clear(struct lp_histogram *histogram);

#endif
