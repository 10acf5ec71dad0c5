// SPDX-License-Identifier: Apache-2.0
// An engine of others with regions around it: whisper.cpp transcribes the same 30 seconds of silence again and again, encoder and
// prompt first, then token by token. What the kernels compute does not matter here, so a model without weights does
// (models/for-tests-ggml-base.bin in the sources of whisper.cpp).
//
//     whisper_profile MODEL [--tier none|regions|light|deep] [--requests N] [--tokens N] [--out DIR] [--record FILE]
//
// One request more than N goes first, to warm up. CUDA graphs are on as ggml has them; GGML_CUDA_DISABLE_GRAPHS=1 turns them off.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <whisper.h>

#include "llmperf/llmperf.hpp"

namespace {

const int PROMPT_TOKENS = 64;
const int THREADS = 4;

struct options {
    const char *model = nullptr, *tier = "deep", *out = "runs", *record = nullptr;
    int requests = 10, tokens = 128;
};

struct times {
    double prefill_ms = 0, decode_ms = 0;
};

double now_ms()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int count_of(const char *text)
{
    char *end = nullptr;
    long count = std::strtol(text, &end, 10);

    if (*end || count < 1 || count > 1000000)
        throw std::runtime_error(std::string(text) + " is no number from 1 to 1000000");
    return int(count);
}

options read_options(int argc, char **argv)
{
    options found;

    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];

        if (word.compare(0, 2, "--") != 0) {
            found.model = argv[i];
            continue;
        }
        if (++i == argc)
            throw std::runtime_error(word + " needs a value");
        if (word == "--tier")
            found.tier = argv[i];
        else if (word == "--out")
            found.out = argv[i];
        else if (word == "--record")
            found.record = argv[i];
        else if (word == "--requests")
            found.requests = count_of(argv[i]);
        else if (word == "--tokens")
            found.tokens = count_of(argv[i]);
        else
            throw std::runtime_error("no option " + word);
    }
    if (!found.model)
        throw std::runtime_error("name a model of whisper.cpp");
    return found;
}

std::unique_ptr<llmperf::session> start_session(const options &wanted)
{
    static const struct {
        const char *name;
        uint32_t tier;
    } tiers[] = { { "regions", LLMPERF_TIER_REGIONS }, { "light", LLMPERF_TIER_LIGHT }, { "deep", LLMPERF_TIER_DEEP } };
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    if (!std::strcmp(wanted.tier, "none"))
        return nullptr;
    for (const auto &tier : tiers) {
        if (std::strcmp(wanted.tier, tier.name))
            continue;
        options.tier = tier.tier;
        options.out_dir = wanted.out;
        options.record_path = wanted.record;
        return std::unique_ptr<llmperf::session>(new llmperf::session(options));
    }
    throw std::runtime_error(std::string("no tier ") + wanted.tier + ": none, regions, light or deep");
}

void must(int status, const char *what)
{
    if (status != 0)
        throw std::runtime_error(std::string("whisper.cpp cannot ") + what);
}

void decode(whisper_context *engine, const std::vector<whisper_token> &tokens, int count, int past)
{
    must(whisper_decode(engine, tokens.data(), count, past, THREADS), "decode");
}

times run_request(whisper_context *engine, int tokens)
{
    static const std::vector<whisper_token> prompt(PROMPT_TOKENS, 0);
    times taken;
    double begin = now_ms();

    {
        llmperf::prefill prefill(PROMPT_TOKENS);

        {
            llmperf::region encode("encode");
            must(whisper_encode(engine, 0, THREADS), "encode");
        }
        decode(engine, prompt, PROMPT_TOKENS, 0);
    }
    taken.prefill_ms = now_ms() - begin;
    begin = now_ms();
    llmperf::decode_all all;
    for (int i = 0; i < tokens; i++) {
        llmperf::decode_step step(1, uint64_t(PROMPT_TOKENS + i + 1));

        decode(engine, prompt, 1, PROMPT_TOKENS + i);
        all.add(1);
    }
    taken.decode_ms = now_ms() - begin;
    return taken;
}

void run(const options &wanted)
{
    std::unique_ptr<llmperf::session> session = start_session(wanted);
    whisper_context_params parameters = whisper_context_default_params();
    times sum;

    parameters.flash_attn = false;
    std::unique_ptr<whisper_context, decltype(&whisper_free)> engine(
        whisper_init_from_file_with_params(wanted.model, parameters), whisper_free);
    if (!engine)
        throw std::runtime_error(std::string("whisper.cpp cannot load ") + wanted.model);
    if (PROMPT_TOKENS + wanted.tokens > whisper_model_n_text_ctx(engine.get()))
        throw std::runtime_error("the context of this model is too short for so many tokens");
    must(whisper_set_mel(engine.get(), nullptr, 0, whisper_model_n_mels(engine.get())), "take the sound");
    run_request(engine.get(), wanted.tokens);
    for (int i = 0; i < wanted.requests; i++) {
        times taken = run_request(engine.get(), wanted.tokens);

        sum.prefill_ms += taken.prefill_ms;
        sum.decode_ms += taken.decode_ms;
    }
    std::printf("%-8s encoder and prompt %8.3f ms, decode step %8.4f ms\n", wanted.tier, sum.prefill_ms / wanted.requests,
                sum.decode_ms / wanted.requests / wanted.tokens);
    if (!session)
        return;
    session->stop();
    std::printf("%s\n", session->run_dir().c_str());
}

} // namespace

int main(int argc, char **argv)
{
    try {
        run(read_options(argc, argv));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "whisper_profile: %s\n", error.what());
        return 1;
    }
}
