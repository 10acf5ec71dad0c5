/* SPDX-License-Identifier: Apache-2.0 */
/** What a comparison looks at in one run. A run of several processes or GPUs is one job: its ranks
 * work on the same thing and wait for one another, so they are no repeats of it. They are told
 * apart, and quantities of the job are made of them.
 * @threads one at a time per object */
#ifndef LP_COMPARE_RUN_H
#define LP_COMPARE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

/** Whose quantity it is. */
enum lp_compare_scope {
    LP_COMPARE_JOB,
    LP_COMPARE_PROCESS, /* of host times */
    LP_COMPARE_GPU      /* of device times */
};

#define LP_COMPARE_NOBODY UINT32_MAX

struct lp_compare_key {
    const char *region;   /* path; "": no region */
    const char *quantity; /* "wall", "device", a kernel class; of stages that GPUs work on together
                             "computing", "communicating", "waiting" */
    enum lp_compare_scope scope;
    uint32_t number; /* of the process or the GPU, see lp_compare_ranks; of a job 0 */
};

/** A mean per instance, and how well it is known. NaN: not known. */
struct lp_compare_mean {
    double mean_ms;
    double error_ms;    /* standard error */
    double freedom;     /* degrees of freedom of it */
    double total_ms;    /* of all instances, where a part was sampled too */
    uint64_t instances; /* that the mean is of: of device times those that were collected */
};

extern const struct lp_compare_mean lp_compare_unknown;

/** Kinds of work, in the order in which a row tells them. */
enum lp_compare_amount {
    LP_COMPARE_TOKENS,
    LP_COMPARE_FLOPS,
    LP_COMPARE_CONTEXT,
    LP_COMPARE_SEQUENCES,
    LP_COMPARE_BYTES,
    LP_COMPARE_STAGES, /* instances of the stages directly inside */
    LP_COMPARE_AMOUNTS
};

/** What an instance has to do: means. NaN: not known, or none. Of a region in a stage that has no
 * amounts of its own they are those around it, shared out over its own instances. */
struct lp_compare_work {
    double amounts[LP_COMPARE_AMOUNTS];
};

struct lp_compare_value {
    struct lp_compare_mean of;         /* mean_ms NaN: the run does not have it */
    struct lp_compare_mean iterations; /* the same from the iterations of a stage, which know
                                          better; mean_ms NaN: it has none, or of several ranks */
    struct lp_compare_work work;
    double whole_ms; /* time of the run, process or GPU that it is a part of */
    bool lone;       /* device time of one instance that was sampled of several */
    uint32_t number; /* of a job: the process or GPU that it is of; LP_COMPARE_NOBODY: of all */
};

/** What other runs need to know of the processes and GPUs of a run (members.h). */
struct lp_compare_ranks {
    LP_VECTOR(uint32_t) processes; /* numbers, ascending; only those with a GPU if there are any */
    size_t gpus;
    bool one_gpu_each;
    bool several; /* processes or GPUs */
};

/** Quantities of all runs of a comparison. */
struct lp_compare_table {
    LP_VECTOR(struct lp_compare_key) keys;
    LP_VECTOR(struct lp_compare_value) values; /* by key, then by run */
    struct lp_hashmap index;
    size_t runs;
};

/** Quantities of a run into the table. @param ranks  Zero-initialised; clear its processes.
 * 0 or LLMPERF_ENOMEM. */
int lp_compare_read(struct lp_compare_table *table, size_t run, const llmperf_profile *profile,
                    struct lp_compare_ranks *ranks);

void lp_compare_table_clear(struct lp_compare_table *table);

#endif
