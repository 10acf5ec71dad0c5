/* SPDX-License-Identifier: Apache-2.0 */
/** Assigns sampled counters to the regions that ran during a sample. Samples and activities are
 * kept for a short time and then folded into sums, so memory is bounded by that time and by the
 * number of regions.
 *
 * A region gets the samples during its device work (of its launches and those of nested regions). A
 * region without device work gets the samples during its wall time.
 * @threads one at a time per object */
#ifndef LP_PROFILE_SAMPLE_REGIONS_H
#define LP_PROFILE_SAMPLE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/counter.h"
#include "lib/record/record.h"

struct lp_sample_regions;

/** @param plan  Borrowed for the call. NULL: out of memory. */
struct lp_sample_regions *lp_sample_regions_create(const struct lp_counter_plan *plan);
void lp_sample_regions_free(struct lp_sample_regions *regions);

/** Change the sampling interval. Sums of regions for which the new interval is too long are
 * dropped. */
void lp_sample_regions_interval(struct lp_sample_regions *regions, uint64_t interval_ns);

/** Add a sample. Samples come in order of time and from one device. Work that is two seconds older
 * is complete and is folded. */
void lp_sample_regions_sample(struct lp_sample_regions *regions, const struct lp_counter_fact *fact,
                              const double *values);

/** Attributed activities, and host records. */
void lp_sample_regions_activities(struct lp_sample_regions *regions,
                                  const struct lp_activity *activities, size_t count);
void lp_sample_regions_host(struct lp_sample_regions *regions, uint32_t thread,
                            const struct lp_record *records, size_t count);

/** Fold everything. Later activities of that time are counted as late. */
void lp_sample_regions_settle(struct lp_sample_regions *regions);

/** A region's samples in one column. */
struct lp_sample_value {
    double mean; /* weighted by time; for sums the rate per second */
    double p95;
    double above_50, above_80; /* share of the time, in %; NaN if the column is not a percentage */
};

struct lp_sample_row {
    uint32_t node;
    bool host;        /* sampled during wall time */
    bool too_short;   /* no values: its continuous work is shorter than two samples */
    bool elsewhere;   /* no values: it ran only on devices without samples */
    double time_ns;   /* time with samples */
    double active_ns; /* mean length of continuous work at this interval */
    uint64_t active_count;
};

/** Number of rows; value of a row in a column. */
size_t lp_sample_regions_count(const struct lp_sample_regions *regions);
void lp_sample_regions_row(const struct lp_sample_regions *regions, size_t index,
                           struct lp_sample_row *row_out);
void lp_sample_regions_value(const struct lp_sample_regions *regions, size_t index, size_t column,
                             struct lp_sample_value *value_out);

/** Samples; activities that came after their time was folded; whether memory ran out. */
uint64_t lp_sample_regions_samples(const struct lp_sample_regions *regions);
uint64_t lp_sample_regions_late(const struct lp_sample_regions *regions);
bool lp_sample_regions_failed(const struct lp_sample_regions *regions);

#endif
