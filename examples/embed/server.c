/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest server that profiles itself for ever: clients put requests into a queue, one
 * scheduler batches them continuously (a prefill as soon as there is room, a decode step for all
 * that are under way), and the light tier stays on. What a forward pass takes is slept, so that the
 * server's own part can be read: the calls of libllmperf are those of a real one, for stages and
 * for requests.
 *
 *     embed [SECONDS [OUT]]     0 or nothing: until interrupted; OUT: folder of runs
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llmperf/llmperf.h"

#define CLIENTS   4
#define QUEUE     64
#define BATCH_MAX 8
#define REPORT_S  2
#define MS        1000000L

struct request {
    uint64_t prompt, left; /* tokens: of the prompt, still to be made */
    uint64_t context;
    uint64_t arrival_ns; /* when the client put it into the queue */
    uint64_t number;     /* of llmperf_request_begin() */
};

/* Guarded by `lock`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct request waiting[QUEUE];
    size_t count;
    int stopping;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void wait_ns(long nanoseconds)
{
    struct timespec time = { nanoseconds / (1000 * MS), nanoseconds % (1000 * MS) };

    nanosleep(&time, NULL);
}

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int is_stopping(void)
{
    int stopping;

    pthread_mutex_lock(&queue.lock);
    stopping = queue.stopping;
    pthread_mutex_unlock(&queue.lock);
    return stopping;
}

/* A client: a request now and then; its marks are on its own thread and in no stage. */
static void *run_client(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;

    while (!is_stopping()) {
        struct request request = { 16 + (unsigned)rand_r(&state) % 512,
                                   8 + (unsigned)rand_r(&state) % 64, 0, now_ns(), 0 };

        llmperf_region_begin("accept");
        pthread_mutex_lock(&queue.lock);
        if (queue.count < QUEUE)
            queue.waiting[queue.count++] = request;
        pthread_cond_signal(&queue.changed);
        pthread_mutex_unlock(&queue.lock);
        llmperf_region_end();
        wait_ns((10 + rand_r(&state) % 40) * MS);
    }
    return NULL;
}

/* Oldest requests first, as many as there is room for. */
static size_t take_requests(struct request *batch, size_t running)
{
    size_t taken = 0;

    pthread_mutex_lock(&queue.lock);
    while (running == 0 && queue.count == 0 && !queue.stopping)
        pthread_cond_wait(&queue.changed, &queue.lock);
    for (; taken < queue.count && running + taken < BATCH_MAX; taken++)
        batch[running + taken] = queue.waiting[taken];
    memmove(queue.waiting, queue.waiting + taken, (queue.count - taken) * sizeof(queue.waiting[0]));
    queue.count -= taken;
    pthread_mutex_unlock(&queue.lock);
    return taken;
}

static void prefill(struct request *request)
{
    llmperf_request_attr attr = LLMPERF_REQUEST_ATTR_INIT;

    attr.arrival_ns = request->arrival_ns;
    attr.prompt_tokens = request->prompt;
    request->number = llmperf_request_begin(&attr);
    llmperf_prefill_begin(request->prompt);
    llmperf_region_count(LLMPERF_QUANTITY_SEQUENCES, 1);
    wait_ns((long)request->prompt * MS / 100); /* the forward pass over the prompt goes here */
    llmperf_prefill_end();
    llmperf_request_first_token(request->number);
    request->context = request->prompt;
    request->left--;
}

static void decode_step(struct request *batch, size_t running)
{
    uint64_t context = 0;

    for (size_t i = 0; i < running; i++)
        context += ++batch[i].context;
    llmperf_decode_step_begin(running, context);
    wait_ns(MS + (long)running * MS / 10); /* one token for each request */
    llmperf_decode_step_end();
    for (size_t i = 0; i < running; i++) {
        llmperf_request_tokens(batch[i].number, 1);
        batch[i].left--;
    }
}

static size_t drop_finished(struct request *batch, size_t running)
{
    size_t kept = 0;

    for (size_t i = 0; i < running; i++)
        if (batch[i].left > 0)
            batch[kept++] = batch[i];
        else
            llmperf_request_end(batch[i].number, LLMPERF_FINISH_LENGTH, 0);
    return kept;
}

static void *run_scheduler(void *unused)
{
    struct request batch[BATCH_MAX];
    size_t running = 0;

    (void)unused;
    while (!is_stopping()) {
        size_t fresh = take_requests(batch, running);

        for (size_t i = 0; i < fresh; i++)
            prefill(&batch[running + i]);
        running = drop_finished(batch, running + fresh);
        if (running > 0)
            decode_step(batch, running);
        running = drop_finished(batch, running);
    }
    return NULL;
}

/* What a metrics endpoint would serve: stages and requests so far. */
static int print_metrics(llmperf_session *session)
{
    llmperf_profile *profile = NULL;
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
    llmperf_latency latency = LLMPERF_LATENCY_INIT;

    if (llmperf_session_snapshot(session, &profile) < 0) {
        fprintf(stderr, "embed: %s\n", llmperf_last_error());
        return -1;
    }
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_ITERATION_STATS); i++)
        if (llmperf_profile_iteration_stats(profile, i, &stats) == LLMPERF_OK && !stats.is_class &&
            strcmp(stats.quantity, "wall") == 0)
            printf("%-16s %6llu iterations, mean %.3f ms, p50 %.3f, p99 %.3f, longest %.3f\n",
                   stats.region, (unsigned long long)stats.count, stats.mean_ms, stats.p50_ms,
                   stats.p99_ms, stats.max_ms);
    for (size_t i = 0; llmperf_profile_latency(profile, i, &latency) == LLMPERF_OK; i++)
        printf("%-16s %6llu values,     mean %.3f ms, p50 %.3f, p90 %.3f, p99 %.3f\n",
               latency.quantity, (unsigned long long)latency.count, latency.mean_ms, latency.p50_ms,
               latency.p90_ms, latency.p99_ms);
    fflush(stdout);
    llmperf_profile_free(profile);
    return 0;
}

static int serve(llmperf_session *session, long seconds)
{
    pthread_t threads[CLIENTS + 1];
    size_t started = 0;
    int status = 0;

    for (; started < CLIENTS + 1 && status == 0; started += status == 0)
        status = pthread_create(&threads[started], NULL, started ? run_client : run_scheduler,
                                (void *)(uintptr_t)started);
    for (long s = 1; status == 0 && !interrupted && (seconds == 0 || s <= seconds); s++) {
        wait_ns(1000 * MS);
        if (s % REPORT_S == 0 || s == seconds)
            status = print_metrics(session);
    }
    pthread_mutex_lock(&queue.lock);
    queue.stopping = 1;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return status;
}

int main(int count, char **arguments)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;
    char *end = NULL;
    long seconds = count > 1 ? strtol(arguments[1], &end, 10) : 0;
    int status;

    if (count > 3 || seconds < 0 || (end && (*end || end == arguments[1]))) {
        fprintf(stderr, "usage: embed [SECONDS [OUT]]\n");
        return 2;
    }
    options.tier = LLMPERF_TIER_LIGHT;
    options.settings = "session.slo_ttft_ms=200\nsession.slo_tpot_ms=20";
    options.out_dir = count > 2 ? arguments[2] : NULL;
    if (llmperf_session_start(&options, &session) < 0) {
        fprintf(stderr, "embed: %s\n", llmperf_last_error());
        return 3;
    }
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    status = serve(session, seconds);
    if (llmperf_session_stop(session, NULL) < 0) {
        fprintf(stderr, "embed: %s\n", llmperf_last_error());
        status = -1;
    }
    if (llmperf_session_run_dir(session))
        puts(llmperf_session_run_dir(session));
    llmperf_session_free(session);
    return status == 0 ? 0 : 3;
}
