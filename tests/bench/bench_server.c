/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is profiled for months: decode steps at a steady rate on the fake device, with a
 * run folder, threads that come and go, and a metrics endpoint that is read every 15 s.
 *
 *   bench_server [SECONDS [STEPS_PER_SECOND [FOLDER]]]     default 30 2000, a folder in /tmp
 *
 * Prints resident memory each minute (of short runs ten times), and how much it moved in the second
 * half of the time, of the last half hour at most. */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sources/fake/fake.h"
#include "tests/bench/bench.h"
#include "tests/bench/memory.h"

#define LAYERS     4
#define KERNELS    6 /* of a layer */
#define SCRAPE_S   15
#define HALF_HOUR  1800u
#define TARGET_MIB 1.0

struct watch {
    double begin_mib, least_mib, most_mib, now_mib; /* of the second half */
    bool begun;
};

static double allocated_mib(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double)(info.uordblks + info.hblkhd) / (1 << 20);
}

static double folder_mib(const char *path)
{
    DIR *folder = opendir(path);
    double bytes = 0;

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[1024];
        struct stat info;

        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode))
            bytes += (double)info.st_size;
    }
    if (folder)
        closedir(folder);
    return bytes / (1 << 20);
}

static void run_step(uint64_t number)
{
    static const char *const names[KERNELS] = { "norm", "gemm_qkv",  "attention",
                                                "gemm", "gemm_gate", "gemm_down" };

    llmperf_decode_step_begin(1 + number % 32, 100 * (number % 320));
    for (int layer = 0; layer < LAYERS; layer++) {
        llmperf_region_begin("LLM@layer");
        for (int i = 0; i < KERNELS; i++)
            lp_fake_launch(names[i], 7, 500 + 100 * (uint64_t)i);
        llmperf_region_end();
    }
    llmperf_decode_step_end();
}

static void *serve_request(void *context)
{
    llmperf_region_begin("LLM@request");
    llmperf_prefill_begin(100);
    lp_fake_launch("gemm_prefill", 8, 20000);
    llmperf_prefill_end();
    llmperf_region_end();
    return context;
}

static void serve_aside(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, serve_request, NULL) == 0)
        pthread_join(thread, NULL);
}

static void read_metrics(llmperf_session *session)
{
    llmperf_profile *profile = NULL;
    char *text = NULL;

    bench_need(llmperf_session_snapshot(session, &profile), "snapshot");
    bench_need(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), "metrics");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void look(struct watch *watch, bool second_half)
{
    watch->now_mib = bench_resident_mib();
    if (!second_half)
        return;
    if (!watch->begun)
        watch->begin_mib = watch->least_mib = watch->most_mib = watch->now_mib;
    watch->begun = true;
    watch->least_mib = watch->now_mib < watch->least_mib ? watch->now_mib : watch->least_mib;
    watch->most_mib = watch->now_mib > watch->most_mib ? watch->now_mib : watch->most_mib;
}

/* Steps as the rate wants them, a look each second. @return steps */
static uint64_t serve(llmperf_session *session, uint64_t seconds, uint64_t rate,
                      struct watch *watch)
{
    uint64_t half = seconds / 2 < HALF_HOUR ? seconds / 2 : HALF_HOUR, steps = 0;
    uint64_t shown = seconds >= 600 ? 60 : seconds >= 10 ? seconds / 10 : 1;
    uint64_t begin_ns = bench_time_ns(CLOCK_MONOTONIC);

    for (uint64_t second = 1; second <= seconds; second++) {
        for (uint64_t i = 0; i < rate; i++) {
            uint64_t due_ns = begin_ns + (second - 1) * 1000000000 + i * 1000000000 / rate;
            uint64_t now_ns = bench_time_ns(CLOCK_MONOTONIC);

            if (due_ns > now_ns + 1000000)
                usleep((useconds_t)((due_ns - now_ns) / 1000));
            run_step(steps++);
        }
        serve_aside();
        if (second % SCRAPE_S == 0)
            read_metrics(session);
        look(watch, second >= seconds - half);
        if (second % shown == 0 || second == seconds)
            printf("  %6llu s: %10llu steps, %8.3f MiB resident, %8.3f MiB allocated, "
                   "%7.3f MiB in the folder\n",
                   (unsigned long long)second, (unsigned long long)steps, watch->now_mib,
                   allocated_mib(), folder_mib(llmperf_session_run_dir(session)));
        fflush(stdout);
    }
    return steps;
}

static llmperf_session *start(const char *folder)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.out_dir = folder;
    bench_need(llmperf_session_start(&options, &session), "start");
    return session;
}

static bool stop(llmperf_session *session)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    bench_need(llmperf_session_stop(session, &profile), "stop");
    bench_need(llmperf_profile_ledger(profile, &ledger), "ledger");
    printf("%llu kernels, verdict %s\n", (unsigned long long)ledger.kernels_seen,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return ledger.verdict == LLMPERF_VERDICT_COMPLETE;
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
    uint64_t rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;
    char folder[] = "/tmp/llmperf-server-XXXXXX", what[80], measured[120];
    struct watch watch = { 0 };
    llmperf_session *session;
    uint64_t steps;
    bool complete;

    if (seconds == 0 || rate == 0 || (argc <= 3 && !mkdtemp(folder))) {
        fprintf(stderr, "bench_server [SECONDS [STEPS_PER_SECOND [FOLDER]]]\n");
        return 2;
    }
    session = start(argc > 3 ? argv[3] : folder);
    printf("%s, %llu steps/s\n", llmperf_session_run_dir(session), (unsigned long long)rate);
    steps = serve(session, seconds, rate, &watch);
    complete = stop(session);
    snprintf(what, sizeof(what), "memory of a server, second half of %llu s",
             (unsigned long long)seconds);
    snprintf(measured, sizeof(measured), "%+.3f MiB; between %.3f and %.3f MiB",
             watch.now_mib - watch.begin_mib, watch.least_mib, watch.most_mib);
    bench_row(what, measured, complete ? "all recorded" : "RECORDS LOST", "within 1 MiB",
              watch.most_mib - watch.least_mib <= TARGET_MIB && complete);
    printf("%llu steps in all\n", (unsigned long long)steps);
    return 0;
}
