/* SPDX-License-Identifier: Apache-2.0 */
/** Values that the keys of conf/config.yaml may have. For lib/config only. @threads any thread */
#ifndef LP_CONFIG_ALLOWED_H
#define LP_CONFIG_ALLOWED_H

#include <stdint.h>

#include "llmperf/sys/config.h"

/** What a key takes: one of some words, true or false, or a whole number. */
struct lp_allowed {
    const char *key;
    const char *const *words; /* NULL behind the last; NULL: no words */
    int64_t least, most;      /* a number; both 0: true or false */
};

/** NULL: the key takes anything. */
const struct lp_allowed *lp_allowed_find(const char *key);

/** Hold a value that is there against what its key takes.
 * @return 0; LLMPERF_EFORMAT with the place of the value and what there is. */
int lp_allowed_check(const llmperf_config *config, const struct lp_allowed *allowed);

/** The same for all keys. What must still be given ("???") is left out. */
int lp_allowed_check_all(const llmperf_config *config);

#endif
