/* SPDX-License-Identifier: Apache-2.0 */
/** The door of analysis. */
#ifndef LP_ANALYSIS_ANALYSIS_H
#define LP_ANALYSIS_ANALYSIS_H

#include "lib/analysis/ceilings.h"
#include "lib/analysis/hardware_ceilings.h"
#include "lib/analysis/kernel_class.h"
#include "lib/analysis/recommend.h"
#include "llmperf/config.h"
#include "llmperf/model.h"

/** Is it a dtype that a GPU computes in, so that there may be a peak for it? 0; LLMPERF_EINVAL with
 * those that there are. */
int lp_dtype_check(const char *dtype);

/** Are the peaks of a configuration such that llmperf_hardware_find() takes them? 0;
 * LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_hardware_check(const llmperf_config *config);

/** Read the model at key `model` of a composed configuration, which is a map. As
 * llmperf_model_open(); errors name the lines that llmperf config prints. */
int lp_model_configured(const llmperf_config *config, llmperf_model **model_out);

#endif
