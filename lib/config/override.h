/* SPDX-License-Identifier: Apache-2.0 */
/** An override of the command line, in Hydra's grammar: "a.b=c", "+a.b=c", "++a.b=c", "~a.b",
 * "group=choice", "group@package=choice". Sweeps and functions are refused. For lib/config only. */
#ifndef LP_CONFIG_OVERRIDE_H
#define LP_CONFIG_OVERRIDE_H

#include "lib/config/value.h"

enum lp_override_kind {
    LP_OVERRIDE_CHANGE,
    LP_OVERRIDE_ADD,
    LP_OVERRIDE_FORCE,
    LP_OVERRIDE_REMOVE
};

struct lp_override {
    enum lp_override_kind kind;
    const char *text;       /* the whole override */
    const char *key;        /* dotted key, or group with slashes */
    const char *package;    /* after '@'; NULL: none */
    struct lp_value *value; /* NULL: "~key" only */
};

/** Parse an override. 0; LLMPERF_EINVAL (the error shows the position), LLMPERF_ENOMEM. Memory
 * belongs to `values`. */
int lp_override_parse(struct lp_values *values, const char *text, struct lp_override *out);

/** Parse only a value, the text after '='. `owner` is its name in errors. As lp_override_parse().
 */
int lp_override_value(struct lp_values *values, const char *owner, const char *text,
                      struct lp_value **value_out);

#endif
