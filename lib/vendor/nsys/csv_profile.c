/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile from tables of nsys stats: traces by the same projection as an export, summaries
 * row by row if there is no such trace. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/vendor/gpus.h"
#include "lib/vendor/nsys/csv.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "llmperf/profile.h"

void lp_nsys_csv_clear(struct lp_nsys_csv *reader)
{
    lp_timeline_clear(&reader->timeline);
    lp_vector_clear(&reader->projected_spans);
    lp_vector_clear(&reader->calls);
    lp_vector_clear(&reader->launches);
    lp_vector_clear(&reader->launch_calls);
    lp_names_clear(&reader->names);
    lp_vector_clear(&reader->kernels);
    lp_vector_clear(&reader->memory);
    lp_vector_clear(&reader->regions);
    lp_hashmap_clear(&reader->region_rows);
    lp_hashmap_clear(&reader->memory_rows);
}

/* Timeline */

/* The process of all calls and ranges; 0 if there are several, and *several_out. */
static uint64_t only_process(const struct lp_nsys_csv *reader, bool *several_out)
{
    uint64_t process = 0;

    *several_out = false;
    for (size_t i = 0; i < reader->calls.count; i++) {
        uint64_t key = reader->calls.items[i].thread & LP_THREAD_PROCESS;

        *several_out |= process && key != process;
        process = key;
    }
    for (size_t i = 0; i < reader->timeline.spans.count; i++) {
        uint64_t key = reader->timeline.spans.items[i].thread & LP_THREAD_PROCESS;

        *several_out |= process && key != process;
        process = key;
    }
    return *several_out ? 0 : process;
}

/* Substitutes for missing tables: launch traces for the GPU trace, projection traces for the range
 * trace. */
static int choose_rows(struct lp_nsys_csv *reader)
{
    struct lp_timeline *timeline = &reader->timeline;

    if (timeline->ops.count == 0 && reader->launches.count > 0) {
        reader->calls.count = 0; /* they have their own correlation ids */
        for (size_t i = 0; i < reader->launches.count; i++)
            if (lp_vector_push(&timeline->ops, reader->launches.items[i]) < 0 ||
                lp_vector_push(&reader->calls, reader->launch_calls.items[i]) < 0)
                return LLMPERF_ENOMEM;
    }
    if (timeline->spans.count > 0)
        return 0;
    for (size_t i = 0; i < reader->projected_spans.count; i++)
        if (lp_vector_push(&timeline->spans, reader->projected_spans.items[i]) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* The device trace has no processes, so it can be joined only if there is one process. */
static int join_calls(struct lp_nsys_csv *reader, bool *several_out)
{
    struct lp_timeline *timeline = &reader->timeline;
    bool named = timeline->ops.count > 0 && timeline->ops.items[0].process != 0;
    uint64_t process = only_process(reader, several_out);
    int status;

    timeline->process_mask = named || process ? LP_THREAD_PROCESS : 0;
    for (size_t i = 0; !named && i < timeline->ops.count; i++)
        timeline->ops.items[i].process = process;
    if ((status = lp_timeline_index(timeline)) < 0)
        return status;
    timeline->calls_known = reader->calls.count > 0 && (named || !*several_out);
    for (size_t i = 0; timeline->calls_known && i < reader->calls.count; i++) {
        struct lp_host_call *call = &reader->calls.items[i];

        call->process = call->thread & timeline->process_mask;
        if (call->correlation && (status = lp_timeline_call(timeline, call)) < 0)
            return status;
    }
    return 0;
}

static int make_timeline(struct lp_nsys_csv *reader, llmperf_profile **profile_out)
{
    llmperf_profile **profiles = NULL;
    size_t count = 0;
    bool several;
    int status;

    if ((status = join_calls(reader, &several)) < 0 ||
        (status = lp_timeline_profiles(&reader->timeline, &profiles, &count)) < 0)
        return status;
    status = lp_profile_join((const llmperf_profile *const *)profiles, count, profile_out);
    for (size_t i = 0; i < count; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
    if (status < 0)
        return status;
    lp_timeline_forget_calls(&reader->timeline, lp_profile_ledger_edit(*profile_out));
    if (several && reader->timeline.ops.count > 0 && !reader->timeline.calls_known)
        return lp_profile_note(
            *profile_out,
            "the GPU trace has no process column and the other traces are from several processes: "
            "kernels cannot be matched with their launches; import the SQLite export");
    if (!reader->timeline.calls_known && reader->timeline.ops.count > 0)
        return lp_profile_note(*profile_out,
                               "without cuda_api_trace the launches of kernels are unknown; add "
                               "that table, or import the SQLite export");
    return 0;
}

/* Summaries */

static int add_sum(llmperf_profile *profile, const struct lp_nsys_csv *reader,
                   const struct lp_nsys_sum *sum, uint32_t kind)
{
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;

    stats.name = lp_names_text(&reader->names, sum->name);
    stats.kind = kind;
    stats.device = -1;
    stats.calls = sum->count;
    stats.bytes = kind == LLMPERF_ACTIVITY_KERNEL ? 0
                  : sum->has_bytes                ? sum->bytes
                                                  : LLMPERF_UNKNOWN;
    stats.total_ms = sum->total / 1e6;
    stats.mean_ms = stats.total_ms / (double)sum->count;
    stats.min_ms = sum->min / 1e6;
    stats.max_ms = sum->max / 1e6;
    lp_set_percentiles(LP_ROW_KERNEL, &stats, NULL, NAN, NAN);
    stats.p50_ms = sum->med / 1e6;
    return lp_profile_add_kernel(profile, &stats, NULL, 0);
}

static int add_region(llmperf_profile *profile, const struct lp_nsys_region *region)
{
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

    lp_row_forget(LP_ROW_REGION, &stats);
    stats.instances = region->instances;
    stats.wall_sum_ms = region->wall / 1e6;
    stats.wall_mean_ms = region->avg / 1e6;
    stats.wall_std_ms = region->instances > 1 ? region->std / 1e6 : (double)NAN;
    stats.wall_min_ms = region->min / 1e6;
    stats.wall_max_ms = region->max / 1e6;
    stats.wall_p50_ms = region->med / 1e6;
    if (region->has_kernels) {
        stats.kernel_ms = region->kernel_time / 1e6;
        stats.kernel_count = region->kernels;
    }
    return lp_profile_add_region(profile, region->node, &stats);
}

/* From first start to last end of a range's work, which includes idle time. */
static int add_projection(llmperf_profile *profile, const struct lp_nsys_region *region)
{
    llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;
    struct lp_text path = { NULL, 0, 0, false };
    int status;

    lp_path_print(&path, region->node);
    lp_text_puts(&path, "");
    stats.name = "projected time";
    stats.unit = "ns";
    stats.group = "nvtx_gpu_proj_sum";
    stats.source = "nsys";
    stats.region = path.bytes;
    stats.device = -1;
    stats.count = region->instances;
    stats.mean = region->projected_avg;
    stats.std = region->instances > 1 ? region->projected_std : (double)NAN;
    stats.min = region->projected_min;
    stats.max = region->projected_max;
    status = path.failed ? lp_out_of_memory() : lp_profile_add_metric(profile, &stats);
    lp_text_clear(&path);
    return status;
}

static void fill_ledger(const struct lp_nsys_csv *reader, llmperf_ledger *ledger)
{
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    lp_row_forget(LP_ROW_LEDGER, ledger);
    ledger->verdict = LLMPERF_VERDICT_INCOMPLETE;
    for (size_t i = 0; i < reader->kernels.count; i++)
        ledger->kernels_seen += reader->kernels.items[i].count;
    for (size_t i = 0; i < reader->memory.count; i++)
        ledger->memory_seen += reader->memory.items[i].count;
    ledger->kernels_unattributed = ledger->kernels_seen;
    if (reader->has_call_sum) {
        ledger->launches_expected = reader->launch_calls_sum;
        ledger->graph_launches = reader->graph_calls_sum;
        ledger->memory_calls = reader->memory_calls_sum;
    }
}

static int fill_sums(struct lp_nsys_csv *reader, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < reader->kernels.count && status == 0; i++)
        status = add_sum(profile, reader, &reader->kernels.items[i], LLMPERF_ACTIVITY_KERNEL);
    for (size_t i = 0; i < reader->memory.count && status == 0; i++) {
        const char *name = lp_names_text(&reader->names, reader->memory.items[i].name);

        status = add_sum(profile, reader, &reader->memory.items[i],
                         strcmp(name, "[memset]") == 0 ? LLMPERF_ACTIVITY_MEMSET
                                                       : LLMPERF_ACTIVITY_MEMCPY);
    }
    for (size_t i = 0; i < reader->regions.count && status == 0; i++) {
        status = add_region(profile, &reader->regions.items[i]);
        if (status == 0 && reader->regions.items[i].has_projection)
            status = add_projection(profile, &reader->regions.items[i]);
    }
    fill_ledger(reader, lp_profile_ledger_edit(profile));
    return status < 0
               ? status
               : lp_profile_problem(profile,
                                    "summary tables do not say which region launched a kernel: "
                                    "import the SQLite export for kernels by region");
}

/* Kernels in two tables (for example of two reports) are merged. */
static int make_sums(struct lp_nsys_csv *reader, llmperf_profile **profile_out)
{
    llmperf_profile *profile = lp_profile_create();
    int status = profile ? fill_sums(reader, profile) : lp_out_of_memory();

    if (status == 0)
        status = lp_profile_join((const llmperf_profile *const[]){ profile }, 1, profile_out);
    llmperf_profile_free(profile);
    return status;
}

static int make_profile(struct lp_nsys_csv *reader, llmperf_profile **profile_out)
{
    int status = choose_rows(reader);

    if (status < 0)
        return status;
    if (reader->timeline.ops.count > 0 || reader->timeline.spans.count > 0)
        return make_timeline(reader, profile_out);
    if (reader->kernels.count + reader->memory.count + reader->regions.count == 0)
        return lp_error(LLMPERF_EFORMAT,
                        "the nsys tables have no rows of kernels, memory copies or NVTX ranges");
    return make_sums(reader, profile_out);
}

static int describe(const struct lp_nsys_csv *reader, llmperf_profile *profile)
{
    bool sums = reader->kernels.count + reader->memory.count + reader->regions.count > 0;
    bool timeline = reader->timeline.ops.count + reader->timeline.spans.count > 0;
    int status;

    if ((reader->rows_cut > 0 &&
         (status = lp_profile_problem(
              profile, "nsys: %" PRIu64 " table rows were cut off or invalid and were skipped",
              reader->rows_cut)) < 0) ||
        (sums && timeline &&
         (status = lp_profile_note(profile, "nsys: trace tables were given, so the summary tables, "
                                            "which repeat them, were skipped")) < 0) ||
        (status = lp_profile_set_fact(profile, "source", "nsys")) < 0 ||
        (status = lp_profile_set_fact(profile, "tier", "deep")) < 0)
        return status;
    return lp_gpus_set(profile, NULL, 0, "nsys stats tables do not describe GPUs");
}

int lp_nsys_csv_profile(struct lp_nsys_csv *reader, llmperf_profile **profile_out)
{
    llmperf_profile *profile = NULL;
    int status = make_profile(reader, &profile);

    if (status < 0)
        return status;
    if ((status = describe(reader, profile)) < 0) {
        llmperf_profile_free(profile);
        return status;
    }
    *profile_out = profile;
    return 0;
}
