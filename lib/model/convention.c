/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of a step by other tools' conventions, computed from parameters and (query, key) pairs. For
 * "exact-v1" this is a second way to compute the sum over operators. */
#include <string.h>

#include "lib/model/work.h"
#include "lib/base/status.h"
#include "llmperf/sys/analysis.h"

enum pair_rule { PAIRS_NONE, PAIRS_EXACT, PAIRS_FULL, PAIRS_FULL_WINDOWED, PAIRS_HALF };
enum weight_rule { WEIGHTS_ACTIVE, WEIGHTS_WITHOUT_ROUTER, WEIGHTS_ACTIVE_AND_HEAD, WEIGHTS_ALL };

struct convention {
    const char *name, *note;
    enum pair_rule pairs;
    enum weight_rule weights;
    bool all_rows; /* logits for all rows, whatever the step requests */
    bool halved;   /* a multiply-add counts as 1 */
};

static const struct convention conventions[] = {
    { "exact-v1", "exact causal attention pairs, logits only where requested", PAIRS_EXACT,
      WEIGHTS_ACTIVE, false, false },
    { "exact-all-v1", "as exact-v1, with logits for every token", PAIRS_EXACT, WEIGHTS_ACTIVE, true,
      false },
    { "vllm", "every new token attends to the whole context (vLLM's metrics)", PAIRS_FULL_WINDOWED,
      WEIGHTS_ACTIVE, false, false },
    { "megatron", "half the squared sequence length, logits for every token, no router", PAIRS_HALF,
      WEIGHTS_WITHOUT_ROUTER, true, false },
    { "palm", "squared sequence length, logits for every token (PaLM, appendix B, forward pass)",
      PAIRS_FULL, WEIGHTS_ACTIVE, true, false },
    { "flop-counter", "as palm: torch's FlopCounterMode ignores the causal mask", PAIRS_FULL,
      WEIGHTS_ACTIVE, true, false },
    { "fvcore", "as palm, counting a multiply-add as 1 FLOP", PAIRS_FULL, WEIGHTS_ACTIVE, true,
      true },
    { "two-n-active", "2 x weights used per token, LM head included; no attention", PAIRS_NONE,
      WEIGHTS_ACTIVE_AND_HEAD, false, false },
    { "two-n-total", "2 x all decoder parameters, embedding included; no attention", PAIRS_NONE,
      WEIGHTS_ALL, false, false },
};
#define CONVENTIONS LP_LENGTH(conventions)

static const struct convention *find_convention(const char *name)
{
    for (size_t i = 0; name && i < CONVENTIONS; i++)
        if (strcmp(conventions[i].name, name) == 0)
            return &conventions[i];
    return NULL;
}

const char *llmperf_convention_name(size_t index)
{
    return index < CONVENTIONS ? conventions[index].name : NULL;
}

const char *llmperf_convention_note(const char *convention)
{
    const struct convention *found = find_convention(convention);

    return found ? found->note : NULL;
}

static lp_u128 weights(const struct llmperf_model *model, enum weight_rule rule)
{
    struct lp_parameters parameters;
    lp_u128 body;

    lp_model_parameters(model, &parameters);
    body = parameters.active - parameters.embedding; /* a tied table has the size of the head */
    switch (rule) {
    case WEIGHTS_WITHOUT_ROUTER:
        return body - parameters.router;
    case WEIGHTS_ACTIVE_AND_HEAD:
        return parameters.active;
    case WEIGHTS_ALL:
        return lp_parameters_total(&parameters) - parameters.vision;
    default:
        return body;
    }
}

/* 2 x pairs, summed over the layers. */
static lp_u128 pairs_twice(const struct llmperf_model *model, const struct lp_step *step,
                           enum pair_rule rule)
{
    const struct lp_decoder *decoder = &model->decoder;
    uint64_t kinds[LP_LAYER_KINDS];
    lp_u128 windowed;

    lp_decoder_kinds(decoder, 0, decoder->layers, kinds);
    windowed = kinds[LP_LAYER_WINDOW] + kinds[LP_LAYER_WINDOW | LP_LAYER_MOE];
    switch (rule) {
    case PAIRS_EXACT:
        return 2 * ((decoder->layers - windowed) * step->pairs[0] + windowed * step->pairs[1]);
    case PAIRS_FULL:
        return 2 * decoder->layers * step->full_pairs;
    case PAIRS_FULL_WINDOWED:
        return 2 *
               ((decoder->layers - windowed) * step->full_pairs + windowed * step->full_windowed);
    case PAIRS_HALF:
        return decoder->layers * step->half_pairs_twice;
    default:
        return 0;
    }
}

static int check_plain(const struct lp_step *step)
{
    if (step->input.phase == LLMPERF_PHASE_VISION)
        return lp_error(LLMPERF_EINVAL, "conventions apply to prefill and decode steps only");
    if (step->tensor * step->pipeline * step->expert * step->data != 1 ||
        step->input.draft_tokens || step->padded > step->tokens)
        return lp_error(
            LLMPERF_EINVAL,
            "conventions apply to whole steps without draft tokens, padding or parallel shares");
    return 0;
}

int llmperf_model_flops(const llmperf_model *model, const llmperf_step *input,
                        const char *convention, uint64_t *flops_out)
{
    const struct convention *rule = find_convention(convention);
    struct lp_attention attention;
    struct lp_step step;
    lp_u128 flops;
    int status;

    if (!flops_out)
        return lp_error(LLMPERF_EINVAL, "flops_out is required");
    if (!rule)
        return lp_error(LLMPERF_EINVAL, "unknown convention \"%.40s\"; use exact-v1 or palm",
                        convention ? convention : "");
    if ((status = lp_step_prepare(model, input, &step)) < 0 || (status = check_plain(&step)) < 0)
        return status;
    lp_decoder_attention(&model->decoder, 1, &attention);
    flops = 2 * step.tokens * weights(model, rule->weights) +
            pairs_twice(model, &step, rule->pairs) * (attention.pair_flops / 2);
    if (rule->weights == WEIGHTS_ACTIVE || rule->weights == WEIGHTS_WITHOUT_ROUTER)
        flops += (rule->all_rows ? step.tokens : step.rows) * 2 * model->decoder.hidden *
                 model->decoder.vocabulary;
    if (rule->halved)
        flops /= 2;
    if (flops > UINT64_MAX)
        return lp_error(LLMPERF_EINVAL, "the number of FLOPs exceeds 64 bits; use fewer tokens");
    *flops_out = (uint64_t)flops;
    return 0;
}
