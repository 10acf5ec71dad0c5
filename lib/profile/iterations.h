/* SPDX-License-Identifier: Apache-2.0 */
/** Single calls of stages (iterations) and the spread of their times. A unit is a call whose
 * records are being collected; it includes the units nested in it. For lib/profile only. */
#ifndef LP_PROFILE_ITERATIONS_H
#define LP_PROFILE_ITERATIONS_H

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"
#include "lib/statistics/busy.h"
#include "lib/statistics/distribution.h"
#include "lib/statistics/warm_up.h"
#include "lib/profile/energy/energy.h"
#include "lib/profile/fields.h"
#include "lib/profile/host/host_calls.h"
#include "lib/profile/iteration_ring.h"
#include "lib/profile/kept_call.h"
#include "lib/profile/profile.h"
#include "lib/statistics/stage_sampling.h"
#include "lib/profile/windows.h"

/** A device interval and the time of its launch call, see lp_queued(). */
struct lp_span {
    uint64_t start_ns;
    uint32_t length_ns, queued;
};

/** When the device had finished the units that are done, of those that follow one another. */
struct lp_device_end {
    uint64_t ns;  /* 0: none had device work */
    bool unknown; /* device work of the newest one was not collected */
};

/** Sums over intervals on a device, in the order of their starts. */
struct lp_span_sums {
    uint64_t frontier_ns; /* last end */
    uint64_t busy_ns, idle_launch_ns, idle_wait_ns;
    uint64_t idle_host_ns; /* the GPU waits for a launch for LP_HOST_GAP_NS or more */
    uint64_t queued_ns;    /* from launch call to start, sum over activities */
    uint64_t latency_ns;   /* launch_latency_ns of struct lp_iterations, while they are added */
};

/** What is known of a unit so far. */
struct lp_unit_work {
    uint32_t unit, parent, node;
    uint32_t window; /* triggered window that contains it; 0: none */
    bool truncated;
    bool collected;     /* its device work is collected */
    uint32_t chance;    /* LP_CHANCE_… of that; 0: not known */
    bool in_other_unit; /* its window counts an enclosing unit, which includes it */
    uint64_t begin_ns, end_ns;
    uint64_t quantities[LP_QUANTITIES];
    uint64_t activities;
    uint64_t class_ns[LLMPERF_ITERATION_CLASSES];
    LP_VECTOR(struct lp_span) spans; /* not folded yet */
    bool spans_unsorted;
    lp_unit_calls calls;          /* by its thread, not in nested units */
    bool calls_left_out;          /* there were more than LP_UNIT_CALLS */
    uint64_t first_ns, summed_ns; /* start of the first and of the last folded one */
    struct lp_span_sums sums;     /* of the folded ones */
    struct lp_device_end nested;  /* of the units directly in it */
    uint64_t started_ns;          /* begin of its elapsed time */
    struct lp_kept_call kept;
    lp_sampled_times times[LP_SAMPLED_BY]; /* of a sampled unit */
};

/** All activities of a device. */
struct lp_device_work {
    uint16_t device;
    uint64_t latency_ns; /* as launch_latency_ns of struct lp_iterations */
    struct lp_unit_work work;
};

/** One of the first calls of a stage. Whether they are warm-up is known in the end. */
struct lp_held_call {
    llmperf_iteration row;
    uint32_t chance; /* as in struct lp_unit_work */
    bool in_window;  /* triggered */
};

/** All finished units of one stage. `times`, `classes` and `steady` are of those after the held
 * ones. */
struct lp_stage_total {
    uint32_t node;
    char *path;
    uint64_t calls, calls_ns; /* their wall time */
    struct lp_distribution times[LP_TIMES];
    /* Units with device work, their wall time and activities, without triggered windows. */
    uint64_t collected, collected_ns, activities;
    struct lp_stage_amount {
        uint64_t instances; /* units that have it */
        double all, collected;
    } flops, tokens;                     /* given by the program, for the same units */
    uint64_t window_units, window_ns;    /* units in triggered windows */
    LP_VECTOR(struct lp_held_call) held; /* LP_WARM_UP_HELD, by their begin */
    struct lp_kept_call kept;
    struct lp_distribution *classes[LLMPERF_ITERATION_CLASSES]; /* NULL: the class did not run */
    /* NULL: its calls are not sampled. `steady`: without times by kernel and region. */
    struct lp_stage_sampling *sampling, *steady;
};

/** Add a call to times, classes and steady of a stage. 0 or LLMPERF_ENOMEM. */
int lp_stage_add_call(struct lp_stage_total *stage, const struct lp_held_call *call);

/** Free its calls and times. */
void lp_stage_clear(struct lp_stage_total *stage);

struct lp_iterations {
    LP_VECTOR(struct lp_unit_work *) works; /* by slot of the unit; NULL: unused */
    LP_VECTOR(struct lp_stage_total) stages;
    struct lp_hashmap stage_rows; /* by node */
    LP_VECTOR(struct lp_device_work) devices;
    struct lp_hashmap begun; /* collected calls of a stage that begun, by node; of some stages */
    struct lp_busy active;   /* row and queue of each stage: when calls were in progress */
    struct lp_iteration_ring *recent;
    struct lp_windows windows;
    struct lp_host_calls host_calls;
    /* Time from a launch call to its start on an idle GPU: median over launches to an idle GPU; 0:
     * none. */
    uint64_t launch_latency_ns;
    struct lp_device_end outermost; /* of units that are in no other */
    struct lp_energy energy;
    uint64_t sequence;  /* of the newest iteration */
    uint64_t late;      /* activities that came after their unit was done */
    uint64_t unordered; /* activities that started before the folded part */
    bool sampled;       /* units were chosen by chance */
    bool failed;
};

/** 0 or LLMPERF_ENOMEM. */
int lp_iterations_init(struct lp_iterations *iterations);

void lp_iterations_begin(struct lp_iterations *iterations, uint32_t unit, uint32_t parent,
                         uint32_t node, uint64_t begin_ns, bool collected, uint32_t window);

/** @param chance  LP_CHANCE_… with which the unit was collected; 0: not known. */
void lp_iterations_chance(struct lp_iterations *iterations, uint32_t unit, uint32_t chance);
void lp_iterations_count(struct lp_iterations *iterations, uint32_t unit, uint32_t quantity,
                         uint64_t amount);

/** The work of a unit that has ended; NULL: it is not followed. */
struct lp_unit_work *lp_iterations_end(struct lp_iterations *iterations, uint32_t unit,
                                       uint64_t end_ns, bool truncated);

void lp_iterations_add(struct lp_iterations *iterations, const struct lp_activity *activity,
                       uint8_t kernel_class);

/** The unit that sampling chose, which is the given one or one around it; NULL: none. */
struct lp_unit_work *lp_iterations_sampled(const struct lp_iterations *iterations, uint32_t unit);

/** Count an activity of any or no unit for its device. */
void lp_iterations_add_to_device(struct lp_iterations *iterations,
                                 const struct lp_activity *activity);

/** A call of the driver on the thread of the innermost unit. */
void lp_iterations_call(struct lp_iterations *iterations, uint32_t unit,
                        const struct lp_record *call);

/** A unit is complete: append it as an iteration.
 * @param with_device  Device times are valid.
 * @return false: it was truncated. */
bool lp_iterations_done(struct lp_iterations *iterations, uint32_t unit, bool with_device,
                        uint32_t *node_out, llmperf_iteration *row_out);

/** Triggered window of an activity; NULL: none. */
struct lp_window_total *lp_iterations_window(struct lp_iterations *iterations,
                                             const struct lp_activity *activity);

/** Wall time of the calls among which sampling chose: those outside of triggered windows. */
static inline uint64_t lp_stage_sampled_ns(const struct lp_stage_total *stage)
{
    return stage->calls_ns - stage->window_ns;
}

/** Share of each path's work that was collected; 1 for all if `sampled` is false. A path in a
 * sampled stage has the stage's share. A path around sampled stages has their mean, weighted by
 * host time; other paths have 0. The share of a stage is of its FLOPs, else of its tokens, if all
 * calls have them, else of its calls. Host time is not used because collecting makes a call
 * longer. */
void lp_iterations_fractions(const struct lp_iterations *iterations, bool sampled,
                             double *fractions, uint32_t nodes, uint32_t count);

/** The share of all sampled stages together; 0: none was sampled. */
double lp_iterations_fraction(const struct lp_iterations *iterations);

/** Set the times of a stage's calls; NaN for other paths. All intervals must be settled. */
void lp_iterations_fill(const struct lp_iterations *iterations, uint32_t node,
                        llmperf_region_stats *stats);

/** Set what the sample says of all calls, in a row of the totals that has all its other times.
 * @param all  All calls were collected. */
void lp_iterations_estimate_region(const struct lp_iterations *iterations, uint32_t node,
                                   size_t row, llmperf_region_stats *stats);
void lp_iterations_estimate_kernel(const struct lp_iterations *iterations, uint32_t node,
                                   size_t row, bool all, llmperf_kernel_stats *stats);

/** Add the rows so far to a profile. 0 or LLMPERF_ENOMEM. */
int lp_iterations_freeze(struct lp_iterations *iterations, const struct lp_names *names,
                         const struct lp_classifier *classifier, llmperf_profile *profile);

/** Add the rows of devices. 0 or LLMPERF_ENOMEM. */
int lp_devices_freeze(struct lp_iterations *iterations, uint32_t process_id,
                      llmperf_profile *profile);

void lp_iterations_clear(struct lp_iterations *iterations);

#endif
