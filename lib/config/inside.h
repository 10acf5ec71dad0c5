/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of a configuration. For lib/config only. */
#ifndef LP_CONFIG_INSIDE_H
#define LP_CONFIG_INSIDE_H

#include "lib/base/text.h"
#include "lib/config/override.h"
#include "lib/config/value.h"

struct llmperf_config {
    struct lp_values values;
    struct lp_value *root;
    bool composed; /* "???": a required value that is missing */
};

/* Overrides of values (edit.c). */

/** Change, add or remove a value. 0; LLMPERF_EINVAL (with the nearest key), LLMPERF_ENOMEM. */
int lp_edit_apply(struct lp_values *values, struct lp_value *root,
                  const struct lp_override *override);

/** Put a map at a dotted key: merge it into what is there. "" is the root. 0; LLMPERF_EFORMAT (the
 * key is too deep), LLMPERF_ENOMEM. */
int lp_edit_embed(struct lp_values *values, struct lp_value *root, const char *key,
                  const struct lp_value *map);

/* A tree as text (emit.c). */

/** Block style, two blanks a level; reads back as the same values, also where a text holds "${". */
void lp_emit_yaml(struct lp_text *out, const struct lp_value *value);

/** One line a value, two blanks a level. */
void lp_emit_json(struct lp_text *out, const struct lp_value *value);

#endif
