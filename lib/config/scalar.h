/* SPDX-License-Identifier: Apache-2.0 */
/** Types of plain YAML scalars: YAML 1.1 as read by PyYAML and OmegaConf, except that 12:30 is a
 * text. For lib/config only. */
#ifndef LP_CONFIG_SCALAR_H
#define LP_CONFIG_SCALAR_H

#include "lib/base/text.h"
#include "lib/config/value.h"

enum lp_scalar { LP_SCALAR_NULL, LP_SCALAR_BOOL, LP_SCALAR_INT, LP_SCALAR_FLOAT, LP_SCALAR_STRING };

/** Type of a scalar. */
enum lp_scalar lp_scalar_type(const struct lp_value *value);

/** Type of a scalar without quotes. */
enum lp_scalar lp_scalar_of(const char *text);

/** Value of a scalar of type LP_SCALAR_BOOL. */
bool lp_scalar_true(const char *text);

/** Append a scalar as Python's str() writes it ("True", "None", "16", "1e-05"), for interpolation
 * into a text. */
void lp_scalar_add_str(struct lp_text *out, const struct lp_value *value);

/** Append a scalar as JSON; null if JSON has no such number. */
void lp_scalar_add_json(struct lp_text *out, const struct lp_value *value);

#endif
