/* SPDX-License-Identifier: Apache-2.0 */
/** Watches a profiled program: its memory map, and the runs that it commits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "llmperf/sys.h"
#include "run.h"
#include "snapshot.h"

#define END_LOOKS 20 /* of 50 ms */

void run_look_at_maps(struct run_state *state)
{
    char path[64], line[RUN_PATH_BYTES + 128];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)state->pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        state->saw_driver = state->saw_driver || strstr(line, "/libcuda.so");
        state->saw_library = state->saw_library || strstr(line, state->library);
    }
    if (file)
        fclose(file);
}

static double number_of(const llmperf_profile *profile, const char *fact)
{
    const char *text = llmperf_profile_fact(profile, fact);

    return text ? strtod(text, NULL) : 0;
}

static const char *text_of(const llmperf_profile *profile, const char *fact)
{
    const char *text = llmperf_profile_fact(profile, fact);

    return text ? text : "?";
}

/* Is the process of this run still alive? If so, print a line about it. */
static bool goes_on(struct run_state *state, const llmperf_profile *profile)
{
    uint32_t pid = (uint32_t)strtoul(text_of(profile, "process_id"), NULL, 10);
    bool runs = false;

    for (size_t i = 0; pid && i < state->left_count; i++)
        if (state->left[i] == pid) {
            state->left[i] = 0;
            runs = snapshot_is_open(profile);
        }
    return runs;
}

static void report_still_running(const char *run, const llmperf_profile *profile,
                                 const llmperf_ledger *ledger)
{
    fprintf(stderr, "llmperf: %s: process %s is still running and its run continues there; so far",
            run, text_of(profile, "process_id"));
    if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE)
        fprintf(stderr, " host times only\n");
    else
        fprintf(stderr, " %" PRIu64 " kernels, GPU busy %.1f ms\n", ledger->kernels_seen,
                number_of(profile, "gpu_busy_ms"));
}

static void report_run(const char *run, const llmperf_profile *profile,
                       const llmperf_ledger *ledger)
{
    const char *reason = llmperf_profile_fact(profile, "source_reason");

    fprintf(stderr, "llmperf: %s: process %s, verdict %s", run, text_of(profile, "process_id"),
            llmperf_name(LLMPERF_NAME_VERDICT, ledger->verdict));
    if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE)
        fprintf(stderr, " (%s)\n", reason ? reason : "no device activity");
    else
        fprintf(stderr, ", %" PRIu64 " kernels, GPU busy %.1f ms\n", ledger->kernels_seen,
                number_of(profile, "gpu_busy_ms"));
    if (ledger->verdict == LLMPERF_VERDICT_SAMPLED && llmperf_profile_problem(profile, 0))
        fprintf(stderr, "llmperf: %s\n", llmperf_profile_problem(profile, 0));
}

/* Reports of a killed process, or of one whose disk was full, are written here from its run file.
 * If that fails too, the failure is reported. inputs.yaml is written last. */
static void write_missing_reports(const char *run, const llmperf_profile *profile)
{
    char path[RUN_PATH_BYTES];

    if (!folder_join(path, run, "inputs.yaml") || access(path, F_OK) == 0)
        return;
    if (llmperf_artifacts_write(profile, run) < 0)
        fprintf(stderr, "llmperf run: %s\n", llmperf_last_error());
}

static void look_at_run(struct run_state *state, const char *run, bool report)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile;
    double busy_ms;

    if (llmperf_profile_open(run, &profile) < 0) {
        state->unreadable++;
        if (report)
            fprintf(stderr, "llmperf: %s\n", llmperf_last_error());
        return;
    }
    llmperf_profile_ledger(profile, &ledger);
    busy_ms = number_of(profile, "gpu_busy_ms");
    if (report && goes_on(state, profile)) {
        report_still_running(run, profile,
                             &ledger); /* A running process writes its reports at its end. */
    } else if (report) {
        report_run(run, profile, &ledger);
        write_missing_reports(run, profile);
    }
    if (state->runs++ == 0 || busy_ms > state->best_busy_ms) {
        state->best_busy_ms = busy_ms;
        snprintf(state->best, sizeof(state->best), "%s", run);
    }
    state->busy_ms += busy_ms;
    state->kernels += ledger.kernels_seen == LLMPERF_UNKNOWN ? 0 : ledger.kernels_seen;
    state->dropped += ledger.records_dropped + ledger.regions_dropped;
    llmperf_profile_free(profile);
}

static void note_file_of_run(const char *path, const char *name, void *used)
{
    static const char *const starts[] = { "run.llmperf", "run-",      "forked-",
                                          "failed-",     "processes", "merged" };

    (void)path;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            *(bool *)used = true;
}

/* Files of an earlier job would be reported as runs of this one. */
bool run_was_used(const char *folder)
{
    bool used = false;

    folder_each(folder, note_file_of_run, &used);
    return used;
}

static void report_failure(const char *path, const char *name, void *count)
{
    bool failed = strncmp(name, "failed-", 7) == 0;
    char line[1024] = "";
    FILE *file = failed ? fopen(path, "re") : NULL;

    *(int *)count += failed;
    if (file && fgets(line, sizeof(line), file))
        fprintf(stderr, "llmperf run: process %s is not profiled: %s\n", name + 7, line);
    if (file)
        fclose(file);
}

int run_report_failed(const char *folder)
{
    int count = 0;

    folder_each(folder, report_failure, &count);
    return count;
}

void run_wait_for_processes(struct run_state *state)
{
    struct timespec pause = { 0, 50000000 };
    llmperf_job *job;

    state->left_count = 0;
    if (llmperf_job_find(state->job, &job) < 0)
        return;
    for (int look = 0; look < END_LOOKS; look++) {
        state->left_count = llmperf_job_processes(job, state->left, RUN_LEFT_MOST);
        if (state->left_count == 0)
            break;
        nanosleep(&pause, NULL);
    }
    if (state->left_count > RUN_LEFT_MOST)
        state->left_count = RUN_LEFT_MOST;
    llmperf_job_free(job);
}

static void name_process(uint32_t pid, char *name, int size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
    file = fopen(path, "re");
    if (!file || !fgets(name, size, file))
        snprintf(name, (size_t)size, "?");
    name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
}

void run_report_left(const struct run_state *state)
{
    char name[64];

    for (size_t i = 0; i < state->left_count; i++) {
        if (state->left[i] == 0)
            continue;
        name_process(state->left[i], name, sizeof(name));
        fprintf(stderr,
                "llmperf run: process %" PRIu32
                " (%s) is still running and has no run yet: if it uses CUDA or NVTX, its run is "
                "written to %s/processes\n",
                state->left[i], name, state->job);
    }
}

void run_look_at_runs(struct run_state *state, bool report)
{
    llmperf_job *job;

    state->runs = state->unreadable = state->forked = 0;
    state->kernels = state->dropped = 0;
    state->busy_ms = state->best_busy_ms = 0;
    if (llmperf_job_find(state->job, &job) < 0)
        return;
    for (size_t i = 0; i < llmperf_job_run_count(job); i++)
        look_at_run(state, llmperf_job_run(job, i), report);
    state->forked = (unsigned)llmperf_job_forked_count(job);
    llmperf_job_free(job);
}

void run_show_progress(const struct run_state *state, double elapsed_s)
{
    double busy = elapsed_s > 0 ? state->busy_ms / 10 / elapsed_s : 0;

    fprintf(stderr,
            "\r\033[Kllmperf: %.0f s, %" PRIu64 " kernels, GPU busy %.0f %%, %" PRIu64 " dropped",
            elapsed_s, state->kernels, busy, state->dropped);
    if (state->runs > 1)
        fprintf(stderr, ", %u processes", state->runs);
    fflush(stderr);
}

void run_end_progress(void)
{
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
}
