/* SPDX-License-Identifier: Apache-2.0 */
/** Log-linear histogram of durations. An octave has 32 buckets, so the middle of a bucket is within
 * 1/65 (1.6 %) of its values. Octaves are allocated when first used.
 * @threads one at a time per object */
#ifndef LP_PROFILE_HISTOGRAM_H
#define LP_PROFILE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_HISTOGRAM_OCTAVES 60u

#define LP_HISTOGRAM_BITS    5u
#define LP_HISTOGRAM_BUCKETS (1u << LP_HISTOGRAM_BITS) /* per octave */

/** Zero-initialised: empty. */
struct lp_histogram {
    /* Octave of the last value: durations of one kernel are mostly in the same octave. */
    uint64_t *recent;
    unsigned recent_octave;                  /* number of that octave + 1; 0: none */
    uint64_t *octaves[LP_HISTOGRAM_OCTAVES]; /* 32 counts each; NULL: none */
};

/** Slow path of lp_histogram_add(): another octave, or a new one. */
int lp_histogram_add_to(struct lp_histogram *histogram, unsigned octave, unsigned bucket);

/** Octave 0 has the values 0 to 31, one for each bucket; octave k the values whose highest bit is k
 * + 4. 0 or LLMPERF_ENOMEM. */
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

/** A percentile in milliseconds, not outside of the two limits. NaN: fewer values than 1 / (1 -
 * fraction), so that none need lie above it: p90 needs 10, p95 20, p99 100. */
double lp_histogram_percentile(const struct lp_histogram *histogram, double fraction, double min_ms,
                               double max_ms);

/** Append as varints: distance from the previous non-empty bucket, count. */
void lp_histogram_encode(const struct lp_histogram *histogram, struct lp_text *text);

/** Position in an encoded histogram. Zero-initialised: at its start. */
struct lp_histogram_position {
    size_t offset;
    uint64_t bucket;
};

/** Values in a bucket: low <= value < high. */
struct lp_histogram_bucket {
    uint64_t low, high, count;
};

/** Read the next bucket of an encoded histogram, in ascending order.
 * @return 1: read; 0: end; LLMPERF_EFORMAT: damaged. */
int lp_histogram_next(const char *bytes, size_t size, struct lp_histogram_position *position,
                      struct lp_histogram_bucket *bucket_out);

/** Add a histogram written by lp_histogram_encode(). 0; LLMPERF_EFORMAT: damaged; LLMPERF_ENOMEM,
 * where some counts may have been added. */
int lp_histogram_decode(struct lp_histogram *histogram, const char *bytes, size_t size);

/** 0 or LLMPERF_ENOMEM. */
int lp_histogram_copy(struct lp_histogram *to, const struct lp_histogram *from);

void lp_histogram_clear(struct lp_histogram *histogram);

#endif
