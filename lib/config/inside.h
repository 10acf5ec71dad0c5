/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of a configuration. For lib/config only. */
#ifndef LP_CONFIG_INSIDE_H
#define LP_CONFIG_INSIDE_H

#include "lib/base/text.h"
#include "lib/config/override.h"
#include "lib/config/value.h"

struct llmperf_config {
    struct lp_values values;
    struct lp_value *root;
    bool composed; /* "???" is then a missing required value */
};

/* Overrides of values (edit.c). */

/** Change, add or remove a value. 0; LLMPERF_EINVAL (with the nearest key), LLMPERF_ENOMEM. */
int lp_edit_apply(struct lp_values *values, struct lp_value *root,
                  const struct lp_override *override);

/** Merge a map into the one at a dotted key; "" is the root. 0; LLMPERF_EFORMAT (key too deep),
 * LLMPERF_ENOMEM. */
int lp_edit_embed(struct lp_values *values, struct lp_value *root, const char *key,
                  const struct lp_value *map);

/* A tree as text (emit.c). */

/** Block style with two blanks per level. Reads back as the same values, even for texts with
 * "${". */
void lp_emit_yaml(struct lp_text *out, const struct lp_value *value);

/** One value per line, two blanks per level. */
void lp_emit_json(struct lp_text *out, const struct lp_value *value);

#endif
