/* SPDX-License-Identifier: Apache-2.0 */
/** What a session takes from its configuration. For lib/session only. */
#ifndef LP_SESSION_FROM_CONFIG_H
#define LP_SESSION_FROM_CONFIG_H

#include "llmperf/config.h"
#include "llmperf/session.h"

/* Owned by the session. */
struct lp_session_config {
    char *text;         /* as YAML; NULL: no configuration */
    char *fingerprint;  /* of the text */
    char *dtype;        /* what the program computes in; NULL: not said */
    char *inputs;       /* inputs.yaml; NULL: none */
    int64_t keep_runs;  /* 0: all */
    int64_t warn_bytes; /* of a run's folder; 0: any size is fine */
    bool detach;        /* where a session can */
};

/** Compose options->config_path and fill in what the program left at 0: tier, folder and name of
 * the run, trace, model and its share, counters, overhead budget. Variables of the environment come
 * before the configuration.
 *
 * @param options     Its texts point into *config_out afterwards.
 * @param config_out  llmperf_config_free(); NULL without a config_path.
 * @return 0; LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_session_from_config(llmperf_session_options *options, struct lp_session_config *kept,
                           llmperf_config **config_out);

void lp_session_config_clear(struct lp_session_config *kept);

#endif
