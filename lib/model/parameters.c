/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of a decoder by kind. */
#include <string.h>

#include "lib/model/desc.h"

static void latent_attention(const struct lp_decoder *decoder, uint64_t heads,
                             struct lp_attention *out)
{
    uint64_t h = decoder->hidden, q = decoder->q_rank, kv = decoder->kv_rank;
    uint64_t key = decoder->nope_dim + decoder->rope_dim, value = decoder->value_dim;
    uint64_t expand = heads * (decoder->nope_dim + value);

    out->in_weights = (q ? h * q + q * heads * key : h * heads * key) +
                      h * (kv + decoder->rope_dim) + kv * expand;
    out->in_elements =
        (q ? h + q + q + heads * key : h + heads * key) + h + kv + decoder->rope_dim + kv + expand;
    out->in_norm = q + kv;
    out->out_weights = heads * value * h;
    out->out_elements = heads * value + h;
    out->pair_flops = 2 * heads * (key + value);
    out->absorbed_pair_flops = 2 * heads * (2 * kv + decoder->rope_dim);
    out->expand_flops = 2 * kv * expand;
    /* All heads share the latent, so every GPU has it. */
    out->kv_elements = kv + decoder->rope_dim;
}

void lp_decoder_attention(const struct lp_decoder *decoder, uint64_t tensor_parallel,
                          struct lp_attention *out)
{
    uint64_t heads = decoder->heads / tensor_parallel, h = decoder->hidden, d = decoder->head_dim;
    uint64_t kv_heads = decoder->kv_heads / tensor_parallel;

    memset(out, 0, sizeof(*out));
    if (decoder->kv_rank > 0) {
        latent_attention(decoder, heads, out);
        return;
    }
    if (kv_heads == 0)
        kv_heads = 1; /* fewer heads than GPUs: a head is on several GPUs */
    out->in_weights = h * (heads + 2 * kv_heads) * d;
    out->in_bias = decoder->qkv_bias ? (heads + 2 * kv_heads) * d : 0;
    out->in_norm = decoder->qk_norm ? 2 * d : 0;
    out->in_elements = h + (heads + 2 * kv_heads) * d;
    out->out_weights = heads * d * h;
    out->out_bias = decoder->out_bias ? h : 0;
    out->out_elements = heads * d + h;
    out->pair_flops = out->absorbed_pair_flops = 4 * heads * d;
    out->kv_elements = 2 * kv_heads * d;
}

void lp_decoder_kinds(const struct lp_decoder *decoder, uint64_t first, uint64_t count,
                      uint64_t kinds[LP_LAYER_KINDS])
{
    memset(kinds, 0, LP_LAYER_KINDS * sizeof(kinds[0]));
    for (uint64_t i = first; i < first + count; i++)
        kinds[decoder->kinds[i]]++;
}

static void add_decoder(const struct lp_decoder *decoder, struct lp_parameters *out)
{
    uint64_t h = decoder->hidden, matrices = decoder->gated ? 3 : 2;
    uint64_t kinds[LP_LAYER_KINDS];
    lp_u128 layers = decoder->layers, moe, dense, vectors;
    struct lp_attention attention;

    lp_decoder_kinds(decoder, 0, decoder->layers, kinds);
    moe = kinds[LP_LAYER_MOE] + kinds[LP_LAYER_MOE | LP_LAYER_WINDOW];
    dense = layers - moe;
    lp_decoder_attention(decoder, 1, &attention);
    out->embedding = (lp_u128)h * decoder->vocabulary;
    out->lm_head = decoder->tied ? 0 : out->embedding;
    vectors = h * (decoder->layer_norm ? 2 : 1);
    out->norm = layers * (decoder->norms * vectors + attention.in_norm) + vectors;
    out->attention_in = layers * attention.in_weights;
    out->attention_out = layers * attention.out_weights;
    out->mlp = dense * matrices * h * decoder->intermediate;
    out->router = moe * h * (decoder->experts + (decoder->shared_gate ? 1 : 0));
    out->shared = moe * 3 * h * decoder->shared_size;
    out->experts = moe * 3 * h * decoder->expert_size * decoder->experts;
    out->router_bias = decoder->router_bias ? moe * decoder->experts : 0;
    out->other = layers * (attention.in_bias + attention.out_bias) + out->router_bias +
                 (lp_u128)decoder->position_rows * h;
    if (decoder->mlp_bias)
        out->other += dense * ((matrices - 1) * decoder->intermediate + h);
    out->active = out->attention_in + out->attention_out + out->mlp + out->router + out->shared +
                  out->embedding;
    if (decoder->experts)
        out->active += out->experts / decoder->experts * decoder->chosen;
    out->part[LP_PART_ATTENTION_IN] = attention.in_weights;
    out->part[LP_PART_ATTENTION_OUT] = attention.out_weights;
    out->part[LP_PART_MLP] = matrices * h * decoder->intermediate;
    out->part[LP_PART_SHARED] = 3 * h * decoder->shared_size;
    out->part[LP_PART_EXPERTS] = (lp_u128)3 * h * decoder->expert_size * decoder->experts;
}

void lp_model_parameters(const struct llmperf_model *model, struct lp_parameters *out)
{
    memset(out, 0, sizeof(*out));
    if (model->has_decoder)
        add_decoder(&model->decoder, out);
    if (model->vision.kind != LP_VISION_NONE)
        out->vision = lp_vision_parameters(&model->vision);
}

lp_u128 lp_parameters_total(const struct lp_parameters *parameters)
{
    return parameters->embedding + parameters->lm_head + parameters->norm +
           parameters->attention_in + parameters->attention_out + parameters->mlp +
           parameters->router + parameters->shared + parameters->experts + parameters->vision +
           parameters->other;
}
