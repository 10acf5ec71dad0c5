/* SPDX-License-Identifier: Apache-2.0 */
/** Layouts of what hardware counters tell. A session has one plan; facts refer to its columns. */
#ifndef LP_RECORD_COUNTER_H
#define LP_RECORD_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/** How two values of one column become one. Values stand in recordings. */
enum lp_counter_combine {
    LP_COUNTER_SUM = 1,  /* they add up */
    LP_COUNTER_MEAN = 2, /* weighted by device time */
    LP_COUNTER_MAX = 3,
    LP_COUNTER_MIN = 4
};

struct lp_counter_heading {
    const char *quantity, *metric, *unit; /* "dram_read_bytes", "dram__bytes_read.sum", "byte" */
    uint32_t combine;                     /* enum lp_counter_combine */
};

/** What is collected and how. */
struct lp_counter_plan {
    const char *chip, *preset;
    const char *method; /* "range", "kernel" or "pm" */
    const char *replay; /* "none", "user", "kernel" */
    uint32_t passes;
    uint32_t time_column; /* device time in ns; `count`: none */
    uint64_t interval_ns; /* pm: between two samples; else 0 */
    const struct lp_counter_heading *columns;
    size_t count;
};

/** Kinds of facts. Values stand in recordings. */
enum lp_counter_kind {
    LP_COUNTER_PART =
        1, /* a stretch of a region between its nested ones; instances: 1 with its last */
    LP_COUNTER_KERNEL = 2, /* one kernel */
    LP_COUNTER_SAMPLE = 3, /* start to end of the device's time; no region */
    LP_COUNTER_SKIP = 4    /* instances of a region that were not measured; name says why */
};

/** A fact; its values stand apart, one a column. */
struct lp_counter_fact {
    uint64_t start_ns, end_ns; /* samples only */
    uint32_t kind;             /* enum lp_counter_kind */
    uint32_t node;             /* path */
    uint32_t name;             /* kernel, or the reason of a skip; see names.h */
    uint32_t instances;
    uint16_t device;
    uint16_t reserved[3];
};

#endif
