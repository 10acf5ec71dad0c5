/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of a profile in documents, from the tables of lib/profile/fields.h.
 * @threads any thread */
#ifndef LP_OUTPUT_FORMAT_ROW_FIELDS_H
#define LP_OUTPUT_FORMAT_ROW_FIELDS_H

#include "lib/output/format/json_writer.h"
#include "lib/output/format/metrics_put.h"
#include "lib/profile/fields.h"

/** A row for documents. Without a device source the launch counts of the ledger are unknown.
 * @param ledger  Buffer for a ledger. */
const void *lp_shown_row(const llmperf_profile *profile, enum lp_row_id id, size_t index,
                         llmperf_ledger *ledger);

/** Add a field's value under `key`; null if unknown. */
void lp_field_json(struct lp_json *json, const struct lp_row_field *field, const char *key,
                   const void *row);

/** Add the members of a row that have a name in metrics.json in fields.h. */
void lp_row_json(struct lp_json *json, enum lp_row_id id, const void *row);

/** The same, with reasons for null values.
 * @param object  Only members of this object; NULL: only those outside of objects.
 * @param instances  Complete calls of the row; some values need one. */
void lp_put_row(struct lp_metrics *metrics, enum lp_row_id id, const char *object, const void *row,
                uint64_t instances);

#endif
