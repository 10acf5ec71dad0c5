/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of lp_totals, for lib/profile only. */
#ifndef LP_PROFILE_TOTALS_H
#define LP_PROFILE_TOTALS_H

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/profile/busy.h"
#include "lib/profile/distribution.h"
#include "lib/profile/histogram.h"
#include "lib/profile/iterations.h"
#include "lib/profile/profile.h"

/** The work of instances of one path. */
struct lp_host_work {
    uint64_t quantities[LP_QUANTITIES];
    uint64_t derived_flops, derived_bytes; /* of instances whose work the model told */
    uint64_t derived, underived;           /* instances with and without */
};

/** What the host said of one path. */
struct lp_host_total {
    struct lp_distribution wall; /* of the complete instances */
    uint64_t truncated;
    struct lp_host_work work;
    /* The part of all this that triggered windows hold. */
    uint64_t window_instances, window_ns;
    uint64_t window_outer_ns; /* the part of window_ns that lies in no other region of it */
    struct lp_host_work window_work;
};

/** A path for which something ran on a device. What it was follows from the kernels' rows. */
struct lp_device_total {
    uint32_t node; /* LP_PATH_UNKNOWN: launch not seen */
    uint16_t device;
    uint32_t parent; /* row of the parent path on this device; LP_BUSY_TOP for the root */
};

struct lp_kernel_total {
    uint32_t node, captured, name;
    uint16_t device;
    uint8_t kind;
    uint8_t kernel_class;
    uint32_t row;  /* device total */
    uint32_t next; /* row of the activity that came after this one the last time: models repeat
                      themselves */
    uint64_t calls, bytes, total_ns, min_ns, max_ns;
    struct lp_histogram durations;
};

struct lp_totals {
    const struct lp_names *names;
    LP_VECTOR(struct lp_host_total) hosts; /* by node */
    LP_VECTOR(struct lp_device_total) devices;
    struct lp_busy busy; /* its rows are those of `devices` */
    LP_VECTOR(struct lp_kernel_total) kernels;
    struct lp_hashmap device_rows, kernel_rows;
    struct lp_iterations iterations;
    struct lp_work_source work_source;
    struct lp_watcher watcher;
    bool sampled;
    double sampled_share; /* of the time, for all regions alike; NaN: by stages */
    struct lp_classifier classifier;
    struct lp_counter_totals *counters; /* NULL: none */
    uint32_t last_kernel;               /* row of the activity before */
    bool failed;
};

/** The work of an instance of a stage: what the program counted stands, the rest is derived. */
void lp_totals_derive_work(struct lp_totals *totals, struct lp_unit_work *unit);

#endif
