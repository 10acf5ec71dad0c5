/* SPDX-License-Identifier: Apache-2.0 */
/* Without a session first: once CUPTI has recorded a kernel, each launch costs more until the
 * process ends (docs/lab/performance.md), and turns in alternation would miss that part of the
 * cost. */
#include "lib/measure/profiler.h"

#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/session.h"

#define REPEATS  150
#define LAUNCHES 500 /* of a repeat: the driver queues 1,024 */
#define NODES    500 /* of the graph */
#define THREADS  32

#define CAPTURE_THREAD_LOCAL 1 /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */

struct work {
    struct lp_bench *bench;
    void *kernel, *graph;
};

struct costs {
    double launch_us, node_us;
};

/* Kernels that read nothing. */
static int launch(const struct work *work, int count)
{
    struct lp_bench *bench = work->bench;
    uint64_t pieces = 0;
    void *parameters[] = { &bench->buffers[0], &pieces, &bench->buffers[0] };
    int result = 0;

    for (int i = 0; i < count && result == 0; i++)
        result = bench->cuda.launch(work->kernel, 1, 1, 1, THREADS, 1, 1, 0, bench->stream,
                                    parameters, NULL);
    return result;
}

/* Host time of the launch calls alone. */
static int run_launches(const struct work *work, double *us_out)
{
    uint64_t start = lp_clock_now();
    int result = launch(work, LAUNCHES);

    *us_out = (double)(lp_clock_now() - start) / 1e3 / LAUNCHES;
    return result ? result : work->bench->cuda.stream_synchronize(work->bench->stream);
}

/* Until the graph has run: most of the cost of its nodes is after the launch call. */
static int run_graph(const struct work *work, double *us_out)
{
    struct lp_bench *bench = work->bench;
    uint64_t start = lp_clock_now();
    int result = bench->cuda.graph_launch(work->graph, bench->stream);

    if (result == 0)
        result = bench->cuda.stream_synchronize(bench->stream);
    *us_out = (double)(lp_clock_now() - start) / 1e3 / NODES;
    return result;
}

static int make_graph(struct work *work)
{
    struct lp_bench *bench = work->bench;
    void *captured = NULL;
    int result = bench->cuda.capture_begin(bench->stream, CAPTURE_THREAD_LOCAL), ended;

    if (result)
        return result;
    result = launch(work, NODES);
    ended = bench->cuda.capture_end(bench->stream, &captured);
    result = result ? result : ended;
    if (result == 0)
        result = bench->cuda.graph_instantiate(&work->graph, captured, 0);
    if (captured)
        bench->cuda.graph_destroy(captured);
    return result;
}

/* Median of the repeats after the first, which loads code. */
static int time_repeats(const struct work *work,
                        int (*run)(const struct work *work, double *us_out), double *median_out)
{
    double us[REPEATS] = { 0 };
    int result = run(work, &us[0]);

    for (int i = 0; i < REPEATS && result == 0; i++)
        result = run(work, &us[i]);
    *median_out = lp_median(us, REPEATS);
    return result;
}

static int time_both(struct work *work, struct costs *costs)
{
    struct lp_bench *bench = work->bench;
    int result = time_repeats(work, run_launches, &costs->launch_us);

    if (result == 0 && (result = make_graph(work)) == 0) {
        result = time_repeats(work, run_graph, &costs->node_us);
        bench->cuda.graph_exec_destroy(work->graph);
    }
    return result ? lp_cuda_error(&bench->cuda, "launching", result) : 0;
}

static int check_records(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    int status = llmperf_profile_ledger(profile, &ledger);

    if (status == 0 && ledger.kernels_seen == 0)
        status = lp_error(LLMPERF_ENODEVICE, "CUPTI delivered no records; see llmperf doctor");
    return status;
}

static int time_session(struct work *work, struct costs *costs)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile = NULL;
    llmperf_session *session;
    int status, stopped;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.out_dir = ""; /* nothing is written */
    if ((status = llmperf_session_start(&options, &session)) < 0)
        return status;
    llmperf_region_begin("launches");
    status = time_both(work, costs);
    llmperf_region_end();
    if ((stopped = llmperf_session_stop(session, &profile)) < 0)
        status = status < 0 ? status : stopped;
    else if (status == 0)
        status = check_records(profile);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return status;
}

static void take(struct lp_measured_peak *item, double before, double after, const char *what)
{
    if (!(after > before)) {
        snprintf(item->reason, sizeof(item->reason),
                 "%s took %.3f us without a session and %.3f us with one: measure again while "
                 "nothing else runs",
                 what, before, after);
        return;
    }
    item->best = item->median = after - before;
    item->repeats = REPEATS;
    item->reason[0] = '\0';
    snprintf(item->how, sizeof(item->how), "%s: %.3f us without a session, %.3f us with tier deep",
             what, before, after);
}

void lp_measure_profiler(const struct lp_kernels *kernels, struct lp_bench *bench,
                         struct lp_measured_peaks *measured_peaks)
{
    static struct lp_measured_peak first[2]; /* the cost is mostly the host's */
    struct lp_measured_peak *items = &measured_peaks->items[LP_COST_LAUNCH];
    struct work work = { bench, kernels->read, NULL };
    struct costs without = { 0, 0 }, with = { 0, 0 };

    if (first[0].repeats > 0) {
        items[0] = first[0];
        items[1] = first[1];
        return;
    }
    if (time_both(&work, &without) < 0 || time_session(&work, &with) < 0) {
        lp_measured_peak_fail(&items[0]);
        lp_measured_peak_fail(&items[1]);
        return;
    }
    take(&items[0], without.launch_us, with.launch_us, "a launch");
    take(&items[1], without.node_us, with.node_us, "a graph node");
    first[0] = items[0];
    first[1] = items[1];
}
