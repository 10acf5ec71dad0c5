/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of traces: recordings of one and of four million kernels, eager (a launch and 1.1 host
 * records more for each) and as graphs of 500, written in each format. Each export is a process of
 * its own, whose CPU time and largest resident memory the system tells. Recordings come from
 * scripts of the fake device. */
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "llmperf/sys/trace.h"

#define LAYERS      24
#define KERNELS     12 /* a layer */
#define GRAPH_NODES 500
#define MOST_MIB    128

static const struct {
    const char *word;
    uint32_t id;
} formats[] = { { "perfetto", LLMPERF_TRACE_PERFETTO },
                { "chrome", LLMPERF_TRACE_CHROME },
                { "nsys-sqlite", LLMPERF_TRACE_NSYS_SQLITE } };

static void write_layers(FILE *file)
{
    int number = 0;

    for (int layer = 0; layer < LAYERS; layer++) {
        fprintf(file, "begin LLM@layer_%02d\n", layer);
        for (int i = 0; i < KERNELS; i++, number++)
            fprintf(file,
                    "launch \"void gemm_kernel_%d<float, 128, 4>(float const*, float*, int)\" "
                    "stream=%d "
                    "duration=%d\n",
                    number * 7 % KERNELS, 7 + number % 2, 900 + 317 * (number % 11));
        fprintf(file, "end\n");
    }
}

static void write_graph(FILE *file)
{
    fprintf(file, "graph ");
    for (int i = 0; i < GRAPH_NODES; i++)
        fprintf(file, "%sgraph_kernel_%02d", i > 0 ? "," : "", i * 7 % KERNELS);
    fprintf(file, " duration=2100\nwait 1100000\n");
}

static void record(const char *path, bool graphs, unsigned kernels)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    char script[512];
    FILE *file;

    snprintf(script, sizeof(script), "%s.txt", path);
    if (!(file = fopen(script, "w")))
        exit(1);
    fprintf(file, "repeat %u\nbegin LLM@decode_step sequences=4\n",
            kernels / (graphs ? GRAPH_NODES : LAYERS * KERNELS));
    if (graphs)
        write_graph(file);
    else
        write_layers(file);
    fprintf(file, "end\ndone\n");
    fclose(file);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = script;
    options.record_path = path;
    bench_need(llmperf_session_start(&options, &session), "start");
    bench_need(llmperf_session_stop(session, NULL), "stop");
    llmperf_session_free(session);
    unlink(script);
}

static double size_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

/* The child makes it; false: it failed. */
static bool in_child(void (*work)(const void *context), const void *context, struct rusage *usage)
{
    pid_t child;
    int status;

    fflush(NULL);
    if ((child = fork()) == 0) {
        work(context);
        _exit(0);
    }
    return child > 0 && wait4(child, &status, 0, usage) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

struct job {
    const char *recording, *out;
    bool graphs;
    unsigned kernels;
    uint32_t format;
};

static void make_recording(const void *context)
{
    const struct job *job = context;

    record(job->recording, job->graphs, job->kernels);
}

static void export_recording(const void *context)
{
    const struct job *job = context;
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;

    bench_need(llmperf_trace_export(job->recording, job->format, job->out, &summary), "export");
    if (summary.kernels < job->kernels - GRAPH_NODES)
        exit(1);
}

static double seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void measure(struct job *job, const char *word)
{
    struct rusage usage;
    char what[96], measured[160], beside[96];
    double mib, most;

    if (!in_child(export_recording, job, &usage))
        exit(1);
    mib = size_of(job->out) / (1 << 20);
    most = (double)usage.ru_maxrss / 1024;
    snprintf(what, sizeof(what), "export of %u million kernels, %s, %s", job->kernels / 1000000,
             job->graphs ? "graphs of 500" : "eager", word);
    snprintf(measured, sizeof(measured), "%.2f s, %.0f MiB, %.0f MiB/s, %.1f MiB of memory",
             seconds(&usage), mib, mib / seconds(&usage), most);
    snprintf(beside, sizeof(beside), "a recording of %.1f bytes a kernel",
             size_of(job->recording) / job->kernels);
    bench_row(what, measured, beside, "<= 128 MiB of memory", most <= MOST_MIB);
    unlink(job->out);
}

int main(void)
{
    char folder[] = "/tmp/llmperf-bench-XXXXXX", recording[64], out[64];
    struct rusage usage;

    if (!mkdtemp(folder))
        return 1;
    snprintf(recording, sizeof(recording), "%s/r.llmrec", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    for (unsigned kernels = 1000000; kernels <= 4000000; kernels *= 4)
        for (int graphs = 0; graphs < 2; graphs++) {
            struct job job = { recording, out, graphs != 0, kernels, 0 };

            if (!in_child(make_recording, &job, &usage))
                return 1;
            for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
                job.format = formats[i].id;
                measure(&job, formats[i].word);
            }
        }
    unlink(recording);
    rmdir(folder);
    return 0;
}
