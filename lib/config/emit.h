/* SPDX-License-Identifier: Apache-2.0 */
/** A tree as text. For lib/config only. */
#ifndef LP_CONFIG_EMIT_H
#define LP_CONFIG_EMIT_H

#include "lib/base/text.h"
#include "lib/config/value.h"

/** Block style, two blanks a level; reads back as the same values, also where a text holds "${". */
void lp_emit_yaml(struct lp_text *out, const struct lp_value *value);

/** One line a value, two blanks a level. */
void lp_emit_json(struct lp_text *out, const struct lp_value *value);

#endif
