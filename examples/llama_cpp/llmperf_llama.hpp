// SPDX-License-Identifier: Apache-2.0
// Stages and operators of llama.cpp: docs/how-to/llama-cpp.md says where four further lines go.
#include <algorithm>
#include <cstring>
#include <map>
#include "llmperf/llmperf.hpp"

// The stage of a ubatch. A sequence with several tokens, or with its first one, is in prefill.
template <class Ubatch> llmperf_region_attr llmperf_stage_of(const Ubatch &batch)
{
    std::map<int, std::pair<long, long>> sequences; // tokens and length by id
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
    size_t prompts = 0;
    for (uint32_t i = 0; i < batch.n_tokens; i++) {
        auto &one = sequences[batch.seq_id[i][0]];
        one = { one.first + 1, std::max(one.second, batch.pos[i] + 1L) };
    }
    for (const auto &one : sequences) {
        prompts += one.second.first > 1 || one.second.second == 1;
        attr.context += (uint64_t)one.second.second;
    }
    attr.label = "LLM@mixed_step";
    if (prompts == 0 || prompts == sequences.size())
        attr.label = prompts ? "LLM@prefill" : "LLM@decode_step";
    attr.kind = LLMPERF_REGION_STAGE;
    attr.tokens = batch.n_tokens;
    attr.sequences = sequences.size();
    return attr;
}

// The operator of a node of ggml's graph: ffn_up of "ffn_up-12".
inline std::string llmperf_operator_of(const char *node)
{
    return std::string(node, std::strcspn(node, "-0123456789 ("));
}
