/* SPDX-License-Identifier: Apache-2.0 */
/** Passwords, keys and tokens among the arguments of programs: they are not stored. What looks like
 * one is masked, so other words may be masked too; a secret that looks like nothing is not found.
 * @threads any thread */
#ifndef LP_BASE_SECRET_H
#define LP_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"

#define LP_SECRET_MASK "***"

/** Does an option, a variable or a key of this name hold a secret? "--api-key", "HF_TOKEN",
 * "db.password"; not "max_tokens", "eos_token" or "tokenizer". */
bool lp_secret_is_name(const char *name, size_t length);

/** Add an argument of a command with its secrets masked: values of secret names ("--token=X",
 * "A_KEY=X", "Authorization: Bearer X"), users of URLs, and tokens known by how they begin.
 *
 * @param next  In: is all of it the value of the option before it? Out: is it an option whose value
 *              comes next? False before the first argument. */
void lp_secret_mask(struct lp_text *out, const char *argument, bool *next);

#endif
