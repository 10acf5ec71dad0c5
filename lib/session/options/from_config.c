/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/variable.h"
#include "lib/config/config.h"
#include "lib/session/options/from_config.h"
#include "lib/session/options/share.h"
#include "lib/session/options/tier.h"
#include "lib/hardware/check.h"
#include "llmperf/model.h"
#include "llmperf/sys/config.h"

#define MODEL_KEY    "model"
#define COUNTERS_KEY "pipeline.counters"

static const char *const run_keys[] = { "id", "mode", "dtype", "stage", "top_n_kernels", NULL };
static const char *const artifact_keys[] = { "dir",         "keep_runs",  "keep_trace",
                                             "trace_bytes", "warn_bytes", NULL };
static const char *const hardware_keys[] = { "peak_tflops", "bandwidth_gbs", NULL };
static const char *const session_keys[] = { "tier",
                                            "overhead_budget_permille",
                                            "sample_regions",
                                            "rules",
                                            "counters",
                                            "tensor_parallel",
                                            "expert_parallel",
                                            "detach",
                                            "path_limit",
                                            NULL };
static const char *const top_keys[] = { "run",   "artifacts", "inputs",   "hardware", "model",
                                        "infer", "session",   "pipeline", "dataset",  NULL };

static int check_keys(const llmperf_config *config)
{
    static const struct {
        const char *map;
        const char *const *names;
    } maps[] = { { "", top_keys },
                 { "run", run_keys },
                 { "artifacts", artifact_keys },
                 { "hardware", hardware_keys },
                 { "session", session_keys } };
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(maps) / sizeof(maps[0]); i++)
        status = lp_config_check_keys(config, maps[i].map, maps[i].names);
    return status;
}

static bool is_set(const char *variable)
{
    const char *value = lp_variable(variable);

    return value && *value;
}

/* Counters with tier deep are what tier counters is. */
static int take_tier(const llmperf_config *config, llmperf_session_options *options)
{
    const char *key = llmperf_config_has(config, "run.mode") ? "run.mode" : "session.tier";
    const char *word = NULL;
    int status = lp_config_take_text(config, key, &word);
    bool counted = options->counters || llmperf_config_has(config, "session.counters") ||
                   llmperf_config_length(config, COUNTERS_KEY) > 0;

    if (status < 0 || !word || options->tier || is_set("LLMPERF_TIER"))
        return status;
    options->tier = lp_tier_find(word);
    if (options->tier == LLMPERF_TIER_REGIONS && counted)
        return lp_config_refuse(config, key,
                                "tier regions collects no device data, but counters are "
                                "configured; set run.mode=counters, or remove the counters");
    if (options->tier == LLMPERF_TIER_DEEP && counted)
        options->tier = LLMPERF_TIER_COUNTERS;
    return 0;
}

/* Without a folder a configured trace has no place, which is no fault of the program. */
static int take_trace(const llmperf_config *config, llmperf_session_options *options)
{
    bool folder = options->run_dir || options->out_dir || is_set("LLMPERF_OUT");
    int64_t bytes = (int64_t)options->trace_bytes;
    bool keep = false;
    int status = 0;

    if (!bytes && (status = lp_config_take_integer(config, "artifacts.trace_bytes", &bytes)) < 0)
        return status;
    options->trace_bytes = (uint64_t)bytes;
    status = lp_config_take_truth(config, "artifacts.keep_trace", &keep);
    if (status == 0 && !options->keep_trace && folder && !is_set("LLMPERF_TRACE"))
        options->keep_trace = keep;
    return status;
}

static int take_counters(const llmperf_config *config, llmperf_session_options *options)
{
    if (is_set("LLMPERF_COUNTERS") || options->counters)
        return 0;
    return lp_config_take_text(config, "session.counters", &options->counters);
}

static int take_parallel(const llmperf_config *config, const char *key, const char *variable,
                         uint32_t *option)
{
    int64_t gpus = *option;
    int status = 0;

    if (gpus == 0 && !is_set(variable))
        status = lp_config_take_integer(config, key, &gpus);
    *option = (uint32_t)gpus;
    return status;
}

/* Who tells of stages must not get the work of the whole model in silence. */
static int refuse_pipeline(const llmperf_config *config)
{
    static const char key[] = "session.pipeline_parallel";
    int64_t stages = 1;
    int status = lp_config_take_integer(config, key, &stages);

    if (status < 0 || stages == 1)
        return status;
    return lp_config_refuse(config, key,
                            "a session cannot tell the work of a stage of a pipeline; leave this "
                            "out, and count flops and bytes by llmperf_model_work()");
}

int lp_session_config_share(const llmperf_config *config, llmperf_session_options *options)
{
    int status = take_parallel(config, "session.tensor_parallel", LP_TENSOR_VARIABLE,
                               &options->tensor_parallel);

    return status < 0 ? status
                      : take_parallel(config, "session.expert_parallel", LP_EXPERT_VARIABLE,
                                      &options->expert_parallel);
}

static int take_path_limit(const llmperf_config *config, llmperf_session_options *options)
{
    int64_t limit = (int64_t)options->path_limit;
    int status = limit ? 0 : lp_config_take_integer(config, "session.path_limit", &limit);

    options->path_limit = (uint64_t)limit;
    return status;
}

static int take_options(const llmperf_config *config, bool of_job, llmperf_session_options *options)
{
    int64_t budget = options->overhead_budget_permille;
    int status;

    if ((status = take_tier(config, options)) < 0)
        return status;
    if (!options->run_id && !of_job &&
        (status = lp_config_take_text(config, "run.id", &options->run_id)) < 0)
        return status;
    if (!options->run_dir && !options->out_dir && !is_set("LLMPERF_OUT") &&
        (status = lp_config_take_text(config, "artifacts.dir", &options->out_dir)) < 0)
        return status;
    if ((status = take_trace(config, options)) < 0)
        return status;
    if (!budget &&
        (status = lp_config_take_integer(config, "session.overhead_budget_permille", &budget)) < 0)
        return status;
    options->overhead_budget_permille = (uint32_t)budget;
    if (!options->sample_regions && !is_set("LLMPERF_SAMPLE_REGIONS") &&
        (status = lp_config_take_text(config, "session.sample_regions", &options->sample_regions)) <
            0)
        return status;
    if (!options->rules && !is_set("LLMPERF_RULES") &&
        (status = lp_config_take_text(config, "session.rules", &options->rules)) < 0)
        return status;
    if ((status = refuse_pipeline(config)) < 0 ||
        (status = lp_session_config_share(config, options)) < 0 ||
        (status = take_path_limit(config, options)) < 0)
        return status;
    return take_counters(config, options);
}

/* A model that is no map names none, and a session would go on without. */
static int check_model(const llmperf_config *config)
{
    if (!llmperf_config_has(config, MODEL_KEY) || llmperf_config_length(config, MODEL_KEY) > 0)
        return 0;
    return lp_config_refuse(config, MODEL_KEY,
                            "must be a map that describes a model; add its group, as in "
                            "+model/llama_3_8b/arch@model=llama_3_8b.default");
}

/* What the session keeps for its reports, where a fault would be seen too late. */
static int check_named(const llmperf_config *config, const char *dtype)
{
    int status = check_model(config);

    if (status == 0 && llmperf_config_has(config, "run.dtype") && lp_dtype_check(dtype) < 0)
        status = lp_config_refuse(config, "run.dtype", "%s", llmperf_last_error());
    return status < 0 ? status : lp_hardware_check(config);
}

static int keep_inputs(const llmperf_config *config, const char *manifest,
                       struct lp_session_config *kept)
{
    int status = lp_inputs_read(manifest, &kept->inputs);
    char problem[512];

    if (status == 0 || status == LLMPERF_ENOMEM)
        return status;
    snprintf(problem, sizeof(problem), "%s", llmperf_last_error());
    lp_config_refuse(config, "inputs.manifest", "%s", problem);
    snprintf(problem, sizeof(problem), "%s", llmperf_last_error());
    return lp_error(status, "%s", problem);
}

static int keep(const llmperf_config *config, struct lp_session_config *kept)
{
    const char *dtype = NULL, *manifest = NULL;
    int status;

    if ((status = lp_config_take_text(config, "infer.dtype", &dtype)) < 0 ||
        (status = lp_config_take_text(config, "run.dtype", &dtype)) < 0 ||
        (status = lp_config_take_text(config, "inputs.manifest", &manifest)) < 0 ||
        (status = lp_config_take_integer(config, "artifacts.keep_runs", &kept->keep_runs)) < 0 ||
        (status = lp_config_take_integer(config, "artifacts.warn_bytes", &kept->warn_bytes)) < 0 ||
        (status = lp_config_take_truth(config, "session.detach", &kept->detach)) < 0)
        return status;
    if ((status = check_named(config, dtype)) < 0)
        return status;
    if (dtype && !(kept->dtype = lp_text_copy(dtype)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (manifest && (status = keep_inputs(config, manifest, kept)) < 0)
        return status;
    status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &kept->text);
    return status < 0 ? status : llmperf_config_fingerprint(config, &kept->fingerprint);
}

/* The program's own configuration comes before that of the command that started it. */
static int find_tree(const llmperf_session_options *options, struct lp_session_config *kept)
{
    const char *path = options->config_path;
    int status = 0;

    kept->tree = options->config;
    kept->of_job = !kept->tree && !path;
    if (kept->of_job)
        path = lp_variable("LLMPERF_RUN_CONFIG");
    if (!kept->tree && path && *path)
        status = llmperf_config_compose_model(path, NULL, 0, options->model_path, &kept->composed);
    if (kept->composed)
        kept->tree = kept->composed;
    return status;
}

int lp_session_from_config(llmperf_session_options *options, struct lp_session_config *kept)
{
    int status = find_tree(options, kept);

    if (status < 0 || !kept->tree)
        return status;
    if ((status = check_keys(kept->tree)) < 0 ||
        (status = take_options(kept->tree, kept->of_job, options)) < 0)
        return status;
    return keep(kept->tree, kept);
}

bool lp_session_config_has_model(const struct lp_session_config *kept)
{
    return llmperf_config_length(kept->tree, MODEL_KEY) > 0;
}

bool lp_session_config_has_counters(const struct lp_session_config *kept)
{
    return llmperf_config_length(kept->tree, COUNTERS_KEY) > 0;
}

void lp_session_config_release(struct lp_session_config *kept)
{
    llmperf_config_free(kept->composed);
    kept->composed = NULL;
    kept->tree = NULL;
}

void lp_session_config_clear(struct lp_session_config *kept)
{
    free(kept->text);
    free(kept->fingerprint);
    free(kept->dtype);
    free(kept->inputs);
    lp_session_config_release(kept);
    *kept = (struct lp_session_config){ 0 };
}
