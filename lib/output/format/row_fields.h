/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of a profile as documents show them, by the tables of lib/profile/fields.h.
 * @threads any thread */
#ifndef LP_OUTPUT_FORMAT_ROW_FIELDS_H
#define LP_OUTPUT_FORMAT_ROW_FIELDS_H

#include "lib/output/format/json_writer.h"
#include "lib/output/format/metrics_put.h"
#include "lib/profile/fields.h"

/** A row. Launches that nobody counted, because there was no device source, are unknown in it.
 * @param ledger  Room for one. */
const void *lp_shown_row(const llmperf_profile *profile, enum lp_row_id id, size_t index,
                         llmperf_ledger *ledger);

/** Add a field's value under `key`; what is not known is null. */
void lp_field_json(struct lp_json *json, const struct lp_row_field *field, const char *key,
                   const void *row);

/** Add the members of a row that fields.h gives a name in metrics.json. */
void lp_row_json(struct lp_json *json, enum lp_row_id id, const void *row);

/** The same, with the reasons of what is null. @param object  Its members alone; NULL: those of
 * none. @param instances  Complete ones of the row; what needs one is null without. */
void lp_put_row(struct lp_metrics *metrics, enum lp_row_id id, const char *object, const void *row,
                uint64_t instances);

#endif
