/* SPDX-License-Identifier: Apache-2.0 */
/** Which regions ran while a sample was taken. Samples and activities are kept for a while and then
 * folded into sums, so memory is bounded: by time, and by the number of regions.
 *
 * A region is held against the time in which device work of it ran (kernels, copies and sets
 * launched in it or in its nested regions); one that started none, against its time on the host.
 * @threads one at a time per object */
#ifndef LP_PROFILE_SAMPLE_REGIONS_H
#define LP_PROFILE_SAMPLE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/counter.h"
#include "lib/record/record.h"

struct lp_sample_regions;

/** @param plan  Borrowed for the call. NULL without memory. */
struct lp_sample_regions *lp_sample_regions_create(const struct lp_counter_plan *plan);
void lp_sample_regions_free(struct lp_sample_regions *regions);

/** Samples are taken at another interval from now on. What rests on samples too coarse for its
 * region is forgotten. */
void lp_sample_regions_interval(struct lp_sample_regions *regions, uint64_t interval_ns);

/** A sample; samples come in the order of their times, all of one device. What ran two seconds
 * before is known by now, and goes into the sums. */
void lp_sample_regions_sample(struct lp_sample_regions *regions, const struct lp_counter_fact *fact,
                              const double *values);

/** What ran, attributed, and what the host said. */
void lp_sample_regions_activities(struct lp_sample_regions *regions,
                                  const struct lp_activity *activities, size_t count);
void lp_sample_regions_host(struct lp_sample_regions *regions, uint32_t thread,
                            const struct lp_record *records, size_t count);

/** Fold all that is there. Later activities of that time come too late. */
void lp_sample_regions_settle(struct lp_sample_regions *regions);

/** What a region's samples came to, by column. */
struct lp_sample_value {
    double mean; /* weighted by time; of a sum: its rate, a second */
    double p95;
    double above_50, above_80; /* share of time in %, of percentages only; else NaN */
};

struct lp_sample_row {
    uint32_t node;
    bool host;         /* held against host time */
    bool too_short;    /* values are not known: its stretches are shorter than two samples */
    bool elsewhere;    /* nor here: it ran on other devices than the sampled one only */
    double time_ns;    /* covered by samples */
    double stretch_ns; /* mean length of what is one piece at this interval */
    uint64_t stretches;
};

/** Rows of regions, and the value of column `column` of a row. */
size_t lp_sample_regions_count(const struct lp_sample_regions *regions);
void lp_sample_regions_row(const struct lp_sample_regions *regions, size_t index,
                           struct lp_sample_row *row_out);
void lp_sample_regions_value(const struct lp_sample_regions *regions, size_t index, size_t column,
                             struct lp_sample_value *value_out);

/** Samples, activities that came after their time was folded, and whether memory ran out. */
uint64_t lp_sample_regions_samples(const struct lp_sample_regions *regions);
uint64_t lp_sample_regions_late(const struct lp_sample_regions *regions);
bool lp_sample_regions_failed(const struct lp_sample_regions *regions);

#endif
