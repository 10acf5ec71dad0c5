/* SPDX-License-Identifier: Apache-2.0 */
/** Session options, checked and with defaults. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_OPTIONS_H
#define LP_SESSION_OPTIONS_OPTIONS_H

#include <stdbool.h>

#include "lib/session/options/counter_request.h"
#include "lib/session/options/from_config.h"
#include "lib/session/options/parallel.h"
#include "lib/session/options/stage_work.h"
#include "llmperf/session.h"

/** A copy that owns all strings. */
struct lp_options {
    uint32_t tier, source, flags;
    uint64_t ring_bytes, pool_bytes, path_limit;
    char *run_dir; /* NULL: no files */
    char *run_id;
    bool in_folder_of_runs; /* run_dir is out_dir/run_id */
    bool run_id_is_ours;    /* made from the time here: changed if a run has it already */
    uint32_t overhead_budget_permille;
    char *sample_regions, *rules;
    const char *rules_name; /* source of the rules; static */
    char *model_path, *device_path, *record_path, *counters;
    bool keep_trace;
    uint64_t trace_bytes;
    struct lp_parallel parallel;
    /* Why detach is off although the environment or a configuration requests it; static. NULL: it
     * is on. */
    const char *detach_lacks;
    struct lp_session_config config;
    int64_t numbers[LP_OPTIONS_MOST]; /* lp_options_number() */
};

/** 0; LLMPERF_EINVAL, LLMPERF_ENOTSUP, LLMPERF_ENOMEM. Clear it afterwards in all cases. */
int lp_options_init(struct lp_options *options, const llmperf_session_options *caller);
void lp_options_clear(struct lp_options *options);

/** Value of a number option without a member here, such as "artifacts.keep_runs". */
int64_t lp_options_number(const struct lp_options *options, const char *key);

/** Open the model of the program, else that of the configuration. *work_out is NULL without a
 * model. 0, or an error of llmperf_model_open() or lp_parallel_check(). */
int lp_options_model(const struct lp_options *options, struct lp_stage_work **work_out);

/** Counters to collect; lp_counter_request_clear(). Errors as lp_counter_request_read(). */
int lp_options_counters(const struct lp_options *options, struct lp_counter_request *request);

/** Does this session sample, if its source can? */
bool lp_options_sample(const struct lp_options *options);

#endif
