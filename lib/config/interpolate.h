/* SPDX-License-Identifier: Apache-2.0 */
/** "${a.b}", "${.sibling}", "${oc.env:VAR,default}", "${now:%Y}" in texts, as OmegaConf reads them.
 * For lib/config only. */
#ifndef LP_CONFIG_INTERPOLATE_H
#define LP_CONFIG_INTERPOLATE_H

#include <time.h>

#include "lib/config/value.h"

struct lp_interpolation {
    struct lp_values *values;
    struct lp_value *root; /* root for keys without a leading dot */
    time_t now;
    int depth;
};

bool lp_has_interpolation(const struct lp_value *value);

/** Resolve the interpolations of a value and of everything below it. 0; LLMPERF_EFORMAT (with file,
 * line and the nearest key), LLMPERF_ENOMEM. */
int lp_interpolate(struct lp_interpolation *interpolation, struct lp_value *value);

#endif
