/* SPDX-License-Identifier: Apache-2.0 */
/** Session options from a configuration. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_FROM_CONFIG_H
#define LP_SESSION_OPTIONS_FROM_CONFIG_H

#include <stdbool.h>

#include "lib/config/options.h"
#include "llmperf/session.h"
#include "llmperf/sys/config.h"

/* Owned by the session. */
struct lp_session_config {
    const llmperf_config *tree; /* while the session starts; NULL: no configuration */
    llmperf_config *composed;   /* the same, if composed here */
    bool of_job;                /* it is from llmperf run */
    char *text;                 /* as YAML; NULL: no configuration */
    char *fingerprint;          /* of the text */
    char *dtype;                /* compute dtype of the program; NULL: not given */
    char *inputs;               /* inputs.yaml; NULL: none */
};

/** Take call->config or compose call->config_path (or LLMPERF_RUN_CONFIG), apply call->settings,
 * and resolve all options.
 *
 * @param resolved  Its texts point into the call, the environment and kept->tree.
 * @return 0; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_session_from_config(const llmperf_session_options *call, struct lp_resolved *resolved,
                           struct lp_session_config *kept);

/** Does it describe a model, or a preset of counters (pipeline.counters)? */
bool lp_session_config_has_model(const struct lp_session_config *kept);
bool lp_session_config_has_counters(const struct lp_session_config *kept);

/** The session has started: free what is not needed any more. */
void lp_session_config_release(struct lp_session_config *kept);

void lp_session_config_clear(struct lp_session_config *kept);

#endif
