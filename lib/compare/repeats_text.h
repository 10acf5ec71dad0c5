/* SPDX-License-Identifier: Apache-2.0 */
/** Repeats as JSON. The text keeps a failed allocation.
 * @threads one at a time per object */
#ifndef LP_COMPARE_REPEATS_TEXT_H
#define LP_COMPARE_REPEATS_TEXT_H

#include "lib/output/format/json_writer.h"
#include "lib/compare/repeats.h"

void lp_repeats_json(const struct lp_repeats *repeats, struct lp_text *out);

#endif
