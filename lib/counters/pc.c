/* SPDX-License-Identifier: Apache-2.0 */
/** CUPTI's PC sampling: each SM notes from time to time the instruction of a warp and why the warp
 * did not issue it. Samples have no time and no launch, so a region's samples are those of a
 * window: sampling is on from begin to end of a call. The device is idle at both ends; else the
 * window would hold work from before it, or less than the region's. Windows are rare, so that the
 * program spends no more than `budget` percent of its time in them, and regions take turns. One is
 * read by the collector before the next one opens. */
#include "lib/counters/pc.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/cupti/captures.h"

#define BUDGET      1u                 /* percent */
#define BUFFER      ((size_t)64 << 20) /* of GPU memory; CUPTI takes 512 MiB by itself */
#define SCRATCH     ((size_t)8 << 20)
#define SLEEP_MS    10u                 /* of CUPTI's own threads between two looks */
#define SETTLE_NS   UINT64_C(100000000) /* samples may come so late */
#define LONG_NS     UINT64_C(500000000) /* a window that is read while it is open */
#define PATIENCE_NS UINT64_C(200000000) /* then regions may have a second turn */
#define PASS_NS     UINT64_C(5000000000)

/* ENDED: the collector has not read all of it. BUSY: a thread opens, closes or reads it. */
enum lp_pc_window { SHUT, OPEN, ENDED, BUSY };

static bool take(struct lp_pc *pc, int window)
{
    return atomic_compare_exchange_strong(&pc->window, &window, BUSY);
}

#define PARAMS(counters)                                                                           \
    {                                                                                              \
        LP_CUPTI_SIZE(lp_cupti_pc), NULL, (counters)->device.context                               \
    }

/* Stall reasons */

/* "smsp__pcsamp_warps_issue_stalled_long_scoreboard" is "long_scoreboard". Those with _not_issued
 * count a part of the same samples again. */
static bool add_reason(struct lp_counters *counters, uint32_t index, const char *name)
{
    struct lp_counter_set *set = counters->set;
    const char *mark = strstr(name, "stalled_"), *metric = lp_strings_add(&set->pool, name);
    const char *quantity = metric && mark ? metric + (mark - name) + 8 : metric;
    struct lp_counter_column column = { .quantity = quantity,
                                        .unit = "samples",
                                        .about = "",
                                        .metric = metric,
                                        .combine = LP_COUNTER_SUM };

    if (strstr(name, "_not_issued"))
        return true;
    counters->pc->indices[set->columns.count] = index;
    return metric && lp_vector_push(&set->columns, column) == 0;
}

static int add_reasons(struct lp_counters *counters, size_t count, uint32_t *indices, char *names)
{
    char **list = calloc(count, sizeof(*list));
    struct lp_cupti_pc_reasons params = {
        LP_CUPTI_SIZE(lp_cupti_pc_reasons), NULL, counters->device.context, count, indices, list
    };
    bool kept = list != NULL;
    int status;

    for (size_t i = 0; list && i < count; i++)
        list[i] = names + i * LP_CUPTI_PC_REASON_BYTES;
    status = list ? LP_COUNTER_CALL(counters->calls, PCSamplingGetStallReasons, &params) : 0;
    for (size_t i = 0; status == 0 && kept && i < count; i++)
        kept = add_reason(counters, indices[i], list[i]);
    free(list);
    return status < 0 || kept ? status : lp_out_of_memory();
}

static int read_reasons(struct lp_counters *counters)
{
    size_t count = 0;
    struct lp_cupti_pc_count params = { LP_CUPTI_SIZE(lp_cupti_pc_count), NULL,
                                        counters->device.context, &count };
    int status = LP_COUNTER_CALL(counters->calls, PCSamplingGetNumStallReasons, &params);
    uint32_t *indices = calloc(count + 1, sizeof(*indices));
    char *names = calloc(count + 1, LP_CUPTI_PC_REASON_BYTES);

    counters->pc->indices = calloc(count + 1, sizeof(*indices));
    if (status == 0)
        status = indices && names && counters->pc->indices
                     ? add_reasons(counters, count, indices, names)
                     : lp_out_of_memory();
    free(indices);
    free(names);
    return status;
}

/* Set-up */

static int make_set(struct lp_counters *counters)
{
    struct lp_counter_set *set = calloc(1, sizeof(*set));

    counters->set = set;
    if (!set || !(set->chip = lp_strings_add(&set->pool, counters->device.chip)))
        return lp_out_of_memory();
    set->calls = counters->calls;
    set->method = LP_COUNTER_PC;
    set->passes = 1;
    return 0;
}

static int configure(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    struct lp_cupti_pc_attribute attributes[] = {
        { LP_CUPTI_PC_REASONS, 0, { .reasons = { counters->set->columns.count, pc->indices } } },
        { LP_CUPTI_PC_BUFFER, 0, { .size = BUFFER } },
        { LP_CUPTI_PC_SCRATCH, 0, { .size = SCRATCH } },
        { LP_CUPTI_PC_MODE, 0, { .number = LP_CUPTI_PC_CONTINUOUS } },
        { LP_CUPTI_PC_CONTROL, 0, { .number = 1 } },
        { LP_CUPTI_PC_SLEEP, 0, { .number = SLEEP_MS } },
        { LP_CUPTI_PC_DATA, 0, { .data = &pc->last } },
    };
    struct lp_cupti_pc_config params = { LP_CUPTI_SIZE(lp_cupti_pc_config), NULL,
                                         counters->device.context,
                                         sizeof(attributes) / sizeof(attributes[0]), attributes };

    return LP_COUNTER_CALL(counters->calls, PCSamplingSetConfigurationAttribute, &params);
}

int lp_pc_open(struct lp_counters *counters)
{
    struct lp_cupti_pc params = PARAMS(counters);
    struct lp_pc *pc = counters->pc = calloc(1, sizeof(*pc));
    int status;

    if (!pc)
        return lp_out_of_memory();
    if ((status = make_set(counters)) < 0 ||
        (status = LP_COUNTER_CALL(counters->calls, PCSamplingEnable, &params)) < 0)
        return status;
    pc->enabled = true;
    if ((status = read_reasons(counters)) < 0)
        return status;
    if (counters->set->columns.count == 0)
        return lp_error(LLMPERF_ENOTSUP, "no hardware counters: CUPTI knows no stall reasons of %s",
                        counters->device.chip);
    if ((status = lp_pc_data_make(&pc->data, counters->set->columns.count)) < 0 ||
        (status = lp_pc_data_make(&pc->last, counters->set->columns.count)) < 0)
        return status;
    pc->since_ns = pc->passed_ns = lp_clock_now();
    return configure(counters);
}

/* Windows */

static bool affords(const struct lp_counters *counters, uint64_t now_ns)
{
    uint32_t budget = counters->options.budget ? counters->options.budget : BUDGET;

    return budget >= 100 ||
           atomic_load(&counters->pc->opened) * 100 <= (now_ns - counters->pc->since_ns) * budget;
}

/* Each region has one window before one has a second, unless for a while only such regions come. */
static bool has_turn(struct lp_pc *pc, uint32_t node, uint64_t now_ns)
{
    uint32_t last = lp_hashmap_get(&pc->turns, node, 0);

    if (last == pc->round && (pc->refused_ns == 0 || now_ns - pc->refused_ns < PATIENCE_NS)) {
        pc->refused_ns = pc->refused_ns ? pc->refused_ns : now_ns;
        return false;
    }
    pc->round += last == pc->round;
    pc->refused_ns = 0;
    return lp_hashmap_put(&pc->turns, node, 0, pc->round) == 0;
}

static int open_window(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node,
                       uint64_t now_ns)
{
    struct lp_pc *pc = counters->pc;
    struct lp_cupti_pc params = PARAMS(counters);
    int status;

    lp_counter_idle();
    if ((status = LP_COUNTER_CALL(counters->calls, PCSamplingStart, &params)) < 0)
        return status;
    pc->node = node;
    pc->begin_ns = now_ns;
    pc->spoilt = false;
    atomic_fetch_add(&counters->boundaries, 1);
    atomic_fetch_add(&counters->cost_ns, lp_clock_now() - now_ns);
    atomic_store(&pc->owner, thread);
    return 0;
}

static int close_window(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    struct lp_cupti_pc params = PARAMS(counters);
    int status = LP_COUNTER_CALL(counters->calls, PCSamplingStop, &params);

    pc->end_ns = lp_clock_now();
    atomic_fetch_add(&pc->opened, pc->end_ns - pc->begin_ns);
    atomic_fetch_add(&counters->boundaries, 1);
    atomic_store(&pc->owner, NULL);
    return status;
}

void lp_pc_begin(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    struct lp_pc *pc = counters->pc;
    int next = SHUT;
    uint64_t now_ns;

    if (atomic_load(&pc->window) != SHUT)
        return;
    now_ns = lp_clock_now();
    if (!affords(counters, now_ns) || lp_cupti_capturing() ||
        lp_counter_context() != counters->device.context || !take(pc, SHUT))
        return;
    if (has_turn(pc, node, now_ns)) {
        if (open_window(counters, thread, node, now_ns) < 0)
            lp_counters_fail(counters);
        else
            next = OPEN;
    }
    atomic_store(&pc->window, next);
}

void lp_pc_end(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    struct lp_pc *pc = counters->pc;
    uint64_t since_ns;

    if (atomic_load(&pc->owner) != thread || pc->node != node)
        return;
    since_ns = lp_clock_now();
    while (!take(pc, OPEN)) /* the collector reads it */
        sched_yield();
    if (lp_cupti_capturing()) {
        /* To wait would end the capture. The collector closes the window later, and its samples
         * are not used. */
        pc->spoilt = true;
        atomic_store(&pc->owner, NULL);
        atomic_store(&pc->window, OPEN);
        return;
    }
    lp_counter_idle();
    if (close_window(counters) < 0)
        lp_counters_fail(counters);
    atomic_fetch_add(&counters->cost_ns, pc->end_ns - since_ns);
    atomic_store(&pc->window, ENDED);
}

void lp_pc_leave(struct lp_counters *counters, const struct lp_thread *thread)
{
    if (atomic_load(&counters->pc->owner) == thread)
        lp_pc_end(counters, thread, counters->pc->node);
}

/* Reading */

/* A full buffer is reported as out of memory; what came before it is valid. */
static int read_data(struct lp_counters *counters, bool *more_out)
{
    struct lp_pc *pc = counters->pc;
    struct lp_cupti_pc_get params = { LP_CUPTI_SIZE(lp_cupti_pc_get), NULL,
                                      counters->device.context, &pc->data };
    int result = counters->calls->PCSamplingGetData(&params);

    if (result == LP_CUPTI_ERROR_OUT_OF_MEMORY && pc->data.buffer_full)
        result = 0;
    if (result == 0)
        lp_pc_take(counters);
    *more_out = result == 0 && pc->data.remaining > 0 && pc->data.count > 0;
    return lp_counter_explain(counters->calls, "cuptiPCSamplingGetData", result);
}

/* @return what the window is now. */
static int drain(struct lp_counters *counters, int window)
{
    struct lp_pc *pc = counters->pc;
    uint64_t now_ns = lp_clock_now();
    bool more = true;
    int status = 0;

    if (window == OPEN && pc->spoilt && !lp_cupti_capturing()) {
        status = close_window(counters);
        window = ENDED;
    } else if (window == OPEN && now_ns - pc->begin_ns < LONG_NS) {
        return OPEN;
    }
    while (status == 0 && more)
        status = read_data(counters, &more);
    if (status < 0)
        lp_counters_fail(counters);
    return window == ENDED && now_ns >= pc->end_ns + SETTLE_NS ? SHUT : window;
}

static int look(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    int window = atomic_load(&pc->window);

    if ((window == OPEN || window == ENDED) && take(pc, window))
        atomic_store(&pc->window, window = drain(counters, window));
    return window;
}

void lp_pc_deliver(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    struct lp_pc *pc = counters->pc;
    uint64_t now_ns = lp_clock_now();

    if (pc->enabled && atomic_load(&counters->phase) == LP_COUNTERS_RUNNING)
        look(counters);
    if (pc->enabled && !counters->driver_gone && now_ns - pc->passed_ns < PASS_NS)
        return;
    pc->passed_ns = now_ns;
    lp_pc_pass(counters, sink);
}

/* What was sampled last comes late; without a driver nothing comes any more. */
void lp_pc_stop(struct lp_counters *counters)
{
    const struct timespec nap = { 0, 10000000 };
    struct lp_cupti_pc params = PARAMS(counters);
    struct lp_pc *pc = counters->pc;

    if (!pc->enabled)
        return;
    if (take(pc, OPEN)) {
        close_window(counters);
        atomic_store(&pc->window, ENDED);
    }
    while (atomic_load(&counters->phase) == LP_COUNTERS_RUNNING && look(counters) == ENDED)
        nanosleep(&nap, NULL);
    counters->calls->PCSamplingDisable(&params);
    pc->enabled = false;
}

void lp_pc_state(const struct lp_counters *counters, struct lp_counters_state *state)
{
    state->samples = counters->pc->samples;
    state->samples_lost = counters->pc->lost;
    state->overflows = counters->pc->overflows;
}

void lp_pc_close(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;

    if (!pc)
        return;
    lp_pc_data_free(&pc->data);
    lp_pc_data_free(&pc->last);
    free(pc->indices);
    lp_hashmap_clear(&pc->turns);
    lp_hashmap_clear(&pc->instruction_index);
    lp_hashmap_clear(&pc->kernel_index);
    lp_vector_clear(&pc->instructions);
    lp_vector_clear(&pc->kernels);
    lp_vector_clear(&pc->values);
    free(pc);
}
