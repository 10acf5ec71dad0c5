/* SPDX-License-Identifier: Apache-2.0 */
/** Results of ncu: what was measured of which kernel or range, from any number of tables.
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

/** Most values that are kept: metrics times kernels and ranges. */
#define LP_NCU_VALUES_MOST (UINT32_C(1) << 21)

/** What a metric is called. */
struct lp_ncu_metric {
    const char *name, *unit, *group; /* base unit; group NULL: page raw */
    double factor;                   /* from the unit of the table to the base unit */
};

/** Results of a metric of a target; sums are of differences from the first value. */
struct lp_ncu_value {
    uint32_t target, metric;
    uint32_t count;
    uint32_t text;           /* of texts; LP_HASHMAP_NONE: none; LP_NCU_TEXTS_DIFFER */
    uint32_t file, reserved; /* that the value is from */
    double first, sum, squares, min, max;
};
#define LP_NCU_TEXTS_DIFFER (LP_HASHMAP_NONE - 1)

/** A kernel in a region, or a range: what results belong to. */
struct lp_ncu_target {
    uint32_t node; /* path */
    uint32_t name; /* of texts; LP_HASHMAP_NONE: a range */
    int32_t device;
    uint32_t process_id;
    uint64_t results;              /* different ones, over all files */
    uint32_t raw_file;             /* that has its page raw; 0: none yet */
    uint32_t summary;              /* value that sums up durations; LP_HASHMAP_NONE: none */
    uint32_t duration_file;        /* that durations are from */
    uint32_t duration_raw;         /* of page raw or details: a table may have both */
    LP_VECTOR(uint64_t) durations; /* ns, one a result */
};

struct lp_ncu {
    uint32_t flags;
    struct lp_names texts;
    struct lp_strings pool;
    LP_VECTOR(struct lp_ncu_metric) metrics;
    struct lp_hashmap metric_rows; /* (hash of name, unit, group; twin) -> metric */
    LP_VECTOR(struct lp_ncu_target) targets;
    struct lp_hashmap target_rows; /* (node and name, device and process) -> target */
    LP_VECTOR(struct lp_ncu_value) values;
    struct lp_hashmap value_rows;  /* (target, metric) -> value */
    struct lp_hashmap result_rows; /* results that were counted; how often each was in a file */
    uint32_t file, tables;         /* number of the current file, from 1; tables so far */
    uint64_t results, ranges;      /* different ones; the part of them that are ranges */
    uint64_t rows_cut, commas, left_out;
    uint64_t results_cut, units_missing; /* of reports; metrics of them */
    LP_VECTOR(struct lp_gpu_fact) gpus;
    char error[256]; /* what ncu itself printed; "": nothing */
};

/** Is this line the header of a table of ncu? */
bool lp_ncu_is_header(const char *line, size_t length);

/** Is the first table of a file page raw? 0 or an error of reading. */
int lp_ncu_is_raw(const char *path, bool *raw_out);

/** Add the tables of a file. 0; LLMPERF_EFORMAT (no table, or damaged), LLMPERF_ENOENT,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_ncu_read(struct lp_ncu *ncu, const char *path);

/** Row of the target, made if it is new; LP_HASHMAP_NONE without memory. @param kernel  NULL: a
 * range
 */
uint32_t lp_ncu_target(struct lp_ncu *ncu, uint32_t node, const char *kernel, int32_t device,
                       uint32_t process_id);

/** Row of the metric; LP_HASHMAP_NONE without memory. @param group  NULL: none */
uint32_t lp_ncu_metric(struct lp_ncu *ncu, const char *name, const char *unit, const char *group);

/** `count` results of a target under an id. *again_out: another file brought them already, so they
 * do not count. 0 or LLMPERF_ENOMEM. */
int lp_ncu_result(struct lp_ncu *ncu, uint32_t target, uint64_t id, uint64_t count,
                  bool *again_out);

/** The value of a metric of a target; NULL without memory, or if there are too many. */
struct lp_ncu_value *lp_ncu_value(struct lp_ncu *ncu, uint32_t target, uint32_t metric);

/** Put a cell into a value. @param again  the result is not new: only values that other files did
 * not bring are taken. 0 or LLMPERF_ENOMEM. */
int lp_ncu_put(struct lp_ncu *ncu, struct lp_ncu_value *value, const struct lp_field *cell,
               bool again);

/** The same for a value that is not a table cell: a number (ignored if not finite) or a text. */
int lp_ncu_put_number(struct lp_ncu *ncu, struct lp_ncu_value *value, double number, bool again);
int lp_ncu_put_text(struct lp_ncu *ncu, struct lp_ncu_value *value, const char *text, bool again);

/** A GPU that results are of. @param device  below 0: not known. @param major  0: not known. 0 or
 * LLMPERF_ENOMEM. */
int lp_ncu_note_gpu(struct lp_ncu *ncu, int32_t device, int major, int minor);

/** Put mean, least and greatest of `count` results into a value. */
void lp_ncu_put_summary(struct lp_ncu *ncu, struct lp_ncu_value *value, uint64_t count,
                        const double numbers[3]);

/** Add the results of a report (.ncu-rep). 0; LLMPERF_EFORMAT (another version, no results, or
 * damaged), LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_ncu_report_read(struct lp_ncu *ncu, const char *path);

/** Put what was read into a profile, which may have kernels and regions of another tool already:
 * then only metrics are added, under that tool's names where they mean the same. 0 or
 * LLMPERF_ENOMEM. */
int lp_ncu_emit(struct lp_ncu *ncu, llmperf_profile *profile, bool has_timeline);

void lp_ncu_clear(struct lp_ncu *ncu);

#endif
