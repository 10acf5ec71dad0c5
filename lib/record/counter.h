/* SPDX-License-Identifier: Apache-2.0 */
/** Layouts of hardware counter values. A session has one plan; facts refer to its columns. */
#ifndef LP_RECORD_COUNTER_H
#define LP_RECORD_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/** How two values of a column are combined. The numbers are stored in recordings. */
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
    const char *method; /* "range", "kernel", "pm" or "pc" */
    const char *replay; /* "none", "user", "kernel" */
    uint32_t passes;
    uint32_t time_column; /* device time in ns; `count`: no such column */
    uint64_t interval_ns; /* sampling interval of method "pm"; else 0 */
    const struct lp_counter_heading *columns;
    size_t count;
};

/** Kinds of facts. The numbers are stored in recordings. */
enum lp_counter_kind {
    LP_COUNTER_REGION = 1, /* one call of a region, nested ones included */
    LP_COUNTER_OWN = 2,    /* the same without nested regions, if there are any */
    LP_COUNTER_KERNEL = 3, /* one kernel of a region */
    LP_COUNTER_SAMPLE = 4, /* an interval of the device, without a region */
    LP_COUNTER_SKIP = 5,   /* a call that was not measured; the name is the reason; no values */
    LP_COUNTER_STALL = 6   /* samples of an instruction of a kernel, by stall reason */
};

#define LP_COUNTER_NO_OFFSET UINT64_MAX /* of instructions that found no row of their own */

/** The values are stored separately, one for each column. */
struct lp_counter_fact {
    uint64_t start_ns, end_ns; /* samples only */
    uint64_t offset;           /* stalls only: of the instruction in its function, in bytes */
    uint32_t kind;             /* enum lp_counter_kind */
    uint32_t node;             /* path */
    uint32_t name;             /* of a kernel, or the reason of a skipped call; see names.h */
    uint32_t source;           /* stalls only: "file:line"; "": unknown */
    uint16_t device;
    uint16_t reserved[3];
};

#endif
