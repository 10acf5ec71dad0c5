/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/base/variable.h"
#include "lib/session/options/options.h"
#include "lib/session/options/tier.h"
#include "lib/model/configured.h"
#include "llmperf/model.h"

#define RING_BYTES_MAX (UINT64_C(1) << 30)
#define TRACE_BYTES    (UINT64_C(1) << 30)

static int choose_tier(struct lp_options *options, uint32_t given)
{
    const char *word = lp_variable("LLMPERF_TIER");

    options->tier = given ? given : LLMPERF_TIER_DEEP;
    if (given == LLMPERF_TIER_DEFAULT && word && *word && !(options->tier = lp_tier_find(word)))
        return lp_error(LLMPERF_EINVAL,
                        "LLMPERF_TIER=%s is no tier; use regions, light, deep or counters", word);
    if (options->tier > LLMPERF_TIER_COUNTERS)
        return lp_error(LLMPERF_EINVAL,
                        "tier %u does not exist; use LLMPERF_TIER_REGIONS, _LIGHT, _DEEP or"
                        " _COUNTERS",
                        given);
    return 0;
}

static int copy(char **out, const char *text)
{
    *out = lp_text_copy(text);
    return text && !*out ? lp_error(LLMPERF_ENOMEM, "out of memory") : 0;
}

/* From the root: the program may change its working folder while the session runs. */
static int choose_folder(struct lp_options *options, const char *run_dir, const char *out_dir)
{
    char *folder = lp_path_absolute(run_dir ? run_dir : out_dir);

    options->in_folder_of_runs = !run_dir;
    options->run_dir = folder && !run_dir ? lp_path_join(folder, options->run_id) : folder;
    if (options->run_dir != folder)
        free(folder);
    return options->run_dir ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

static int choose_run_dir(struct lp_options *options, const llmperf_session_options *given)
{
    const char *out_dir = given->out_dir ? given->out_dir : lp_variable("LLMPERF_OUT");
    char run_id[64];

    options->run_id_is_ours = !given->run_id && !given->run_dir;
    lp_clock_run_id(run_id, sizeof(run_id));
    if (copy(&options->run_id, given->run_id ? given->run_id : run_id) < 0)
        return LLMPERF_ENOMEM;
    if (!*options->run_id || strchr(options->run_id, '/') || !strcmp(options->run_id, ".") ||
        !strcmp(options->run_id, ".."))
        return lp_error(LLMPERF_EINVAL, "run_id \"%s\" must be a plain folder name",
                        options->run_id);
    return given->run_dir || (out_dir && *out_dir) ? choose_folder(options, given->run_dir, out_dir)
                                                   : 0;
}

static int check_source(const struct lp_options *options)
{
    if (options->source > LLMPERF_SOURCE_NONE)
        return lp_error(LLMPERF_EINVAL,
                        "device source %u does not exist; use one of LLMPERF_SOURCE_…",
                        options->source);
    if (options->source == LLMPERF_SOURCE_REPLAY && !options->device_path)
        return lp_error(LLMPERF_EINVAL, "source replay needs a recording: set device_path");
    return 0;
}

/* A variable of the environment that is 1 or 0: `on`, and `unset` if it is not there. What 1 does
 * is told with the refusal of others. */
static int read_switch(const char *variable, const char *does, bool unset, bool *on)
{
    const char *word = lp_variable(variable);

    *on = word && *word ? *word == '1' : unset;
    if (word && *word && strcmp(word, "0") != 0 && strcmp(word, "1") != 0)
        return lp_error(LLMPERF_EINVAL, "%s=%s: 1 %s, 0 does not", variable, word, does);
    return 0;
}

/* A variable of the environment asks for all sessions, also for those that write no folder. */
static int choose_trace(struct lp_options *options, const llmperf_session_options *given)
{
    bool asked;
    int status = read_switch("LLMPERF_TRACE", "keeps a trace", false, &asked);

    options->trace_bytes = given->trace_bytes ? given->trace_bytes : TRACE_BYTES;
    if (status < 0)
        return status;
    if (given->keep_trace && !options->run_dir)
        return lp_error(LLMPERF_EINVAL,
                        "keep_trace needs a folder to keep it in: set run_dir or out_dir");
    options->keep_trace = given->keep_trace || (options->run_dir && asked);
    return 0;
}

/* A flag of a newer version asks for something that this one would not do. */
static int check_flags(const llmperf_session_options *given)
{
    const uint32_t known = LLMPERF_SESSION_NO_REPORTS | LLMPERF_SESSION_RELEASE |
                           LLMPERF_SESSION_GRAPH_LEVEL | LLMPERF_SESSION_DETACH;

    if (given->flags & ~known)
        return lp_error(LLMPERF_EINVAL,
                        "flags 0x%" PRIx32 " are not known to this version; use "
                        "LLMPERF_SESSION_NO_REPORTS, _RELEASE, _GRAPH_LEVEL and _DETACH",
                        given->flags & ~known);
    if (given->reserved)
        return lp_error(LLMPERF_EINVAL,
                        "reserved is %" PRIu32 " and must be 0; initialise with "
                        "LLMPERF_SESSION_OPTIONS_INIT",
                        given->reserved);
    return 0;
}

/* A variable of the environment and a configuration ask for all sessions: those that cannot do
 * without, and their runs say so. */
static int choose_detach(struct lp_options *options)
{
    const char *lacks = !lp_options_sample(options)         ? "tier light, with a budget under 1000"
                        : options->rules && *options->rules ? "a session without rules"
                        : options->counters                 ? "a session without counters"
                                                            : NULL;
    bool asked;
    int status = read_switch("LLMPERF_DETACH", "takes CUPTI out between samples",
                             options->config.detach, &asked);

    if (status < 0)
        return status;
    if (lacks && (options->flags & LLMPERF_SESSION_DETACH))
        return lp_error(LLMPERF_EINVAL, "detach (LLMPERF_SESSION_DETACH) needs %s", lacks);
    options->detach_lacks = asked ? lacks : NULL;
    if (asked && !lacks)
        options->flags |= LLMPERF_SESSION_DETACH;
    return 0;
}

static int choose_path_limit(struct lp_options *options, const llmperf_session_options *given)
{
    options->path_limit = given->path_limit ? given->path_limit : LP_PATH_LIMIT;
    if (options->path_limit < LP_PATH_LEAST || options->path_limit > LP_PATH_MOST)
        return lp_error(LLMPERF_EINVAL, "path_limit is %" PRIu64 "; give a number from %u to %u",
                        given->path_limit, LP_PATH_LEAST, LP_PATH_MOST);
    return 0;
}

static int take_options(struct lp_options *options, const llmperf_session_options *given)
{
    llmperf_session_options whole = *given;
    int status;

    if (whole.ring_bytes > RING_BYTES_MAX)
        return lp_error(LLMPERF_EINVAL,
                        "ring_bytes is %" PRIu64 "; at most %" PRIu64 " (1 GiB a thread)",
                        whole.ring_bytes, RING_BYTES_MAX);
    if ((status = check_flags(&whole)) < 0 || (status = choose_path_limit(options, &whole)) < 0)
        return status;
    options->source = whole.device_source;
    options->flags = whole.flags;
    options->overhead_budget_permille = whole.overhead_budget_permille;
    options->ring_bytes = whole.ring_bytes ? whole.ring_bytes : UINT64_C(4) << 20;
    options->pool_bytes = whole.pool_bytes ? whole.pool_bytes : UINT64_C(256) << 20;
    if ((status = choose_tier(options, whole.tier)) < 0 ||
        (status = choose_run_dir(options, &whole)) < 0 ||
        (status = choose_trace(options, &whole)) < 0 ||
        (status = lp_share_choose(&whole, &options->share)) < 0 ||
        (status = copy(&options->sample_regions,
                       whole.sample_regions ? whole.sample_regions
                                            : lp_variable("LLMPERF_SAMPLE_REGIONS"))) < 0 ||
        (status = copy(&options->rules, whole.rules ? whole.rules : lp_variable("LLMPERF_RULES"))) <
            0 ||
        (status = copy(&options->model_path, whole.model_path)) < 0 ||
        (status = copy(&options->device_path, whole.device_path)) < 0 ||
        (status = copy(&options->record_path, whole.record_path)) < 0 ||
        (status = copy(&options->counters,
                       whole.counters ? whole.counters : lp_variable("LLMPERF_COUNTERS"))) < 0)
        return status;
    status = choose_detach(options);
    return status < 0 ? status : check_source(options);
}

int lp_options_init(struct lp_options *options, const llmperf_session_options *given)
{
    llmperf_session_options whole = LLMPERF_SESSION_OPTIONS_INIT;
    int status;

    *options = (struct lp_options){ 0 };
    if (given && given->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise with LLMPERF_SESSION_OPTIONS_INIT");
    if (given) /* Users of an older header have a shorter struct. */
        memcpy(&whole, given,
               given->struct_size < sizeof(whole) ? given->struct_size : sizeof(whole));
    status = lp_session_from_config(&whole, &options->config);
    return status < 0 ? status : take_options(options, &whole);
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
    /* A graph as a whole is cheap enough for every step. */
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
    return status < 0 || !model ? status : lp_stage_work_open(model, &options->share, work_out);
}

int lp_options_counters(const struct lp_options *options, struct lp_counter_request *request)
{
    const struct lp_session_config *config = &options->config;

    return lp_counter_request_read(options->counters,
                                   lp_session_config_has_counters(config) ? config->tree : NULL,
                                   options->tier, request);
}
