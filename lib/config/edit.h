/* SPDX-License-Identifier: Apache-2.0 */
/** Overrides of values: what they change in a configuration that is put together. For lib/config
 * only. */
#ifndef LP_CONFIG_EDIT_H
#define LP_CONFIG_EDIT_H

#include "lib/config/override.h"

/** Change, add or remove a value. 0; LLMPERF_EINVAL (with the nearest key), LLMPERF_ENOMEM. */
int lp_edit_apply(struct lp_values *values, struct lp_value *root,
                  const struct lp_override *override);

/** Put a map at a dotted key: merge it into what is there. "" is the root. 0; LLMPERF_EFORMAT (the
 * key is too deep), LLMPERF_ENOMEM. */
int lp_edit_embed(struct lp_values *values, struct lp_value *root, const char *key,
                  const struct lp_value *map);

#endif
