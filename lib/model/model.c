/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions on models: description, and work of a step. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/work.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/analysis.h"

void llmperf_model_free(llmperf_model *model)
{
    if (!model)
        return;
    free(model->decoder.kinds);
    free(model->decoder.formats);
    lp_vector_clear(&model->vision.convs);
    lp_vector_clear(&model->warnings);
    lp_vector_clear(&model->assumptions);
    lp_strings_clear(&model->texts);
    free(model);
}

const char *llmperf_model_warning(const llmperf_model *model, size_t index)
{
    return model && index < model->warnings.count ? model->warnings.items[index] : NULL;
}

const char *llmperf_model_assumption(const llmperf_model *model, size_t index)
{
    return model && index < model->assumptions.count ? model->assumptions.items[index] : NULL;
}

static lp_u128 weight_bytes(const llmperf_model *model, uint32_t dtype,
                            const struct lp_parameters *parameters)
{
    uint32_t base = lp_dtype(dtype)->quantised ? model->base_dtype : dtype;
    lp_u128 plain = lp_parameters_total(parameters) - parameters->attention_in -
                    parameters->attention_out - parameters->mlp - parameters->shared -
                    parameters->experts - parameters->router_bias;
    lp_u128 bytes =
        lp_dtype_bytes(base, plain) + lp_dtype_bytes(LLMPERF_DTYPE_FP32, parameters->router_bias);

    for (int kind = 0; model->has_decoder && kind < LP_LAYER_KINDS; kind++)
        for (unsigned part = 0; part < LP_PARTS; part++)
            if (kind & LP_LAYER_MOE ? part != LP_PART_MLP : part < LP_PART_SHARED)
                bytes += lp_part_bytes(model, part, dtype, parameters->part[part], 0,
                                       model->decoder.layers, kind);
    return bytes;
}

static lp_u128 kv_bytes(const llmperf_model *model, uint32_t dtype)
{
    struct lp_attention attention;

    if (!model->has_decoder)
        return 0;
    lp_decoder_attention(&model->decoder, 1, &attention);
    return lp_dtype_bytes(dtype, attention.kv_elements) * model->decoder.layers;
}

static int narrow(lp_u128 value, const char *what, uint64_t *out)
{
    if (value > UINT64_MAX)
        return lp_error(LLMPERF_EINVAL, "%s exceeds 64 bits; use smaller numbers", what);
    *out = (uint64_t)value;
    return 0;
}

int llmperf_model_weight_bytes(const llmperf_model *model, uint32_t dtype, uint64_t *bytes_out)
{
    struct lp_parameters parameters;

    if (!model || !bytes_out)
        return lp_error(LLMPERF_EINVAL, "model and bytes_out are required");
    if (!dtype)
        dtype = model->weight_dtype;
    if (!lp_dtype(dtype))
        return lp_error(LLMPERF_EINVAL, "unknown dtype %u", (unsigned)dtype);
    lp_model_parameters(model, &parameters);
    return narrow(weight_bytes(model, dtype, &parameters), "the size of the weights", bytes_out);
}

int llmperf_model_kv_bytes(const llmperf_model *model, uint32_t dtype, uint64_t *bytes_out)
{
    if (!model || !bytes_out)
        return lp_error(LLMPERF_EINVAL, "model and bytes_out are required");
    if (!dtype)
        dtype = model->kv_dtype;
    if (!lp_dtype(dtype) || !lp_dtype(dtype)->for_cache)
        return lp_error(LLMPERF_EINVAL, "dtype %s is not a KV cache format; use fp8 or nvfp4",
                        llmperf_name(LLMPERF_NAME_DTYPE, dtype));
    return narrow(kv_bytes(model, dtype), "the KV cache size per token", bytes_out);
}

static void fill_decoder(const llmperf_model *model, llmperf_model_info *info)
{
    const struct lp_decoder *decoder = &model->decoder;
    uint64_t kinds[LP_LAYER_KINDS];
    struct lp_attention attention;

    lp_decoder_kinds(decoder, 0, decoder->layers, kinds);
    lp_decoder_attention(decoder, 1, &attention);
    info->layers = decoder->layers;
    info->moe_layers = kinds[LP_LAYER_MOE] + kinds[LP_LAYER_MOE | LP_LAYER_WINDOW];
    info->window_layers = kinds[LP_LAYER_WINDOW] + kinds[LP_LAYER_MOE | LP_LAYER_WINDOW];
    info->window = info->window_layers ? decoder->window : 0;
    info->hidden = decoder->hidden;
    info->heads = decoder->heads;
    info->kv_heads = decoder->kv_heads;
    info->head_dim = decoder->head_dim;
    info->vocabulary = decoder->vocabulary;
    info->experts = decoder->experts;
    info->experts_per_token = decoder->chosen;
    info->latent_attention = decoder->kv_rank > 0;
    info->flops_per_pair = attention.pair_flops * decoder->layers;
    info->flops_lm_head = 2 * decoder->hidden * decoder->vocabulary;
}

/* lp_model_open() checked that these fit. */
static void fill_parameters(const struct lp_parameters *parameters, llmperf_model_info *info)
{
    info->parameters_total = (uint64_t)lp_parameters_total(parameters);
    info->parameters_active = (uint64_t)parameters->active;
    info->parameters_embedding = (uint64_t)parameters->embedding;
    info->parameters_lm_head = (uint64_t)parameters->lm_head;
    info->parameters_norm = (uint64_t)parameters->norm;
    info->parameters_attention_in = (uint64_t)parameters->attention_in;
    info->parameters_attention_out = (uint64_t)parameters->attention_out;
    info->parameters_mlp = (uint64_t)parameters->mlp;
    info->parameters_router = (uint64_t)parameters->router;
    info->parameters_shared_experts = (uint64_t)parameters->shared;
    info->parameters_experts = (uint64_t)parameters->experts;
    info->parameters_vision = (uint64_t)parameters->vision;
    info->parameters_other = (uint64_t)parameters->other;
    info->flops_per_token = (uint64_t)(2 * (parameters->active - parameters->embedding));
}

int llmperf_model_info_get(const llmperf_model *model, llmperf_model_info *info_out)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
    struct lp_parameters parameters;

    if (!model || !info_out)
        return lp_error(LLMPERF_EINVAL, "model and info_out are required");
    info.name = model->name;
    info.family = model->family;
    info.source = model->source;
    info.convention = LP_CONVENTION;
    lp_model_parameters(model, &parameters);
    fill_parameters(&parameters, &info);
    info.weight_bytes = (uint64_t)weight_bytes(model, model->weight_dtype, &parameters);
    info.kv_bytes_per_token = (uint64_t)kv_bytes(model, model->kv_dtype);
    if (model->has_decoder)
        fill_decoder(model, &info);
    info.weight_dtype = model->weight_dtype;
    info.kv_dtype = model->kv_dtype;
    info.activation_dtype = model->activation_dtype;
    info.has_decoder = model->has_decoder;
    info.has_vision = model->vision.kind != LP_VISION_NONE;
    return lp_sized_out(info_out, &info, sizeof(info));
}

int lp_model_operators(const struct llmperf_model *model, const llmperf_step *input,
                       struct lp_step *step, struct lp_operators *list)
{
    int status = lp_step_prepare(model, input, step);

    if (status < 0)
        return status;
    list->count = 0;
    if (step->input.phase == LLMPERF_PHASE_VISION)
        return lp_vision_work(model, step, list);
    lp_decoder_work(model, step, list);
    if (step->input.draft_tokens) /* only accepted tokens are model work */
        for (size_t i = 0; i < list->count; i++)
            list->items[i].model = lp_round(list->items[i].expected);
    return 0;
}

static void add_up(const struct lp_operators *list, struct lp_operator *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (size_t i = 0; i < list->count; i++) {
        const struct lp_operator *op = &list->items[i];

        sum->model += op->model;
        sum->vector += op->vector;
        sum->hardware += op->hardware;
        sum->weights += op->weights;
        sum->kv_read += op->kv_read;
        sum->kv_write += op->kv_write;
        sum->activations += op->activations;
        sum->communication += op->communication;
        sum->expected += op->expected;
    }
}

static int narrow_operator(const struct lp_operator *op, llmperf_operator_work *work)
{
    int status;

    if ((status = narrow(op->model, "the number of model FLOPs", &work->model_flops)) < 0 ||
        (status = narrow(op->vector, "the number of vector FLOPs", &work->vector_flops)) < 0 ||
        (status = narrow(op->hardware, "the number of hardware FLOPs", &work->hardware_flops)) <
            0 ||
        (status = narrow(op->weights, "weight_bytes", &work->weight_bytes)) < 0 ||
        (status = narrow(op->kv_read, "kv_read_bytes", &work->kv_read_bytes)) < 0 ||
        (status = narrow(op->kv_write, "kv_write_bytes", &work->kv_write_bytes)) < 0 ||
        (status = narrow(op->activations, "activation_bytes", &work->activation_bytes)) < 0)
        return status;
    return narrow(op->communication, "communication_bytes", &work->communication_bytes);
}

static int narrow_sums(const struct lp_operator *sum, llmperf_work *work)
{
    llmperf_operator_work each;
    int status = narrow_operator(sum, &each);

    if (status < 0)
        return status;
    work->model_flops = each.model_flops;
    work->vector_flops = each.vector_flops;
    work->hardware_flops = each.hardware_flops;
    work->weight_bytes = each.weight_bytes;
    work->kv_read_bytes = each.kv_read_bytes;
    work->kv_write_bytes = each.kv_write_bytes;
    work->activation_bytes = each.activation_bytes;
    work->communication_bytes = each.communication_bytes;
    work->model_flops_expected = sum->expected;
    return narrow(sum->weights + sum->kv_read + sum->kv_write, "the number of bytes", &work->bytes);
}

int lp_operators_work(const struct lp_step *step, const struct lp_operators *list,
                      llmperf_work *work)
{
    struct lp_operator sum;
    int status;

    add_up(list, &sum);
    if (step->input.draft_tokens)
        sum.model = lp_round(sum.expected);
    *work = (llmperf_work)LLMPERF_WORK_INIT;
    work->convention = LP_CONVENTION;
    work->experts_touched = list->experts_touched;
    if ((status = narrow_sums(&sum, work)) < 0 ||
        (status = narrow(list->tokens, "the number of tokens", &work->tokens)) < 0 ||
        (status = narrow(list->positions, "the number of positions", &work->positions)) < 0 ||
        (status = narrow(step->rows, "the number of rows", &work->logits_rows)) < 0)
        return status;
    work->requests =
        step->input.phase == LLMPERF_PHASE_VISION ? step->input.images : step->input.requests;
    work->tokens_expected = step->input.draft_tokens ? step->useful_tokens : (double)list->tokens;
    return 0;
}

int llmperf_model_work(const llmperf_model *model, const llmperf_step *input, llmperf_work *out)
{
    llmperf_work work;
    struct lp_operators list;
    struct lp_step step;
    int status;

    if (!out)
        return lp_error(LLMPERF_EINVAL, "work_out is required");
    if ((status = lp_model_operators(model, input, &step, &list)) < 0 ||
        (status = lp_operators_work(&step, &list, &work)) < 0)
        return status;
    return lp_sized_out(out, &work, sizeof(work));
}

int llmperf_model_operator(const llmperf_model *model, const llmperf_step *input, size_t index,
                           llmperf_operator_work *out)
{
    llmperf_operator_work work = LLMPERF_OPERATOR_WORK_INIT;
    const struct lp_operator *op;
    struct lp_operators list;
    struct lp_step step;
    int status;

    if (!out)
        return lp_error(LLMPERF_EINVAL, "work_out is required");
    if ((status = lp_model_operators(model, input, &step, &list)) < 0)
        return status;
    if (index >= list.count)
        return lp_error(LLMPERF_ENOENT, "the step has %zu operators", list.count);
    op = &list.items[index];
    if ((status = narrow_operator(op, &work)) < 0)
        return status;
    work.name = op->name;
    work.layer_kind = op->layer_kind;
    work.layers = op->layers;
    work.compute_dtype = op->dtype;
    return lp_sized_out(out, &work, sizeof(work));
}
