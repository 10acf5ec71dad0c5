/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of lp_totals, for lib/profile only. */
#ifndef LP_PROFILE_TOTALS_H
#define LP_PROFILE_TOTALS_H

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/statistics/busy.h"
#include "lib/profile/collectives.h"
#include "lib/statistics/distribution.h"
#include "lib/statistics/histogram.h"
#include "lib/profile/iterations.h"
#include "lib/profile/host/memory.h"
#include "lib/profile/profile.h"

/** Work of the calls of one path. */
struct lp_host_work {
    uint64_t quantities[LP_QUANTITIES];
    uint64_t derived_flops, derived_bytes; /* of calls whose work the model gave */
    uint64_t derived, underived;           /* calls with and without work from the model */
};

/** Host records of one path. */
struct lp_host_total {
    struct lp_distribution wall; /* of complete calls */
    uint64_t truncated;
    struct lp_host_work work;
    /* The part of the above in triggered windows. */
    uint64_t window_instances, window_ns;
    uint64_t window_outer_ns; /* the part of window_ns outside of nested windows */
    struct lp_host_work window_work;
};

/** A path with device work. Details are in the kernel rows. */
struct lp_device_total {
    uint32_t node; /* LP_PATH_UNKNOWN: launch not seen */
    uint16_t device;
    uint32_t parent; /* row of the parent path on this device; LP_BUSY_TOP for the root */
};

/** Most shapes of a kernel row that have totals of their own; the others have one together. */
#define LP_KERNEL_SHAPES 64u

/** The calls of a kernel row that have one shape. */
#define LP_SHAPE_SIZE 16
static_assert(LP_SHAPES_LIMIT <= 1u << LP_SHAPE_SIZE, "a shape and a size share 32 bits");

struct lp_shape_total {
    uint32_t kernel; /* row of the kernel */
    uint32_t shape;  /* LP_SHAPE_OTHER: all that found no row of their own; memcpys: and from bit
                        LP_SHAPE_SIZE on the bits of their size */
    uint32_t next;   /* row of the shape that came after this one the last time */
    uint64_t calls, bytes, total_ns, min_ns, max_ns, first_ns;
    uint64_t timed_calls, call_ns; /* those whose launch call has a known length; Σ of it */
};

struct lp_kernel_total {
    uint32_t node, captured, name;
    uint16_t device;
    uint8_t kind;
    uint8_t kernel_class;
    uint32_t row;    /* device total */
    uint32_t next;   /* row of the activity that followed this one last time: models repeat the same
                        sequence */
    uint32_t shapes; /* shape totals, without the one of the others */
    uint32_t last_shape; /* row of the shape before; LP_HASHMAP_NONE: none */
    uint64_t calls, bytes, total_ns, min_ns, max_ns;
    struct lp_histogram durations;
    struct lp_overlap overlap; /* of a collective */
};

struct lp_totals {
    const struct lp_names *names;
    LP_VECTOR(struct lp_host_total) hosts; /* by node */
    LP_VECTOR(struct lp_device_total) devices;
    struct lp_busy busy; /* has the rows of `devices` */
    LP_VECTOR(struct lp_kernel_total) kernels;
    LP_VECTOR(struct lp_shape_total) shapes;
    struct lp_hashmap device_rows, kernel_rows, shape_rows;
    struct lp_iterations iterations;
    struct lp_memory memory;
    struct lp_work_source work_source;
    struct lp_watcher watcher;
    struct lp_totals_filter filter; /* NULL functions: none */
    bool imported;                  /* from a file of another profiler */
    bool sampled;
    double sampled_share; /* of the time, for all regions alike; NaN: by stage */
    struct lp_classifier classifier;
    uint8_t collective_class; /* number of the class of collectives; 0: there is none */
    struct lp_collectives collectives;
    struct lp_counter_totals *counters; /* NULL: none */
    uint32_t last_kernel;               /* row of the previous activity */
    bool failed;
};

/** Add the rows of device memory so far to a profile. 0 or LLMPERF_ENOMEM. */
int lp_memory_freeze(const struct lp_memory *memory, uint32_t process_id, llmperf_profile *profile);
/** Add rows of the energy so far, and that of stages to their rows. 0 or LLMPERF_ENOMEM. */
int lp_energy_freeze(const struct lp_energy *energy, uint32_t process_id, llmperf_profile *profile);

/** Work of a call of a stage: what the program counted is kept, the rest comes from the model. */
void lp_totals_derive_work(struct lp_totals *totals, struct lp_unit_work *unit);

#endif
