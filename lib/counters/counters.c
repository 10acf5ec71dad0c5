/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/counters/groups.h"
#include "lib/counters/run.h"
#include "lib/cupti/cubins.h"
#include "lib/regions/region_hook.h"
#include "lib/record/paths.h"

/* The open object. Hooks may read it at any time, and increment `entered` before they do. */
static _Atomic(struct lp_counters *) current;
static _Atomic int entered;

static struct lp_counters *enter(void)
{
    struct lp_counters *counters;

    atomic_fetch_add(&entered, 1);
    counters = atomic_load(&current);
    if (!counters)
        atomic_fetch_sub(&entered, 1);
    return counters;
}

static void leave(void)
{
    atomic_fetch_sub(&entered, 1);
}

static bool matches(const struct lp_counters *counters, uint32_t node)
{
    struct lp_text path = { NULL, 0, 0, false };
    bool wanted = lp_patterns_match(counters->options.include, lp_path_get(node)->label);

    if (!wanted) {
        lp_path_print(&path, node);
        wanted =
            !path.failed && path.bytes && lp_patterns_match(counters->options.include, path.bytes);
    }
    lp_text_clear(&path);
    return wanted;
}

bool lp_counter_wanted(struct lp_counters *counters, uint32_t node)
{
    bool wanted;

    if (node < LP_WANTED_KNOWN && atomic_load(&counters->known[node]) != 0)
        return atomic_load(&counters->known[node]) == 2;
    wanted = matches(counters, node);
    if (node < LP_WANTED_KNOWN)
        atomic_store(&counters->known[node], wanted ? 2 : 1);
    if (wanted)
        atomic_store(&counters->matched, true);
    return wanted;
}

static uint32_t find_time_column(const struct lp_counter_set *set)
{
    uint32_t i = 0;

    while (i < set->columns.count &&
           strcmp(set->columns.items[i].metric, "gpu__time_duration.sum") != 0)
        i++;
    return i;
}

/* A single metric that needs several passes is collected over several calls of its region. */
static int check_groups(struct lp_counters *counters)
{
    uint32_t most = counters->options.most_passes;

    if (most > 0 && counters->groups > most)
        return lp_error(LLMPERF_EINVAL,
                        "counters %s need %u runs of the program on %s, but %u are allowed; use "
                        "preset light, or repeat more often (llmperf run --repeat)",
                        counters->options.preset->name, counters->groups, counters->set->chip,
                        most);
    if (counters->set->passes > 1 && counters->options.replay == LP_REPLAY_NONE)
        counters->options.replay = LP_REPLAY_USER;
    return 0;
}

/* It holds the numbers that the refusal is based on. */
static int check_passes(struct lp_counters *counters)
{
    uint32_t most = counters->options.most_passes;
    size_t passes = counters->set->passes;

    if (counters->options.group > 0)
        return check_groups(counters);
    if (most == 0)
        most = counters->options.replay == LP_REPLAY_NONE ? 1 : 64;
    if (passes <= most)
        return 0;
    if (counters->set->method == LP_COUNTER_PM)
        return lp_error(
            LLMPERF_EINVAL,
            "counters %s need %zu passes on %s, but PM sampling has only one; choose fewer",
            counters->options.preset->name, passes, counters->set->chip);
    return lp_error(
        LLMPERF_EINVAL,
        "counters %s need %zu passes on %s, %u allowed; use preset light, or repeat the "
        "regions in the program (replay=user) or the kernels (replay=kernel)",
        counters->options.preset->name, passes, counters->set->chip, most);
}

static int open_set(struct lp_counters *counters)
{
    const struct lp_counters_options *options = &counters->options;
    const struct lp_counter_device *device = &counters->device;
    struct lp_counter_preset preset = *options->preset; /* Lists and texts are borrowed. */

    preset.ranges = options->replay != LP_REPLAY_KERNEL;
    return options->group == 0
               ? lp_counter_set_open(device->chip, device->availability, &preset, &counters->set)
               : lp_counter_set_open_group(device->chip, device->availability, &preset,
                                           options->group, &counters->groups, &counters->set);
}

static int set_up(struct lp_counters *counters)
{
    const struct lp_counter_preset *preset = counters->options.preset;
    int status;

    if ((status = lp_counters_load(&counters->calls)) < 0)
        return status;
    if ((status = lp_counter_device_open(counters->calls, preset->method, &counters->device)) < 0)
        return status;
    if (preset->method == LP_COUNTER_PC)
        return lp_pc_open(counters);
    if ((status = open_set(counters)) < 0 || (status = check_passes(counters)) < 0)
        return status;
    counters->time_column = find_time_column(counters->set);
    return preset->method == LP_COUNTER_PM ? lp_samples_open(counters) : lp_ranges_open(counters);
}

static void set_up_or_fail(struct lp_counters *counters)
{
    static const char none[] = "no hardware counters: ";
    int status = set_up(counters);
    char reason[sizeof(counters->problem)];

    if (status == 0) {
        atomic_store(&counters->phase, LP_COUNTERS_RUNNING);
        return;
    }
    snprintf(reason, sizeof(reason), "%s", llmperf_last_error());
    lp_error(status, "%s%s", strncmp(reason, none, strlen(none)) == 0 ? "" : none, reason);
    lp_counters_fail(counters);
}

/* Called by the first thread with a context that opens a region. Ranges need that context and take
 * about a second to set up; sampling needs only the GPU, the collector does the rest. */
static void try_set_up(struct lp_counters *counters)
{
    int idle = LP_COUNTERS_IDLE;

    if (!atomic_compare_exchange_strong(&counters->phase, &idle, LP_COUNTERS_STARTING))
        return;
    if (!lp_counter_device_look(&counters->device))
        atomic_store(&counters->phase, LP_COUNTERS_IDLE);
    else if (counters->options.preset->method == LP_COUNTER_PM)
        atomic_store(&counters->phase, LP_COUNTERS_SEEN);
    else
        set_up_or_fail(counters);
}

/* Begins that come too early are reported, like everything that is not measured. */
static void skip_early(struct lp_counters *counters, uint32_t node)
{
    int phase = atomic_load(&counters->phase);

    if (phase < LP_COUNTERS_STARTING)
        lp_counter_put(counters, LP_COUNTER_SKIP, node, "the thread had no CUDA context", NULL);
    else if (phase == LP_COUNTERS_STARTING)
        lp_counter_put(counters, LP_COUNTER_SKIP, node, "the counters were still being set up",
                       NULL);
}

static void add_cost(struct lp_counters *counters, uint64_t since_ns)
{
    atomic_fetch_add(&counters->cost_ns, lp_clock_now() - since_ns);
}

static bool is_running(struct lp_counters *counters)
{
    return atomic_load(&counters->phase) == LP_COUNTERS_RUNNING;
}

static void begin_range(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    uint64_t since_ns;

    if (!lp_counter_wanted(counters, node))
        return;
    if (atomic_load(&counters->phase) == LP_COUNTERS_IDLE) {
        since_ns = lp_clock_now();
        try_set_up(counters);
        add_cost(counters, since_ns);
    }
    if (is_running(counters) && counters->pc) { /* adds its cost itself, as most calls have none */
        lp_pc_begin(counters, thread, node);
        return;
    }
    since_ns = lp_clock_now();
    if (is_running(counters))
        lp_ranges_begin(counters, thread, node);
    else
        skip_early(counters, node);
    add_cost(counters, since_ns);
}

static void begin(const struct lp_thread *thread, uint32_t node)
{
    struct lp_counters *counters = enter();

    if (!counters)
        return;
    if (!atomic_load(&counters->paused)) {
        if (counters->options.preset->method != LP_COUNTER_PM)
            begin_range(counters, thread, node);
        else if (atomic_load(&counters->phase) == LP_COUNTERS_IDLE)
            try_set_up(counters);
    }
    leave();
}

static void end(const struct lp_thread *thread, uint32_t node)
{
    struct lp_counters *counters = enter();
    uint64_t since_ns;

    if (!counters)
        return;
    if (is_running(counters) && counters->pc) {
        lp_pc_end(counters, thread, node);
    } else if (is_running(counters) && counters->ranges) {
        since_ns = lp_clock_now();
        lp_ranges_end(counters, thread, node);
        add_cost(counters, since_ns);
    }
    leave();
}

static void leave_thread(const struct lp_thread *thread)
{
    struct lp_counters *counters = enter();

    if (!counters)
        return;
    if (is_running(counters) && counters->ranges)
        lp_ranges_leave(counters, thread);
    if (is_running(counters) && counters->pc)
        lp_pc_leave(counters, thread);
    leave();
}

void lp_counters_launch(uint32_t kind, const char *name, void *launch_context, uint32_t correlation)
{
    struct lp_counters *counters;

    if (!lp_region_hook_get() || !(counters = enter()))
        return;
    if (is_running(counters) && counters->ranges)
        lp_ranges_launch(counters, kind, name, launch_context, correlation);
    leave();
}

void lp_counters_launch_cancelled(uint32_t correlation)
{
    struct lp_counters *counters;

    if (!lp_region_hook_get() || !(counters = enter()))
        return;
    if (is_running(counters) && counters->ranges)
        lp_ranges_launch_cancelled(counters, correlation);
    leave();
}

static const struct lp_region_hook hook = { begin, end, leave_thread, NULL };

int lp_counters_open(const struct lp_counters_options *options, struct lp_counters **counters_out)
{
    struct lp_counters *counters;

    if (atomic_load(&current))
        return lp_error(LLMPERF_ESTATE,
                        "hardware counters are already being collected in this process");
    if (!(counters = calloc(1, sizeof(*counters))))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    counters->options = *options;
    atomic_store(&counters->phase, options->attached ? LP_COUNTERS_IDLE : LP_COUNTERS_WAITING);
    pthread_mutex_init(&counters->queue.lock, NULL);
    pthread_mutex_init(&counters->problem_lock, NULL);
    if (options->preset->method == LP_COUNTER_PC && lp_pc_make(counters) < 0) {
        lp_counters_close(counters);
        return LLMPERF_ENOMEM;
    }
    atomic_store(&current, counters);
    atomic_store(&lp_region_hook, &hook);
    if (options->attached)
        lp_counters_context(lp_counter_context());
    *counters_out = counters;
    return 0;
}

void lp_counters_context(void *context)
{
    struct lp_counters *counters = enter();
    int idle = LP_COUNTERS_IDLE;

    if (!counters)
        return;
    if (counters->pc && context &&
        atomic_compare_exchange_strong(&counters->phase, &idle, LP_COUNTERS_STARTING)) {
        lp_pc_prepare(counters, context);
        atomic_store(&counters->phase, LP_COUNTERS_IDLE);
    }
    leave();
}

void lp_counters_attach(void)
{
    struct lp_counters *counters = enter();
    int waiting = LP_COUNTERS_WAITING;

    if (!counters)
        return;
    atomic_compare_exchange_strong(&counters->phase, &waiting, LP_COUNTERS_IDLE);
    leave();
    lp_counters_context(lp_counter_context());
}

static const char *replay_name(const struct lp_counters *counters)
{
    static const char *const names[] = { "none", "user", "kernel" };

    return counters->set->method != LP_COUNTER_RANGE ? "none" : names[counters->options.replay];
}

static void report_plan(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    const struct lp_counter_set *set = counters->set;
    struct lp_counter_plan plan = {
        .chip = set->chip,
        .preset = counters->options.preset->name,
        .method = set->method == LP_COUNTER_PM                   ? "pm"
                  : set->method == LP_COUNTER_PC                 ? "pc"
                  : counters->options.replay == LP_REPLAY_KERNEL ? "kernel"
                                                                 : "range",
        .replay = replay_name(counters),
        .passes = (uint32_t)set->passes,
        .time_column = counters->time_column,
        .interval_ns = set->method == LP_COUNTER_PM ? counters->options.interval_ns : 0,
        .count = set->columns.count,
    };
    struct lp_counter_heading *columns = calloc(plan.count, sizeof(*columns));

    if (!columns)
        return;
    for (size_t i = 0; i < plan.count; i++)
        columns[i] =
            (struct lp_counter_heading){ set->columns.items[i].quantity,
                                         set->columns.items[i].metric, set->columns.items[i].unit,
                                         set->columns.items[i].combine };
    plan.columns = columns;
    sink->plan(sink->context, &plan);
    counters->plan_reported = true;
    free(columns);
}

void lp_counters_deliver(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    if (atomic_load(&counters->phase) == LP_COUNTERS_SEEN && atomic_load(&current) == counters) {
        atomic_store(&lp_region_hook, NULL); /* Regions need no longer call the hook. */
        set_up_or_fail(counters);
    }
    if (!sink->plan || atomic_load(&counters->phase) < LP_COUNTERS_RUNNING || !counters->set ||
        (!counters->ranges && !counters->samples && !counters->pc))
        return;
    if (!counters->plan_reported)
        report_plan(counters, sink);
    if (counters->samples)
        lp_samples_deliver(counters, sink);
    if (counters->pc)
        lp_pc_deliver(counters, sink);
    lp_counter_queue_deliver(counters, sink);
}

void lp_counters_resample(struct lp_counters *counters, uint64_t interval_ns,
                          const struct lp_device_sink *sink)
{
    if (lp_counters_interval(counters) == 0)
        return;
    if (lp_samples_restart(counters, interval_ns, sink) < 0)
        lp_counters_fail(counters);
    else
        report_plan(counters, sink);
}

bool lp_counters_watches(struct lp_counters *counters, uint32_t node)
{
    return lp_counter_wanted(counters, node);
}

uint64_t lp_counters_interval(const struct lp_counters *counters)
{
    return counters->samples && atomic_load(&counters->phase) == LP_COUNTERS_RUNNING
               ? counters->options.interval_ns
               : 0;
}

void lp_counters_pause(struct lp_counters *counters, bool paused)
{
    atomic_store(&counters->paused, paused);
    if (paused && counters->pc)
        lp_pc_stop(counters); /* else CUPTI would refuse to record kernels again */
    if (!counters->samples || atomic_load(&counters->phase) != LP_COUNTERS_RUNNING)
        return;
    if (paused)
        lp_samples_stop(counters);
    else
        lp_samples_go_on(counters);
}

/* Wait for threads in a hook, with a time limit, as one may hang in the driver. */
static bool await_hooks(void)
{
    const struct timespec nap = { 0, 1000000 };

    for (int i = 0; i < 10000 && atomic_load(&entered) > 0; i++)
        nanosleep(&nap, NULL);
    return atomic_load(&entered) == 0;
}

void lp_counters_abandon(struct lp_counters *counters)
{
    if (atomic_load(&current) != counters)
        return;
    atomic_store(&lp_region_hook, NULL);
    atomic_store(&current, NULL);
    counters->driver_gone = true;
    lp_error(LLMPERF_ESTATE, "counters: the program ended before the last ranges were read");
    lp_counters_fail(counters);
}

void lp_counters_stop(struct lp_counters *counters)
{
    bool quiet;

    if (atomic_load(&current) != counters)
        return;
    atomic_store(&lp_region_hook, NULL);
    atomic_store(&current, NULL);
    quiet = await_hooks();
    if (quiet && counters->ranges)
        lp_ranges_stop(counters);
    if (quiet && counters->samples)
        lp_samples_stop(counters);
    if (quiet && counters->pc)
        lp_pc_stop(counters);
    if (!quiet) {
        lp_error(LLMPERF_EIO, "a thread is still inside CUPTI's profiler");
        lp_counters_fail(counters);
    }
}

/* Why there are no values, for a run without errors. */
static void report_idle(struct lp_counters *counters, char *text, size_t size)
{
    int phase = atomic_load(&counters->phase);
    bool ranges = counters->options.preset->method != LP_COUNTER_PM;

    if (phase == LP_COUNTERS_WAITING)
        snprintf(text, size, "no hardware counters: device activity is not collected");
    else if (phase <= LP_COUNTERS_RUNNING && ranges && !atomic_load(&counters->matched))
        snprintf(
            text, size,
            "no hardware counters: no region named %s was opened; choose regions with include=",
            lp_patterns_text(counters->options.include, 0));
    else if (phase == LP_COUNTERS_IDLE)
        snprintf(text, size,
                 "no hardware counters: no %sregion was opened on a thread with a CUDA context",
                 ranges ? "matching " : "");
}

void lp_counters_state(struct lp_counters *counters, struct lp_counters_state *state)
{
    *state = (struct lp_counters_state){
        .running = counters->plan_reported,
        .boundaries = atomic_load(&counters->boundaries),
        .cost_ns = atomic_load(&counters->cost_ns),
        .groups = counters->groups,
        .others = atomic_load(&counters->others),
    };
    pthread_mutex_lock(&counters->problem_lock);
    snprintf(state->problem, sizeof(state->problem), "%s", counters->problem);
    pthread_mutex_unlock(&counters->problem_lock);
    if (!state->problem[0])
        report_idle(counters, state->problem, sizeof(state->problem));
    if (counters->samples)
        lp_samples_state(counters, state);
    if (counters->pc)
        lp_pc_state(counters, state);
}

const struct lp_counter_set *lp_counters_set(const struct lp_counters *counters)
{
    return counters->plan_reported ? counters->set : NULL;
}

void lp_counters_close(struct lp_counters *counters)
{
    if (!counters)
        return;
    lp_counters_stop(counters);
    if (atomic_load(&entered) > 0) /* A thread still uses the object: leak it. */
        return;
    lp_ranges_close(counters);
    lp_samples_close(counters);
    lp_pc_close(counters);
    lp_cubins_forget();
    lp_counter_set_free(counters->set);
    lp_counter_queue_clear(&counters->queue);
    pthread_mutex_destroy(&counters->queue.lock);
    pthread_mutex_destroy(&counters->problem_lock);
    free(counters->device.availability);
    free(counters);
}
