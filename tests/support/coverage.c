/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/coverage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/attribution/attribution.h"
#include "lib/record/paths.h"
#include "lib/regions/sampler.h"
#include "lib/session/sampling.h"
#include "lib/session/session.h"
#include "llmperf/findings.h"
#include "llmperf/profile.h"

#define MS        1e6
#define THREADS   2
#define KERNELS   3 /* of a call */
#define SETTLE_NS UINT64_C(50000000)
#define BUDGET    10 /* permille */

#define PEAK_TFLOPS 100.0

/* Records make a call longer on the host: by a share, and by the time to switch them. */
#define LONGER    0.2
#define SWITCH_NS 500000.0

/* One call: busy time on the device, and host time without that; amount of work; pause after it. */
struct call {
    double busy_ms, host_ms, flops, pause_ms;
};

struct thread {
    struct lp_thread state; /* for the sampler */
    uint64_t now_ns;
    uint32_t node, inside_node; /* of its stage; of a region in that */
    size_t stage;
    uint64_t calls, pause_ns;
    bool inside;
    double mode; /* the program's own */
};

/* Everything of one run. */
struct run {
    struct thread threads[THREADS];
    size_t count;
    uint64_t random, settled_ns, begin_ns;
    uint32_t correlation;
    struct lp_names names;
    uint32_t kernels[KERNELS]; /* names */
    struct lp_totals *totals;
    struct lp_attribution *attribution;
    struct llmperf_session *session;
    double slower;                  /* busy times are multiplied by it */
    double sum_ms[COVERAGE_STAGES]; /* the truth, without the first call */
    uint64_t calls[COVERAGE_STAGES];
    double kernel_ms[COVERAGE_STAGES][KERNELS], flops[COVERAGE_STAGES]; /* with it */
};

struct program {
    const char *name;
    const char *labels[COVERAGE_STAGES]; /* of its threads */
    double seconds;
    struct call (*next)(struct run *run, struct thread *thread, double second);
};

static double uniform(struct run *run)
{
    uint64_t step = run->random += 0x9e3779b97f4a7c15u;

    step = (step ^ step >> 30) * 0xbf58476d1ce4e5b9u;
    step = (step ^ step >> 27) * 0x94d049bb133111ebu;
    return (double)((step ^ step >> 31) >> 11) / 9007199254740992.0;
}

static double normal(struct run *run)
{
    return sqrt(-2 * log(1 - uniform(run))) * cos(6.283185307179586 * uniform(run));
}

/* Programs */

static struct call waits_for(double busy_ms)
{
    return (struct call){ busy_ms, 0.3, 0, 0.2 };
}

static struct call steady(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    (void)second;
    return waits_for(5 * (1 + 0.03 * normal(run)));
}

static struct call drifting(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    return waits_for((2 + second / 10) * (1 + 0.03 * normal(run)));
}

static struct call phases(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    return waits_for((fmod(second, 4) < 2 ? 2 : 8) * (1 + 0.03 * normal(run)));
}

static struct call every_tenth(struct run *run, struct thread *thread, double second)
{
    (void)second;
    return waits_for((thread->calls % 10 == 0 ? 9 : 3) * (1 + 0.03 * normal(run)));
}

static struct call bimodal(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    (void)second;
    return waits_for((uniform(run) < 0.3 ? 9 : 3) * (1 + 0.03 * normal(run)));
}

/* The host launches ahead of the device, and its time shows nothing. */
static struct call bimodal_ahead(struct run *run, struct thread *thread, double second)
{
    struct call call = bimodal(run, thread, second);

    call.host_ms = 5 - call.busy_ms;
    return call;
}

/* They stay for a while in each of the two. */
static struct call switching(struct run *run, struct thread *thread, double second)
{
    (void)second;
    if (thread->mode == 0 || uniform(run) < 0.01)
        thread->mode = uniform(run) < 0.5 ? 2 : 8;
    return waits_for(thread->mode * (1 + 0.03 * normal(run)));
}

static struct call rare_slow(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    (void)second;
    return waits_for((uniform(run) < 0.001 ? 100 : 5) * (1 + 0.03 * normal(run)));
}

static struct call sometimes_slow(struct run *run, struct thread *thread, double second)
{
    (void)thread;
    (void)second;
    return waits_for((uniform(run) < 0.05 ? 20 : 4) * (1 + 0.03 * normal(run)));
}

static struct call prefills(struct run *run, struct thread *thread, double second)
{
    double tokens = 300 * exp(0.8 * normal(run));

    (void)thread;
    (void)second;
    return (struct call){ (5 + 0.05 * tokens) * (1 + 0.03 * normal(run)), 0.3, tokens * 1e9, 0.2 };
}

/* Decoding is slower while a prefill runs. */
static struct call prefill_and_decode(struct run *run, struct thread *thread, double second)
{
    if (thread->stage == 0) {
        struct call call = prefills(run, thread, second);

        call.pause_ms = -30 * log(1 - uniform(run));
        return call;
    }
    return waits_for((run->threads[0].mode > 0 ? 8 : 4) * (1 + 0.03 * normal(run)));
}

static struct call short_run(struct run *run, struct thread *thread, double second)
{
    return bimodal(run, thread, second);
}

static const struct program programs[] = {
    { "steady", { "LLM@decode_step" }, 30, steady },
    { "drifting", { "LLM@decode_step" }, 40, drifting },
    { "phases of 2 s", { "LLM@decode_step" }, 40, phases },
    { "every tenth step slow", { "LLM@decode_step" }, 30, every_tenth },
    { "bimodal", { "LLM@decode_step" }, 40, bimodal },
    { "bimodal, launched ahead", { "LLM@decode_step" }, 40, bimodal_ahead },
    { "bimodal, changes slowly", { "LLM@decode_step" }, 60, switching },
    { "prefill and decode on two threads",
      { "LLM@prefill", "LLM@decode_step" },
      60,
      prefill_and_decode },
    { "decode on two threads", { "LLM@decode_step", "LLM@decode_step" }, 30, sometimes_slow },
    { "prompts of all lengths", { "LLM@prefill" }, 60, prefills },
    { "5 % slow steps", { "LLM@decode_step" }, 90, sometimes_slow },
    { "rare slow steps", { "LLM@decode_step" }, 40, rare_slow },
    { "short run", { "LLM@decode_step" }, 1.5, short_run },
};

/* The simulation */

static void collect(enum lp_collect what)
{
    (void)what;
}

static void tell_of(struct run *run, const struct thread *thread, uint32_t node, uint16_t kind,
                    uint16_t detail, uint64_t value)
{
    const struct lp_record record = { thread->now_ns, value, node, kind, detail };

    lp_attribution_host(run->attribution, thread->state.index, &record, 1);
}

static void tell(struct run *run, const struct thread *thread, uint16_t kind, uint16_t detail,
                 uint64_t value)
{
    tell_of(run, thread, thread->node, kind, detail, value);
}

/* One kernel after the other; the second is in a region of its own. */
static void run_kernels(struct run *run, const struct thread *thread, const double ms[KERNELS])
{
    uint64_t start_ns = thread->now_ns;

    for (size_t i = 0; i < KERNELS; i++) {
        struct lp_activity kernel = { .start_ns = start_ns,
                                      .end_ns = start_ns + (uint64_t)(ms[i] * MS),
                                      .correlation = ++run->correlation,
                                      .name = run->kernels[i],
                                      .kind = LLMPERF_ACTIVITY_KERNEL };
        uint32_t node = i == 1 ? thread->inside_node : thread->node;

        if (ms[i] <= 0)
            continue;
        if (i == 1)
            tell_of(run, thread, node, LP_RECORD_REGION_BEGIN, 0, 0);
        tell_of(run, thread, node, LP_RECORD_LAUNCH, LP_LAUNCH_KERNEL, run->correlation);
        lp_attribution_activities(run->attribution, &kernel, 1);
        if (i == 1)
            tell_of(run, thread, node, LP_RECORD_REGION_END, 0, 0);
        start_ns = kernel.end_ns;
    }
}

/* Shares of the busy time that vary; the third kernel runs in some calls. */
static void divide(struct run *run, double busy_ms, double ms[KERNELS])
{
    ms[0] = busy_ms * (0.6 + 0.05 * uniform(run));
    ms[2] = uniform(run) < 0.4 ? 0.1 * busy_ms : 0;
    ms[1] = busy_ms - ms[0] - ms[2];
}

static void begin_call(struct run *run, const struct program *program, struct thread *thread)
{
    uint64_t chance = 0;
    uint16_t how = lp_sampler_open(&thread->state, thread->node, &chance);
    struct call call = program->next(run, thread, (double)(thread->now_ns - run->begin_ns) / 1e9);
    double first = thread->calls++ == 0 && run->calls[thread->stage] == 0 ? 20 : 1, wall_ms;
    double ms[KERNELS];

    thread->inside = true;
    tell(run, thread, LP_RECORD_REGION_BEGIN, how, chance);
    call.busy_ms *= first * run->slower;
    call.flops = floor(call.flops > 0 ? call.flops : 1e9);
    tell(run, thread, LP_RECORD_COUNT, LLMPERF_QUANTITY_FLOPS, (uint64_t)call.flops);
    run->flops[thread->stage] += call.flops;
    divide(run, call.busy_ms, ms);
    for (size_t i = 0; i < KERNELS; i++)
        run->kernel_ms[thread->stage][i] += ms[i];
    if (how == LP_BEGIN_NOW)
        run_kernels(run, thread, ms);
    if (!(chance & LP_CHANCE_FIRST)) {
        run->sum_ms[thread->stage] += call.busy_ms;
        run->calls[thread->stage]++;
    }
    thread->pause_ns = (uint64_t)(call.pause_ms * MS);
    wall_ms = call.busy_ms + call.host_ms;
    if (how == LP_BEGIN_NOW)
        wall_ms += LONGER * wall_ms + SWITCH_NS / MS;
    thread->now_ns += (uint64_t)(wall_ms * MS);
}

static void end_call(struct run *run, struct thread *thread)
{
    tell(run, thread, LP_RECORD_REGION_END, 0, 0);
    if (thread->state.window_depth > 0)
        lp_sampler_close(&thread->state);
    thread->inside = false;
    thread->now_ns += thread->pause_ns;
}

static struct thread *next_thread(struct run *run)
{
    struct thread *next = &run->threads[0];

    for (size_t i = 1; i < run->count; i++)
        if (run->threads[i].now_ns < next->now_ns)
            next = &run->threads[i];
    return next;
}

static void simulate(struct run *run, const struct program *program)
{
    uint64_t end_ns = run->begin_ns + (uint64_t)(program->seconds * 1e9);
    struct thread *thread;

    while ((thread = next_thread(run))->now_ns < end_ns) {
        uint64_t now_ns = thread->now_ns;

        if (thread->inside)
            end_call(run, thread);
        else
            begin_call(run, program, thread);
        if (run->count > 1)
            run->threads[0].mode = run->threads[0].inside;
        if (now_ns - run->settled_ns < SETTLE_NS)
            continue;
        run->settled_ns = now_ns;
        lp_attribution_settle(run->attribution, now_ns, false);
        lp_sampling_adjust(run->session, now_ns);
    }
    for (size_t i = 0; i < run->count; i++)
        if (run->threads[i].inside)
            end_call(run, &run->threads[i]);
}

static const char *const kernel_names[KERNELS] = { "gemm", "attend", "sometimes" };

static const char gpu[] =
    "{\"gpus\": [{\"device\": 0, \"name\": \"any\", \"compute_capability\": \"9.0\"}]}";

static void begin(struct run *run, const struct program *program, uint64_t seed)
{
    struct lp_sampling *sampling = &run->session->sampling;
    const char *labels[] = { "LLM@prefill", "LLM@decode_step" };
    struct lp_attribution_sink sink;

    run->random = seed;
    run->begin_ns = run->settled_ns = 1000000000;
    for (size_t i = 0; i < KERNELS; i++)
        run->kernels[i] = lp_names_intern(&run->names, kernel_names[i]);
    assert_non_null(run->totals = lp_totals_create(&run->names));
    sink = lp_totals_sink(run->totals);
    assert_non_null(run->attribution = lp_attribution_create(&sink));
    lp_attribution_sample(run->attribution);
    run->session->totals = run->totals;
    lp_totals_sample(run->totals, true, NAN);
    assert_int_equal(lp_sampling_init(sampling, "LLM@prefill,LLM@decode_step", BUDGET), 0);
    sampling->on = true;
    sampling->switch_ns = SWITCH_NS;
    sampling->seen_ns = sampling->looked_ns = run->begin_ns;
    lp_sampler_begin(labels, 2, sampling->labels[0].every, collect, NULL);
    lp_sampler_go();
    for (size_t i = 0; i < THREADS && program->labels[i]; i++) {
        struct thread *thread = &run->threads[run->count++];

        thread->state.index = (uint32_t)i;
        thread->now_ns = run->begin_ns + i * UINT64_C(3000000000);
        thread->node = lp_path_intern(LP_PATH_ROOT, program->labels[i]);
        thread->inside_node = lp_path_intern(thread->node, "LLM@attention");
        thread->stage = i > 0 && strcmp(program->labels[i], program->labels[0]) != 0;
    }
}

static void judge(const struct run *run, const llmperf_profile *profile, size_t stage,
                  struct coverage *coverage)
{
    double truth = run->sum_ms[stage] / (double)run->calls[stage];
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;
    size_t index = 0;

    while (llmperf_profile_iteration_stats(profile, index++, &row) == 0 &&
           (strcmp(row.region, coverage->stage) != 0 || strcmp(row.quantity, "busy") != 0))
        ;
    assert_string_equal(row.quantity, "busy");
    assert_int_equal(row.estimate_calls, run->calls[stage]);
    coverage->runs++;
    coverage->collected += (double)row.estimate_collected;
    coverage->bias += row.estimate_ms / truth - 1;
    coverage->error += (row.estimate_ms / truth - 1) * (row.estimate_ms / truth - 1);
    if (row.estimate_reason) {
        coverage->reason = row.estimate_reason; /* a constant */
        return;
    }
    coverage->printed++;
    coverage->half += (row.estimate_high_ms - row.estimate_ms) / truth;
    coverage->covered += row.estimate_low_ms <= truth && truth <= row.estimate_high_ms;
}

static void judge_part(struct coverage_part *part, const char *what, double truth, double low,
                       double high)
{
    part->what = what;
    part->runs++;
    part->printed += isnan(low) ? 0 : 1;
    part->covered += low <= truth && truth <= high;
}

static void judge_parts(const struct run *run, const llmperf_profile *profile, size_t stage,
                        struct coverage *coverage)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    llmperf_stage row = LLMPERF_STAGE_INIT;
    const double *ms = run->kernel_ms[stage];

    for (size_t i = 0; llmperf_profile_kernel(profile, i, &kernel) == 0; i++)
        for (size_t k = 0; k < KERNELS; k++)
            if (strcmp(kernel.name, kernel_names[k]) == 0 &&
                strncmp(kernel.region, coverage->stage, strlen(coverage->stage)) == 0)
                judge_part(&coverage->parts[k], kernel_names[k], ms[k], kernel.estimate_low_ms,
                           kernel.estimate_high_ms);
    for (size_t i = 0; llmperf_profile_region(profile, i, &region) == 0; i++)
        if (region.depth == 1 &&
            strncmp(region.path, coverage->stage, strlen(coverage->stage)) == 0)
            judge_part(&coverage->parts[KERNELS], "region", ms[1], region.estimate_low_ms,
                       region.estimate_high_ms);
    for (size_t i = 0; llmperf_profile_stage(profile, i, &row) == 0; i++)
        if (strcmp(row.path, coverage->stage) == 0)
            judge_part(&coverage->parts[KERNELS + 1], "MFU",
                       run->flops[stage] / ((ms[0] + ms[1] + ms[2]) * 1e9 * PEAK_TFLOPS),
                       row.mfu_low, row.mfu_high);
}

static struct run *new_run(double slower)
{
    struct run *run = calloc(1, sizeof(*run));

    assert_non_null(run);
    assert_non_null(run->session = calloc(1, sizeof(*run->session)));
    run->slower = slower;
    return run;
}

static void free_run(struct run *run)
{
    free(run->session);
    free(run);
}

static llmperf_profile *profile_of(struct run *run, const struct program *program, uint64_t seed)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    begin(run, program, seed);
    simulate(run, program);
    lp_attribution_settle(run->attribution, 0, true);
    ledger.launches_expected = ledger.kernels_seen = ledger.kernels_attributed = run->correlation;
    ledger.sampled_fraction = lp_totals_sampled_fraction(run->totals);
    ledger.verdict = LLMPERF_VERDICT_SAMPLED;
    assert_int_equal(setenv("LLMPERF_PEAK_TFLOPS", "100", 1), 0); /* PEAK_TFLOPS */
    assert_int_equal(lp_totals_freeze(run->totals, &ledger, 1, &profile), 0);
    assert_int_equal(lp_profile_set_fact(profile, LP_DTYPE_FACT, "bf16"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "tier", "light"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "env", gpu), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    lp_sampler_end();
    lp_sampling_clear(&run->session->sampling);
    lp_attribution_free(run->attribution);
    lp_totals_free(run->totals);
    lp_names_clear(&run->names);
    return profile;
}

static void run_once(const struct program *program, uint64_t seed, struct coverage *stages,
                     size_t count)
{
    struct run *run = new_run(1);
    llmperf_profile *profile = profile_of(run, program, seed);

    for (size_t i = 0; i < count; i++) {
        judge(run, profile, i, &stages[i]);
        judge_parts(run, profile, i, &stages[i]);
    }
    llmperf_profile_free(profile);
    free_run(run);
}

llmperf_profile *coverage_profile(size_t program, uint64_t seed, double slower)
{
    struct run *run = new_run(slower);
    llmperf_profile *profile = profile_of(run, &programs[program], seed);

    free_run(run);
    return profile;
}

size_t coverage_programs(void)
{
    return sizeof(programs) / sizeof(programs[0]);
}

size_t coverage_run(size_t which, unsigned runs, struct coverage stages_out[COVERAGE_STAGES])
{
    const struct program *program = &programs[which];
    size_t count =
        program->labels[1] && strcmp(program->labels[1], program->labels[0]) != 0 ? 2 : 1;

    for (size_t i = 0; i < count; i++)
        stages_out[i] = (struct coverage){ .program = program->name, .stage = program->labels[i] };
    for (unsigned i = 0; i < runs; i++)
        run_once(program, 1000 * (uint64_t)which + i, stages_out, count);
    for (size_t i = 0; i < count; i++) {
        stages_out[i].collected /= runs;
        stages_out[i].bias /= runs;
        stages_out[i].error = sqrt(stages_out[i].error / runs);
        stages_out[i].half /= stages_out[i].printed;
    }
    return count;
}
