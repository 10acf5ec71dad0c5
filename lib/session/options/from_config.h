/* SPDX-License-Identifier: Apache-2.0 */
/** What a session takes from its configuration. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_FROM_CONFIG_H
#define LP_SESSION_OPTIONS_FROM_CONFIG_H

#include <stdbool.h>

#include "llmperf/session.h"
#include "llmperf/sys/config.h"

/* Owned by the session. */
struct lp_session_config {
    const llmperf_config *tree; /* while the session starts; NULL: no configuration */
    llmperf_config *composed;   /* the same, if it was composed here */
    bool of_job; /* it is that of llmperf run, whose processes cannot all have the same run.id */
    char *text;  /* as YAML; NULL: no configuration */
    char *fingerprint;  /* of the text */
    char *dtype;        /* what the program computes in; NULL: not said */
    char *inputs;       /* inputs.yaml; NULL: none */
    int64_t keep_runs;  /* 0: all */
    int64_t warn_bytes; /* of a run's folder; 0: any size is fine */
    bool detach;        /* where a session can */
};

/** Take options->config or compose options->config_path (or LLMPERF_RUN_CONFIG), and fill in what
 * the program left at 0: tier, folder and name of the run, trace, share of the model, counters,
 * overhead budget. Variables of the environment come before the configuration.
 *
 * @param options  Its texts point into kept->tree afterwards.
 * @return 0; LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_session_from_config(llmperf_session_options *options, struct lp_session_config *kept);

/** GPUs that share the model, where the options and the environment say nothing. 0 or
 * LLMPERF_EFORMAT. */
int lp_session_config_share(const llmperf_config *config, llmperf_session_options *options);

/** Does it describe a model, or counters of a preset (pipeline.counters)? */
bool lp_session_config_has_model(const struct lp_session_config *kept);
bool lp_session_config_has_counters(const struct lp_session_config *kept);

/** The session has started: what is left needs no configuration. */
void lp_session_config_release(struct lp_session_config *kept);

void lp_session_config_clear(struct lp_session_config *kept);

#endif
