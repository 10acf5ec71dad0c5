/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a model or a dtype to a profile that was collected without it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/profile/profile.h"
#include "lib/session/options/stage_work.h"
#include "lib/base/dtype.h"
#include "lib/model/configured.h"
#include "llmperf/model.h"
#include "llmperf/sys/config.h"

/* Input. All except the profile is borrowed or cleared at the end. */
struct application {
    llmperf_profile *profile;
    const char *model, *dtype;
    llmperf_config *config; /* in the profile; NULL: none */
    struct lp_parallel parallel;
};

static uint32_t fact_gpus(const llmperf_profile *profile, const char *key)
{
    const char *word = llmperf_profile_fact(profile, key);

    return word ? (uint32_t)strtoul(word, NULL, 10) : 0;
}

/* Same precedence as in a session: environment, configuration, and last the run's own. */
static int choose_parallel(struct application *job)
{
    llmperf_session_options values = LLMPERF_SESSION_OPTIONS_INIT;
    int status;

    if ((status = lp_option_resolve("session.tensor_parallel", job->config, &values)) < 0 ||
        (status = lp_option_resolve("session.expert_parallel", job->config, &values)) < 0)
        return status;
    if (!values.tensor_parallel)
        values.tensor_parallel = fact_gpus(job->profile, LP_TENSOR_FACT);
    if (!values.expert_parallel)
        values.expert_parallel = fact_gpus(job->profile, LP_EXPERT_FACT);
    job->parallel = lp_parallel_of(values.tensor_parallel, values.expert_parallel);
    return 0;
}

static int read_config(struct application *job)
{
    const char *text = llmperf_profile_fact(job->profile, "config");
    int status = text ? llmperf_config_parse(text, &job->config) : 0;

    if (status == 0 && job->config && !job->dtype &&
        (status = lp_config_take_text(job->config, "infer.dtype", &job->dtype)) == 0)
        status = lp_config_take_text(job->config, "run.dtype", &job->dtype);
    return status < 0 ? status : choose_parallel(job);
}

static int open_model(const struct application *job, struct lp_stage_work **work_out)
{
    llmperf_model *model = NULL;
    int status = 0;

    *work_out = NULL;
    if (job->model)
        status = llmperf_model_open(job->model, &model);
    else if (job->config && llmperf_config_length(job->config, "model") > 0)
        status = lp_model_configured(job->config, &model);
    return status < 0 || !model ? status : lp_stage_work_open(model, &job->parallel, work_out);
}

/* Notes: why the model has no effect, or what was assumed. */
static int explain(const struct application *job, const struct lp_stage_work *work,
                   uint64_t derived, uint64_t averaged)
{
    const char *reason = lp_stage_work_reason(work);
    int status;

    if (derived == 0 && !reason) {
        reason = "no region is a stage that it covers (LLM@prefill, LLM@decode_step, LLM@vision; "
                 "for an encoder LLM@forward)";
        if ((status = lp_profile_note(
                 job->profile,
                 "The model gives no FLOPs and bytes: no region is a stage that it covers "
                 "(LLM@prefill, LLM@decode_step, LLM@vision; for an encoder LLM@forward).")) < 0)
            return status;
    }
    if (derived == 0)
        return lp_profile_set_fact(job->profile, LP_MODEL_REASON_FACT, reason);
    if (averaged == 0)
        return 0;
    return lp_profile_note(
        job->profile,
        "The model was given after the run: %" PRIu64
        " calls of stages were not recorded one by one, so their FLOPs and bytes are computed "
        "as if all had the same size.",
        averaged);
}

static int apply(const struct application *job, struct lp_stage_work *work)
{
    struct lp_work_source source = lp_stage_work_source(work);
    uint64_t derived, averaged;
    int status;

    lp_profile_drop_facts(job->profile, "model");
    if ((status = lp_profile_derive_work(job->profile, &source, &derived, &averaged)) < 0 ||
        (status = lp_profile_set_fact(job->profile, "model",
                                      job->model ? job->model : LP_CONFIGURED_MODEL)) < 0 ||
        (status = lp_stage_work_facts(work, job->dtype, job->profile)) < 0)
        return status;
    return explain(job, work, derived, averaged);
}

int llmperf_profile_apply_model(llmperf_profile *profile, const char *model, const char *dtype)
{
    struct application job = { .profile = profile, .model = model, .dtype = dtype };
    struct lp_stage_work *work = NULL;
    int status;

    if (!profile)
        return lp_error(LLMPERF_EINVAL, "profile is required");
    if (dtype && (status = lp_peak_read(dtype)) < 0)
        return status;
    if ((status = lp_profile_set_fact(profile, LP_DTYPE_FACT, dtype)) == 0 &&
        (status = read_config(&job)) == 0 && (status = open_model(&job, &work)) == 0)
        status = work ? apply(&job, work) : lp_profile_set_fact(profile, "dtype", job.dtype);
    lp_stage_work_free(work);
    llmperf_config_free(job.config);
    return status;
}
