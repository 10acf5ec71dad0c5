/* SPDX-License-Identifier: Apache-2.0 */
/** Instances of stages one by one, and how their times are spread: for lib/profile only. A unit
 * takes what was launched in it and in the units nested in it. */
#ifndef LP_PROFILE_ITERATIONS_H
#define LP_PROFILE_ITERATIONS_H

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"
#include "lib/profile/distribution.h"
#include "lib/profile/fields.h"
#include "lib/profile/iteration_ring.h"
#include "lib/profile/profile.h"
#include "lib/profile/windows.h"

/** A piece of device work, and when its launch was called: lp_queued(). */
struct lp_span {
    uint64_t start_ns;
    uint32_t length_ns, queued;
};

/** What is known of an instance while it is followed. */
struct lp_unit_work {
    uint32_t unit, parent, node;
    uint32_t window; /* triggered window that it lies in; 0: none */
    bool truncated;
    bool collected;     /* its device work is */
    bool in_other_unit; /* that its window counts in the same way: its times are in that one's */
    uint64_t begin_ns, end_ns;
    uint64_t quantities[LP_QUANTITIES];
    uint64_t activities;
    uint64_t class_ns[LLMPERF_ITERATION_CLASSES];
    LP_VECTOR(struct lp_span) spans; /* not yet folded */
    bool spans_sorted_not;
    uint64_t first_ns, frontier_ns; /* of what was folded: first start, last end */
    uint64_t summed_ns;             /* start of the last that was folded */
    uint64_t busy_ns, idle_launch_ns, idle_wait_ns;
};

/** All finished instances of one stage. */
struct lp_stage_total {
    uint32_t node;
    char *path;
    struct lp_distribution times[LP_TIMES];
    /* Instances with their device work, their wall time and activities; not of triggered windows.
     */
    uint64_t collected, collected_ns, activities;
    struct lp_stage_amount {
        uint64_t instances; /* that have it */
        double all, collected;
    } flops, tokens;                  /* given by the program; of the same instances */
    uint64_t window_units, window_ns; /* instances that lie in triggered windows */
    struct lp_distribution *classes[LLMPERF_ITERATION_CLASSES]; /* NULL: did not run */
};

struct lp_iterations {
    LP_VECTOR(struct lp_unit_work *) works; /* by slot of the unit; NULL: never used */
    LP_VECTOR(struct lp_stage_total) stages;
    struct lp_hashmap stage_rows; /* by node */
    struct lp_iteration_ring *recent;
    struct lp_windows windows;
    /* From a call to its work on an idle device: the median over calls that came while it was idle;
     * 0: none was seen. */
    uint64_t launch_latency_ns;
    uint64_t sequence;  /* of the newest */
    uint64_t late;      /* activities of units that were done */
    uint64_t unordered; /* that began before what was summed up already */
    bool failed;
};

/** 0 or LLMPERF_ENOMEM. */
int lp_iterations_init(struct lp_iterations *iterations);

void lp_iterations_begin(struct lp_iterations *iterations, uint32_t unit, uint32_t parent,
                         uint32_t node, uint64_t begin_ns, bool collected, uint32_t window);
void lp_iterations_count(struct lp_iterations *iterations, uint32_t unit, uint32_t quantity,
                         uint64_t amount);

/** The work of a unit whose end is known; NULL: it is not followed. */
struct lp_unit_work *lp_iterations_end(struct lp_iterations *iterations, uint32_t unit,
                                       uint64_t end_ns, bool truncated);

void lp_iterations_add(struct lp_iterations *iterations, const struct lp_activity *activity,
                       uint8_t kernel_class);

/** A unit is complete: it becomes an iteration. `with_device`: device times mean something. false:
 * it was cut. */
bool lp_iterations_done(struct lp_iterations *iterations, uint32_t unit, bool with_device,
                        uint32_t *node_out, llmperf_iteration *row_out);

/** The triggered window that an activity belongs to; NULL: none. */
struct lp_window_total *lp_iterations_window(struct lp_iterations *iterations,
                                             const struct lp_activity *activity);

/** Wall time of the instances that sampling chose from: those outside of triggered windows. */
static inline uint64_t lp_stage_sampled_ns(const struct lp_stage_total *stage)
{
    return stage->times[LP_TIME_WALL].sum_ns - stage->window_ns;
}

/** Share of the work of each path that was collected. Collecting makes an instance longer, so its
 * host time does not tell: FLOPs do, else tokens, if all instances of a stage have them, else their
 * number. `sampled` false: all of it. Else that of the stage it lies in, or of the stages that lie
 * in it together (weighted by host time); 0 of neither. */
void lp_iterations_fractions(const struct lp_iterations *iterations, bool sampled,
                             double *fractions, uint32_t nodes, uint32_t count);

/** That of all sampled stages together; 0: none was. */
double lp_iterations_fraction(const struct lp_iterations *iterations);

/** Rows of what is done now into a profile. 0 or LLMPERF_ENOMEM. */
int lp_iterations_freeze(const struct lp_iterations *iterations,
                         const struct lp_classifier *classifier, llmperf_profile *profile);

void lp_iterations_clear(struct lp_iterations *iterations);

#endif
