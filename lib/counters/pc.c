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

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/cupti/captures.h"

#define BUDGET   1u                 /* percent */
#define BUFFER   ((size_t)64 << 20) /* CUPTI takes 512 MiB by itself */
#define SCRATCH  ((size_t)8 << 20)
#define SLEEP_MS 10u /* of CUPTI's own threads between two looks */
/* 2^16 cycles, 4 million samples per second on 132 SMs. By itself CUPTI takes 2^11 there, faster
 * than its threads can read the buffer, which then overflows within 100 ms. */
#define PERIOD      16u
#define PERIOD_MOST 31u
#define PATIENCE_NS UINT64_C(200000000) /* then regions may have a second turn */
#define PASS_NS     UINT64_C(5000000000)

/* ENDED: the collector has not read all of it. BUSY: a thread opens, closes or reads it. */
enum lp_pc_window { SHUT, OPEN, ENDED, BUSY };

/* false: it is another, or busy. */
static bool take(struct lp_pc *pc, int window)
{
    return window != BUSY && atomic_compare_exchange_strong(&pc->window, &window, BUSY);
}

/* Wait until no other thread has it. @return what it was. */
static int await_window(struct lp_pc *pc)
{
    int window;

    while (!take(pc, window = atomic_load(&pc->window)))
        sched_yield();
    return window;
}

/* Enable, Disable, Start, Stop. */
#define CALL(counters, function)                                                                   \
    LP_COUNTER_CALL(                                                                               \
        (counters)->calls, PCSampling##function,                                                   \
        (&(struct lp_cupti_pc){ LP_CUPTI_SIZE(lp_cupti_pc), NULL, (counters)->pc->context }))

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

/* The numbers of CUPTI are not those of the columns. */
static int read_reasons(struct lp_counters *counters)
{
    const struct lp_counters_calls *calls = counters->calls;
    char text[LP_PC_REASONS_MOST][LP_CUPTI_PC_REASON_BYTES], *names[LP_PC_REASONS_MOST];
    uint32_t indices[LP_PC_REASONS_MOST];
    size_t count = 0;
    struct lp_cupti_pc_count number = { LP_CUPTI_SIZE(lp_cupti_pc_count), NULL,
                                        counters->device.context, &count };
    struct lp_cupti_pc_reasons params = {
        LP_CUPTI_SIZE(lp_cupti_pc_reasons), NULL, counters->device.context, 0, indices, names
    };
    int status = LP_COUNTER_CALL(calls, PCSamplingGetNumStallReasons, &number);

    for (size_t i = 0; i < LP_PC_REASONS_MOST; i++)
        names[i] = text[i];
    params.count = count < LP_PC_REASONS_MOST ? count : LP_PC_REASONS_MOST;
    if (status == 0)
        status = LP_COUNTER_CALL(calls, PCSamplingGetStallReasons, &params);
    for (size_t i = 0; i < params.count && status == 0; i++)
        status = add_reason(counters, indices[i], names[i]) ? 0 : lp_out_of_memory();
    if (status == 0 && counters->set->columns.count == 0)
        status =
            lp_error(LLMPERF_ENOTSUP, "no hardware counters: CUPTI knows no stall reasons of %s",
                     counters->device.chip);
    return status;
}

/* Set-up */

int lp_pc_make(struct lp_counters *counters)
{
    counters->pc = calloc(1, sizeof(*counters->pc));
    return counters->pc ? 0 : lp_out_of_memory();
}

static void disable(struct lp_counters *counters)
{
    if (counters->pc->context)
        CALL(counters, Disable);
    counters->pc->context = NULL;
}

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
        { LP_CUPTI_PC_PERIOD, 0, { .number = pc->period } },
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

static int enable(struct lp_counters *counters, void *context)
{
    struct lp_pc *pc = counters->pc;
    int status;

    if (pc->context == context)
        return 0;
    disable(counters);
    pc->context = context;
    if ((status = CALL(counters, Enable)) < 0)
        pc->context = NULL;
    return status;
}

/* Errors come again when a region opens. */
void lp_pc_prepare(struct lp_counters *counters, void *context)
{
    int window = await_window(counters->pc);

    if (!counters->pc->context && lp_counters_load(&counters->calls) == 0)
        enable(counters, context);
    atomic_store(&counters->pc->window, window);
}

/* Ready for windows. The first start takes 100 ms, more than any other: it is no part of one. */
static int arm(struct lp_counters *counters)
{
    int status = enable(counters, counters->device.context);

    status = status < 0 ? status : configure(counters);
    status = status < 0 ? status : CALL(counters, Start);
    return status < 0 ? status : CALL(counters, Stop);
}

static int set_up(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    int status;

    if ((status = make_set(counters)) < 0 ||
        (status = enable(counters, counters->device.context)) < 0 ||
        (status = read_reasons(counters)) < 0)
        return status;
    pc->period = PERIOD;
    if ((status = lp_pc_data_make(&pc->data, counters->set->columns.count)) < 0 ||
        (status = lp_pc_data_make(&pc->last, counters->set->columns.count)) < 0 ||
        (status = arm(counters)) < 0)
        return status;
    pc->sums.columns = counters->set->columns.count;
    pc->since_ns = pc->passed_ns = lp_clock_now();
    return 0;
}

int lp_pc_open(struct lp_counters *counters)
{
    int window = await_window(counters->pc), status = set_up(counters);

    atomic_store(&counters->pc->window, window);
    return status;
}

/* Windows */

static bool affords(const struct lp_counters *counters, uint64_t now_ns)
{
    uint32_t budget = counters->options.budget ? counters->options.budget : BUDGET;
    uint64_t spent_ns = atomic_load(&counters->pc->opened) + atomic_load(&counters->pc->length);

    return budget >= 100 || spent_ns * 100 <= (now_ns - counters->pc->since_ns) * budget;
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

static int open_window(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    struct lp_pc *pc = counters->pc;
    uint64_t now_ns = lp_clock_now();
    int status;

    lp_counter_idle();
    if ((status = CALL(counters, Start)) < 0)
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
    int status = CALL(counters, Stop);

    pc->end_ns = lp_clock_now();
    atomic_store(&pc->length, pc->end_ns - pc->begin_ns);
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
    if (!atomic_load(&counters->paused) && has_turn(pc, node, now_ns)) {
        if ((!pc->context && arm(counters) < 0) || open_window(counters, thread, node) < 0)
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
    int window;

    if (atomic_load(&pc->owner) != thread || pc->node != node)
        return;
    since_ns = lp_clock_now();
    window = await_window(pc);
    if (atomic_load(&pc->owner) != thread) { /* the session was paused */
        atomic_store(&pc->window, window);
        return;
    }
    pc->spoilt = lp_cupti_capturing(); /* to wait would end the capture */
    if (!pc->spoilt)
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

/* A full buffer is reported as out of memory, at every call until the window ends, and nothing is
 * read. */
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

/* After an overflow nothing is sampled until PC sampling is enabled again. */
static void sample_less(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;

    pc->overflows++;
    pc->full = false;
    pc->period += pc->period < PERIOD_MOST;
    disable(counters);
}

/* @return what the window is now. */
static int drain(struct lp_counters *counters, int window)
{
    bool more = true;
    int status = 0;

    while (status == 0 && more)
        status = read_data(counters, &more);
    if (status < 0)
        lp_counters_fail(counters);
    if (window == OPEN)
        return OPEN;
    if (counters->pc->full)
        sample_less(counters);
    return SHUT;
}

static void look(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    int window = atomic_load(&pc->window);

    if ((window == OPEN || window == ENDED) && take(pc, window))
        atomic_store(&pc->window, drain(counters, window));
}

void lp_pc_deliver(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    struct lp_pc *pc = counters->pc;
    uint64_t now_ns = lp_clock_now();

    if (atomic_load(&counters->phase) == LP_COUNTERS_RUNNING)
        look(counters);
    if (!counters->driver_gone && now_ns - pc->passed_ns < PASS_NS)
        return;
    pc->passed_ns = now_ns;
    lp_pc_pass(counters, sink);
}

/* The next window enables it again; the next delivery passes everything on. */
void lp_pc_stop(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;
    int window = await_window(pc);

    if (window == OPEN && close_window(counters) == 0)
        window = ENDED;
    if (window == ENDED && atomic_load(&counters->phase) == LP_COUNTERS_RUNNING)
        drain(counters, window);
    disable(counters);
    pc->passed_ns = 0;
    atomic_store(&pc->window, SHUT);
}

void lp_pc_state(const struct lp_counters *counters, struct lp_counters_state *state)
{
    state->samples = counters->pc->samples;
    state->samples_lost = counters->pc->lost;
    state->samples_unknown = counters->pc->unknown;
    state->overflows = counters->pc->overflows;
}

void lp_pc_close(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;

    if (!pc)
        return;
    lp_pc_data_free(&pc->data);
    lp_pc_data_free(&pc->last);
    lp_hashmap_clear(&pc->turns);
    lp_hashmap_clear(&pc->kernel_index);
    lp_hashmap_clear(&pc->sources);
    lp_vector_clear(&pc->kernels);
    lp_stall_sums_clear(&pc->sums);
    free(pc);
}
