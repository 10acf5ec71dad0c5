/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/profile.h"

struct lp_parallel lp_parallel_of(uint32_t tensor, uint32_t expert)
{
    return (struct lp_parallel){ .tensor = tensor ? tensor : 1,
                                 .expert = expert ? expert : 1,
                                 .is_set = tensor > 0 || expert > 0 };
}

int lp_parallel_check(const struct lp_parallel *parallel, const llmperf_model *model,
                      const llmperf_model_info *info)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;

    if (parallel->tensor == 1 && parallel->expert == 1)
        return 0;
    if (!info->has_decoder)
        return lp_error(LLMPERF_EINVAL,
                        "%s has no decoder, and only decoder layers can be shared; leave "
                        "tensor_parallel and expert_parallel at 1",
                        info->name);
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 1;
    lp_parallel_apply(parallel, &step);
    return llmperf_model_work(model, &step, &work);
}

int lp_parallel_apply(const struct lp_parallel *parallel, llmperf_step *step)
{
    if (step->phase == LLMPERF_PHASE_VISION)
        return parallel->tensor == 1
                   ? 0
                   : lp_error(LLMPERF_EINVAL,
                              "it is unknown whether %" PRIu32
                              " GPUs (tensor_parallel) share the encoder or each runs all of it; "
                              "count its flops and bytes in the program",
                              parallel->tensor);
    step->tensor_parallel = parallel->tensor;
    step->expert_parallel = parallel->expert;
    if (parallel->expert > 1)
        step->data_parallel = parallel->expert / parallel->tensor;
    return 0;
}

/* Facts and notes */

/* Set a fact or note from `line`, and clear `line`. */
static int assume(llmperf_profile *profile, size_t *number, struct lp_text *line)
{
    char key[48];
    int status;

    snprintf(key, sizeof(key), "model_assumption.%zu", (*number)++);
    status = line->failed ? lp_out_of_memory() : lp_profile_set_fact(profile, key, line->bytes);
    lp_text_clear(line);
    return status;
}

static int assume_tensor(const struct lp_parallel *parallel, const llmperf_model_info *info,
                         size_t *number, llmperf_profile *profile)
{
    struct lp_text line = { NULL, 0, 0, false };

    lp_text_printf(&line,
                   "FLOPs and bytes are those of one GPU of %" PRIu32
                   " that share each layer (tensor_parallel): an equal share of the FLOPs, its own "
                   "heads and columns; norms, router and rows of the embedding are whole on each",
                   parallel->tensor);
    if (info->latent_attention)
        lp_text_puts(&line, ", and so is the cache of latents");
    else if (info->kv_heads < parallel->tensor)
        lp_text_printf(&line, ", and each holds a copy of one of the %" PRIu64 " KV heads",
                       info->kv_heads);
    return assume(profile, number, &line);
}

static int assume_expert(const struct lp_parallel *parallel, size_t *number,
                         llmperf_profile *profile)
{
    struct lp_text line = { NULL, 0, 0, false };

    lp_text_printf(&line, "whole experts are spread over %" PRIu32 " GPUs (expert_parallel)",
                   parallel->expert);
    if (parallel->expert > parallel->tensor)
        lp_text_printf(&line, ", whose %" PRIu32 " replicas all work on steps of the same size",
                       parallel->expert / parallel->tensor);
    return assume(profile, number, &line);
}

/* The layout has fewer GPUs than the job has ranks. */
static int assume_replicas(const struct lp_parallel *parallel, const struct lp_rank_count *ranks,
                           size_t *number, llmperf_profile *profile)
{
    struct lp_text line = { NULL, 0, 0, false };

    lp_text_printf(&line,
                   "%" PRIu64 " ranks (%s) with tensor_parallel %" PRIu32 " are %" PRIu64
                   " replicas; a stage of a pipeline would count its own flops and bytes",
                   ranks->count, ranks->variable, parallel->tensor,
                   ranks->count / parallel->tensor);
    return assume(profile, number, &line);
}

static int note_odd(const struct lp_parallel *parallel, const struct lp_rank_count *ranks,
                    llmperf_profile *profile)
{

    return lp_profile_note(
        profile,
        "tensor_parallel %" PRIu32 " does not divide the %" PRIu64
        " ranks (%s): MFU and MBU hold only where so many GPUs do share each layer.",
        parallel->tensor, ranks->count, ranks->variable);
}

static int report_ranks(const struct lp_parallel *parallel, size_t *number,
                        llmperf_profile *profile)
{
    struct lp_rank_count ranks = { 1, "" };
    uint64_t gpus = lp_profile_model_gpus(profile);
    bool several = lp_profile_rank_count(profile, &ranks) && ranks.count > 1;
    char who[80];

    if (gpus == 0)
        return 0;
    if (!parallel->is_set && several)
        snprintf(who, sizeof(who), "%" PRIu64 " ranks (%s)", ranks.count, ranks.variable);
    else if (!parallel->is_set && gpus > 1)
        snprintf(who, sizeof(who), "%" PRIu64 " GPUs of this process", gpus);
    else if (several && ranks.count % parallel->tensor)
        return note_odd(parallel, &ranks, profile);
    else if (several && ranks.count > parallel->tensor)
        return assume_replicas(parallel, &ranks, number, profile);
    else
        return 0;
    return lp_profile_note_shared_by(profile, who);
}

int lp_parallel_facts(const struct lp_parallel *parallel, const llmperf_model_info *info,
                      size_t assumptions, llmperf_profile *profile)
{
    char tensor[16], expert[16], layers[24], hidden[24];
    int status;

    if (!parallel->is_set)
        return report_ranks(parallel, &assumptions, profile);
    snprintf(tensor, sizeof(tensor), "%" PRIu32, parallel->tensor);
    snprintf(expert, sizeof(expert), "%" PRIu32, parallel->expert);
    snprintf(layers, sizeof(layers), "%" PRIu64, info->layers);
    snprintf(hidden, sizeof(hidden), "%" PRIu64, info->hidden);
    if ((status = lp_profile_set_fact(profile, LP_TENSOR_FACT, tensor)) < 0 ||
        (status = lp_profile_set_fact(profile, LP_EXPERT_FACT, expert)) < 0 ||
        (status = lp_profile_set_fact(profile, LP_LAYERS_FACT, layers)) < 0 ||
        (status = lp_profile_set_fact(profile, LP_HIDDEN_FACT, hidden)) < 0)
        return status;
    if (parallel->tensor > 1 && (status = assume_tensor(parallel, info, &assumptions, profile)) < 0)
        return status;
    if (parallel->expert > 1 && (status = assume_expert(parallel, &assumptions, profile)) < 0)
        return status;
    return report_ranks(parallel, &assumptions, profile);
}
