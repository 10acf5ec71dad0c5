/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about time in which the GPU is idle, waits for other GPUs, warms up or varies. */
#include <inttypes.h>
#include <math.h>

#include "lib/findings/limits/limits.h"
#include "lib/findings/recommend_say.h"
#include "lib/record/host_calls.h"
#include "llmperf/sys/analysis.h"

/* Longest mean gap that the GPU's own kernel-to-kernel latency explains. */
#define BOUNDARY_US 2.5

/* " (its time is 16.0x its memory-bandwidth bound)" */
static void say_distance(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (!(stage->wall_ratio > 1))
        return;
    lp_text_printf(text, " (its time is %sx its %s)", N(stage->wall_ratio),
                   lp_bound_words(stage->compute_floor_ms, stage->memory_floor_ms));
    lp_evidence_add(out, "wall_ratio", stage->wall_ratio);
}

static bool idles(const struct lp_stage_facts *stage, double part_ms)
{
    return stage->span_ms > 0 && part_ms >= IDLE_SHARE * stage->span_ms;
}

/* "For 44.4 % of the time of LLM@decode_step" */
static void say_idle(const struct lp_stage_facts *stage, double part_ms,
                     struct lp_recommendation *out, struct lp_text *text)
{
    double all_ms = isnan(stage->step_ms) ? stage->span_ms : stage->step_ms;

    lp_text_printf(text, "For %s %% of the time of %s", PERCENT(part_ms / all_ms), stage->label);
    say_distance(stage, out, text);
    lp_evidence_add(out, "idle_share", stage->idle_ms / stage->span_ms);
}

/* Calls that fill less of the gaps are not worth a word. */
#define CALL_SHARE 0.1

/* " In 128 ms of them the host is in cuMemAlloc, called 64 times in LLM@decode_step." */
static void say_host_call(const struct lp_idle_call *call, double gap_ms,
                          struct lp_recommendation *out, struct lp_text *text)
{
    static const char *const remedies[] = {
        [LP_HOST_NOTHING] = "",
        [LP_HOST_WAIT] = "launch the next work before waiting, or wait for an event later",
        [LP_HOST_ALLOCATE] = ALLOCATE_BEFORE,
        [LP_HOST_FREE] = ALLOCATE_BEFORE,
        [LP_HOST_MEMORY] = ALLOCATE_BEFORE,
        [LP_HOST_COPY] = "copy asynchronously from pinned memory",
        [LP_HOST_LOAD] = "load code before serving",
        [LP_HOST_GRAPH] = "instantiate graphs once, before serving",
    };

    if (!call->row || !(call->ms >= CALL_SHARE * gap_ms))
        return;
    lp_evidence_add_word(out, "host_call", call->row->call);
    lp_evidence_add(out, "host_call_idle_ms", call->ms);
    lp_text_printf(text, " For %s ms of that the host is in %s, called %s times in %s: %s.",
                   N(call->ms), call->row->call, COUNT((double)call->row->calls), call->row->region,
                   remedies[lp_host_call_purpose(lp_host_call_find(call->row->call))]);
}

/* What a graph leaves between two nodes; recordings of an H100 and an H200 have 0.4 to 1.3 us. */
#define NODE_MS 0.001

/* A CUDA graph saves the waiting for launches, except for the gap that stays between two nodes. */
static double gaps_left(const struct lp_stage_facts *stage)
{
    double waiting_ms = stage->idle_wait_ms > 0 ? stage->idle_wait_ms : 0;

    return fmin(stage->idle_launch_ms, fmax(0, stage->launches * NODE_MS - waiting_ms));
}

/* " (694 launches a call, 29 a layer)" */
static void say_launches(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double each = stage->launches / (double)stage->instances;

    if (!(each > 0))
        return;
    lp_evidence_add(out, "launches_per_instance", each);
    lp_text_printf(text, " (%s %s a call", COUNT(each), each > 1 ? "launches" : "launch");
    if (each >= stage->layers && stage->layers > 1)
        lp_text_printf(text, ", %s a layer", N(each / stage->layers));
    lp_text_puts(text, ")");
}

static void say_least(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text)
{
    double steps = (double)stage->instances, gaps_ms = stage->launches * NODE_MS / steps;
    double least_ms = stage->busy_ms / steps + gaps_ms;

    if (!(gaps_left(stage) > 0) || isnan(least_ms))
        return;
    lp_evidence_add(out, "least_ms", least_ms);
    lp_text_printf(text,
                   " The saving is capped by what a graph needs itself, %s ms a call: %s ms of "
                   "kernels and copies, and about 1 us from each to the next.",
                   N(least_ms), N(stage->busy_ms / steps));
}

static bool launch_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (!idles(stage, stage->idle_launch_ms))
        return false;
    say_idle(stage, stage->idle_launch_ms, out, text);
    lp_evidence_add(out, "idle_launch_share", stage->idle_launch_ms / stage->idle_ms);
    lp_text_puts(text, " the GPU waits for the host to launch");
    say_launches(stage, out, text);
    lp_text_puts(text, ": use CUDA graphs, or give each launch more work, for example with a "
                       "larger batch.");
    say_least(stage, out, text);
    say_host_call(&stage->between_call, stage->idle_launch_ms, out, text);
    return true;
}

static bool waits(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                  struct lp_text *text)
{
    double gap_us = stage->kernel_count > 0 ? 1e3 * stage->idle_wait_ms / stage->kernel_count : NAN;

    if (!idles(stage, stage->idle_wait_ms))
        return false;
    say_idle(stage, stage->idle_wait_ms, out, text);
    lp_evidence_add(out, "idle_wait_share", stage->idle_wait_ms / stage->idle_ms);
    lp_text_puts(text, " the GPU is idle although the next kernel is launched");
    /* The GPU itself needs 1 to 2 us between dependent kernels. */
    if (gap_us > 0 && gap_us <= BOUNDARY_US) {
        lp_evidence_add(out, "mean_gap_us", gap_us);
        lp_text_printf(
            text,
            ". The mean gap of %s us is the GPU's own latency from kernel to kernel: launch fewer, "
            "larger kernels (fusion), or let the next kernel start early (CUDA graphs, "
            "programmatic dependent launch). Half as many kernels save half of it.",
            N(gap_us));
    } else {
        lp_text_puts(text, ": look for dependencies between streams, events and synchronisation "
                           "that delay kernels.");
    }
    return true;
}

static double host_only(const struct lp_stage_facts *stage)
{
    double around_ms = stage->before_ms + stage->after_ms;
    double between_ms = stage->idle_host_ms > 0 ? stage->idle_host_ms : 0;

    return between_ms + (isnan(around_ms) ? stage->step_ms - stage->span_ms
                                          : fmin(around_ms, stage->step_ms - stage->span_ms));
}

/* A part of the time is most of it, or little, from these shares of it on. */
#define MOST   0.7
#define LITTLE 0.3

/* " between its kernels (2.98 ms before sample_kernel in LLM@head)" */
static void say_where(const struct lp_stage_facts *stage, double gap_ms, struct lp_text *text)
{
    if (!(stage->idle_host_ms > LITTLE * gap_ms)) {
        lp_text_puts(text, stage->before_ms > MOST * gap_ms ? " before its first kernel"
                           : stage->before_ms < LITTLE * gap_ms
                               ? " after its last kernel"
                               : " before its first and after its last kernel");
        return;
    }
    lp_text_puts(text, stage->idle_host_ms > MOST * gap_ms
                           ? " between its kernels"
                           : " between its kernels and around them");
    if (stage->gap)
        lp_text_printf(text, " (%s)", stage->gap);
}

static bool host_gap(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                     struct lp_text *text)
{
    double gap_ms = host_only(stage);
    const struct lp_idle_call *call =
        stage->between_call.ms > stage->around_call.ms ? &stage->between_call : &stage->around_call;

    if (!(stage->span_ms > 0 && gap_ms >= IDLE_SHARE * stage->step_ms))
        return false;
    lp_evidence_add(out, "host_share", gap_ms / stage->step_ms);
    lp_text_printf(
        text, "%s has no work on the GPU for %s %% of its time, while the host does other work",
        stage->label, PERCENT(gap_ms / stage->step_ms));
    say_where(stage, gap_ms, text);
    lp_text_puts(text, ": overlap that work (scheduling, sampling, detokenisation) with the GPU, "
                       "or make it cheaper.");
    if (stage->idle_host_ms > MOST * gap_ms)
        lp_text_puts(text, " What Python does between kernels goes away where they are captured "
                           "in a CUDA graph or compiled (torch.compile).");
    say_host_call(call, gap_ms, out, text);
    return true;
}

/* Warm-up is worth a word from this share of the time of the stage on. */
#define WARM_UP_SHARE 0.02

static double warm_up_loss(const struct lp_stage_facts *stage)
{
    return stage->warm_up_ms - stage->warm_up_calls * stage->steady_ms;
}

static bool warm_up(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                    struct lp_text *text)
{
    if (!(warm_up_loss(stage) >= WARM_UP_SHARE * stage->wall_ms))
        return false;
    lp_evidence_add(out, "warm_up_calls", stage->warm_up_calls);
    lp_evidence_add(out, "warm_up_ms", stage->warm_up_ms);
    lp_evidence_add(out, "steady_ms", stage->steady_ms);
    if (stage->warm_up_calls > 1)
        lp_text_printf(text, "Calls 1 to %s of %s took %s ms, %sx as long as the later ones (%s ms",
                       COUNT(stage->warm_up_calls), stage->label, N(stage->warm_up_ms),
                       N(stage->warm_up_ms / stage->warm_up_calls / stage->steady_ms),
                       N(stage->steady_ms));
    else
        lp_text_printf(text, "The first call of %s took %s ms, %sx the mean of the others (%s ms",
                       stage->label, N(stage->warm_up_ms), N(stage->warm_up_ms / stage->steady_ms),
                       N(stage->steady_ms));
    lp_text_puts(text, " each): compilation, autotuning, allocation or loading of modules. This "
                       "is lost once per process start: warm up before serving. Steady times "
                       "here are without it.");
    return true;
}

/* Idle time without iterations that would give its cause. */
static bool device_idle(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                        struct lp_text *text)
{
    double idle_ms = stage->wall_ms - stage->busy_ms;

    if (stage->span_ms > 0 || !(stage->busy_ms > 0 && idle_ms >= IDLE_MOST * stage->wall_ms))
        return false;
    lp_text_puts(text, stage->label);
    say_distance(stage, out, text);
    lp_evidence_add(out, "idle_share", idle_ms / stage->wall_ms);
    lp_text_printf(
        text,
        " has no work on the GPU for %s %% of its wall time. This run does not show whether "
        "launches come late or the GPU waits: compare it with a run under CUDA graphs.",
        PERCENT(idle_ms / stage->wall_ms));
    return true;
}

static double above_median(const struct lp_stage_facts *stage)
{
    return fmax(0, (stage->steady_ms - stage->wall_p50_ms) * stage->steady_calls);
}

/* With fewer calls one slow call decides the p99. */
#define TAIL_CALLS 50
#define TAIL_RATIO 2

bool lp_has_tail(const struct lp_stage_facts *stage)
{
    return stage->steady_calls >= TAIL_CALLS &&
           stage->wall_p99_ms / stage->wall_p50_ms >= TAIL_RATIO;
}

static bool step_tail(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text)
{
    double ratio = stage->wall_p99_ms / stage->wall_p50_ms;

    if (!lp_has_tail(stage))
        return false;
    lp_evidence_add(out, "p50_ms", stage->wall_p50_ms);
    lp_evidence_add(out, "p99_ms", stage->wall_p99_ms);
    lp_text_printf(text,
                   "%s has slow calls: p99 is %s ms, %sx the median of %s ms. Look for prefills "
                   "in between, allocations, garbage collection and growing contexts.",
                   stage->label, N(stage->wall_p99_ms), N(ratio), N(stage->wall_p50_ms));
    return true;
}

/* Transfers of collectives, with waiting where that is not known on its own. */
static double transfers(const struct lp_stage_facts *stage)
{
    return isnan(stage->waiting_ms) ? stage->collective_ms - stage->collective_least_ms
                                    : stage->collective_ms - stage->waiting_ms;
}

static bool collectives(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                        struct lp_text *text)
{
    double share = stage->collective_ms / stage->busy_ms;

    if (!(share >= 0.05))
        return false;
    lp_evidence_add(out, "collective_share", share);
    lp_evidence_add(out, "collectives_per_instance",
                    stage->collective_calls / (double)stage->instances);
    lp_evidence_add(out, "collective_mean_us",
                    1e3 * stage->collective_ms / stage->collective_calls);
    lp_evidence_add(out, "collective_least_us",
                    1e3 * stage->collective_least_ms / stage->collective_calls);
    lp_text_printf(
        text,
        "Collectives take %s %% of the busy time of %s: %s a call, %s us each on average, "
        "the fastest %s us. ",
        PERCENT(share), stage->label, COUNT(stage->collective_calls / (double)stage->instances),
        N(1e3 * stage->collective_ms / stage->collective_calls),
        N(1e3 * stage->collective_least_ms / stage->collective_calls));
    lp_text_puts(
        text,
        isnan(stage->waiting_ms)
            ? "What they take above that is waiting for other ranks, or contention: merge the "
              "runs of all ranks (llmperf merge) to see which one arrives last."
            : "Overlap them with work that does not need their result, or send fewer and "
              "larger messages.");
    return true;
}

static bool uneven_ranks(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double share = stage->waiting_ms / stage->wall_ms;

    if (!(share >= 0.05))
        return false;
    lp_evidence_add(out, "waiting_share", share);
    lp_evidence_add(out, "waiting_gpu", stage->waiting_gpu);
    lp_evidence_add(out, "last_gpu", stage->last_gpu);
    lp_evidence_add(out, "last_share", stage->last_share);
    lp_evidence_add_word(out, "cause", stage->straggler_cause);
    lp_text_printf(text,
                   "GPU %" PRId32
                   " waits %s%s ms a call of %s (%s %%) in collectives for GPU %" PRId32
                   ", which arrives last",
                   stage->waiting_gpu, isnan(stage->last_share) ? "at least " : "",
                   N(stage->waiting_ms / (double)stage->instances), stage->label, PERCENT(share),
                   stage->last_gpu);
    if (stage->last_share > 0)
        lp_text_printf(text, " at %s %% of them", PERCENT(stage->last_share));
    if (stage->straggler_cause)
        lp_text_printf(text, ": %s.", stage->straggler_cause);
    else
        lp_text_puts(text, ": look for what delays that one (its host thread, its clocks, a larger "
                           "share of the work).");
    return true;
}

static double waiting(const struct lp_stage_facts *stage)
{
    return stage->waiting_ms;
}

static double launch_idle(const struct lp_stage_facts *stage)
{
    return stage->idle_launch_ms - gaps_left(stage);
}

static double wait_idle(const struct lp_stage_facts *stage)
{
    return stage->idle_wait_ms;
}

static double not_busy(const struct lp_stage_facts *stage)
{
    return stage->wall_ms - stage->busy_ms;
}

const struct lp_stage_rule lp_idle_rules[] = {
    { "launch_bound", LP_OF_DEVICE, launch_bound, launch_idle, true },
    { "waiting", LP_OF_DEVICE, waits, wait_idle, true },
    { "host_gap", LP_OF_DEVICE, host_gap, host_only, true },
    { "device_idle", LP_OF_DEVICE, device_idle, not_busy, true },
    { "warm_up", LP_OF_HOST | LP_ONCE, warm_up, warm_up_loss, true },
    { "step_tail", LP_OF_HOST, step_tail, above_median, true },
    { "collectives", LP_OF_KERNELS, collectives, transfers, true },
    { "uneven_ranks", LP_OF_KERNELS, uneven_ranks, waiting, true },
    { NULL, 0, NULL, NULL, false },
};
