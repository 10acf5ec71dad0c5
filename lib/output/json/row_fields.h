/* SPDX-License-Identifier: Apache-2.0 */
/** The fields of a profile's rows by name, for exports that list all of them. @threads any thread
 */
#ifndef LP_OUTPUT_JSON_ROW_FIELDS_H
#define LP_OUTPUT_JSON_ROW_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/output/format/json_writer.h"
#include "llmperf/profile.h"

enum lp_field_type {
    LP_FIELD_TEXT,
    LP_FIELD_WORD,   /* uint32_t */
    LP_FIELD_DEVICE, /* int32_t, -1: none */
    LP_FIELD_COUNT,  /* uint64_t, LLMPERF_UNKNOWN: not known */
    LP_FIELD_NUMBER  /* double, NaN: not known */
};

struct lp_field_name {
    const char *name;
    enum lp_field_type type;
    size_t offset;
};

/** One kind of rows. */
struct lp_row_kind {
    const char *name; /* "region" */
    const struct lp_field_name *fields;
    size_t field_count;
    size_t (*count)(const llmperf_profile *profile);
    /** Fills a union lp_any_row. */
    int (*get)(const llmperf_profile *profile, size_t index, void *row);
};

/** Room for a row of any kind. */
union lp_any_row {
    llmperf_region_stats region;
    llmperf_kernel_stats kernel;
    llmperf_operator_stats operators;
    llmperf_iteration_stats iteration;
    llmperf_metric_stats metric;
    llmperf_ledger ledger;
};

/** All kinds; the ledger comes first and is one row. */
extern const struct lp_row_kind lp_row_kinds[];
extern const size_t lp_row_kind_count;

/** Add a field's value; what is not known is null. */
void lp_field_json(struct lp_json *json, const struct lp_field_name *field, const void *row);

/** Is it known? */
bool lp_field_known(const struct lp_field_name *field, const void *row);

#endif
