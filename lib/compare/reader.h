/* SPDX-License-Identifier: Apache-2.0 */
/** State while one run is read into the table of a comparison. Functions that return a status: 0 or
 * LLMPERF_ENOMEM.
 * @threads one at a time per object */
#ifndef LP_COMPARE_READER_H
#define LP_COMPARE_READER_H

#include <string.h>

#include "lib/base/status.h"
#include "lib/compare/run.h"
#include "lib/compare/members.h"
#include "lib/findings/findings.h"

#define LP_COMPARE_WALL "wall"
#define LP_COMPARE_ALL  "device"

#define lp_compare_push_zeros(vector, more)                                                        \
    ((more) == 0 ? 0                                                                               \
     : lp_vector_reserve(vector, more) < 0                                                         \
         ? LLMPERF_ENOMEM                                                                          \
         : (memset((vector)->items + (vector)->count, 0, (more) * sizeof(*(vector)->items)),       \
            (vector)->count += (more), 0))

/* Host time of a region in a process. */
struct lp_compare_wall {
    size_t place, process;
    struct lp_compare_mean of;
    struct lp_compare_work all; /* of all calls */
};

struct lp_compare_place {
    const char *path;
    double collected;   /* maximum over GPUs, see lp_compare_share */
    uint64_t instances; /* maximum over processes */
    size_t processes;
    double time_ms;     /* of all calls, the process with most */
    size_t around;      /* enclosing region; SIZE_MAX: none */
    bool stage, in_one; /* is a stage; is nested in a stage */
};

/* Calls of a region on a GPU, and how many of them had their device work collected. In tier light
 * only a sample is; calls in triggered windows are not counted here. */
struct lp_compare_share {
    double instances, collected;
};

/* Sum of a quantity of a region on a GPU. The collected calls of a sampled stage are scaled up to
 * all calls. */
struct lp_compare_sum {
    double total_ms, variance; /* variance of total_ms */
    uint64_t calls;
    bool known; /* variance is known */
};

struct lp_compare_device_row {
    size_t place;
    const char *quantity;
};

struct lp_compare_reader {
    struct lp_compare_table *table;
    size_t run;
    const llmperf_profile *profile;
    const struct lp_findings *findings;
    struct lp_members members;
    LP_VECTOR(struct lp_compare_place) places;
    LP_VECTOR(struct lp_compare_share) shares; /* by place and GPU */
    LP_VECTOR(struct lp_compare_wall) walls;
    LP_VECTOR(double)
    process_ms, gpu_ms; /* wall time of top-level regions; device time of all kernels */
    LP_VECTOR(struct lp_compare_device_row) rows;
    LP_VECTOR(struct lp_compare_sum) sums; /* by row and GPU */
    struct lp_hashmap place_keys, row_keys, wall_keys;
};

uint64_t lp_compare_hash(const char *text);

/** Index of a key in the table; SIZE_MAX: no run has it. */
size_t lp_compare_find_key(const struct lp_compare_table *table, const struct lp_compare_key *key);

/** This run's value of a key, added if new; NULL: out of memory. */
struct lp_compare_value *lp_compare_value_of(struct lp_compare_reader *reader,
                                             const struct lp_compare_key *key);

/** Set a quantity, with the work of a call of its region.
 * @param number  Process or GPU; LP_COMPARE_NOBODY: all. */
int lp_compare_put(struct lp_compare_reader *reader, struct lp_compare_key key,
                   struct lp_compare_mean mean, double whole_ms, uint32_t number);

/** Index of a region; SIZE_MAX: not found, or out of memory. */
size_t lp_compare_find_place(struct lp_compare_reader *reader, const char *path, bool make);

/** Index of a quantity of a region; SIZE_MAX: not found, or out of memory. */
size_t lp_compare_find_row(struct lp_compare_reader *reader, size_t place, const char *quantity,
                           bool make);

/** Host time of a region in a process; NULL: it did not run there. */
struct lp_compare_wall *lp_compare_find_wall(const struct lp_compare_reader *reader, size_t place,
                                             size_t process);

/** Work of all calls as the program counted it. */
struct lp_compare_work lp_compare_counted(const llmperf_region_stats *stats);

/** Derive missing work from enclosing regions and nested stages. Call it after all regions are
 * read. */
void lp_compare_share_work(struct lp_compare_reader *reader);

/** The maximum; 0 for no values. */
double lp_compare_most(const double *values, size_t count);

/** Mean per call on one GPU. */
struct lp_compare_mean lp_compare_mean_on(const struct lp_compare_reader *reader, size_t row,
                                          size_t gpu);
struct lp_compare_mean lp_compare_add_means(struct lp_compare_mean a, struct lp_compare_mean b);

/** Of a sampled stage: the mean of all calls and its error, from the estimate and its interval;
 * nothing changes if there is none. */
void lp_compare_use_estimate(struct lp_compare_mean *mean, const llmperf_iteration_stats *stats);

/** To be called in this order.
 * @param several  The run has several processes or GPUs. */
int lp_compare_read_regions(struct lp_compare_reader *reader);
int lp_compare_read_kernels(struct lp_compare_reader *reader);
int lp_compare_put_walls(struct lp_compare_reader *reader, bool several);
int lp_compare_put_kernels(struct lp_compare_reader *reader, bool several);
int lp_compare_put_iterations(struct lp_compare_reader *reader);
int lp_compare_put_requests(struct lp_compare_reader *reader);
int lp_compare_put_stages(struct lp_compare_reader *reader);

#endif
