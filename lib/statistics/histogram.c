/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "lib/statistics/histogram.h"

#define BUCKETS LP_HISTOGRAM_BUCKETS

static int add_counts(struct lp_histogram *histogram, unsigned octave, unsigned bucket,
                      uint64_t count)
{
    uint64_t *counts = histogram->octaves[octave];

    if (!counts) {
        counts = calloc(BUCKETS, sizeof(*counts));
        if (!counts)
            return lp_error(LLMPERF_ENOMEM, "out of memory (a histogram)");
        histogram->octaves[octave] = counts;
    }
    counts[bucket] += count;
    return 0;
}

int lp_histogram_add_to(struct lp_histogram *histogram, unsigned octave, unsigned bucket)
{
    int status = add_counts(histogram, octave, bucket, 1);

    if (status < 0)
        return status;
    histogram->recent = histogram->octaves[octave];
    histogram->recent_octave = octave + 1;
    return 0;
}

static double middle_of(unsigned octave, unsigned bucket)
{
    if (octave == 0)
        return bucket;
    return ldexp(BUCKETS + bucket, (int)octave - 1) + (ldexp(1, (int)octave - 1) - 1) / 2;
}

static uint64_t total_count(const struct lp_histogram *histogram)
{
    uint64_t total = 0;

    for (unsigned octave = 0; octave < LP_HISTOGRAM_OCTAVES; octave++)
        for (unsigned bucket = 0; histogram->octaves[octave] && bucket < BUCKETS; bucket++)
            total += histogram->octaves[octave][bucket];
    return total;
}

double lp_histogram_quantile(const struct lp_histogram *histogram, double fraction)
{
    double rank = fmax(1, ceil(fraction * (double)total_count(histogram)));
    uint64_t below = 0;
    double middle = 0;

    for (unsigned octave = 0; octave < LP_HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *counts = histogram->octaves[octave];

        for (unsigned bucket = 0; counts && bucket < BUCKETS; bucket++) {
            if (counts[bucket] == 0)
                continue;
            below += counts[bucket];
            middle = middle_of(octave, bucket);
            if ((double)below >= rank)
                return middle;
        }
    }
    return middle; /* a fraction over 1: the last bucket */
}

double lp_histogram_percentile(const struct lp_histogram *histogram, double fraction, double min_ms,
                               double max_ms)
{
    double least = fraction > 0.5 ? round(1 / (1 - fraction)) : 1;

    if ((double)total_count(histogram) < least)
        return NAN;
    return fmin(fmax(lp_histogram_quantile(histogram, fraction) / 1e6, min_ms), max_ms);
}

static void add_varint(struct lp_text *text, uint64_t value)
{
    uint8_t bytes[LP_VARINT_BYTES];

    lp_text_add(text, (const char *)bytes, (size_t)(lp_varint_put(bytes, value) - bytes));
}

void lp_histogram_encode(const struct lp_histogram *histogram, struct lp_text *text)
{
    unsigned last = 0;

    for (unsigned octave = 0; octave < LP_HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *counts = histogram->octaves[octave];

        for (unsigned bucket = 0; counts && bucket < BUCKETS; bucket++) {
            if (counts[bucket] == 0)
                continue;
            add_varint(text, octave * BUCKETS + bucket - last);
            add_varint(text, counts[bucket]);
            last = octave * BUCKETS + bucket;
        }
    }
}

static uint64_t low_of(uint64_t index)
{
    uint64_t octave = index / BUCKETS, bucket = index % BUCKETS;

    return octave == 0 ? bucket : (BUCKETS + bucket) << (octave - 1);
}

int lp_histogram_next(const char *bytes, size_t size, struct lp_histogram_position *position,
                      struct lp_histogram_bucket *bucket_out)
{
    const uint8_t *start = (const uint8_t *)bytes;
    struct lp_varint_reader reader = { NULL, NULL, false };
    uint64_t difference, count;

    if (position->offset >= size) /* without bytes, too */
        return 0;
    reader.at = start + position->offset;
    reader.end = start + size;
    difference = lp_varint_get(&reader);
    count = lp_varint_get(&reader);
    if (reader.failed || count == 0 || difference >= LP_HISTOGRAM_OCTAVES * BUCKETS ||
        position->bucket + difference >= LP_HISTOGRAM_OCTAVES * BUCKETS)
        return lp_error(LLMPERF_EFORMAT, "a histogram is damaged");
    position->bucket += difference;
    position->offset = (size_t)(reader.at - start);
    *bucket_out = (struct lp_histogram_bucket){ low_of(position->bucket),
                                                low_of(position->bucket + 1), count };
    return 1;
}

int lp_histogram_decode(struct lp_histogram *histogram, const char *bytes, size_t size)
{
    struct lp_histogram_position position = { 0, 0 };
    struct lp_histogram_bucket bucket;
    int status;

    while ((status = lp_histogram_next(bytes, size, &position, &bucket)) > 0) {
        unsigned at = (unsigned)position.bucket;

        if (add_counts(histogram, at / BUCKETS, at % BUCKETS, bucket.count) < 0)
            return LLMPERF_ENOMEM;
    }
    return status;
}

int lp_histogram_copy(struct lp_histogram *to, const struct lp_histogram *from)
{
    int status = 0;

    *to = (struct lp_histogram){ 0 };
    for (unsigned octave = 0; octave < LP_HISTOGRAM_OCTAVES; octave++)
        for (unsigned bucket = 0; from->octaves[octave] && bucket < BUCKETS; bucket++)
            if (status == 0 && from->octaves[octave][bucket] > 0)
                status = add_counts(to, octave, bucket, from->octaves[octave][bucket]);
    return status;
}

void lp_histogram_clear(struct lp_histogram *histogram)
{
    for (unsigned octave = 0; octave < LP_HISTOGRAM_OCTAVES; octave++)
        free(histogram->octaves[octave]);
    *histogram = (struct lp_histogram){ 0 };
}
