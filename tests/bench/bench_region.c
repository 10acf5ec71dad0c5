/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of a region: begin and end, as a program that links the shared library pays it.
 *
 * Each number is CPU time of the thread that marks the regions, so that other work on the machine
 * stays out of it. Bursts are short enough for a thread's ring, and the collector empties it
 * between two of them: a dropped record would be a cheap one. */
#include <pthread.h>

#include "tests/bench/bench.h"
#ifdef BENCH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#define ROUNDS       9
#define BURSTS       15
#define PAIRS        20000u /* 40,000 records: less than half of the default ring */
#define MOST_THREADS 8u

enum state { UNATTACHED, HOST_TIER, COLLECTING, STATES };
enum shape { SHORT, LONG, NESTED, CLOCKS, NVTX, SHAPES };

static const char *const state_names[] = { "nothing attached", "tier regions",
                                           "kernel collection" };
static const char *const shape_names[] = { "short label", "60-character label", "nested depth 3",
                                           "two clock_gettime", "NVTX push+pop" };
static const uint32_t thread_counts[] = { 1, MOST_THREADS };
#define LONG_LABEL "LLM@model.layers.self_attention.qkv_projection_and_rotary_em"
_Static_assert(sizeof(LONG_LABEL) == 61, "60 characters");

static struct bench_samples samples[STATES][SHAPES][2];

static void mark_pairs(const char *label)
{
    for (uint32_t i = 0; i < PAIRS; i++) {
        llmperf_region_begin(label);
        llmperf_region_end();
    }
}

static void mark_nested(void)
{
    for (uint32_t i = 0; i < PAIRS / 3; i++) {
        llmperf_region_begin("LLM@decode_step");
        llmperf_region_begin("LLM@layer");
        llmperf_region_begin("LLM@attention");
        llmperf_region_end();
        llmperf_region_end();
        llmperf_region_end();
    }
}

static void read_clocks(void)
{
    struct timespec now;

    for (uint32_t i = 0; i < PAIRS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

static void mark_nvtx(void)
{
#ifdef BENCH_HAVE_NVTX
    for (uint32_t i = 0; i < PAIRS; i++) {
        nvtxRangePushA("attention");
        nvtxRangePop();
    }
#endif
}

static void mark(enum shape shape)
{
    if (shape == SHORT || shape == LONG)
        mark_pairs(shape == SHORT ? "LLM@mlp" : LONG_LABEL);
    else if (shape == NESTED)
        mark_nested();
    else if (shape == CLOCKS)
        read_clocks();
    else
        mark_nvtx();
}

/* Threads */

struct crew {
    pthread_barrier_t gate;
    llmperf_session *session; /* NULL: nothing is attached */
    enum shape shape;
};

struct member {
    struct crew *crew;
    pthread_t thread;
    bool leads;
    double ns; /* a pair */
};

static double time_burst(enum shape shape)
{
    uint32_t pairs = shape == NESTED ? PAIRS / 3 * 3 : PAIRS;
    uint64_t start = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);

    mark(shape);
    return (double)(bench_time_ns(CLOCK_THREAD_CPUTIME_ID) - start) / pairs;
}

static void *work(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    struct bench_samples bursts = { 0 };

    for (int i = 0; i <= BURSTS; i++) {
        double ns;

        pthread_barrier_wait(&crew->gate);
        ns = time_burst(crew->shape);
        if (i > 0) /* The first one fills the caches. */
            bench_add(&bursts, ns);
        pthread_barrier_wait(&crew->gate);
        if (member->leads && crew->session)
            bench_need(llmperf_session_flush(crew->session), "flush");
    }
    member->ns = bench_median(&bursts);
    return NULL;
}

/* Mean over the threads of each one's median burst. */
static double time_shape(llmperf_session *session, enum shape shape, uint32_t threads)
{
    struct member members[MOST_THREADS];
    struct crew crew = { .session = session, .shape = shape };
    double sum = 0;

    pthread_barrier_init(&crew.gate, NULL, threads);
    for (uint32_t i = 0; i < threads; i++) {
        members[i] = (struct member){ .crew = &crew, .leads = i == 0 };
        if (pthread_create(&members[i].thread, NULL, work, &members[i]) != 0)
            exit(1);
    }
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(members[i].thread, NULL);
        sum += members[i].ns;
    }
    pthread_barrier_destroy(&crew.gate);
    return sum / threads;
}

/* Sessions */

static llmperf_session *start(enum state state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    if (state == UNATTACHED)
        return NULL;
    options.tier = state == HOST_TIER ? LLMPERF_TIER_REGIONS : LLMPERF_TIER_LIGHT;
    options.overhead_budget_permille = 1000; /* all is collected */
    options.device_source = state == HOST_TIER ? LLMPERF_SOURCE_NONE : LLMPERF_SOURCE_FAKE;
    bench_need(llmperf_session_start(&options, &session), "start");
    return session;
}

static uint64_t stop(llmperf_session *session)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    if (!session)
        return 0;
    bench_need(llmperf_session_stop(session, &profile), "stop");
    bench_need(llmperf_profile_ledger(profile, &ledger), "ledger");
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return ledger.regions_dropped;
}

static bool wanted(enum state state, enum shape shape)
{
#ifndef BENCH_HAVE_NVTX
    if (shape == NVTX)
        return false;
#endif
    return state == UNATTACHED || shape < CLOCKS;
}

static uint64_t measure(void)
{
    uint64_t dropped = 0;

    for (int round = 0; round < ROUNDS; round++)
        for (enum state state = UNATTACHED; state < STATES; state++) {
            llmperf_session *session = start(state);

            for (enum shape shape = SHORT; shape < SHAPES; shape++)
                for (uint32_t t = 0; t < 2 && wanted(state, shape); t++)
                    bench_add(&samples[state][shape][t],
                              time_shape(session, shape, thread_counts[t]));
            dropped += stop(session);
        }
    return dropped;
}

static void print_all(void)
{
    printf("CPU ns a begin+end pair, median of %d rounds:    1 thread   8 threads\n", ROUNDS);
    for (enum state state = UNATTACHED; state < STATES; state++)
        for (enum shape shape = SHORT; shape < SHAPES; shape++)
            if (wanted(state, shape))
                printf("  %-18s %-20s %15.1f %11.1f\n", shape < CLOCKS ? state_names[state] : "",
                       shape_names[shape], bench_median(&samples[state][shape][0]),
                       bench_median(&samples[state][shape][1]));
}

static void print_row(enum state state, double target, bool complete)
{
    char what[80], measured[80], beside[80], goal[32];
    double worst = 0, least = 1e9;
    int length;

    for (enum shape shape = SHORT; shape <= NESTED; shape++)
        for (uint32_t t = 0; t < 2; t++) {
            double ns = bench_median(&samples[state][shape][t]);

            worst = ns > worst ? ns : worst;
            least = ns < least ? ns : least;
        }
    snprintf(what, sizeof(what), "region begin+end, %s", state_names[state]);
    snprintf(measured, sizeof(measured), "%.1f to %.1f ns%s", least, worst,
             complete ? "" : ", records dropped");
    length = snprintf(beside, sizeof(beside), "two clock_gettime %.1f ns",
                      bench_median(&samples[UNATTACHED][CLOCKS][0]));
    if (wanted(UNATTACHED, NVTX))
        snprintf(beside + length, sizeof(beside) - (size_t)length, ", NVTX push+pop %.1f ns",
                 bench_median(&samples[UNATTACHED][NVTX][0]));
    snprintf(goal, sizeof(goal), "<= %.0f ns", target);
    bench_row(what, measured, beside, goal, worst <= target && complete);
}

int main(void)
{
    uint64_t dropped;

    unsetenv("LLMPERF_OUT"); /* Nothing is written. */
    dropped = measure();
    print_all();
    printf("  host records dropped: %llu\n", (unsigned long long)dropped);
    print_row(UNATTACHED, 10, true);
    print_row(HOST_TIER, 80, dropped == 0);
    print_row(COLLECTING, 250, dropped == 0);
    return 0;
}
