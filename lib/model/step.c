/* SPDX-License-Identifier: Apache-2.0 */
/* Steps given by the user: checks, and sums over the requests. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/model/work.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/analysis.h"

#define LIMIT_REQUESTS (UINT64_C(1) << 32)
#define LIMIT_SUM      (UINT64_C(1) << 40)
#define LIMIT_PARALLEL 65536

static uint64_t clamp(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

lp_u128 lp_pairs_causal(uint64_t tokens, uint64_t cached, uint64_t window)
{
    /* The first `growing` tokens attend to everything before them, the others to a full window. */
    uint64_t growing = window == 0 ? tokens : window > cached ? clamp(window - cached, tokens) : 0;

    return (lp_u128)growing * cached + (lp_u128)growing * (growing + 1) / 2 +
           (lp_u128)(tokens - growing) * window;
}

double llmperf_experts_expected(uint64_t experts, uint64_t chosen, uint64_t tokens)
{
    if (chosen == 0 || chosen > experts)
        return NAN;
    return (double)experts * (1 - pow(1 - (double)chosen / (double)experts, (double)tokens));
}

static int take_dtype(const char *what, uint32_t input, uint32_t fallback, uint32_t *out)
{
    *out = input ? input : fallback;
    if (!lp_dtype(*out))
        return lp_error(LLMPERF_EINVAL, "unknown %s %u", what, (unsigned)input);
    return 0;
}

static int take_dtypes(const struct llmperf_model *model, struct lp_step *step)
{
    const llmperf_step *input = &step->input;
    uint32_t computed;
    int status;

    if ((status = take_dtype("weight_dtype", input->weight_dtype, model->weight_dtype,
                             &step->weight)) < 0)
        return status;
    step->base = lp_dtype(step->weight)->quantised ? model->base_dtype : step->weight;
    /* Weights in another format would be another checkpoint. */
    computed = step->weight == model->weight_dtype ? model->activation_dtype : step->base;
    if ((status = take_dtype("activation_dtype", input->activation_dtype, computed,
                             &step->activation)) < 0 ||
        (status = take_dtype("kv_dtype", input->kv_dtype, model->kv_dtype, &step->cache)) < 0)
        return status;
    if (!lp_dtype(step->cache)->for_cache)
        return lp_error(LLMPERF_EINVAL, "kv_dtype %s is not a KV cache format; use fp8 or nvfp4",
                        llmperf_name(LLMPERF_NAME_DTYPE, step->cache));
    return 0;
}

static int check_division(const char *key, uint64_t value, uint64_t parts)
{
    if (value % parts == 0)
        return 0;
    return lp_error(LLMPERF_EINVAL,
                    "tensor_parallel %" PRIu64 " does not divide %s (%" PRIu64
                    "); choose one that does",
                    parts, key, value);
}

static int check_tensor(const struct lp_decoder *decoder, const struct lp_step *step)
{
    uint64_t parts = step->tensor;
    int status;

    if ((status = check_division("the number of heads", decoder->heads, parts)) < 0 ||
        (status = check_division("intermediate_size", decoder->intermediate, parts)) < 0 ||
        (status = check_division("the size of the shared experts", decoder->shared_size, parts)) <
            0)
        return status;
    if (decoder->kv_rank == 0 && decoder->kv_heads % parts && parts % decoder->kv_heads)
        return check_division("the number of KV heads", decoder->kv_heads, parts);
    return step->expert > 1 ? 0
                            : check_division("the size of an expert", decoder->expert_size, parts);
}

static int take_parallel(const struct llmperf_model *model, struct lp_step *step)
{
    const llmperf_step *input = &step->input;
    const struct lp_decoder *decoder = &model->decoder;

    step->tensor = input->tensor_parallel ? input->tensor_parallel : 1;
    step->pipeline = input->pipeline_parallel ? input->pipeline_parallel : 1;
    step->expert = input->expert_parallel ? input->expert_parallel : 1;
    step->data = input->data_parallel ? input->data_parallel : 1;
    if (step->tensor > LIMIT_PARALLEL || step->data > LIMIT_PARALLEL)
        return lp_error(LLMPERF_EINVAL, "more than %d parallel GPUs are not supported",
                        LIMIT_PARALLEL);
    if (input->phase == LLMPERF_PHASE_VISION)
        return step->tensor * step->pipeline * step->expert == 1
                   ? 0
                   : lp_error(LLMPERF_EINVAL, "the encoder is not split over GPUs; leave "
                                              "tensor, pipeline and expert_parallel at 1");
    if (input->pipeline_rank >= step->pipeline)
        return lp_error(LLMPERF_EINVAL, "pipeline_rank %u must be less than pipeline_parallel %u",
                        (unsigned)input->pipeline_rank, (unsigned)step->pipeline);
    if (step->pipeline > decoder->layers)
        return lp_error(LLMPERF_EINVAL, "pipeline_parallel is %u but the model has only %u layers",
                        (unsigned)step->pipeline, (unsigned)decoder->layers);
    if (step->expert > 1 && (decoder->experts == 0 || decoder->experts % step->expert ||
                             step->expert != step->tensor * step->data))
        return lp_error(LLMPERF_EINVAL,
                        "expert_parallel must be 1, or tensor_parallel x data_parallel and a "
                        "divisor of the number of experts (%" PRIu64 ")",
                        decoder->experts);
    return check_tensor(decoder, step);
}

static int take_speculation(const llmperf_step *input)
{
    if (input->draft_tokens == 0)
        return input->acceptance == 0 ? 0
                                      : lp_error(LLMPERF_EINVAL, "acceptance needs draft_tokens");
    if (input->phase != LLMPERF_PHASE_DECODE)
        return lp_error(LLMPERF_EINVAL, "draft_tokens apply only to the decode phase");
    if (input->draft_tokens > LP_DRAFTS_MAX)
        return lp_error(LLMPERF_EINVAL, "draft_tokens is %u; it must be at most %d",
                        (unsigned)input->draft_tokens, LP_DRAFTS_MAX);
    if (!(input->acceptance >= 0 && input->acceptance <= 1))
        return lp_error(LLMPERF_EINVAL, "acceptance is %g; it must be between 0 and 1",
                        input->acceptance);
    return 0;
}

/* `count` requests of the same size. */
struct request {
    uint64_t count, tokens, cached, rows;
};

static int take_request(const llmperf_step *input, uint64_t i, struct request *out)
{
    bool decode = input->phase == LLMPERF_PHASE_DECODE;

    out->tokens = input->new_tokens ? input->new_tokens[i]
                  : input->new_each ? input->new_each
                                    : (uint64_t)1 + input->draft_tokens;
    out->cached = input->cached_tokens ? input->cached_tokens[i] : input->cached_each;
    if (out->tokens == 0 || out->tokens > LP_LIMIT_TOKENS)
        return lp_error(LLMPERF_EINVAL,
                        "request %" PRIu64 " has %" PRIu64 " new tokens; it must have 1 to 2^36", i,
                        out->tokens);
    if (out->cached > LP_LIMIT_TOKENS)
        return lp_error(LLMPERF_EINVAL,
                        "request %" PRIu64 " has %" PRIu64
                        " cached tokens; at most 2^36 are supported",
                        i, out->cached);
    if (input->draft_tokens && out->tokens != (uint64_t)1 + input->draft_tokens)
        return lp_error(LLMPERF_EINVAL,
                        "request %" PRIu64 " has %" PRIu64
                        " new tokens; with %u draft_tokens it needs one more than that",
                        i, out->tokens, (unsigned)input->draft_tokens);
    if (input->logits_rows)
        out->rows = input->logits_rows[i];
    else if (input->logits == LLMPERF_LOGITS_NONE)
        out->rows = 0;
    else if (input->logits == LLMPERF_LOGITS_ALL || (input->logits == 0 && decode))
        out->rows = out->tokens;
    else
        out->rows = 1;
    if (out->rows > out->tokens)
        return lp_error(LLMPERF_EINVAL,
                        "request %" PRIu64 " requests %" PRIu64
                        " rows of logits but has only %" PRIu64 " new tokens",
                        i, out->rows, out->tokens);
    return 0;
}

/* Drafted token i counts if all drafted tokens before it were accepted. */
static void add_useful(struct lp_step *step, const struct request *request, uint64_t window)
{
    double weight = (double)request->count;

    for (uint64_t i = 0; i < request->tokens; i++) {
        step->useful_tokens += weight;
        step->useful_pairs[0] += weight * (double)(request->cached + i + 1);
        step->useful_pairs[1] += weight * (double)lp_pairs_causal(1, request->cached + i, window);
        step->useful_rows += i < request->rows ? weight : 0;
        weight *= step->input.acceptance;
    }
}

static void add_request(struct lp_step *step, const struct request *request, uint64_t window)
{
    uint64_t n = request->tokens, all = request->cached + n;
    lp_u128 count = request->count;
    /* The first new token attends to keys up to `window` back. */
    uint64_t seen = window ? clamp(all, window + n - 1) : all;

    step->tokens += count * n;
    step->rows += count * request->rows;
    step->cached += count * request->cached;
    step->pairs[0] += count * lp_pairs_causal(n, request->cached, 0);
    step->pairs[1] += count * lp_pairs_causal(n, request->cached, window);
    step->read[0] += count * all;
    step->read[1] += count * seen;
    step->full_pairs += count * n * all;
    step->full_windowed += count * n * (window ? clamp(all, window) : all);
    step->half_pairs_twice += count * n * (2 * request->cached + n);
    if (step->input.draft_tokens)
        add_useful(step, request, window);
}

static int add_requests(const struct llmperf_model *model, struct lp_step *step)
{
    const llmperf_step *input = &step->input;
    bool alike = !input->new_tokens && !input->cached_tokens && !input->logits_rows;
    struct request request = { .count = alike ? input->requests : 1 };
    int status;

    if (input->requests == 0 || input->requests > LIMIT_REQUESTS)
        return lp_error(LLMPERF_EINVAL, "the step has %" PRIu64 " requests; it must have 1 to 2^32",
                        input->requests);
    if (input->phase == LLMPERF_PHASE_PREFILL && !input->new_tokens && !input->new_each)
        return lp_error(LLMPERF_EINVAL, "a prefill step needs new_tokens or new_each");
    for (uint64_t i = 0; i < input->requests; i += request.count) {
        if ((status = take_request(input, i, &request)) < 0)
            return status;
        add_request(step, &request, model->decoder.window);
        if (step->tokens > LIMIT_SUM)
            return lp_error(LLMPERF_EINVAL, "the step has more than 2^40 new tokens");
    }
    step->padded = input->padded_tokens > step->tokens ? input->padded_tokens : step->tokens;
    if (step->padded > LIMIT_SUM)
        return lp_error(LLMPERF_EINVAL, "padded_tokens exceeds 2^40");
    if (!input->draft_tokens) {
        step->useful_tokens = (double)step->tokens;
        step->useful_rows = (double)step->rows;
        step->useful_pairs[0] = (double)step->pairs[0];
        step->useful_pairs[1] = (double)step->pairs[1];
    }
    return 0;
}

static int check_experts(const struct llmperf_model *model, const llmperf_step *input)
{
    double touched = input->experts_touched;

    if (touched == 0 || (touched > 0 && touched <= (double)model->decoder.experts))
        return 0;
    return lp_error(LLMPERF_EINVAL, "experts_touched is %g; it must be between 0 and %" PRIu64,
                    touched, model->decoder.experts);
}

int lp_step_prepare(const struct llmperf_model *model, const llmperf_step *input,
                    struct lp_step *out)
{
    int status;

    if (!model || !input)
        return lp_error(LLMPERF_EINVAL, "model and step are required");
    memset(out, 0, sizeof(*out));
    if ((status = lp_sized_in(&out->input, input, sizeof(*input))) < 0)
        return status;
    input = &out->input;
    if (input->phase < LLMPERF_PHASE_PREFILL || input->phase > LLMPERF_PHASE_VISION)
        return lp_error(LLMPERF_EINVAL, "unknown phase %u", (unsigned)input->phase);
    if (input->logits > LLMPERF_LOGITS_NONE)
        return lp_error(LLMPERF_EINVAL, "unknown logits value %u", (unsigned)input->logits);
    if (input->phase == LLMPERF_PHASE_VISION && model->vision.kind == LP_VISION_NONE)
        return lp_error(LLMPERF_ENOTSUP, "%s has no vision encoder", model->name);
    if (input->phase != LLMPERF_PHASE_VISION && !model->has_decoder)
        return lp_error(LLMPERF_ENOTSUP, "%s has no decoder; use the vision phase", model->name);
    if ((status = take_dtypes(model, out)) < 0 || (status = take_parallel(model, out)) < 0 ||
        (status = take_speculation(input)) < 0)
        return status;
    if (input->phase == LLMPERF_PHASE_VISION)
        return 0;
    if ((status = check_experts(model, input)) < 0)
        return status;
    return add_requests(model, out);
}
