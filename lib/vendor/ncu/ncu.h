/* SPDX-License-Identifier: Apache-2.0 */
/** Results of ncu from any number of tables and reports: metrics of kernels and ranges.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NCU_NCU_H
#define LP_VENDOR_NCU_NCU_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/vendor/csv.h"
#include "lib/vendor/gpus.h"
#include "lib/vendor/vendor.h"

/** Limit of values: metrics times kernels and ranges. */
#define LP_NCU_VALUES_MOST (UINT32_C(1) << 21)

/** Name of a metric. */
struct lp_ncu_metric {
    const char *name, *unit, *group; /* base unit; group NULL: page raw */
    double factor;                   /* from the unit of the table to the base unit */
};

/** Results of a metric of a target; sums are of the differences from the first value. */
struct lp_ncu_value {
    uint32_t target, metric;
    uint32_t count;
    uint32_t text;           /* text; LP_HASHMAP_NONE: none; LP_NCU_TEXTS_DIFFER */
    uint32_t file, reserved; /* file: of the value */
    double first, sum, squares, min, max;
};
#define LP_NCU_TEXTS_DIFFER (LP_HASHMAP_NONE - 1)

/** Target of results: a kernel in a region, or a range. */
struct lp_ncu_target {
    uint32_t node; /* path */
    uint32_t name; /* kernel; LP_HASHMAP_NONE: a range */
    int32_t device;
    uint32_t process_id;
    uint64_t results;              /* distinct results in all files */
    uint32_t raw_file;             /* first file with its page raw; 0: none */
    uint32_t summary;              /* value that sums up durations; LP_HASHMAP_NONE: none */
    uint32_t duration_file;        /* file of the durations */
    uint32_t duration_raw;         /* page raw or details of the durations: a table may have both */
    LP_VECTOR(uint64_t) durations; /* ns, one for each result */
};

struct lp_ncu {
    uint32_t flags;
    struct lp_names texts;
    struct lp_strings pool;
    LP_VECTOR(struct lp_ncu_metric) metrics;
    struct lp_hashmap
        metric_rows; /* (hash of name, unit, group; counter of collisions) -> metric */
    LP_VECTOR(struct lp_ncu_target) targets;
    struct lp_hashmap target_rows; /* (node and name, device and process) -> target */
    LP_VECTOR(struct lp_ncu_value) values;
    struct lp_hashmap value_rows;  /* (target, metric) -> value */
    struct lp_hashmap result_rows; /* counted results -> number of occurrences in a file */
    uint32_t file, tables;         /* current file, from 1; tables so far */
    uint64_t results, ranges;      /* distinct results; those of ranges */
    uint64_t rows_cut, commas, left_out;
    uint64_t created_s;                  /* UTC of the first result of a report; 0: not known */
    uint64_t results_cut, units_missing; /* in reports: truncated results; metrics without a unit */
    LP_VECTOR(struct lp_gpu_fact) gpus;
    char error[256]; /* error printed by ncu; "": none */
};

/** Is this line the header of a table of ncu? */
bool lp_ncu_is_header(const char *line, size_t length);

/** Is the first table of a file from ncu's page "raw"? 0 or a read error. */
int lp_ncu_is_raw(const char *path, bool *raw_out);

/** Add the tables of a file. 0; LLMPERF_EFORMAT (no table, or damaged), LLMPERF_ENOENT,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_ncu_read(struct lp_ncu *ncu, const char *path);

/** Row of the target, added if new; LP_HASHMAP_NONE: out of memory.
 * @param kernel  NULL: a range */
uint32_t lp_ncu_target(struct lp_ncu *ncu, uint32_t node, const char *kernel, int32_t device,
                       uint32_t process_id);

/** Row of the metric, added if new; LP_HASHMAP_NONE: out of memory.
 * @param group  NULL: none */
uint32_t lp_ncu_metric(struct lp_ncu *ncu, const char *name, const char *unit, const char *group);

/** Add `count` results of a target with this id. *again_out: an earlier file had them, so they do
 * not count. 0 or LLMPERF_ENOMEM. */
int lp_ncu_result(struct lp_ncu *ncu, uint32_t target, uint64_t id, uint64_t count,
                  bool *again_out);

/** Value of a metric of a target, added if new; NULL: out of memory, or too many values. */
struct lp_ncu_value *lp_ncu_value(struct lp_ncu *ncu, uint32_t target, uint32_t metric);

/** Add a table cell to a value.
 * @param again  The result is not new: only values that earlier files lack are added.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_ncu_put(struct lp_ncu *ncu, struct lp_ncu_value *value, const struct lp_field *cell,
               bool again);

/** The same for a number (ignored unless finite) or a text that is not a table cell. */
int lp_ncu_put_number(struct lp_ncu *ncu, struct lp_ncu_value *value, double number, bool again);
int lp_ncu_put_text(struct lp_ncu *ncu, struct lp_ncu_value *value, const char *text, bool again);

/** Add a GPU of results.
 * @param device  Below 0: not known.
 * @param major  0: not known.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_ncu_note_gpu(struct lp_ncu *ncu, int32_t device, int major, int minor);

/** Set mean, minimum and maximum of `count` results. */
void lp_ncu_put_summary(struct lp_ncu *ncu, struct lp_ncu_value *value, uint64_t count,
                        const double numbers[3]);

/** Add the results of a report (.ncu-rep). 0; LLMPERF_EFORMAT (another version, no results, or
 * damaged), LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_ncu_report_read(struct lp_ncu *ncu, const char *path);

/** Add everything to a profile. If that has kernels and regions of another tool, only metrics are
 * added, under that tool's names where they match. 0 or LLMPERF_ENOMEM. */
int lp_ncu_emit(struct lp_ncu *ncu, llmperf_profile *profile, bool has_timeline);

void lp_ncu_clear(struct lp_ncu *ncu);

#endif
