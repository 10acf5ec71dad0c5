/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/options/options.h"
#include "lib/model/configured.h"
#include "llmperf/model.h"

static int copy(char **out, const char *text)
{
    *out = lp_text_copy(text);
    return text && !*out ? lp_out_of_memory() : 0;
}

/* Absolute, because the program may change its working directory. */
static int choose_folder(struct lp_options *options, const char *run_dir, const char *out_dir)
{
    char *folder = lp_path_absolute(run_dir ? run_dir : out_dir);

    options->in_folder_of_runs = !run_dir;
    options->run_dir = folder && !run_dir ? lp_path_join(folder, options->run_id) : folder;
    if (options->run_dir != folder)
        free(folder);
    return options->run_dir ? 0 : lp_out_of_memory();
}

static int choose_run_dir(struct lp_options *options, const llmperf_session_options *values)
{
    char run_id[64];

    options->run_id_is_ours = !values->run_id && !values->run_dir;
    lp_clock_run_id(run_id, sizeof(run_id));
    if (copy(&options->run_id, values->run_id ? values->run_id : run_id) < 0)
        return LLMPERF_ENOMEM;
    if (!*options->run_id || strchr(options->run_id, '/') || !strcmp(options->run_id, ".") ||
        !strcmp(options->run_id, ".."))
        return lp_error(LLMPERF_EINVAL, "run_id \"%s\" must be a folder name without a path",
                        options->run_id);
    return values->run_dir || (values->out_dir && *values->out_dir)
               ? choose_folder(options, values->run_dir, values->out_dir)
               : 0;
}

/* Environment and configuration request it for all sessions, even those that write no folder. */
static int choose_trace(struct lp_options *options, const struct lp_resolved *resolved)
{
    if (lp_option_source(resolved, "artifacts.keep_trace") == LP_FROM_CALL && !options->run_dir)
        return lp_error(LLMPERF_EINVAL, "keep_trace needs a folder: set run_dir or out_dir");
    options->keep_trace = resolved->values.keep_trace && options->run_dir;
    options->trace_bytes = resolved->values.trace_bytes;
    return 0;
}

/* A flag of a newer version would request something unknown. */
static int check_flags(const llmperf_session_options *caller)
{
    const uint32_t known = LLMPERF_SESSION_NO_REPORTS | LLMPERF_SESSION_RELEASE |
                           LLMPERF_SESSION_GRAPH_LEVEL | LLMPERF_SESSION_DETACH;

    if (caller->flags & ~known)
        return lp_error(LLMPERF_EINVAL,
                        "unknown flags 0x%" PRIx32
                        "; use LLMPERF_SESSION_NO_REPORTS, _RELEASE, _GRAPH_LEVEL and _DETACH",
                        caller->flags & ~known);
    if (caller->reserved)
        return lp_error(LLMPERF_EINVAL,
                        "reserved is %" PRIu32 " and must be 0; initialise with "
                        "LLMPERF_SESSION_OPTIONS_INIT",
                        caller->reserved);
    return 0;
}

/* Environment and configuration request it for all sessions. Those that cannot use it run without
 * it and note that. */
static int choose_detach(struct lp_options *options, enum lp_option_from from)
{
    const char *lacks = !lp_options_sample(options)
                            ? "tier light with overhead_budget_permille below 1000"
                        : options->rules && *options->rules ? "a session without rules"
                        : options->counters                 ? "a session without counters"
                                                            : NULL;

    if (!lacks || !(options->flags & LLMPERF_SESSION_DETACH))
        return 0;
    if (from == LP_FROM_CALL)
        return lp_error(LLMPERF_EINVAL, "detach (LLMPERF_SESSION_DETACH) needs %s", lacks);
    options->detach_lacks = lacks;
    options->flags &= ~(uint32_t)LLMPERF_SESSION_DETACH;
    return 0;
}

static int take_options(struct lp_options *options, const struct lp_resolved *resolved)
{
    const llmperf_session_options *values = &resolved->values;
    int status;

    options->tier = values->tier;
    options->source = values->device_source;
    options->flags = values->flags;
    options->overhead_budget_permille = values->overhead_budget_permille;
    options->ring_bytes = values->ring_bytes;
    options->pool_bytes = values->pool_bytes;
    options->path_limit = values->path_limit;
    if ((status = choose_run_dir(options, values)) < 0 ||
        (status = choose_trace(options, resolved)) < 0 ||
        (status = copy(&options->sample_regions, values->sample_regions)) < 0 ||
        (status = copy(&options->rules, values->rules)) < 0 ||
        (status = copy(&options->model_path, values->model_path)) < 0 ||
        (status = copy(&options->device_path, values->device_path)) < 0 ||
        (status = copy(&options->record_path, values->record_path)) < 0 ||
        (status = copy(&options->counters, values->counters)) < 0)
        return status;
    options->parallel = lp_parallel_of(values->tensor_parallel, values->expert_parallel);
    if (options->source == LLMPERF_SOURCE_REPLAY && !options->device_path)
        return lp_error(LLMPERF_EINVAL, "the replay source needs a recording: set device_path");
    return choose_detach(options, lp_option_source(resolved, "session.detach"));
}

int lp_options_init(struct lp_options *options, const llmperf_session_options *caller)
{
    llmperf_session_options whole = LLMPERF_SESSION_OPTIONS_INIT;
    struct lp_resolved resolved;
    int status;

    *options = (struct lp_options){ 0 };
    if ((status = lp_sized_in(&whole, caller, sizeof(whole))) < 0 ||
        (status = check_flags(&whole)) < 0 ||
        (status = lp_session_from_config(&whole, &resolved, &options->config)) < 0)
        return status;
    memcpy(options->numbers, resolved.numbers, sizeof(options->numbers));
    options->rules_name = lp_option_name(&resolved, "session.rules");
    return take_options(options, &resolved);
}

int64_t lp_options_number(const struct lp_options *options, const char *key)
{
    return options->numbers[lp_option_find(key) - lp_options];
}

void lp_options_clear(struct lp_options *options)
{
    free(options->run_dir);
    free(options->run_id);
    free(options->sample_regions);
    free(options->rules);
    free(options->model_path);
    free(options->device_path);
    free(options->record_path);
    free(options->counters);
    lp_session_config_clear(&options->config);
    *options = (struct lp_options){ 0 };
}

bool lp_options_sample(const struct lp_options *options)
{
    /* Tracing whole graphs is cheap enough for every step. */
    return options->tier == LLMPERF_TIER_LIGHT && options->overhead_budget_permille < 1000 &&
           !(options->flags & LLMPERF_SESSION_GRAPH_LEVEL);
}

int lp_options_model(const struct lp_options *options, struct lp_stage_work **work_out)
{
    llmperf_model *model = NULL;
    int status = 0;

    *work_out = NULL;
    if (options->model_path)
        status = llmperf_model_open(options->model_path, &model);
    else if (lp_session_config_has_model(&options->config))
        status = lp_model_configured(options->config.tree, &model);
    return status < 0 || !model ? status : lp_stage_work_open(model, &options->parallel, work_out);
}

int lp_options_counters(const struct lp_options *options, struct lp_counter_request *request)
{
    const struct lp_session_config *config = &options->config;

    return lp_counter_request_read(options->counters,
                                   lp_session_config_has_counters(config) ? config->tree : NULL,
                                   options->tier, request);
}
