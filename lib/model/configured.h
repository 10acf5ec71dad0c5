/* SPDX-License-Identifier: Apache-2.0 */
/** The model that a configuration describes. */
#ifndef LP_MODEL_CONFIGURED_H
#define LP_MODEL_CONFIGURED_H

#include "llmperf/model.h"
#include "llmperf/sys/config.h"

/** Open the model at key `model` (a map) of a composed configuration. As llmperf_model_open();
 * errors name the lines that `llmperf config` prints. */
int lp_model_configured(const llmperf_config *config, llmperf_model **model_out);

#endif
