/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a few kilobytes: each block of the engine in at least one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

const char check_llama[] = "model_type: llama\nhidden_size: 64\nintermediate_size: 160\n"
                           "num_hidden_layers: 3\nnum_attention_heads: 4\n"
                           "num_key_value_heads: 2\nvocab_size: 256\ntorch_dtype: bfloat16\n";
const char check_qwen2[] = "model_type: qwen2\nhidden_size: 64\nintermediate_size: 96\n"
                           "num_hidden_layers: 2\nnum_attention_heads: 4\n"
                           "num_key_value_heads: 1\nvocab_size: 128\ntie_word_embeddings: true\n"
                           "torch_dtype: bfloat16\n";
const char check_tied[] = "model_type: qwen2\nhidden_size: 64\nintermediate_size: 96\n"
                          "num_hidden_layers: 2\nnum_attention_heads: 4\n"
                          "num_key_value_heads: 2\nvocab_size: 128\ntie_word_embeddings: true\n"
                          "torch_dtype: bfloat16\n";
const char check_qwen3_moe[] =
    "model_type: qwen3_moe\nhidden_size: 64\nintermediate_size: 96\nmoe_intermediate_size: 48\n"
    "num_hidden_layers: 2\nnum_attention_heads: 4\nnum_key_value_heads: 2\nhead_dim: 32\n"
    "num_experts: 8\nnum_experts_per_tok: 3\nnorm_topk_prob: true\nvocab_size: 128\n"
    "torch_dtype: bfloat16\n";
const char check_mixtral[] = "model_type: mixtral\nhidden_size: 64\nintermediate_size: 96\n"
                             "num_hidden_layers: 2\nnum_attention_heads: 4\n"
                             "num_key_value_heads: 2\nnum_local_experts: 4\n"
                             "num_experts_per_tok: 2\nvocab_size: 128\ntorch_dtype: bfloat16\n";
const char check_latent[] =
    "model_type: deepseek_v2\nhidden_size: 64\nintermediate_size: 96\nmoe_intermediate_size: 32\n"
    "first_k_dense_replace: 1\nn_routed_experts: 8\nn_shared_experts: 2\nnum_experts_per_tok: 3\n"
    "num_hidden_layers: 3\nnum_attention_heads: 4\nnum_key_value_heads: 4\nkv_lora_rank: 48\n"
    "q_lora_rank: 40\nqk_nope_head_dim: 32\nqk_rope_head_dim: 16\nv_head_dim: 24\n"
    "topk_method: greedy\nvocab_size: 128\ntorch_dtype: bfloat16\n";
const char check_ocr[] =
    "model_type: deepseek_vl_v2\ntorch_dtype: bfloat16\nlanguage_config:\n"
    "  {model_type: deepseek_v2, use_mla: false, hidden_size: 64, intermediate_size: 96,\n"
    "   moe_intermediate_size: 32, first_k_dense_replace: 1, n_routed_experts: 8,\n"
    "   n_shared_experts: 2, num_experts_per_tok: 3, num_hidden_layers: 2, topk_method: greedy,\n"
    "   num_attention_heads: 2, num_key_value_heads: 2, head_dim: 32, vocab_size: 128}\n"
    "projector_config: {input_dim: 128, n_embed: 64, model_type: mlp_projector,\n"
    "                   projector_type: linear}\n"
    "vision_config:\n  image_size: 256\n  model_type: vision\n  width:\n"
    "    clip-l-14-224: {heads: 2, image_size: 56, layers: 2, patch_size: 14, width: 64}\n"
    "    sam_vit_b: {downsample_channels: [48, 64], global_attn_indexes: [1], heads: 2,\n"
    "                layers: 2, width: 32, patch_size: 16, window_size: 3}\n";
const char check_resnet[] = "input: {channels: 3, height: 9, width: 13}\nchannels: 16\nblocks: 2\n"
                            "classes: 7\nbatch_norm_epsilon: 1.0e-5\n";

const char *check_model_file(const char *text)
{
    static char path[64];
    FILE *file;
    int handle;

    snprintf(path, sizeof(path), "/tmp/mini-engine-XXXXXX");
    handle = mkstemp(path);
    file = handle < 0 ? NULL : fdopen(handle, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    return path;
}
