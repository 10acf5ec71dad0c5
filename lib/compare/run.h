/* SPDX-License-Identifier: Apache-2.0 */
/** The quantities of one run that a comparison uses. A run with several processes or GPUs is one
 * job: its ranks share the work and wait for one another, so they are not repeats. There are rows
 * for single ranks and rows for the job.
 * @threads one at a time per object */
#ifndef LP_COMPARE_RUN_H
#define LP_COMPARE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

/** What a quantity belongs to. */
enum lp_compare_scope {
    LP_COMPARE_JOB,
    LP_COMPARE_PROCESS, /* host times */
    LP_COMPARE_GPU      /* device times */
};

#define LP_COMPARE_NOBODY UINT32_MAX

/** In place of a region: latencies of requests. */
#define LP_COMPARE_REQUESTS "requests"

struct lp_compare_key {
    const char *region;   /* path; "": outside of regions; "requests": of a serving engine */
    const char *quantity; /* of requests "ttft", "ttft p99" …; of regions "wall", "device" or a
                             kernel class; for stages that several GPUs share also "computing",
                             "communicating", "waiting" */
    enum lp_compare_scope scope;
    uint32_t number; /* of the process or GPU, see lp_compare_ranks; 0 for a job */
};

/** Mean per call and its error. NaN: not known. */
struct lp_compare_mean {
    double mean_ms;
    double error_ms;    /* standard error */
    double freedom;     /* degrees of freedom of error_ms */
    double total_ms;    /* of all calls; scaled up if only a sample was collected */
    uint64_t instances; /* calls in the mean; for device times only the collected ones */
};

extern const struct lp_compare_mean lp_compare_unknown;

/** Kinds of work. A row reports the first that differs. */
enum lp_compare_amount {
    LP_COMPARE_TOKENS,
    LP_COMPARE_FLOPS,
    LP_COMPARE_CONTEXT,
    LP_COMPARE_SEQUENCES,
    LP_COMPARE_BYTES,
    LP_COMPARE_STAGES, /* calls of directly nested stages */
    LP_COMPARE_AMOUNTS
};

/** Mean work of a call. NaN: not known, or none. A region in a stage that has no amounts of its own
 * gets its share of the enclosing region's. */
struct lp_compare_work {
    double amounts[LP_COMPARE_AMOUNTS];
};

struct lp_compare_value {
    struct lp_compare_mean of;         /* mean_ms NaN: the run lacks it */
    struct lp_compare_mean iterations; /* from the iterations of a stage, with a better known error;
                                          mean_ms NaN: no iterations, or several ranks */
    struct lp_compare_work work;
    double whole_ms;    /* total time of the run, process or GPU */
    double stage_ms;    /* total time of the innermost stage around it; 0: none */
    bool single_sample; /* device time of only one sampled call */
    uint32_t
        number; /* in a row of a job: the process or GPU of this value; LP_COMPARE_NOBODY: all */
};

/** Numbers of the processes and GPUs of a run, see members.h. */
struct lp_compare_ranks {
    LP_VECTOR(uint32_t) processes; /* ascending; only processes with a GPU, if any has one */
    size_t gpus;
    bool one_gpu_each;
    bool several; /* several processes or GPUs */
};

/** Quantities of all runs of a comparison. */
struct lp_compare_table {
    LP_VECTOR(struct lp_compare_key) keys;
    LP_VECTOR(struct lp_compare_value) values; /* by key, then by run */
    struct lp_hashmap index;
    size_t runs;
};

/** Read a run's quantities into the table. 0 or LLMPERF_ENOMEM.
 * @param ranks  Zero-initialised; clear its processes afterwards. */
int lp_compare_read(struct lp_compare_table *table, size_t run, const llmperf_profile *profile,
                    struct lp_compare_ranks *ranks);

void lp_compare_table_clear(struct lp_compare_table *table);

#endif
