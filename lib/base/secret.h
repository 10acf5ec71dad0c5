/* SPDX-License-Identifier: Apache-2.0 */
/** Masks passwords, keys and tokens in program arguments before they are stored. Other words that
 * look like secrets may be masked as well; secrets that do not look like one are not found.
 * @threads any thread */
#ifndef LP_BASE_SECRET_H
#define LP_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"

#define LP_SECRET_MASK "***"

/** Is this the name of a secret (of an option, variable or key)? "--api-key", "HF_TOKEN",
 * "db.password"; not "max_tokens", "eos_token" or "tokenizer". */
bool lp_secret_is_name(const char *name, size_t length);

/** Add an argument of a command with secrets masked: values of secret names ("--token=X",
 * "A_KEY=X", "Authorization: Bearer X"), users in URLs, and tokens with a known prefix.
 * @param next  In: the argument is the value of a secret option. Out: it is an option whose secret
 * value follows. False before the first argument. */
void lp_secret_mask(struct lp_text *out, const char *argument, bool *next);

#endif
