/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/variable.h"
#include "lib/config/config.h"
#include "lib/session/from_config.h"
#include "lib/session/inputs.h"
#include "lib/session/share.h"
#include "lib/session/tier.h"

static const char *const run_keys[] = { "id", "mode", "dtype", "stage", "top_n_kernels", NULL };
static const char *const artifact_keys[] = { "dir",         "keep_runs",  "keep_trace",
                                             "trace_bytes", "warn_bytes", NULL };
static const char *const hardware_keys[] = { "peak_tflops", "bandwidth_gbs", NULL };
static const char *const session_keys[] = {
    "tier",     "overhead_budget_permille", "sample_regions",  "rules",
    "counters", "tensor_parallel",          "expert_parallel", "detach",
    NULL
};
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

static int take_tier(const llmperf_config *config, llmperf_session_options *options)
{
    const char *key = llmperf_config_has(config, "run.mode") ? "run.mode" : "session.tier";
    const char *word = NULL;
    int status = lp_config_take_text(config, key, &word);

    if (status < 0 || !word || options->tier || is_set("LLMPERF_TIER"))
        return status;
    options->tier = lp_tier_find(word);
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

/* The file that a map was composed from. */
static int take_file(const llmperf_config *config, const char *key, const char **file_out)
{
    uint32_t line;

    if (*file_out || llmperf_config_length(config, key) == 0)
        return 0;
    return llmperf_config_origin(config, key, file_out, &line);
}

/* Words, or a preset as a group of the pipeline: the file that it came from. */
static int take_counters(const llmperf_config *config, llmperf_session_options *options)
{
    int status;

    if (is_set("LLMPERF_COUNTERS") || options->counters)
        return 0;
    if ((status = lp_config_take_text(config, "session.counters", &options->counters)) < 0)
        return status;
    return take_file(config, "pipeline.counters", &options->counters);
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

static int take_options(const llmperf_config *config, llmperf_session_options *options)
{
    int64_t budget = options->overhead_budget_permille;
    int status;

    if ((status = take_tier(config, options)) < 0)
        return status;
    if (!options->run_id && (status = lp_config_take_text(config, "run.id", &options->run_id)) < 0)
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
    if ((status = take_file(config, "model", &options->model_path)) < 0 ||
        (status = refuse_pipeline(config)) < 0 ||
        (status = take_parallel(config, "session.tensor_parallel", LP_TENSOR_VARIABLE,
                                &options->tensor_parallel)) < 0 ||
        (status = take_parallel(config, "session.expert_parallel", LP_EXPERT_VARIABLE,
                                &options->expert_parallel)) < 0)
        return status;
    return take_counters(config, options);
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
    if (dtype && !(kept->dtype = lp_text_copy(dtype)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (manifest && (status = lp_inputs_read(manifest, &kept->inputs)) < 0)
        return status;
    status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &kept->text);
    return status < 0 ? status : llmperf_config_fingerprint(config, &kept->fingerprint);
}

int lp_session_from_config(llmperf_session_options *options, struct lp_session_config *kept,
                           llmperf_config **config_out)
{
    llmperf_config *config;
    int status;

    *config_out = NULL;
    if (!options->config_path)
        return 0;
    if ((status = llmperf_config_compose(options->config_path, NULL, 0, &config)) < 0)
        return status;
    if ((status = check_keys(config)) == 0 && (status = take_options(config, options)) == 0 &&
        (status = keep(config, kept)) == 0)
        *config_out = config;
    else
        llmperf_config_free(config);
    return status;
}

void lp_session_config_clear(struct lp_session_config *kept)
{
    free(kept->text);
    free(kept->fingerprint);
    free(kept->dtype);
    free(kept->inputs);
    *kept = (struct lp_session_config){ 0 };
}
