/* SPDX-License-Identifier: Apache-2.0 */
/** Merges profiles: processes of a file, files of a run, runs of a job. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/store/merge_energy.h"
#include "lib/store/merge_gpus.h"
#include "lib/store/merge_kept.h"
#include "lib/store/merge_model.h"
#include "lib/store/merge_processes.h"
#include "lib/store/merge_rows.h"
#include "lib/store/merged_folders.h"
#include "lib/store/merged_runs.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

struct merger {
    llmperf_profile *out;
    struct lp_merged_rows rows;
    struct lp_merged_gpus gpus;
    struct lp_merged_processes processes;
    size_t part, count;
    bool runs; /* parts are runs, not files or processes of one run */
    size_t with_iterations;
    size_t without_cuda; /* parts of programs that did not use CUDA */
};

/* Process id of a part's process in the merged profile. */
static int merged_process(struct merger *merger, uint32_t process_id, uint32_t *merged_out)
{
    *merged_out = process_id;
    return merger->runs
               ? lp_merged_process(&merger->processes, merger->part, process_id, merged_out)
               : 0;
}

/* Facts about machine and processes of a part. */
static int add_identity(struct merger *merger, const llmperf_profile *part)
{
    int status;

    if (!merger->runs)
        return 0;
    status = lp_merged_gpus_add(&merger->gpus, llmperf_profile_fact(part, "env"));
    return status < 0 ? status : lp_merged_processes_add(&merger->processes, merger->part, part);
}

/* Rows */

/* Append a row; what it points to is copied. */
static int push(struct merger *merger, enum lp_row_id id, void *row)
{
    int status = lp_row_keep(merger->out, id, row);

    return status < 0 ? status : lp_row_push(merger->out, id, row);
}

static int add_region(struct merger *merger, const struct lp_region_row *from)
{
    struct lp_region_row row = *from;
    int status = merged_process(merger, from->stats.process_id, &row.stats.process_id);

    if (status < 0)
        return status;
    row.stats.device = lp_merged_gpu(&merger->gpus, row.stats.device);
    return lp_merge_region(&merger->rows, merger->out, &row);
}

static int add_kernel(struct merger *merger, const struct lp_kernel_row *from)
{
    struct lp_kernel_row row = *from;

    row.stats.device = lp_merged_gpu(&merger->gpus, row.stats.device);
    return lp_merge_kernel(&merger->rows, merger->out, &row);
}

static int add_shape(struct merger *merger, const llmperf_kernel_shape *from)
{
    llmperf_kernel_shape row = *from;

    row.device = lp_merged_gpu(&merger->gpus, row.device);
    return lp_merge_shape(&merger->rows, merger->out, &row);
}

static int add_collective(struct merger *merger, const struct lp_collective_row *from)
{
    struct lp_collective_row row = *from;
    int status = merged_process(merger, from->stats.process_id, &row.stats.process_id);

    row.stats.device = lp_merged_gpu(&merger->gpus, row.stats.device);
    if (!row.stats.clock && merger->runs)
        row.stats.clock = merger->gpus.clock;
    return status < 0 ? status : push(merger, LP_ROW_COLLECTIVE_CALLS, &row);
}

/* The largest row that add_apart() copies. */
#define ROW_BYTES 1024

/* All rows of a kind that are not merged with others: only GPU and process get their numbers in
 * the merged profile. */
static int add_apart(struct merger *merger, const llmperf_profile *part, enum lp_row_id id)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    _Alignas(max_align_t) char row[ROW_BYTES];
    int status = 0;

    if (kind->row_size > sizeof(row))
        return lp_error(LLMPERF_ESTATE, "rows of %s are too large to be merged", kind->table);
    for (size_t i = 0; i < lp_row_count(part, id) && status == 0; i++) {
        memcpy(row, lp_row_at(part, id, i), kind->row_size);
        for (size_t k = 0; k < kind->count && status == 0; k++) {
            void *member = row + kind->fields[k].offset;

            if (kind->fields[k].type == LP_FIELD_DEVICE)
                *(int32_t *)member = lp_merged_gpu(&merger->gpus, *(int32_t *)member);
            else if (strcmp(kind->fields[k].name, "process_id") == 0)
                status = merged_process(merger, *(uint32_t *)member, member);
        }
        status = status < 0 ? status : push(merger, id, row);
    }
    return status;
}

static int add_metric(struct merger *merger, const llmperf_metric_stats *from)
{
    llmperf_metric_stats stats = *from;
    int status =
        from->process_id == 0 ? 0 : merged_process(merger, from->process_id, &stats.process_id);

    stats.device = lp_merged_gpu(&merger->gpus, stats.device);
    return status < 0 ? status : lp_profile_add_metric(merger->out, &stats);
}

static int add_energy(struct merger *merger, const llmperf_energy *from)
{
    llmperf_energy row = *from;
    int status =
        from->process_id == 0 ? 0 : merged_process(merger, from->process_id, &row.process_id);

    row.device = lp_merged_gpu(&merger->gpus, row.device);
    return status < 0 ? status : lp_merge_energy(merger->out, &row);
}

static int add_serving(struct merger *merger, const llmperf_profile *part)
{
    int status = 0;

    for (size_t i = 0; i < part->requests.count && status == 0; i++)
        status = lp_merge_requests(merger->out, &part->requests.items[i]);
    for (size_t i = 0; i < part->latencies.count && status == 0; i++)
        status = lp_merge_latency(&merger->rows, merger->out, &part->latencies.items[i]);
    return status;
}

/* Ledgers */

static double device_ms(const llmperf_profile *profile)
{
    double total = 0;

    for (size_t i = 0; i < profile->kernels.count; i++)
        total += profile->kernels.items[i].stats.total_ms;
    return total;
}

static uint32_t worse_verdict(uint32_t a, uint32_t b)
{
    /* Best to worst. NO_DEVICE with any other verdict means that something is missing. */
    static const uint32_t order[] = { LLMPERF_VERDICT_COMPLETE, LLMPERF_VERDICT_SAMPLED,
                                      LLMPERF_VERDICT_INCOMPLETE, LLMPERF_VERDICT_DEAD };

    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    if (a == LLMPERF_VERDICT_NO_DEVICE || b == LLMPERF_VERDICT_NO_DEVICE)
        return LLMPERF_VERDICT_INCOMPLETE;
    for (size_t i = sizeof(order) / sizeof(order[0]); i-- > 0;)
        if (order[i] == a || order[i] == b)
            return order[i];
    return LLMPERF_VERDICT_INCOMPLETE;
}

/* Nothing is missing from a program that did not use CUDA. */
static bool used_no_cuda(const llmperf_profile *part)
{
    const char *reason = llmperf_profile_fact(part, "source_reason");

    return part->ledger.verdict == LLMPERF_VERDICT_NO_DEVICE && reason &&
           strcmp(reason, LP_REASON_NO_CUDA) == 0;
}

static bool counts_for_verdict(const struct merger *merger, const llmperf_profile *part)
{
    return !used_no_cuda(part) || merger->without_cuda == merger->count;
}

/* Lines and facts */

static bool has_line(const llmperf_profile *profile, bool problem, const char *line)
{
    const char *other;

    for (size_t i = 0;
         (other = problem ? llmperf_profile_problem(profile, i) : llmperf_profile_note(profile, i));
         i++)
        if (strcmp(other, line) == 0)
            return true;
    return false;
}

/* Problems are prefixed with their run's name. A problem that all runs have appears once. */
static int add_line(struct merger *merger, bool problem, const char *run, const char *line)
{
    char named[1024];

    snprintf(named, sizeof(named), "%s%s%s", problem ? run : "", problem && *run ? ": " : "", line);
    if (has_line(merger->out, problem, named))
        return 0;
    return problem ? lp_profile_add_problem(merger->out, "%s", named)
                   : lp_profile_note(merger->out, "%s", named);
}

/* The part's name before its problems; "": it is the only part. */
static void name_part(const struct merger *merger, const llmperf_profile *part, char name[128])
{
    const char *run = llmperf_profile_fact(part, merger->runs ? "run_id" : "process_id");

    if (merger->runs && !run)
        run = llmperf_profile_fact(part, "imported_from");
    name[0] = '\0';
    if (run && merger->count > 1)
        snprintf(name, 128, "%s%.100s", merger->runs ? "" : "process ", run);
}

static int add_lines(struct merger *merger, const llmperf_profile *part)
{
    char run[128];
    int status = 0;

    name_part(merger, part, run);
    for (size_t i = 0; i < part->problems.count && status == 0; i++)
        status = add_line(merger, true, run, part->problems.items[i]);
    for (size_t i = 0; i < part->notes.count && status == 0; i++)
        if (counts_for_verdict(merger, part) ||
            strcmp(part->notes.items[i], LP_REASON_NO_CUDA) != 0)
            status = add_line(merger, false, "", part->notes.items[i]);
    return status;
}

/* Facts that only one of several runs has. */
static bool is_of_one(const struct merger *merger, const char *key)
{
    if (strncmp(key, LP_CLASS_FACT, strlen(LP_CLASS_FACT)) == 0)
        return merger->with_iterations != 1;
    if (merger->runs && (strcmp(key, LP_RUN_KEY_FACT) == 0 || strcmp(key, LP_RANK_FACT) == 0 ||
                         strcmp(key, LP_MERGED_TRACES_FACT) == 0))
        return true;
    return merger->runs && merger->count > 1 && strcmp(key, "gpu_busy_ms") == 0;
}

static int add_facts(struct merger *merger, const llmperf_profile *part)
{
    const struct lp_kept_from from = {
        .processes = merger->runs ? &merger->processes : NULL,
        .part = merger->part,
        .process_id = llmperf_profile_fact(part, "process_id"),
        .clock = merger->gpus.clock,
    };
    int status = 0;

    for (size_t i = 0; i < part->facts.count && status == 0; i++) {
        const struct lp_fact *fact = &part->facts.items[i];

        if (strncmp(fact->key, LP_KEPT_CALL_FACT, strlen(LP_KEPT_CALL_FACT)) == 0)
            status = lp_merge_kept(merger->out, fact->key, fact->value, &from);
        else if (!llmperf_profile_fact(merger->out, fact->key) && !is_of_one(merger, fact->key))
            status = lp_profile_set_fact(merger->out, fact->key, fact->value);
    }
    return status;
}

static int add_stage_operator(struct merger *merger, const struct lp_stage_operator *row)
{
    struct lp_stage_operator copy = *row;

    for (size_t i = 0; i < merger->out->stage_operators.count; i++) {
        struct lp_stage_operator *into = &merger->out->stage_operators.items[i];

        if (lp_row_compare(LP_ROW_STAGE_OPERATOR, into, row) != 0)
            continue;
        lp_row_add(LP_ROW_STAGE_OPERATOR, into, row, 0, 0);
        return 0;
    }
    return push(merger, LP_ROW_STAGE_OPERATOR, &copy);
}

/* All of it */

static int add_part(struct merger *merger, const llmperf_profile *part, double device_before)
{
    static const enum lp_row_id apart[] = {
        LP_ROW_ITERATION, LP_ROW_WINDOW,          LP_ROW_WINDOW_KERNEL, LP_ROW_DEVICE,
        LP_ROW_MEMORY,    LP_ROW_MEMORY_POINT,    LP_ROW_SLOW_REQUEST,  LP_ROW_LOAD,
        LP_ROW_STALL,     LP_ROW_HOT_INSTRUCTION,
    };
    bool keep = merger->with_iterations == 1;
    int status = add_identity(merger, part);

    for (size_t i = 0; i < part->regions.count && status == 0; i++)
        status = add_region(merger, &part->regions.items[i]);
    for (size_t i = 0; i < part->kernels.count && status == 0; i++)
        status = add_kernel(merger, &part->kernels.items[i]);
    for (size_t i = 0; i < part->kernel_shapes.count && status == 0; i++)
        status = add_shape(merger, &part->kernel_shapes.items[i]);
    for (size_t i = 0; i < part->host_calls.count && status == 0; i++)
        status = lp_merge_host_call(&merger->rows, merger->out, &part->host_calls.items[i]);
    for (size_t i = 0; i < part->collectives.count && status == 0; i++)
        status = add_collective(merger, &part->collectives.items[i]);
    for (size_t i = 0; i < part->iteration_stats.count && status == 0; i++)
        status = lp_merge_spread(&merger->rows, merger->out, &part->iteration_stats.items[i]);
    for (size_t i = 0; i < part->metrics.count && status == 0; i++)
        status = add_metric(merger, &part->metrics.items[i]);
    for (size_t i = 0; i < part->stage_operators.count && status == 0; i++)
        status = add_stage_operator(merger, &part->stage_operators.items[i]);
    for (size_t i = 0; i < part->energy.count && status == 0; i++)
        status = add_energy(merger, &part->energy.items[i]);
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]) && status == 0; i++)
        if (keep || apart[i] != LP_ROW_ITERATION)
            status = add_apart(merger, part, apart[i]);
    if (status == 0)
        status = add_serving(merger, part);
    if (status == 0 && (status = add_lines(merger, part)) == 0)
        status = add_facts(merger, part);
    lp_row_add(LP_ROW_LEDGER, &merger->out->ledger, &part->ledger, device_before, device_ms(part));
    if (counts_for_verdict(merger, part))
        merger->out->ledger.verdict =
            worse_verdict(merger->out->ledger.verdict, part->ledger.verdict);
    return status;
}

static int merge(struct merger *merger, const llmperf_profile *const *parts, size_t count)
{
    double device_before = 0;
    int status = 0;

    merger->out->ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    merger->out->ledger.tracing_overhead_ms = merger->out->ledger.attributed_gpu_time_share = NAN;
    merger->out->ledger.sampled_fraction = NAN; /* fmin() ignores NaN */
    for (size_t i = 0; i < count; i++) {
        merger->with_iterations += parts[i]->iterations.count > 0;
        merger->without_cuda += used_no_cuda(parts[i]);
    }
    for (merger->part = 0; merger->part < count && status == 0; merger->part++) {
        if (merger->runs)
            lp_progress("merging runs", merger->part, count);
        status = add_part(merger, parts[merger->part], device_before);
        device_before += device_ms(parts[merger->part]);
    }
    lp_merge_energy_finish(merger->out);
    if (status == 0)
        status = lp_merge_finish(&merger->rows, merger->out);
    if (status == 0 && merger->runs)
        status = lp_merged_gpus_finish(&merger->gpus, merger->out);
    if (status == 0 && merger->runs)
        status = lp_merged_processes_finish(&merger->processes, merger->out);
    return status < 0 ? status : lp_profile_finish(merger->out);
}

static int merge_parts(const llmperf_profile *const *parts, size_t count, bool runs,
                       llmperf_profile **profile_out)
{
    struct merger merger = { .out = lp_profile_create(), .count = count, .runs = runs };
    int status = merger.out ? merge(&merger, parts, count) : lp_out_of_memory();

    lp_merge_clear(&merger.rows);
    lp_merged_gpus_clear(&merger.gpus);
    lp_merged_processes_clear(&merger.processes);
    if (status < 0)
        llmperf_profile_free(merger.out);
    else
        *profile_out = merger.out;
    return status;
}

/* Process ids of all parts, in order. */
static int list_processes(const llmperf_profile *const *parts, size_t count, llmperf_profile *out)
{
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    for (size_t i = 0; i < count; i++) {
        const char *fact = llmperf_profile_fact(parts[i], "process_id");

        lp_text_printf(&text, "%s%s", i ? " " : "", fact ? fact : "?");
    }
    status = text.failed ? lp_out_of_memory() : lp_profile_set_fact(out, "process_id", text.bytes);
    lp_text_clear(&text);
    return status;
}

int lp_profile_join(const llmperf_profile *const *parts, size_t count,
                    llmperf_profile **profile_out)
{
    llmperf_profile *out;
    int status = merge_parts(parts, count, false, &out);

    if (status < 0)
        return status;
    if (count > 1 && llmperf_profile_fact(parts[0], "process_id") &&
        (status = list_processes(parts, count, out)) < 0) {
        llmperf_profile_free(out);
        return status;
    }
    *profile_out = out;
    return 0;
}

llmperf_ledger *lp_profile_ledger_edit(llmperf_profile *profile)
{
    return &profile->ledger;
}

/* The longest run's duration: how runs overlap in time is not known. */
static int set_longest(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out)
{
    const char *longest = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *duration = llmperf_profile_fact(profiles[i], "duration_ms");

        /* Whole milliseconds: strtod() would depend on the locale. */
        if (duration && (!longest || strtoull(duration, NULL, 10) > strtoull(longest, NULL, 10)))
            longest = duration;
    }
    return lp_profile_set_fact(out, "duration_ms", longest);
}

/* Facts of one run that do not hold for the merged run. */
static int set_run_facts(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out)
{
    const char *first = NULL;
    int status = lp_merged_runs_set(profiles, count, out);

    if (status == 0)
        status = lp_merged_folders_set(profiles, count, out);
    for (size_t i = 0; i < count; i++) {
        const char *created = llmperf_profile_fact(profiles[i], "created_at");

        if (created && (!first || strcmp(created, first) < 0))
            first = created;
    }
    if (status == 0)
        status = set_longest(profiles, count, out);
    return status < 0 ? status : lp_profile_set_fact(out, "created_at", first);
}

static int add_run_notes(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out)
{
    size_t with_iterations = 0, without_cuda = 0;
    bool other_gpus = false;
    int status = 0;

    for (size_t i = 0; i < count; i++) {
        const char *env = llmperf_profile_fact(profiles[i], "env");
        const char *first = llmperf_profile_fact(profiles[0], "env");

        with_iterations += profiles[i]->iterations.count > 0;
        without_cuda += used_no_cuda(profiles[i]);
        other_gpus |= lp_compare_text(env, first) != 0;
    }
    if (other_gpus)
        status = lp_profile_note(out, "merged: machine and hardware limits are from the first run");
    if (status == 0 && with_iterations > 1)
        status = lp_profile_note(out, "merged: single iterations are kept only in the original "
                                      "runs; the statistics cover all runs");
    if (status == 0 && without_cuda > 0 && without_cuda < count)
        status = lp_profile_note(
            out, "merged: %zu of %zu processes did not use CUDA: they have host times only",
            without_cuda, count);
    return status;
}

int llmperf_profile_merge(const llmperf_profile *const *profiles, size_t count,
                          llmperf_profile **profile_out)
{
    llmperf_profile *out;
    int status;

    if (!profiles || count == 0 || !profile_out)
        return lp_error(LLMPERF_EINVAL, "profiles and profile_out are required");
    for (size_t i = 0; i < count; i++)
        if (!profiles[i])
            return lp_error(LLMPERF_EINVAL, "profile %zu is NULL", i);
    if ((status = merge_parts(profiles, count, true, &out)) < 0)
        return status;
    if ((status = set_run_facts(profiles, count, out)) < 0 ||
        (status = add_run_notes(profiles, count, out)) < 0 ||
        (status = lp_merged_model_notes(profiles, count, out)) < 0) {
        llmperf_profile_free(out);
        return status;
    }
    *profile_out = out;
    return 0;
}
