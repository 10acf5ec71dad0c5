/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of a configuration. For lib/config only. */
#ifndef LP_CONFIG_INSIDE_H
#define LP_CONFIG_INSIDE_H

#include "lib/config/value.h"

struct llmperf_config {
    struct lp_values values;
    struct lp_value *root;
    bool composed; /* "???": a required value that is missing */
};

#endif
