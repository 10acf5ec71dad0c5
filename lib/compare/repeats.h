/* SPDX-License-Identifier: Apache-2.0 */
/** Repeated runs of one program: how much each number varies, which run is an outlier, and whether
 * the runs are repeats of the same work.
 * @threads one at a time per object */
#ifndef LP_COMPARE_REPEATS_H
#define LP_COMPARE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/findings/findings.h"

/** The number of a region that must be equal in repeats. */
#define LP_REPEATS_INSTANCES "instances"

enum lp_repeats_scope {
    LP_REPEATS_RUN,      /* of the whole run */
    LP_REPEATS_REGION,   /* a region path on one device in one process */
    LP_REPEATS_ITERATION /* a time of a stage's iterations */
};

/** What a row's number belongs to. */
struct lp_repeats_subject {
    enum lp_repeats_scope scope;
    const char *region; /* path; "": outside of regions, or the run */
    const char *time;   /* time of iterations: "busy" or a kernel class; else NULL */
    bool is_class, is_stage;
    int32_t device;   /* -1: none */
    uint32_t process; /* number in the order of members.h */
};

/** One number of a subject, in all runs. */
struct lp_repeats_row {
    const struct lp_repeats_subject *subject;
    const char *quantity, *unit; /* name as in metrics.json: "wall_ms.p99" */
    const double *values;        /* by run; NaN: not known, see `reason` */
    const char *reason;          /* NULL: known in all runs */
    size_t count;                /* runs where it is known */
    double mean, std;            /* std: sample standard deviation (n - 1) */
    double min, max, median;
    double deviation; /* median absolute deviation */
    double cv;        /* std / mean */
    double spread;    /* (max - min) / mean */
    bool judged;      /* a time large enough to count for the verdict */
    bool differs;     /* spread above the threshold */
};

struct lp_repeats {
    const struct lp_findings **findings; /* by run */
    size_t count;                        /* number of runs */
    double threshold;
    LP_VECTOR(struct lp_repeats_subject) subjects;
    LP_VECTOR(double) values;
    LP_VECTOR(struct lp_repeats_row) rows;
    LP_VECTOR(const char *) differences; /* why the runs are not repeats of the same work */
    LP_VECTOR(const char *) cautions;    /* runs with incomplete numbers */
    struct lp_strings pool;
    size_t judged, differing; /* numbers of rows */
};

/** Read two or more runs into `repeats` (zero-initialised). The profiles must outlive it unchanged.
 * Clear it in any case.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_repeats_read(struct lp_repeats *repeats, const llmperf_profile *const *profiles,
                    size_t count, double threshold);
void lp_repeats_clear(struct lp_repeats *repeats);

/** Compute mean, spread and the other statistics of a row from its values. */
void lp_repeats_summarise(struct lp_repeats_row *row, size_t count, double threshold);

/** Is this run an outlier? Needs three known values. True if it is further from the median than the
 * threshold and its modified z-score, 0.6745
 * x - median
 * / deviation, is above 3.5 (Iglewicz and Hoaglin 1993). */
bool lp_repeats_is_outlier(const struct lp_repeats_row *row, size_t run, double threshold);

#endif
