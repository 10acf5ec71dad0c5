// SPDX-License-Identifier: Apache-2.0
// The header for llama.cpp with a stand-in for its llama_ubatch: what the stages and operators of some batches count.
#include "llmperf_llama.hpp"

#include <cstdio>
#include <vector>

namespace {

// As much of llama_ubatch as the header uses.
struct ubatch {
    uint32_t n_tokens;
    std::vector<int32_t> pos, ids;
    std::vector<int32_t *> seq_id;

    // Tokens as (sequence, position).
    explicit ubatch(const std::vector<std::pair<int, int>> &tokens) : n_tokens(uint32_t(tokens.size()))
    {
        for (const auto &token : tokens) {
            ids.push_back(token.first);
            pos.push_back(token.second);
        }
        for (int32_t &id : ids)
            seq_id.push_back(&id);
    }
};

int wrong = 0;

void check(const llmperf_profile *profile, const char *path, uint64_t calls, uint64_t tokens, uint64_t sequences, uint64_t context)
{
    llmperf_region_stats row = LLMPERF_REGION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_region(profile, i, &row) == 0; i++)
        if (std::strcmp(row.path, path) == 0 && row.instances == calls &&
            (tokens == 0 || (row.tokens == tokens && row.sequences == sequences && row.context == context)))
            return;
    std::fprintf(stderr, "wrong or missing: %s\n", path);
    wrong++;
}

} // namespace

int main()
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile = nullptr;
    llmperf_session *session = nullptr;

    options.tier = LLMPERF_TIER_REGIONS;
    if (llmperf_session_start(&options, &session) < 0)
        return 1;
    {
        llmperf::region llmperf_stage(llmperf_stage_of(ubatch({ { 3, 0 }, { 3, 1 }, { 3, 2 } })));
        for (const char *name : { "ffn_up-0", "ffn_up-11", "Qcur-3 (view)", "result_norm" })
            llmperf::region llmperf_operator(llmperf_operator_of(name).c_str());
    }
    for (const ubatch &batch : { ubatch({ { 5, 0 } }),                       // a prompt of one token
                                 ubatch({ { 3, 3 }, { 5, 1 } }),             // two sequences
                                 ubatch({ { 3, 4 }, { 5, 2 }, { 5, 3 } }) }) // a chunk of a prompt beside a decode step
        llmperf::region llmperf_stage(llmperf_stage_of(batch));
    if (llmperf_session_stop(session, &profile) < 0)
        return 1;
    check(profile, "LLM@prefill", 2, 4, 2, 4);
    check(profile, "LLM@decode_step", 1, 2, 2, 6);
    check(profile, "LLM@mixed_step", 1, 3, 2, 9);
    check(profile, "LLM@prefill/LLM@ffn_up", 2, 0, 0, 0);
    check(profile, "LLM@prefill/LLM@Qcur", 1, 0, 0, 0);
    check(profile, "LLM@prefill/LLM@result_norm", 1, 0, 0, 0);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return wrong;
}
