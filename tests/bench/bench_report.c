/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of large runs: what `llmperf report` does, from the run file to the text. One run of a
 * million kernels with few names, as engines have them; one with a hundred thousand names, which is
 * the largest that anybody should meet. Both are played from scripts of the fake device.
 *
 * Times are CPU time of the process. */
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "tests/bench/bench.h"

#define ROUNDS    5
#define NAMES     100000
#define STEPS     3473 /* of 288 kernels: a million */
#define TARGET_S  1.0
#define LAYERS    24
#define OPERATORS 6

static const char *const operators[OPERATORS] = {
    "norm", "qkv", "attention", "proj", "gate", "mlp"
};

static const struct {
    uint32_t kind;
    const char *name;
} documents[] = {
    { LLMPERF_DOCUMENT_REPORT_MD, "report.md" },
    { LLMPERF_DOCUMENT_REPORT_HTML, "report.html" },
    { LLMPERF_DOCUMENT_METRICS_JSON, "metrics.json" },
};
#define DOCUMENTS (sizeof(documents) / sizeof(documents[0]))

static void write_million(FILE *file)
{
    fprintf(file, "begin LLM@decode_all\nrepeat %d\nbegin LLM@decode_step tokens=1\n", STEPS);
    for (int i = 0; i < LAYERS * OPERATORS; i++) {
        fprintf(file, "begin LLM@layer_%02d\nbegin LLM@%s\n", i / OPERATORS,
                operators[i % OPERATORS]);
        for (int k = 0; k < 2; k++)
            fprintf(file,
                    "launch \"void gemm_kernel_%d<float, 128, 4>(float const*, float*, int)\" "
                    "stream=%d duration=%d\n",
                    i * 7 % 12, 7 + k, 900 + 317 * (i % 11));
        fprintf(file, "end\nend\n");
    }
    fprintf(file, "end\ndone\nend\n");
}

static void write_names(FILE *file)
{
    fprintf(file, "begin LLM@decode_all\n");
    for (int i = 0; i < NAMES; i++)
        fprintf(file, "launch _ZN6engine7kernelsE%06diLi%dEfEEvPKfPfi duration=%d\n", i, i % 97,
                900 + i % 1100);
    fprintf(file, "end\n");
}

/* A run directory without reports, as a profiled program leaves it. */
static void make_run(const char *folder, void (*write)(FILE *file))
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;
    char path[600];
    FILE *file;

    snprintf(path, sizeof(path), "%s.script", folder);
    if (!(file = fopen(path, "w")))
        exit(1);
    write(file);
    if (fclose(file) != 0)
        exit(1);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = path;
    options.run_dir = folder;
    bench_need(llmperf_session_start(&options, &session), "session");
    bench_need(llmperf_session_stop(session, &profile), "session");
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    unlink(path);
}

static double time_document(const char *folder, uint32_t kind, double *bytes)
{
    uint64_t start = bench_time_ns(CLOCK_PROCESS_CPUTIME_ID);
    llmperf_profile *profile = NULL;
    char *text = NULL;

    bench_need(llmperf_profile_open(folder, &profile), folder);
    bench_need(llmperf_document_text(profile, kind, &text), "document");
    *bytes = (double)strlen(text);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    return (double)(bench_time_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9;
}

static void measure(const char *what, const char *folder)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct bench_samples samples = { 0 };
        char row[128], measured[64], size[64];
        double bytes = 0;

        for (int round = 0; round < ROUNDS; round++)
            bench_add(&samples, time_document(folder, documents[i].kind, &bytes));
        snprintf(row, sizeof(row), "%s of %s", documents[i].name, what);
        snprintf(measured, sizeof(measured), "%.3f s", bench_median(&samples));
        snprintf(size, sizeof(size), "%.1f MB", bytes / 1e6);
        bench_row(row, measured, size, "1 s", bench_median(&samples) <= TARGET_S);
    }
}

int main(void)
{
    static const struct {
        const char *what;
        void (*write)(FILE *file);
    } runs[] = { { "a million kernels", write_million },
                 { "a hundred thousand names", write_names } };
    char root[] = "/tmp/llmperf-bench-XXXXXX", folder[512], command[600];

    if (!mkdtemp(root))
        return 1;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        snprintf(folder, sizeof(folder), "%s/run%zu", root, i);
        make_run(folder, runs[i].write);
        measure(runs[i].what, folder);
    }
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) == 0 ? 0 : 1;
}
