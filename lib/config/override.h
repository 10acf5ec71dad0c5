/* SPDX-License-Identifier: Apache-2.0 */
/** One override of the command line: "a.b=c", "+a.b=c", "++a.b=c", "~a.b", "group=choice",
 * "group@package=choice", in Hydra's grammar. Sweeps and functions are refused. For lib/config
 * only. */
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
    const char *text;       /* all of it */
    const char *key;        /* dotted key, or group with slashes */
    const char *package;    /* after '@'; NULL: none */
    struct lp_value *value; /* NULL: "~key" alone */
};

/** 0; LLMPERF_EINVAL (the error shows the place), LLMPERF_ENOMEM. All memory is of `values`. */
int lp_override_parse(struct lp_values *values, const char *text, struct lp_override *out);

/** Read only a value: the text after '='. `owner` names it in errors. As lp_override_parse(). */
int lp_override_value(struct lp_values *values, const char *owner, const char *text,
                      struct lp_value **value_out);

#endif
