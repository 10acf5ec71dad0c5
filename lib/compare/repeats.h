/* SPDX-License-Identifier: Apache-2.0 */
/** Runs of one program, repeated: how far each of their numbers is apart, which run is apart from
 * the others, and whether they are repeats at all.
 * @threads one at a time per object */
#ifndef LP_COMPARE_REPEATS_H
#define LP_COMPARE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/findings/findings.h"

/** The quantity of a region that says whether runs did the same work. */
#define LP_REPEATS_INSTANCES "instances"

enum lp_repeats_scope {
    LP_REPEATS_RUN,      /* of the run as a whole */
    LP_REPEATS_REGION,   /* of a region path on one device in one process */
    LP_REPEATS_ITERATION /* of a time of a stage's iterations */
};

/** Whose numbers are set beside each other. */
struct lp_repeats_subject {
    enum lp_repeats_scope scope;
    const char *region; /* path; "": no region, or the run */
    const char *time;   /* of iterations: "busy", or a kernel class; else NULL */
    bool is_class, is_stage;
    int32_t device;   /* -1: none */
    uint32_t process; /* from 0 on, in the order of members.h */
};

/** One number of a subject in all runs. */
struct lp_repeats_row {
    const struct lp_repeats_subject *subject;
    const char *quantity, *unit; /* as metrics.json names it: "wall_ms.p99" */
    const double *values;        /* one a run; NaN: not known there, `reason` says why */
    const char *reason;          /* NULL: known in each run */
    size_t count;                /* runs that have it */
    double mean, std;            /* std of a sample (n - 1) */
    double min, max, median;
    double deviation; /* median of the distances from the median */
    double cv;        /* std / mean */
    double spread;    /* (max - min) / mean */
    bool judged;      /* a time of weight: the verdict looks at it */
    bool differs;     /* spread above the threshold */
};

struct lp_repeats {
    const struct lp_findings **findings; /* of the runs */
    size_t count;                        /* of runs */
    double threshold;
    LP_VECTOR(struct lp_repeats_subject) subjects;
    LP_VECTOR(double) values;
    LP_VECTOR(struct lp_repeats_row) rows;
    LP_VECTOR(const char *) differences; /* why these are no repeats of one thing */
    LP_VECTOR(const char *) cautions;    /* runs whose numbers lack something */
    struct lp_strings pool;
    size_t judged, differing; /* rows */
};

/** Zero-initialised repeats of two runs or more, which must outlive them unchanged.
 * 0 or LLMPERF_ENOMEM. Clear them afterwards in both cases. */
int lp_repeats_read(struct lp_repeats *repeats, const llmperf_profile *const *profiles,
                    size_t count, double threshold);
void lp_repeats_clear(struct lp_repeats *repeats);

/** Mean, spread and the rest of a row from its values. */
void lp_repeats_summarise(struct lp_repeats_row *row, size_t count, double threshold);

/** Is this run apart from the others? Of three known values or more: further from their median than
 * the threshold, and by the modified z-score of Iglewicz and Hoaglin (1993), 0.6745 |x - median| /
 * deviation > 3.5. */
bool lp_repeats_is_apart(const struct lp_repeats_row *row, size_t run, double threshold);

#endif
