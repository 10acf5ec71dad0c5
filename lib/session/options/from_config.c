/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/variable.h"
#include "lib/config/config.h"
#include "lib/session/options/from_config.h"
#include "lib/base/dtype.h"
#include "lib/hardware/user.h"
#include "llmperf/sys/config.h"

#define MODEL_KEY    "model"
#define COUNTERS_KEY "pipeline.counters"

/* Tier deep with counters is tier counters. */
static int adapt_tier(const llmperf_config *config, struct lp_resolved *resolved)
{
    const char *key = llmperf_config_has(config, "run.mode") ? "run.mode" : "session.tier";
    enum lp_option_from from = lp_option_source(resolved, "run.mode");
    uint32_t *tier = &resolved->values.tier;
    bool counted = resolved->values.counters || llmperf_config_length(config, COUNTERS_KEY) > 0;

    if ((from != LP_FROM_CONFIG && from != LP_FROM_OVERRIDE) || !counted)
        return 0;
    if (*tier == LLMPERF_TIER_REGIONS)
        return lp_config_refuse(config, key,
                                "tier regions collects no device data, but counters are "
                                "configured; set run.mode=counters, or remove the counters");
    if (*tier == LLMPERF_TIER_DEEP)
        *tier = LLMPERF_TIER_COUNTERS;
    return 0;
}

/* A program that reports stages must not silently get the work of the whole model. */
static int refuse_pipeline(const llmperf_config *config)
{
    static const char key[] = "session.pipeline_parallel";
    int64_t stages = 1;
    int status = lp_config_take_integer(config, key, &stages);

    if (status < 0 || stages == 1)
        return status;
    return lp_config_refuse(config, key,
                            "a session cannot compute the work of one pipeline stage; remove this, "
                            "and count flops and bytes with llmperf_model_work()");
}

/* A model that is not a map has no name, and the session would run without a model. */
static int check_model(const llmperf_config *config)
{
    if (!llmperf_config_has(config, MODEL_KEY) || llmperf_config_length(config, MODEL_KEY) > 0)
        return 0;
    return lp_config_refuse(config, MODEL_KEY,
                            "must be a map with a model description; add its group, as in "
                            "+model/llama_3_8b/arch@model=llama_3_8b.default");
}

/* Needed for reports only, where an error would come too late. */
static int check_named(const llmperf_config *config, const char *dtype)
{
    int status = check_model(config);

    if (status == 0 && llmperf_config_has(config, "run.dtype") && lp_peak_read(dtype) < 0)
        status = lp_config_refuse(config, "run.dtype", "%s", llmperf_last_error());
    return status < 0 ? status : lp_hardware_check(config);
}

static int keep_inputs(const llmperf_config *config, const char *manifest,
                       struct lp_session_config *kept)
{
    int status = lp_inputs_read(manifest, &kept->inputs);

    if (status < 0 && status != LLMPERF_ENOMEM)
        lp_config_refuse(config, "inputs.manifest", "%s", llmperf_last_error());
    return status;
}

static int keep(const llmperf_config *config, struct lp_session_config *kept)
{
    const char *dtype = NULL, *manifest = NULL;
    int status;

    if ((status = lp_config_take_text(config, "infer.dtype", &dtype)) < 0 ||
        (status = lp_config_take_text(config, "run.dtype", &dtype)) < 0 ||
        (status = lp_config_take_text(config, "inputs.manifest", &manifest)) < 0)
        return status;
    if ((status = check_named(config, dtype)) < 0)
        return status;
    if (dtype && !(kept->dtype = lp_text_copy(dtype)))
        return lp_out_of_memory();
    if (manifest && (status = keep_inputs(config, manifest, kept)) < 0)
        return status;
    status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &kept->text);
    return status < 0 ? status : llmperf_config_fingerprint(config, &kept->fingerprint);
}

/* A copy: the caller may change his tree. */
static int copy_tree(const llmperf_config *config, llmperf_config **copy_out)
{
    char *text = NULL;
    int status = config ? llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &text) : 0;

    if (status == 0)
        status = llmperf_config_parse(text ? text : "{}", copy_out);
    free(text);
    return status;
}

/* Lines of KEY=VALUE. */
static int apply_settings(const char *settings, struct lp_session_config *kept)
{
    int status = kept->composed ? 0 : copy_tree(kept->tree, &kept->composed);

    while (status == 0 && *settings) {
        size_t length = strcspn(settings, "\n");
        char line[4096];

        if (length >= sizeof(line))
            return lp_error(LLMPERF_EINVAL, "settings: a line is longer than 4095 bytes");
        snprintf(line, sizeof(line), "%.*s", (int)length, settings);
        if (length > 0)
            status = lp_config_set(kept->composed, line);
        settings += length + (settings[length] == '\n');
    }
    kept->tree = kept->composed;
    return status < 0 ? status : lp_options_check(kept->tree);
}

/* The program's own configuration has precedence over that of the command that started it. */
static int find_tree(const llmperf_session_options *call, struct lp_session_config *kept)
{
    const char *path = call->config_path;
    int status = 0;

    kept->tree = call->config;
    kept->of_job = !kept->tree && !path;
    if (kept->of_job)
        path = lp_variable("LLMPERF_RUN_CONFIG");
    if (!kept->tree && path && *path)
        status = llmperf_config_compose(path, NULL, 0, call->model_path, &kept->composed);
    if (kept->composed)
        kept->tree = kept->composed;
    return status < 0 || !call->settings ? status : apply_settings(call->settings, kept);
}

int lp_session_from_config(const llmperf_session_options *call, struct lp_resolved *resolved,
                           struct lp_session_config *kept)
{
    int status;

    if ((status = find_tree(call, kept)) < 0 ||
        (kept->tree && (status = lp_options_check_keys(kept->tree)) < 0) ||
        (status = lp_options_resolve(call, kept->tree, resolved)) < 0 || !kept->tree)
        return status;
    if (kept->of_job && !call->run_id && lp_option_source(resolved, "run.id") == LP_FROM_CONFIG)
        resolved->values.run_id = NULL; /* it is of the job, whose processes need different ones */
    if ((status = adapt_tier(kept->tree, resolved)) < 0 ||
        (status = refuse_pipeline(kept->tree)) < 0)
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
