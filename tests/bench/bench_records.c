/* SPDX-License-Identifier: Apache-2.0 */
/* Records decoded, attributed and aggregated: replays of a recording of 5 million kernels, beside
 * reading the same bytes. The recording is made here from a script of the fake device: a prefill
 * and decode steps of 24 layers x 6 operators, 12 kernel names, 2 streams; eager, and as graphs of
 * 500 kernels.
 *
 *   bench_records            all
 *   bench_records PATH       replays that recording 5 times: for perf and callgrind
 *
 * Times are CPU time of the process, one core's worth: the caller of a replay only waits. */
#include <string.h>
#include <unistd.h>

#include "lib/attribution/attribution.h"
#include "lib/base/file.h"
#include "lib/base/varint.h"
#include "lib/regions/capture.h"
#include "lib/profile/profile.h"
#include "tests/bench/bench.h"
#include "lib/device/device.h"

#define ROUNDS      7
#define KERNELS     5000000u
#define LAYERS      24
#define OPERATORS   6
#define NAMES       12
#define STEP        (LAYERS * OPERATORS * 2) /* kernels */
#define GRAPH_NODES 500
#define TARGET      20e6

static const char *const operators[OPERATORS] = {
    "norm", "qkv", "attention", "proj", "gate", "mlp"
};

enum stage { READ, CRC, DECODE, ATTRIBUTE, AGGREGATE, SESSION, STAGES };
static const char *const stage_names[STAGES] = {
    "read the file, copy it", "read the file, CRC",           "decode",
    "decode, attribute",      "decode, attribute, aggregate", "whole session"
};

struct recording {
    const char *what;
    char path[512];
    double bytes;
    uint32_t checksum;
    uint64_t kernels, facts; /* facts: kernels and host records */
    struct bench_samples stages[STAGES];
};

/* Scripts */

static void write_kernel(FILE *file, int number)
{
    int name = number * 7 % NAMES;

    fprintf(file, "launch \"void gemm_kernel_%d<float, 128, 4>(float const*, float*, int)\"", name);
    fprintf(file, " stream=%d duration=%d\n", 7 + number % 2, 900 + 317 * (number % 11));
}

static void write_eager_step(FILE *file)
{
    int number = 0;

    for (int layer = 0; layer < LAYERS; layer++) {
        fprintf(file, "begin LLM@layer_%02d\n", layer);
        for (int i = 0; i < OPERATORS; i++) {
            fprintf(file, "begin LLM@%s\n", operators[i]);
            write_kernel(file, number++);
            write_kernel(file, number++);
            fprintf(file, "end\n");
        }
        fprintf(file, "end\n");
    }
}

static void write_graph_step(FILE *file)
{
    fprintf(file, "graph ");
    for (int i = 0; i < GRAPH_NODES; i++)
        fprintf(file, "%sgraph_kernel_%02d", i > 0 ? "," : "", i * 7 % NAMES);
    fprintf(file, " duration=2100\nwait 1100000\n");
}

static void write_script(const char *path, bool graphs, uint32_t kernels)
{
    uint32_t steps = kernels / (graphs ? GRAPH_NODES : STEP);
    FILE *file = fopen(path, "w");

    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "begin LLM@prefill tokens=512\n");
    write_eager_step(file);
    fprintf(file, "end\nrepeat %u\nbegin LLM@decode_step sequences=4 context=2048\n", steps);
    if (graphs)
        write_graph_step(file);
    else
        write_eager_step(file);
    fprintf(file, "end\ndone\n");
    fclose(file);
}

/* Sessions */

static llmperf_ledger run_session(uint32_t source, const char *path, const char *record_path)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;

    options.device_source = source;
    options.device_path = path;
    options.record_path = record_path;
    bench_need(llmperf_session_start(&options, &session), "start");
    bench_need(llmperf_session_stop(session, &profile), "stop");
    bench_need(llmperf_profile_ledger(profile, &ledger), "ledger");
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return ledger;
}

static void make_recording(struct recording *recording, const char *folder, const char *name,
                           bool graphs, uint32_t kernels)
{
    char script[512];

    snprintf(script, sizeof(script), "%s/%s.txt", folder, name);
    snprintf(recording->path, sizeof(recording->path), "%s/%s.rec", folder, name);
    write_script(script, graphs, kernels);
    run_session(LLMPERF_SOURCE_FAKE, script, recording->path);
    unlink(script);
}

/* The pipeline without a session, as far as a stage goes */

struct pipeline {
    struct lp_names names;
    struct lp_attribution *attribution;
    struct lp_totals *totals;
    uint64_t kernels, host_records;
};

/* For attribution alone. */
static void ignore_region(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                          enum lp_in_window window)
{
    (void)context, (void)node, (void)wall_ns, (void)truncated, (void)window;
}

static void ignore_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                         enum lp_in_window window)
{
    (void)context, (void)node, (void)quantity, (void)amount, (void)window;
}

static void ignore_activities(void *context, const struct lp_activity *activities, size_t count)
{
    (void)context, (void)activities, (void)count;
}

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct pipeline *pipeline = context;

    pipeline->host_records += count;
    if (pipeline->attribution)
        lp_attribution_host(pipeline->attribution, thread, records, count);
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct pipeline *pipeline = context;

    pipeline->kernels += count;
    if (pipeline->attribution)
        lp_attribution_activities(pipeline->attribution, activities, count);
}

static void run_pipeline(struct recording *recording, enum stage stage)
{
    struct pipeline pipeline = { .kernels = 0 };
    const struct lp_device_options options = { .path = recording->path, .names = &pipeline.names };
    const struct lp_device_sink facts = { .context = &pipeline,
                                          .host = pass_host,
                                          .activities = pass_activities };
    struct lp_attribution_sink results = { .region = ignore_region,
                                           .count = ignore_count,
                                           .activities = ignore_activities };
    struct lp_device_source *source = NULL;
    int status;

    bench_need(lp_device_open_replay(&options, &source), "replay");
    if (stage >= AGGREGATE && (pipeline.totals = lp_totals_create(&pipeline.names)))
        results = lp_totals_sink(pipeline.totals);
    if (stage >= ATTRIBUTE)
        pipeline.attribution = lp_attribution_create(&results);
    do {
        bench_need(status = source->ops->deliver(source, &facts), "deliver");
        if (pipeline.attribution)
            lp_attribution_settle(pipeline.attribution, 0, status == 0);
    } while (status > 0);
    source->ops->close(source);
    lp_attribution_free(pipeline.attribution);
    lp_totals_free(pipeline.totals);
    lp_names_clear(&pipeline.names);
    recording->kernels = pipeline.kernels;
    recording->facts = pipeline.kernels + pipeline.host_records;
}

static void read_bytes(struct recording *recording, enum stage stage)
{
    char *bytes, *copy;
    size_t size;

    bench_need(lp_file_read(recording->path, &bytes, &size), "read");
    recording->bytes = (double)size;
    if (stage == READ && (copy = malloc(size))) {
        memcpy(copy, bytes, size);
        recording->checksum += lp_crc32c(copy, 64); /* Keeps the work. */
        free(copy);
    } else {
        recording->checksum += lp_crc32c(bytes, size);
    }
    free(bytes);
}

static void run_stage(struct recording *recording, enum stage stage)
{
    uint64_t start = bench_time_ns(CLOCK_PROCESS_CPUTIME_ID);
    llmperf_ledger ledger;

    if (stage <= CRC) {
        read_bytes(recording, stage);
    } else if (stage < SESSION) {
        run_pipeline(recording, stage);
    } else {
        ledger = run_session(LLMPERF_SOURCE_REPLAY, recording->path, NULL);
        if (recording->kernels && ledger.kernels_attributed != recording->kernels) {
            fprintf(stderr, "kernels were lost on the way\n");
            exit(1);
        }
    }
    bench_add(&recording->stages[stage],
              (double)(bench_time_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9);
}

/* Tables */

static void print_recording(struct recording *recording)
{
    printf("%s: %.1f million kernels, %.1f million records with the host's, %.0f MB, %.1f bytes a "
           "kernel\n",
           recording->what, (double)recording->kernels / 1e6, (double)recording->facts / 1e6,
           recording->bytes / 1e6, recording->bytes / (double)recording->kernels);
    for (enum stage stage = READ; stage < STAGES; stage++) {
        double seconds = bench_median(&recording->stages[stage]);

        printf("  %-30s %7.1f ms %6.1f ns a kernel %7.1f million kernels/s %7.1f million "
               "records/s\n",
               stage_names[stage], seconds * 1e3, seconds * 1e9 / (double)recording->kernels,
               (double)recording->kernels / seconds / 1e6,
               (double)recording->facts / seconds / 1e6);
    }
}

static void print_row(struct recording *recording)
{
    char what[120], measured[160], beside[120];
    double seconds = bench_median(&recording->stages[SESSION]);
    double rate = (double)recording->kernels / seconds;

    snprintf(what, sizeof(what), "replay of 5 million kernels, %s", recording->what);
    snprintf(measured, sizeof(measured),
             "%.1f million kernels/s (%.1f million records/s with the host's)", rate / 1e6,
             (double)recording->facts / seconds / 1e6);
    snprintf(beside, sizeof(beside), "reading and CRC of the same bytes %.0f million kernels/s",
             (double)recording->kernels / bench_median(&recording->stages[CRC]) / 1e6);
    bench_row(what, measured, beside, ">= 20 million/s on one core", rate >= TARGET);
}

static int replay_only(const char *path)
{
    for (int i = 0; i < 5; i++)
        run_session(LLMPERF_SOURCE_REPLAY, path, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    struct recording recordings[] = { { .what = "eager" }, { .what = "graphs of 500" } };
    struct recording small = { .what = "one step" };
    const char *parent = getenv("TMPDIR");
    char folder[256];

    unsetenv("LLMPERF_OUT"); /* Nothing but the recordings is written. */
    if (argc > 1)
        return replay_only(argv[1]);
    snprintf(folder, sizeof(folder), "%s/llmperf-bench-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    make_recording(&recordings[0], folder, "eager", false, KERNELS);
    make_recording(&recordings[1], folder, "graphs", true, KERNELS);
    make_recording(&small, folder, "small", false, STEP);
    for (int round = 0; round < ROUNDS; round++) {
        for (enum stage stage = READ; stage < STAGES; stage++)
            for (int i = 0; i < 2; i++)
                run_stage(&recordings[i], stage);
        run_stage(&small, SESSION);
    }
    printf("CPU time, median of %d rounds; a session of one step costs %.1f ms\n", ROUNDS,
           bench_median(&small.stages[SESSION]) * 1e3);
    for (int i = 0; i < 2; i++)
        print_recording(&recordings[i]);
    for (int i = 0; i < 2; i++) {
        print_row(&recordings[i]);
        unlink(recordings[i].path);
    }
    unlink(small.path);
    rmdir(folder);
    return 0;
}
