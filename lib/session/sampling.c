/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/session/session.h"
#include "lib/device/device.h"
#include "lib/regions/sampler.h"

#define LOOK_NS     UINT64_C(200000000)  /* interval between adjustments */
#define ALONE_NS    UINT64_C(1000000000) /* without a call: the program has no such regions */
#define WINDOW_NS   UINT64_C(20000000)   /* length of a window for all threads */
#define EVERY_FIRST 50u                  /* before the cost of a call is known */
#define SHRINKS     0.8                  /* N follows smaller values only from here on */

/* Assumed until measured: on an H200, with records enabled, eager launches cost 0.6 us more and
 * graph kernels 0.16 us. */
#define KERNEL_NS     600.0
#define KERNEL_MIN_NS 100.0
#define SWITCH_NS     5000.0

/* Cannot be measured with windows for all threads: with records enabled, PyTorch launches cost 1.7
 * us more on an H200, more than launches from C. */
#define WINDOW_KERNEL_NS 2000.0
#define SETTLED_NS       UINT64_C(500000000) /* after this time a window's records can be flushed */
#define ENOUGH           10.0                /* calls of each kind needed to compare their means */

static int add_label(struct lp_sampling *sampling, const char *text, size_t length)
{
    char *label;

    if (length == 0 || sampling->count == LP_SAMPLED_LABELS)
        return lp_error(LLMPERF_EINVAL,
                        "sample_regions accepts up to %u labels separated by commas",
                        LP_SAMPLED_LABELS);
    if (!(label = malloc(length + 5)))
        return lp_out_of_memory();
    strcpy(label, memchr(text, '@', length) ? "" : "LLM@");
    strncat(label, text, length);
    sampling->labels[sampling->count].label = label;
    sampling->labels[sampling->count++].every = EVERY_FIRST;
    return 0;
}

int lp_sampling_init(struct lp_sampling *sampling, const char *regions, uint32_t budget_permille)
{
    const char *at = regions;
    int status = 0;

    *sampling = (struct lp_sampling){ .switch_ns = SWITCH_NS };
    sampling->budget = budget_permille / 1000.0;
    while (status == 0) {
        size_t length = strcspn(at, ",");

        status = add_label(sampling, at, length);
        if (!at[length])
            break;
        at += length + 1;
    }
    return status;
}

void lp_sampling_clear(struct lp_sampling *sampling)
{
    for (uint32_t i = 0; i < sampling->count; i++)
        free(sampling->labels[i].label);
    sampling->count = 0;
}

/* The fastest of five: the others were disturbed. */
static double measure_switch(void (*collect)(enum lp_collect what))
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 5; i++) {
        uint64_t before = lp_clock_now(), taken;

        collect(LP_COLLECT_KERNELS);
        collect(LP_COLLECT_NOTHING);
        taken = lp_clock_now() - before;
        best = taken < best ? taken : best;
    }
    return (double)best;
}

void lp_sampling_begin(struct llmperf_session *session)
{
    struct lp_sampling *sampling = &session->sampling;
    const char *labels[LP_SAMPLED_LABELS];

    if (!lp_options_sample(&session->options) || !session->source || !session->source->ops->collect)
        return;
    for (uint32_t i = 0; i < sampling->count; i++)
        labels[i] = sampling->labels[i].label;
    sampling->on = true;
    sampling->seen_ns = sampling->looked_ns = lp_clock_now();
    lp_attribution_sample(session->attribution);
    lp_watch_begin(session);
    lp_sampler_seed(strtoull(session->run_key, NULL, 16));
    lp_sampler_begin(labels, sampling->count, EVERY_FIRST, session->source->ops->collect,
                     lp_wake_post);
    for (uint32_t i = 0; i < sampling->count; i++)
        lp_sampler_set(i, sampling->labels[i].every);
    if (!(session->options.flags & LLMPERF_SESSION_DETACH)) /* no launch counts meanwhile */
        sampling->switch_ns = measure_switch(session->source->ops->collect);
}

static void close_window(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_sampling *sampling = &session->sampling;

    if (sampling->window_ns == 0)
        return;
    lp_sampler_close_all();
    sampling->window_sum_ns += now_ns - sampling->window_ns;
    sampling->window_ns = 0;
    sampling->closed_ns = now_ns;
}

void lp_sampling_end(struct llmperf_session *session, uint64_t now_ns)
{
    if (!session->sampling.on)
        return;
    close_window(session, now_ns);
    lp_watch_end(session);
    lp_sampler_end();
    session->sampling.on = false;
}

void lp_sampling_settle(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_sampling *sampling = &session->sampling;
    uint64_t taken = lp_sampler_calls().taken;

    if (!sampling->on || !lp_sampler_settles()) {
        sampling->settle.since_ns = 0;
        return;
    }
    if (sampling->settle.since_ns == 0 || taken != sampling->settle_taken) {
        sampling->settle = LP_GRAPH_WAIT(now_ns);
        sampling->settle_taken = taken;
    }
    if (session->flush.made_ns == sampling->settle_flushed_ns ||
        session->flush.made_ns < sampling->settle.since_ns) /* no flush since then */
        return;
    sampling->settle_flushed_ns = session->flush.made_ns;
    if (lp_graph_wait_over(&sampling->settle, session->attribution, now_ns))
        lp_sampler_settled();
}

/* Calls that ran with records enabled but were not collected, per collected call: they cost the
 * same. */
static double touched_by_one(void)
{
    struct lp_sampler_calls calls = lp_sampler_calls();

    return calls.taken ? (double)calls.touched / (double)calls.taken : 0;
}

/* Its records are complete now. */
static bool may_ask(const struct lp_sampling *sampling, uint64_t now_ns)
{
    return sampling->closed_ns > 0 && now_ns - sampling->closed_ns >= SETTLED_NS;
}

bool lp_sampling_asks(const struct llmperf_session *session, uint64_t now_ns)
{
    return may_ask(&session->sampling, now_ns) &&
           session->flush.made_ns < session->sampling.closed_ns + SETTLED_NS;
}

/* For programs without such regions: windows for all threads, at intervals that keep their cost in
 * the budget. */
static void adjust_windows(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_sampling *sampling = &session->sampling;
    double cost_ns;

    if (sampling->window_ns > 0 && now_ns - sampling->window_ns >= WINDOW_NS) {
        close_window(session, now_ns);
    } else if (may_ask(sampling, now_ns) && !lp_sampling_asks(session, now_ns)) {
        cost_ns = (double)(session->activities - sampling->window_activities) * WINDOW_KERNEL_NS +
                  sampling->switch_ns;
        sampling->next_ns = sampling->closed_ns + (uint64_t)fmin(cost_ns / sampling->budget, 1e11);
        sampling->closed_ns = 0;
    } else if (sampling->window_ns == 0 && sampling->closed_ns == 0 &&
               now_ns >= sampling->next_ns && now_ns - sampling->seen_ns >= ALONE_NS &&
               lp_sampler_open_all()) {
        sampling->window_ns = now_ns;
        sampling->window_activities = session->activities;
    }
}

/* Each of `collected` calls took longer by the given time. */
static void add_cost(struct lp_sampled_label *label, double collected, double longer_ns)
{
    label->cost_ns =
        (label->cost_ns * label->seen + longer_ns * collected) / (label->seen + collected);
    label->seen = fmin(label->seen + collected, 10 * ENOUGH); /* older measurements lose weight */
}

static double kernels_of_one(const struct lp_stage_sample *now)
{
    uint64_t calls = now->collected + now->first;

    return calls ? (double)now->activities / (double)calls : 0;
}

/* Cost of collecting a call: difference of the mean times with and without. */
static void learn_cost(struct lp_sampled_label *label, const struct lp_stage_sample *now)
{
    double measured = (double)(now->measured - label->measured);
    double measured_ns = (double)(now->measured_ns - label->measured_ns);
    double skipped = (double)(now->all - label->all) - (double)(now->collected - label->collected);
    double skipped_ns =
        (double)(now->all_ns - label->all_ns) - (double)(now->collected_ns - label->collected_ns);

    if (measured >= 1 && skipped >= 1)
        add_cost(label, measured, measured_ns / measured - skipped_ns / skipped);
}

/* Cost of collecting a call. */
static double cost_of(const struct lp_sampled_label *label, const struct lp_stage_sample *now)
{
    double kernels = kernels_of_one(now);

    return label->seen >= ENOUGH ? fmax(label->cost_ns, kernels * KERNEL_MIN_NS)
                                 : kernels * KERNEL_NS;
}

static struct lp_stage_sample sample_of(struct llmperf_session *session,
                                        const struct lp_sampled_label *label)
{
    struct lp_stage_sample now = { 0 };

    lp_totals_stage_sample(session->totals, label->label, &now);
    return now;
}

void lp_sampling_begin_burst(struct llmperf_session *session)
{
    for (uint32_t i = 0; i < session->sampling.count; i++) {
        struct lp_sampled_label *label = &session->sampling.labels[i];
        struct lp_stage_sample now = sample_of(session, label);
        double skipped = (double)(now.all - now.collected - label->skipped_before);

        if (session->detach.bursts > 0 && skipped >= 1)
            label->between_ns =
                (double)(now.all_ns - now.collected_ns - label->skipped_ns_before) / skipped;
        label->collected_before = now.collected;
        label->collected_ns_before = now.collected_ns;
    }
}

struct lp_burst_cost lp_sampling_end_burst(struct llmperf_session *session)
{
    struct lp_burst_cost cost = { 0, 0, 0, 0 };

    for (uint32_t i = 0; i < session->sampling.count; i++) {
        struct lp_sampled_label *label = &session->sampling.labels[i];
        struct lp_stage_sample now = sample_of(session, label);
        double units = (double)(now.collected - label->collected_before);
        double units_ns = (double)(now.collected_ns - label->collected_ns_before);

        if (units > 0 && label->between_ns > 0)
            add_cost(label, units, units_ns / units - label->between_ns);
        cost.units += units;
        cost.cost_ns += units * cost_of(label, &now);
        cost.all += (double)now.all;
        cost.all_ns += (double)now.all_ns;
        label->skipped_before = now.all - now.collected;
        label->skipped_ns_before = now.all_ns - now.collected_ns;
    }
    return cost;
}

double lp_sampling_work_ns(struct llmperf_session *session)
{
    double sum_ns = 0;

    for (uint32_t i = 0; i < session->sampling.count; i++)
        sum_ns += (double)sample_of(session, &session->sampling.labels[i]).all_ns;
    return sum_ns;
}

/* Mean host time of a call: of the calls since the last check, and of some before if they are few.
 * Otherwise N would follow single calls, and a sample of unequal weights tells less. */
static void follow_mean(struct lp_sampled_label *label, const struct lp_stage_sample *now)
{
    double calls = (double)(now->all - label->all);

    label->mean_ns = (label->mean_ns * label->mean_calls + (double)(now->all_ns - label->all_ns)) /
                     (label->mean_calls + calls);
    label->mean_calls = fmin(label->mean_calls + calls, ENOUGH);
}

static void adjust_label(struct llmperf_session *session, uint32_t index)
{
    struct lp_sampling *sampling = &session->sampling;
    struct lp_sampled_label *label = &sampling->labels[index];
    struct lp_stage_sample now = sample_of(session, label);
    double cost_ns, every;

    if (now.collected + now.first == 0 || now.all == label->all)
        return;
    if (session->detach.state == LP_DETACH_OFF)
        learn_cost(label, &now);
    cost_ns = cost_of(label, &now);
    cost_ns += cost_ns * touched_by_one() + sampling->switch_ns;
    follow_mean(label, &now);
    every = ceil(cost_ns / (sampling->budget * fmax(label->mean_ns, 1)));
    every = fmin(fmax(every, 1), LP_SAMPLER_EVERY);
    if (every > label->every || every <= SHRINKS * label->every)
        label->every = (uint32_t)every;
    lp_sampler_set(index, label->every);
    label->collected = now.collected;
    label->all = now.all;
    label->collected_ns = now.collected_ns;
    label->all_ns = now.all_ns;
    label->measured = now.measured;
    label->measured_ns = now.measured_ns;
}

void lp_sampling_adjust(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_sampling *sampling = &session->sampling;
    uint64_t seen;

    if (!sampling->on)
        return;
    if ((seen = lp_sampler_calls().seen) != sampling->seen) {
        sampling->seen = seen;
        sampling->seen_ns = now_ns;
    }
    if (session->detach.state == LP_DETACH_OFF)
        adjust_windows(session, now_ns);
    if (now_ns - sampling->looked_ns < LOOK_NS)
        return;
    sampling->looked_ns = now_ns;
    for (uint32_t i = 0; i < sampling->count; i++)
        adjust_label(session, i);
}
