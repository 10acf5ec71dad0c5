/* SPDX-License-Identifier: Apache-2.0 */
/* PC sampling on a GPU: stall reasons of a kernel that waits for memory and of one that waits for
 * its own results, in two regions; samples of one call in a hundred against samples of all; what it
 * costs. */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/check.h"

#define STEPS 400

static int *links;
static float *values;
static cudaGraphExec_t graph;
static cudaStream_t stream;

/* Each load depends on the one before. */
__global__ void chase(int *next, int rounds)
{
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 64;

    for (int i = 0; i < rounds; i++)
        at = next[at];
    if (at < 0)
        next[0] = at;
}

/* Each sum depends on the one before; one warp on a scheduler. */
__global__ void chain(float *out, int rounds)
{
    float a = threadIdx.x;

    for (int i = 0; i < rounds; i++)
        a = a * 1.0001f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void set_up()
{
    const int count = 64 << 20;
    int *host = (int *)malloc((size_t)count * sizeof(int));
    cudaGraph_t captured;

    for (int i = 0; i < count; i++)
        host[i] = (int)(((long long)i + 1048583LL * 64) % count);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&links, (size_t)count * sizeof(int)));
    CUDA(cudaMalloc(&values, 1 << 20));
    CUDA(cudaMemcpy(links, host, (size_t)count * sizeof(int), cudaMemcpyHostToDevice));
    free(host);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 50; i++)
        chain<<<132, 128, 0, stream>>>(values, 300);
    CUDA(cudaStreamEndCapture(stream, &captured));
    CUDA(cudaGraphInstantiate(&graph, captured, 0));
}

/* About 1.5 ms on an H200. */
static void step()
{
    llmperf_region_begin("decode_step");
    llmperf_region_begin("memory");
    for (int i = 0; i < 5; i++)
        chase<<<264, 128, 0, stream>>>(links, 200);
    llmperf_region_end();
    llmperf_region_begin("compute");
    for (int i = 0; i < 5; i++)
        chain<<<132, 128, 0, stream>>>(values, 20000);
    CUDA(cudaGraphLaunch(graph, stream));
    llmperf_region_end();
    CUDA(cudaStreamSynchronize(stream));
    llmperf_region_end();
}

static double run_steps(int count)
{
    auto begin = std::chrono::steady_clock::now();

    llmperf_region_begin("all");
    for (int i = 0; i < count; i++)
        step();
    llmperf_region_end();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
               .count() /
           count;
}

static llmperf_session *start_stalls(const char *words)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_COUNTERS;
    options.counters = words;
    return start_with(options);
}

/* Member of an object in a document, up to the next comma or quote. */
static std::string member(const std::string &object, const char *name)
{
    size_t at = object.find("\"" + std::string(name) + "\": ");

    if (at == std::string::npos)
        return "";
    at += strlen(name) + 4;
    at += object[at] == '"';
    return object.substr(at, object.find_first_of(",\"}\n", at) - at);
}

/* The objects of a list in metrics.json. */
template <class Use> static void each_row(const std::string &text, const char *list, Use use)
{
    size_t at = text.find("\"" + std::string(list) + "\": ["), end = text.find(']', at);

    while (at != std::string::npos && (at = text.find('{', at)) != std::string::npos && at < end) {
        size_t close = text.find('}', at);

        use(text.substr(at, close - at + 1));
        at = close;
    }
}

struct stalls {
    std::map<std::string, double> shares; /* region / kernel / reason */
    std::map<std::string, std::string> top;
    std::map<std::string, std::string> source; /* of the hottest instruction */
    std::string text;
};

static void print_state(const llmperf_profile *profile)
{
    static const char *const names[] = { "samples",   "samples_lost", "samples_unknown",
                                         "overflows", "boundaries",   "cost_ms" };
    const char *fact = llmperf_profile_fact(profile, "counters");
    llmperf_ledger ledger = ledger_of(profile);

    printf("  counters:");
    for (const char *name : names)
        printf(" %s %s", name, fact ? member(fact, name).c_str() : "-");
    printf("; kernels seen %llu, verdict %s\n", (unsigned long long)ledger.kernels_seen,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    for (size_t i = 0; llmperf_profile_note(profile, i); i++)
        printf("  note: %s\n", llmperf_profile_note(profile, i));
}

static stalls stop_stalls(llmperf_session *session)
{
    llmperf_profile *profile = stop_session(session);
    const char *fact = llmperf_profile_fact(profile, "counters");
    stalls found;
    char *text = NULL;

    print_state(profile);
    expect_complete(profile);
    CHECK(!fact || member(fact, "overflows") == "0", "the buffer overflowed");
    CHECK(!fact || atof(member(fact, "samples_unknown").c_str()) <=
                       0.1 * atof(member(fact, "samples").c_str()),
          "samples of no known kernel");
    CHECK(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text) == LLMPERF_OK, "%s",
          llmperf_last_error());
    found.text = text ? text : "";
    llmperf_text_free(text);
    each_row(found.text, "stalls", [&](const std::string &row) {
        std::string kernel = member(row, "region") + "/" + member(row, "short_name");

        found.shares[kernel + "/" + member(row, "reason")] = atof(member(row, "share").c_str());
        if (!found.top.count(kernel))
            found.top[kernel] = member(row, "reason");
        if (atof(member(row, "share").c_str()) >= 0.01)
            printf("  %-40s %-22s %8s %5.1f %%\n", kernel.c_str(), member(row, "reason").c_str(),
                   member(row, "samples").c_str(), 100 * atof(member(row, "share").c_str()));
    });
    each_row(found.text, "hot_instructions", [&](const std::string &row) {
        std::string kernel = member(row, "region") + "/" + member(row, "short_name");

        if (!found.source.count(kernel))
            found.source[kernel] = member(row, "source");
    });
    llmperf_profile_free(profile);
    return found;
}

static void expect_no_refusal(const stalls &found)
{
    if (found.shares.empty() && found.text.find("no hardware counters") != std::string::npos) {
        printf("skipped: %s\n",
               found.text.substr(found.text.find("no hardware counters"), 200).c_str());
        exit(SKIPPED);
    }
}

/* Before the program's code is loaded, so that lines are known. */
static stalls sample_all()
{
    llmperf_session *session = start_stalls("stalls include=LLM@all budget=100");
    double ms;

    set_up();
    ms = run_steps(STEPS);
    printf("all steps sampled: %.3f ms a step\n", ms);
    return stop_stalls(session);
}

static void check_reasons(const stalls &all)
{
    for (auto &source : all.source)
        printf("  hottest of %s: %s\n", source.first.c_str(), source.second.c_str());
    CHECK(all.top.count("LLM@all/chase") && all.top.at("LLM@all/chase") == "long_scoreboard",
          "top reason of chase");
    CHECK(all.top.count("LLM@all/chain") && all.top.at("LLM@all/chain") == "wait",
          "top reason of chain");
    CHECK(all.source.count("LLM@all/chase") &&
              all.source.at("LLM@all/chase").find("test_stalls.cu:") != std::string::npos,
          "source line of chase");
}

static void check_shares(const stalls &all)
{
    llmperf_session *session = start_stalls("stalls include=LLM@decode_step");
    double most = 0;

    printf("one percent of the time sampled: %.3f ms a step\n", run_steps(20 * STEPS));
    stalls some = stop_stalls(session);
    for (auto &share : all.shares) {
        std::string name = share.first;

        name.replace(0, strlen("LLM@all"), "LLM@all/LLM@decode_step");
        most = fmax(most, fabs(share.second - (some.shares.count(name) ? some.shares[name] : 0)));
    }
    printf("largest difference of shares: %.2f points\n", 100 * most);
    CHECK(most <= 0.03, "%.2f points", 100 * most);
}

static void check_regions()
{
    llmperf_session *session =
        start_stalls("stalls include=LLM@memory include=LLM@compute budget=20");

    run_steps(10 * STEPS);
    stalls found = stop_stalls(session);
    CHECK(found.top.count("LLM@all/LLM@decode_step/LLM@memory/chase"), "no samples of memory");
    CHECK(found.top.count("LLM@all/LLM@decode_step/LLM@compute/chain"), "no samples of compute");
    CHECK(!found.top.count("LLM@all/LLM@decode_step/LLM@memory/chain"), "chain in region memory");
    CHECK(!found.top.count("LLM@all/LLM@decode_step/LLM@compute/chase"), "chase in region compute");
}

/* CUPTI refuses to switch records on while PC sampling is enabled. */
static void check_pause()
{
    llmperf_session *session = start_stalls("stalls include=LLM@decode_step budget=100");

    run_steps(STEPS);
    CHECK(llmperf_session_pause(session) == LLMPERF_OK, "%s", llmperf_last_error());
    run_steps(10);
    CHECK(llmperf_session_resume(session) == LLMPERF_OK, "%s", llmperf_last_error());
    run_steps(STEPS);
    stalls found = stop_stalls(session);
    CHECK(found.top.count("LLM@all/LLM@decode_step/chase"), "no samples");
}

/* Blocks of steps, with and without sampling, in turn. The median of the pairs is not moved by one
 * disturbed block. */
static void measure_cost()
{
    std::vector<double> ratios;
    double ms[2];

    for (int i = 0; i < 10; i++) {
        llmperf_session *session = i % 2 ? start_stalls("stalls include=LLM@decode_step")
                                         : start_session(LLMPERF_TIER_DEEP);
        llmperf_profile *profile;

        run_steps(50); /* set-up */
        ms[i % 2] = run_steps(10 * STEPS);
        printf("%s: %.4f ms a step\n", i % 2 ? "with sampling" : "without", ms[i % 2]);
        profile = stop_session(session);
        print_state(profile);
        llmperf_profile_free(profile);
        if (i % 2)
            ratios.push_back(ms[1] / ms[0]);
    }
    std::sort(ratios.begin(), ratios.end());
    printf("cost: %+.2f %% (least %+.2f, most %+.2f)\n", 100 * (ratios[2] - 1),
           100 * (ratios[0] - 1), 100 * (ratios[4] - 1));
    CHECK(ratios[2] < 1.02, "sampling costs more than its budget");
}

/* With CONTEXT_FIRST=1 the context is older than the session. */
int main()
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    need_device(1);
    if (getenv("CONTEXT_FIRST"))
        CUDA(cudaFree(0));
    stalls all = sample_all();
    expect_no_refusal(all);
    check_reasons(all);
    check_shares(all);
    check_regions();
    check_pause();
    measure_cost();
    return finish();
}
