/* SPDX-License-Identifier: Apache-2.0 */
/** What a plain text of YAML is: YAML 1.1 as PyYAML and OmegaConf read it, but 12:30 stays a text.
 * For lib/config only. */
#ifndef LP_CONFIG_SCALAR_H
#define LP_CONFIG_SCALAR_H

#include "lib/base/text.h"
#include "lib/config/value.h"

enum lp_scalar { LP_SCALAR_NULL, LP_SCALAR_BOOL, LP_SCALAR_INT, LP_SCALAR_FLOAT, LP_SCALAR_STRING };

/** Type of a text. */
enum lp_scalar lp_scalar_type(const struct lp_value *value);

/** The same of a text that is written plainly. */
enum lp_scalar lp_scalar_of(const char *text);

/** Truth value of a text of type LP_SCALAR_BOOL. */
bool lp_scalar_true(const char *text);

/** Add a text as Python's str() writes it ("True", "None", "16", "1e-05"), which is what
 * interpolation into a text puts there. */
void lp_scalar_add_str(struct lp_text *out, const struct lp_value *value);

/** Add a text as JSON; a number that JSON cannot hold is null. */
void lp_scalar_add_json(struct lp_text *out, const struct lp_value *value);

#endif
