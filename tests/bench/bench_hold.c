/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread that serves is held by what others ask of the session: it marks regions without
 * a pause, and the longest of its calls is compared with the longest while nobody asks anything. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define ROUNDS    20
#define CALLS     50 /* a round */
#define TARGET_US 10.0
#define SLOW_NS   10000u

static _Atomic bool over, warm;

struct server {
    uint64_t pairs, slow;
    uint64_t cpu_ns, wall_ns;
};

/* CPU time: what the machine does with the core meanwhile is not the library's. */
static void *serve(void *context)
{
    struct server *server = context;
    uint64_t wall = bench_time_ns(CLOCK_MONOTONIC), cpu = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uint64_t wall_after, cpu_after;

        llmperf_decode_step_begin(1, 100);
        llmperf_decode_step_end();
        wall_after = bench_time_ns(CLOCK_MONOTONIC);
        cpu_after = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);
        if (!atomic_load_explicit(&warm, memory_order_relaxed)) {
            wall = bench_time_ns(CLOCK_MONOTONIC);
            cpu = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);
            continue;
        }
        server->pairs++;
        server->slow += cpu_after - cpu > SLOW_NS;
        server->cpu_ns = cpu_after - cpu > server->cpu_ns ? cpu_after - cpu : server->cpu_ns;
        server->wall_ns = wall_after - wall > server->wall_ns ? wall_after - wall : server->wall_ns;
        wall = bench_time_ns(CLOCK_MONOTONIC);
        cpu = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);
    }
    return NULL;
}

static llmperf_session *start(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.ring_bytes = UINT64_C(1) << 20; /* All its pages are soon there. */
    bench_need(llmperf_session_start(&options, &session), "start");
    return session;
}

static void rest(llmperf_session *session)
{
    (void)session;
    usleep(2000);
}

static void pause_and_resume(llmperf_session *session)
{
    bench_need(llmperf_session_pause(session), "pause");
    bench_need(llmperf_session_resume(session), "resume");
}

static void snapshot(llmperf_session *session)
{
    llmperf_profile *profile;

    bench_need(llmperf_session_snapshot(session, &profile), "snapshot");
    llmperf_profile_free(profile);
}

static void flush(llmperf_session *session)
{
    bench_need(llmperf_session_flush(session), "flush");
}

static void status(llmperf_session *session)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;

    bench_need(llmperf_session_status(session, &state), "status");
}

/* The session ends in the first call, so each round has one of its own. */
static void stop_aside(llmperf_session *session)
{
    bench_need(llmperf_session_stop_async(session), "stop_async");
}

/* @return the longest pair, us of CPU. `least`: as long as it takes while nobody asks anything. */
static double measure(const char *what, void (*call)(llmperf_session *session), int calls,
                      double least)
{
    struct bench_samples cpu = { 0 }, wall = { 0 }, caller = { 0 };
    uint64_t pairs = 0, slow = 0;
    char measured[160], beside[120], name[80];

    for (int round = 0; round < ROUNDS; round++) {
        struct server server = { 0 };
        llmperf_session *session = start();
        pthread_t thread;

        atomic_store(&over, false);
        atomic_store(&warm, false);
        pthread_create(&thread, NULL, serve, &server);
        usleep(50000);
        atomic_store(&warm, true);
        for (int i = 0; i < calls; i++) {
            uint64_t before = bench_time_ns(CLOCK_MONOTONIC);

            call(session);
            bench_add(&caller, (double)(bench_time_ns(CLOCK_MONOTONIC) - before) / 1e3);
        }
        if (call == stop_aside)
            bench_need(llmperf_session_wait(session, NULL), "wait");
        atomic_store(&over, true);
        pthread_join(thread, NULL);
        llmperf_session_free(session);
        bench_add(&cpu, (double)server.cpu_ns / 1e3);
        bench_add(&wall, (double)server.wall_ns / 1e3);
        pairs += server.pairs;
        slow += server.slow;
    }
    snprintf(measured, sizeof(measured),
             "%.1f us of CPU, longest pair of a round; %.4f %% of the pairs above 10 us",
             bench_median(&cpu), 100.0 * (double)slow / (double)pairs);
    snprintf(beside, sizeof(beside), "%.0f us of wall time; the caller waits %.1f us",
             bench_median(&wall), bench_median(&caller));
    snprintf(name, sizeof(name), "a serving thread during %s", what);
    bench_row(name, measured, beside, least > 0 ? "<= 10 us, or as with nothing" : "-",
              bench_median(&cpu) <= (least > TARGET_US ? least : TARGET_US) || least <= 0);
    return bench_median(&cpu);
}

int main(void)
{
    double least;

    printf("medians of %d rounds; a pair is one region with a count, marked without a pause\n",
           ROUNDS);
    least = measure("nothing", rest, CALLS, 0);
    measure("status", status, CALLS, least);
    measure("pause and resume", pause_and_resume, CALLS, least);
    measure("flush", flush, CALLS, least);
    measure("snapshot", snapshot, CALLS, least);
    measure("stop_async", stop_aside, 1, least);
    return 0;
}
