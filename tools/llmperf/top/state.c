/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/findings.h"
#include "llmperf/sys.h"
#include "snapshot.h"
#include "top/top.h"

static double number_of(const llmperf_profile *profile, const char *fact)
{
    const char *text = llmperf_profile_fact(profile, fact);

    return text ? strtod(text, NULL) : (double)NAN;
}

/* For a program in another PID namespace this is unknown; only continuing commits show that it
 * runs. */
static bool is_alive(const llmperf_profile *profile)
{
    const char *pid = llmperf_profile_fact(profile, "process_id");

    return !pid || kill((pid_t)strtol(pid, NULL, 10), 0) == 0 || errno != ESRCH;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a == LLMPERF_UNKNOWN ? b : b == LLMPERF_UNKNOWN ? a : a + b;
}

static double add_ms(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* The rows of runs that were read before. Runs have their rows in the same order, so the row after
 * the last match is tried first. */
struct search {
    size_t known, next;
};

static struct top_row *find_row(struct top_state *state, struct search *search, const char *path)
{
    if (state->row_count > search->known &&
        strcmp(state->rows[state->row_count - 1].path, path) == 0)
        return &state->rows[state->row_count - 1];
    for (size_t i = 0; i < search->known; i++) {
        size_t at = (search->next + i) % search->known;

        if (strcmp(state->rows[at].path, path) != 0)
            continue;
        search->next = at;
        return &state->rows[at];
    }
    return NULL;
}

static struct top_row *make_row(struct top_state *state, const llmperf_region_stats *stats)
{
    struct top_row *grown;

    if (!(grown = realloc(state->rows, (state->row_count + 1) * sizeof(*grown))))
        return NULL;
    state->rows = grown;
    grown[state->row_count] = (struct top_row){ .path = strdup(stats->path),
                                                .depth = stats->depth,
                                                .tokens = LLMPERF_UNKNOWN,
                                                .kernels = LLMPERF_UNKNOWN,
                                                .busy_ms = NAN };
    return grown[state->row_count].path ? &grown[state->row_count++] : NULL;
}

/* Factor from collected to all work of a row, by host time; 1 except in tier light. */
static double times_of(const llmperf_region_stats *stats)
{
    double collected_ms =
        (stats->wall_sum_ms - fmax(0, stats->window_ms)) * (1 - fmax(0, stats->skipped_fraction));

    return collected_ms > 0 && collected_ms < stats->wall_sum_ms ? stats->wall_sum_ms / collected_ms
                                                                 : 1;
}

/* Host values repeat in the rows of a process with several devices. */
static void add_region(struct top_state *state, struct search *search,
                       const llmperf_region_stats *stats, const llmperf_stage *stage, bool repeated)
{
    struct top_row *row = find_row(state, search, stats->path);
    double times;

    if (!row && !(row = make_row(state, stats)))
        return;
    if (!repeated) {
        row->instances += stats->instances;
        if (stage && stage->clock == LLMPERF_CLOCK_DEVICE && !isnan(stage->time_ms)) {
            row->time_ms += stage->time_ms * (double)stats->instances;
            row->on_device = true;
        } else if (stats->instances > 0) {
            row->time_ms += stats->wall_sum_ms;
        }
        row->tokens = add(row->tokens, stats->tokens);
    }
    if (stats->device < 0)
        return;
    times = times_of(stats);
    if (stats->kernel_count != LLMPERF_UNKNOWN)
        row->kernels = add(row->kernels, (uint64_t)llround((double)stats->kernel_count * times));
    row->busy_ms = add_ms(row->busy_ms, stats->gpu_busy_ms * times);
}

static void add_regions(struct top_state *state, const llmperf_profile *profile)
{
    struct search search = { state->row_count, 0 };
    llmperf_region_stats last = LLMPERF_REGION_STATS_INIT;
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    size_t next = 0; /* stages have the order of their regions */
    bool more = llmperf_profile_stage(profile, next, &stage) == 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;
        bool repeated;

        llmperf_profile_region(profile, i, &stats);
        while (more && stage.region < i)
            more = llmperf_profile_stage(profile, ++next, &stage) == 0;
        repeated =
            last.path && strcmp(last.path, stats.path) == 0 && last.process_id == stats.process_id;
        if (*stats.path)
            add_region(state, &search, &stats, more && stage.region == i ? &stage : NULL, repeated);
        last = stats;
    }
}

/* Kernels */

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct top_kernel *)left)->name,
                  ((const struct top_kernel *)right)->name);
}

static int by_time(const void *left, const void *right)
{
    double a = ((const struct top_kernel *)left)->total_ms;
    double b = ((const struct top_kernel *)right)->total_ms;

    return (a < b) - (a > b);
}

/* Rows of one name become one, and the longest come first. @return number of rows */
static size_t combine(struct top_kernel *rows, size_t count)
{
    size_t kept = 0;

    qsort(rows, count, sizeof(*rows), by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(rows[kept - 1].name, rows[i].name) == 0) {
            rows[kept - 1].calls += rows[i].calls;
            rows[kept - 1].total_ms += rows[i].total_ms;
        } else {
            rows[kept++] = rows[i];
        }
    }
    qsort(rows, kept, sizeof(*rows), by_time);
    return kept;
}

/* Their names belong to the profile or to the state; those that are kept are copied. */
static void add_kernels(struct top_state *state, const llmperf_profile *profile)
{
    size_t known = state->kernel_count, most = llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS);
    struct top_kernel old[TOP_KERNELS], *rows = calloc(known + most + 1, sizeof(*rows));
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;
    size_t count = known;

    if (!rows)
        return;
    memcpy(old, state->kernel_rows, sizeof(old));
    memcpy(rows, old, known * sizeof(*rows));
    for (size_t i = 0; i < most && llmperf_profile_kernel(profile, i, &stats) == 0; i++) {
        rows[count++] =
            (struct top_kernel){ (char *)stats.short_name, stats.calls, stats.total_ms };
        state->kernel_ms += stats.total_ms;
    }
    count = combine(rows, count);
    state->kernel_count = 0;
    for (size_t i = 0; i < count && i < TOP_KERNELS; i++)
        if ((rows[i].name = strdup(rows[i].name)))
            state->kernel_rows[state->kernel_count++] = rows[i];
    for (size_t i = 0; i < known; i++)
        free(old[i].name);
    free(rows);
}

static uint32_t worse(uint32_t a, uint32_t b)
{
    static const uint32_t order[] = { LLMPERF_VERDICT_NO_DEVICE, LLMPERF_VERDICT_COMPLETE,
                                      LLMPERF_VERDICT_SAMPLED, LLMPERF_VERDICT_INCOMPLETE,
                                      LLMPERF_VERDICT_DEAD };

    for (size_t i = sizeof(order) / sizeof(order[0]); i-- > 0;)
        if (order[i] == a || order[i] == b)
            return order[i];
    return b;
}

static uint32_t add_run(struct top_state *state, const llmperf_profile *profile, uint32_t verdict)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    double duration = number_of(profile, "duration_ms");
    bool open = snapshot_is_open(profile);

    llmperf_profile_ledger(profile, &ledger);
    state->runs++;
    state->running += open && is_alive(profile);
    if (duration > state->duration_ms)
        state->duration_ms = duration;
    state->busy_ms = add_ms(state->busy_ms, number_of(profile, "gpu_busy_ms"));
    state->sampled |= ledger.sampled_fraction < 1;
    if (ledger.verdict != LLMPERF_VERDICT_NO_DEVICE) {
        state->launches = add(state->launches, ledger.launches_expected);
        state->kernels = add(state->kernels, ledger.kernels_seen);
        state->unattributed = add(state->unattributed, ledger.kernels_unattributed);
    }
    state->dropped += ledger.records_dropped + ledger.regions_dropped;
    state->invalid += ledger.records_invalid_time + ledger.records_incomplete;
    add_regions(state, profile);
    add_kernels(state, profile);
    return worse(verdict, ledger.verdict);
}

static void add_unreadable(struct top_state *state, int status)
{
    if (state->unreadable++ > 0)
        return;
    state->problem_status = status;
    snprintf(state->problem, sizeof(state->problem), "%s", llmperf_last_error());
}

int top_look(const char *folder, struct top_state *state)
{
    uint32_t verdict = 0;
    llmperf_job *job;
    int status = llmperf_job_find(folder, &job);

    *state = (struct top_state){ .busy_ms = NAN,
                                 .launches = LLMPERF_UNKNOWN,
                                 .kernels = LLMPERF_UNKNOWN,
                                 .unattributed = LLMPERF_UNKNOWN };
    if (status < 0)
        return fail_status(status);
    for (size_t i = 0; i < llmperf_job_run_count(job); i++) {
        llmperf_profile *profile;

        status = llmperf_profile_open(llmperf_job_run(job, i), &profile);
        if (status == LLMPERF_OK) {
            verdict = add_run(state, profile, verdict);
            llmperf_profile_free(profile);
        } else if (status != LLMPERF_ENOENT) { /* that one has committed nothing yet */
            add_unreadable(state, status);
        }
    }
    llmperf_job_free(job);
    state->verdict = verdict ? llmperf_name(LLMPERF_NAME_VERDICT, verdict) : "-";
    return EXIT_FINE;
}

void top_clear(struct top_state *state)
{
    for (size_t i = 0; i < state->row_count; i++)
        free(state->rows[i].path);
    free(state->rows);
    for (size_t i = 0; i < state->kernel_count; i++)
        free(state->kernel_rows[i].name);
    *state = (struct top_state){ .runs = 0 };
}
