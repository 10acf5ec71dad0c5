/* SPDX-License-Identifier: Apache-2.0 */
/** Tables of nsys stats from any number of files. Traces become a timeline, summaries become rows.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NSYS_CSV_H
#define LP_VENDOR_NSYS_CSV_H

#include "lib/vendor/csv.h"
#include "lib/vendor/timeline.h"
#include "lib/vendor/vendor.h"

/** Columns with a known meaning, independent of their name in a version. */
enum lp_nsys_column {
    COLUMN_TOTAL,
    COLUMN_COUNT,
    COLUMN_AVG,
    COLUMN_MED,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_STD,
    COLUMN_NAME,
    COLUMN_RANGE,
    COLUMN_STYLE,
    COLUMN_OPERATION,
    COLUMN_KERNEL,
    COLUMN_START,
    COLUMN_END,
    COLUMN_DURATION,
    COLUMN_CORRELATION,
    COLUMN_BYTES,
    COLUMN_DEVICE,
    COLUMN_STREAM,
    COLUMN_PID,
    COLUMN_TID,
    COLUMN_RESULT,
    COLUMN_LEVEL,
    COLUMN_PROJECTED, /* total or start on the device */
    COLUMN_PROJECTED_AVG,
    COLUMN_PROJECTED_MIN,
    COLUMN_PROJECTED_MAX,
    COLUMN_PROJECTED_STD,
    COLUMN_KERNEL_START,
    COLUMN_KERNEL_DURATION,
    COLUMN_COUNT_OF_COLUMNS
};

/** Reports of nsys stats. */
enum lp_nsys_report {
    REPORT_NONE,
    REPORT_KERNEL_SUM,
    REPORT_CALL_SUM,
    REPORT_MEMORY_TIME,
    REPORT_MEMORY_SIZE,
    REPORT_RANGE_SUM,
    REPORT_RANGE_KERNEL_SUM,
    REPORT_PROJECTION_SUM,
    REPORT_PROJECTION_TRACE,
    REPORT_RANGE_TRACE,
    REPORT_DEVICE_TRACE,
    REPORT_CALL_TRACE,
    REPORT_LAUNCH_TRACE
};

/** A table after its header was read. */
struct lp_nsys_table {
    struct lp_csv *csv;
    enum lp_nsys_report report;
    size_t columns[COLUMN_COUNT_OF_COLUMNS]; /* column numbers; SIZE_MAX: missing */
    double factors[COLUMN_COUNT_OF_COLUMNS]; /* to ns or bytes */
    size_t width;
};

/** Summary of a kernel, a kind of memcpy, or a range. Times in ns; NaN: not known. */
struct lp_nsys_sum {
    uint32_t name; /* of names */
    uint64_t count, bytes;
    double total, avg, med, min, max, std;
    bool has_time, has_bytes;
    uint32_t table; /* number of its table */
};

/** Summary of a region. */
struct lp_nsys_region {
    uint32_t node, process_id;
    uint64_t instances, kernels;
    double wall, avg, med, min, max, std; /* ns; NaN: not known */
    double kernel_time;                   /* ns, nested regions included */
    double projected_avg, projected_min, projected_max, projected_std; /* ns */
    bool has_kernels, has_projection;
};

struct lp_nsys_csv {
    uint32_t flags;
    struct lp_timeline timeline;
    LP_VECTOR(struct lp_span) projected_spans; /* of REPORT_PROJECTION_TRACE */
    LP_VECTOR(struct lp_host_call) calls;
    LP_VECTOR(struct lp_op) launches; /* of REPORT_LAUNCH_TRACE, each with its call */
    LP_VECTOR(struct lp_host_call) launch_calls;
    struct lp_names names;
    LP_VECTOR(struct lp_nsys_sum) kernels, memory;
    LP_VECTOR(struct lp_nsys_region) regions;
    struct lp_hashmap region_rows, memory_rows;
    uint64_t launch_calls_sum, graph_calls_sum, memory_calls_sum; /* of REPORT_CALL_SUM */
    uint64_t rows_cut, skipped;
    uint32_t tables, range_tables; /* number so far */
    bool has_call_sum;
};

/** Is this line the header of an nsys stats report? */
bool lp_nsys_csv_is_header(const char *line, size_t length);

/** Add the tables of a file. 0; LLMPERF_EFORMAT (no table, or not CSV), LLMPERF_ENOENT,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_nsys_csv_read(struct lp_nsys_csv *reader, const char *path);

/** Make a profile from them. 0; LLMPERF_EFORMAT (empty); LLMPERF_ENOMEM. */
int lp_nsys_csv_profile(struct lp_nsys_csv *reader, llmperf_profile **profile_out);

void lp_nsys_csv_clear(struct lp_nsys_csv *reader);

/** For lib/vendor/nsys/csv*.c: add a row of a table. 0 or LLMPERF_ENOMEM. */
int lp_nsys_csv_row(struct lp_nsys_csv *reader, const struct lp_nsys_table *table);

#endif
