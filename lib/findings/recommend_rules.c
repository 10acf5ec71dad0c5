/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/findings/limits/limits.h"
#include "lib/findings/recommend.h"
#include "lib/base/number.h"
#include "lib/record/host_calls.h"
#include "llmperf/sys/analysis.h"

/* Three significant digits in sentences. */
#define N(value)       LP_NUMBER(value, 3)
#define PERCENT(share) LP_NUMBER(100 * (share), 3)
/* Integers without decimals. */
#define COUNT(value) LP_NUMBER(value, fabs((value)-round(value)) < 1e-9 ? 1 : 3)

/* Share of the span; less idle time gets no advice. */
#define IDLE_SHARE 0.15

/* Longest mean gap that the GPU's own kernel-to-kernel latency explains. */
#define BOUNDARY_US 2.5

/* The suffix of a name gives its unit. */
static const char *unit_of(const char *name)
{
    const char *end = strrchr(name, '_');

    return end && (strcmp(end, "_ms") == 0 || strcmp(end, "_us") == 0) ? end + 1 : "";
}

static void add(struct lp_recommendation *out, const char *name, double value)
{
    if (!isnan(value) && out->advice.evidence < LP_EVIDENCE_MOST)
        out->evidence[out->advice.evidence++] =
            (llmperf_evidence){ sizeof(llmperf_evidence), name, unit_of(name), NULL, value };
}

static void add_word(struct lp_recommendation *out, const char *name, const char *word)
{
    if (word && out->advice.evidence < LP_EVIDENCE_MOST)
        out->evidence[out->advice.evidence++] =
            (llmperf_evidence){ sizeof(llmperf_evidence), name, "", word, NAN };
}

static const char *bound_words(const struct lp_stage_facts *stage)
{
    return lp_bound_words(stage->compute_floor_ms, stage->memory_floor_ms);
}

/* "LLM@decode_step runs 16.0x slower than its memory-bandwidth bound (wall time / bound) and has ".
 */
static void say_distance(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    lp_text_puts(text, stage->label);
    if (stage->wall_ratio > 1) {
        lp_text_printf(text, " runs %sx slower than its %s (wall time / bound) and",
                       N(stage->wall_ratio), bound_words(stage));
        add(out, "wall_ratio", stage->wall_ratio);
    }
    lp_text_puts(text, " has ");
}

static bool idles(const struct lp_stage_facts *stage)
{
    return stage->span_ms > 0 && stage->idle_ms >= IDLE_SHARE * stage->span_ms;
}

static void say_idle(const struct lp_stage_facts *stage, double part_ms,
                     struct lp_recommendation *out, struct lp_text *text)
{
    say_distance(stage, out, text);
    lp_text_printf(
        text, "gaps between kernels for %s %% of its time on the GPU. In %s %% of the gap time ",
        PERCENT(stage->idle_ms / stage->span_ms), PERCENT(part_ms / stage->idle_ms));
    add(out, "idle_share", stage->idle_ms / stage->span_ms);
}

#define ALLOCATE_BEFORE "allocate once before, or from a pool that keeps memory"

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
    add_word(out, "host_call", call->row->call);
    add(out, "host_call_idle_ms", call->ms);
    lp_text_printf(text, " For %s ms of that the host is in %s, called %s times in %s: %s.",
                   N(call->ms), call->row->call, COUNT((double)call->row->calls), call->row->region,
                   remedies[lp_host_call_purpose(lp_host_call_find(call->row->call))]);
}

static bool launch_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (!idles(stage) || !(stage->idle_launch_ms >= 0.5 * stage->idle_ms))
        return false;
    say_idle(stage, stage->idle_launch_ms, out, text);
    add(out, "idle_launch_share", stage->idle_launch_ms / stage->idle_ms);
    lp_text_puts(text, "the GPU waits for the host to launch: use CUDA graphs, or give each launch "
                       "more work, for example with a larger batch.");
    say_host_call(&stage->between_call, stage->idle_launch_ms, out, text);
    return true;
}

static bool waits(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                  struct lp_text *text)
{
    double gap_us = stage->kernel_count > 0 ? 1e3 * stage->idle_wait_ms / stage->kernel_count : NAN;

    if (!idles(stage) || !(stage->idle_wait_ms > 0.5 * stage->idle_ms))
        return false;
    say_idle(stage, stage->idle_wait_ms, out, text);
    add(out, "idle_wait_share", stage->idle_wait_ms / stage->idle_ms);
    lp_text_puts(text, "the next kernel is launched already");
    /* The GPU itself needs 1 to 2 us between dependent kernels. */
    if (gap_us > 0 && gap_us <= BOUNDARY_US) {
        add(out, "mean_gap_us", gap_us);
        lp_text_printf(
            text,
            ". The mean gap of %s us is the GPU's own latency from kernel to kernel: launch fewer, "
            "larger kernels (fusion), or let the next kernel start early (CUDA graphs, "
            "programmatic dependent launch).",
            N(gap_us));
    } else {
        lp_text_puts(text, ": look for dependencies between streams, events and synchronisation "
                           "that delay kernels.");
    }
    return true;
}

/* From here on host time around the device work is worth a word. */
#define HOST_SHARE 0.1

static double host_only(const struct lp_stage_facts *stage)
{
    double around_ms = stage->before_ms + stage->after_ms;

    return isnan(around_ms) ? stage->step_ms - stage->span_ms
                            : fmin(around_ms, stage->step_ms - stage->span_ms);
}

static bool host_gap(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                     struct lp_text *text)
{
    double gap_ms = host_only(stage), before = stage->before_ms;
    const char *where = before > 0.7 * gap_ms   ? "before its first kernel"
                        : before < 0.3 * gap_ms ? "after its last kernel"
                                                : "before its first and after its last kernel";

    if (!(stage->span_ms > 0 && gap_ms >= HOST_SHARE * stage->step_ms))
        return false;
    add(out, "host_share", gap_ms / stage->step_ms);
    lp_text_printf(text,
                   "%s has no work on the GPU for %s %% of its time, %s: overlap the host's work "
                   "there (scheduling, sampling, detokenisation) with the GPU, or make it cheaper.",
                   stage->label, PERCENT(gap_ms / stage->step_ms), where);
    say_host_call(&stage->around_call, gap_ms, out, text);
    return true;
}

static double warm_up_loss(const struct lp_stage_facts *stage)
{
    return stage->first_ms - stage->steady_ms;
}

static bool warm_up(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                    struct lp_text *text)
{
    if (!(warm_up_loss(stage) >= 0.02 * stage->wall_ms))
        return false;
    add(out, "first_ms", stage->first_ms);
    add(out, "steady_ms", stage->steady_ms);
    lp_text_printf(text,
                   "The first call of %s took %s ms, %sx the mean of the others (%s ms): "
                   "compilation, autotuning, allocation or loading of modules. Warm up before "
                   "serving; steady times here are without this call.",
                   stage->label, N(stage->first_ms), N(stage->first_ms / stage->steady_ms),
                   N(stage->steady_ms));
    return true;
}

/* Idle time without iterations that would give its cause. */
static bool device_idle(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                        struct lp_text *text)
{
    double idle_ms = stage->wall_ms - stage->busy_ms;

    if (stage->span_ms > 0 || !(stage->busy_ms > 0 && idle_ms >= 0.3 * stage->wall_ms))
        return false;
    say_distance(stage, out, text);
    add(out, "idle_share", idle_ms / stage->wall_ms);
    lp_text_printf(text,
                   "no work on the GPU for %s %% of its wall time. This run does not show whether "
                   "launches come late or the GPU waits: compare it with a run under CUDA graphs.",
                   PERCENT(idle_ms / stage->wall_ms));
    return true;
}

/* Shares by kernel are of what is charged to the stage itself. */
static const char *without_nested(const struct lp_stage_facts *stage)
{
    return stage->holds_stages ? " without nested stages" : "";
}

/* Kernels that lose less of a call are not worth a word. */
#define LOSS_SHARE 0.03

static double operator_loss(const struct lp_stage_facts *stage)
{
    return stage->worst ? lp_part_loss(stage->worst) * stage->elapsed_calls : (double)NAN;
}

/* "kernels of class attention in LLM@attention" */
static void name_part(const struct lp_waterfall_part *part, struct lp_text *text)
{
    if (part->kernel_class)
        lp_text_printf(text, "%s kernels", part->kernel_class);
    else
        lp_text_puts(text, "kernels");
    if (part->region)
        lp_text_printf(text, " in %s", part->region);
}

static bool slow_operator(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                          struct lp_text *text)
{
    const struct lp_waterfall_part *part = stage->worst;

    if (!part || !(lp_part_loss(part) >= LOSS_SHARE * stage->elapsed_ms))
        return false;
    add_word(out, "kernel", part->kernel);
    add_word(out, "kernel_class", part->kernel_class);
    add(out, "duration_ms", part->busy_ms);
    add(out, "bound_ms", part->bound_ms);
    lp_text_printf(text, "In each call of %s, ", stage->label);
    name_part(part, text);
    lp_text_printf(text, " take %s ms, %sx their lower bound of %s ms (%s %% of the call)",
                   N(part->busy_ms), N(part->busy_ms / part->bound_ms), N(part->bound_ms),
                   PERCENT(part->busy_ms / stage->elapsed_ms));
    if (part->kernel)
        lp_text_printf(text, ". The longest is %s with %s ms", part->kernel, N(part->kernel_ms));
    lp_text_printf(text, ". Good kernels reach about %s %% of the bound.", PERCENT(LP_ACHIEVABLE));
    return true;
}

static bool slow_kernels(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (stage->worst || !(stage->floor_ratio >= 1.5)) /* slow_operator() knows more */
        return false;
    add(out, "floor_ratio", stage->floor_ratio);
    add(out, "mbu", stage->mbu);
    lp_text_printf(text, "The kernels of %s run %sx slower than its %s (GPU busy time / bound)",
                   stage->label, N(stage->floor_ratio), bound_words(stage));
    if (stage->top_class && stage->device_ms > 0) {
        double share = stage->top_class_ms / stage->device_ms;

        lp_text_printf(text, "; %s %s (%s %% of its device time%s)",
                       share > 0.5 ? "mostly" : "the largest class is", stage->top_class,
                       PERCENT(share), without_nested(stage));
        add_word(out, "top_class", stage->top_class);
        add(out, "top_class_share", share);
    }
    lp_text_puts(text, ". Look for faster kernels or libraries for these shapes.");
    return true;
}

static bool memory_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (stage->bound != LLMPERF_BOUND_MEMORY || !(stage->floor_ratio <= 1.5))
        return false;
    add(out, "floor_ratio", stage->floor_ratio);
    add(out, "mbu", stage->mbu);
    lp_text_printf(text,
                   "%s is memory bound: its kernels take %sx the memory-bandwidth bound (GPU "
                   "busy time / bound",
                   stage->label, N(stage->floor_ratio));
    if (!isnan(stage->mbu))
        lp_text_printf(text, "; MBU while busy %s %%", PERCENT(stage->mbu));
    lp_text_puts(text, ")");
    lp_text_puts(text,
                 ". Only fewer bytes make it faster (quantised weights or KV cache); a larger "
                 "batch gives more tokens for the same bytes.");
    return true;
}

static bool small_batch(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                        struct lp_text *text)
{
    if (!stage->decode || !(stage->batch < stage->critical_batch / 2) ||
        !(stage->memory_floor_ms > stage->compute_floor_ms))
        return false;
    add(out, "batch", stage->batch);
    add(out, "critical_batch", stage->critical_batch);
    lp_text_printf(text,
                   "%s runs at batch size %s. Reading the weights (%s) dominates up to about "
                   "%s sequences: until then a larger batch adds little time to a step. With "
                   "experts, each further "
                   "sequence may activate more of them.",
                   stage->label, COUNT(stage->batch), stage->dtype, N(stage->critical_batch));
    return true;
}

static bool tiny_kernels(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double mean_ms = stage->kernel_ms / stage->kernel_count;
    double each = stage->kernel_count / (double)stage->instances;

    if (stage->instances == 0 || !(mean_ms < 0.005 && each >= 100))
        return false;
    add(out, "kernels_per_instance", each);
    add(out, "kernel_mean_us", mean_ms * 1e3);
    add(out, "small_share", stage->small_ms / stage->device_ms);
    lp_text_printf(text, "%s runs %s kernels a call, %s us each on average", stage->label,
                   COUNT(each), N(mean_ms * 1e3));
    if (stage->small_ms > 0)
        lp_text_printf(text,
                       "; norms, element-wise work, copies and reductions are %s %% of its device "
                       "time%s",
                       PERCENT(stage->small_ms / stage->device_ms), without_nested(stage));
    lp_text_puts(text, ". Fuse them.");
    return true;
}

static bool copy_cast(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text)
{
    double share = stage->copy_cast_ms / stage->device_ms;

    if (!(share >= 0.1))
        return false;
    add(out, "copy_cast_share", share);
    lp_text_printf(text,
                   "Kernels that copy, convert or move data take %s %% of the device time of %s%s: "
                   "keep one layout and one dtype between operators, and write results where they "
                   "are read.",
                   PERCENT(share), stage->label, without_nested(stage));
    return true;
}

static bool memcpy_in_decode(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                             struct lp_text *text)
{
    double each = stage->memcpy_count / (double)stage->instances;
    double share = stage->memcpy_ms / stage->busy_ms;

    if (!stage->decode || stage->instances == 0 || !(each >= 1 && (share >= 0.02 || each >= 8)))
        return false;
    add(out, "copies_per_instance", each);
    add(out, "copy_share", share);
    lp_text_printf(text, "%s makes %s memory copies a step, %s %% of its busy time", stage->label,
                   COUNT(each), PERCENT(share));
    if (stage->top_memcpy_calls > 0) {
        add_word(out, "copy", stage->top_memcpy);
        lp_text_printf(text, "; most of it %s of %s KB, %s ms a copy", stage->top_memcpy,
                       N(stage->top_memcpy_bytes / stage->top_memcpy_calls / 1e3),
                       N(stage->top_memcpy_ms / stage->top_memcpy_calls));
    }
    lp_text_puts(text, ": keep tokens, positions and tables on the GPU, and use pinned memory and "
                       "asynchronous copies for the rest.");
    return true;
}

/* In most decode steps, or 1 % of their time. Its gaps are those of launch_bound and host_gap. */
static bool allocation_in_decode(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                                 struct lp_text *text)
{
    double each = stage->memory_calls / (double)stage->instances;

    if (!stage->decode || stage->instances == 0 || !stage->memory_call ||
        !(each >= 0.5 || stage->memory_call_ms >= 0.01 * stage->step_ms))
        return false;
    add(out, "memory_calls_per_instance", each);
    add(out, "memory_call_ms", stage->memory_call_ms);
    add_word(out, "memory_call", stage->memory_call);
    lp_text_printf(text,
                   "%s allocates, maps or frees memory %s times a step, %s ms of host time in all, "
                   "most of it in %s: " ALLOCATE_BEFORE ", such as the caching allocator of the "
                   "framework or cudaMallocAsync(), or capture the step in a CUDA graph.",
                   stage->label, N(each), N(stage->memory_call_ms), stage->memory_call);
    return true;
}

static bool dominant_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                            struct lp_text *text)
{
    double share = stage->top_kernel_ms / stage->device_ms;

    if (!stage->top_kernel || !(share >= 0.5))
        return false;
    add_word(out, "kernel", stage->top_kernel);
    add(out, "kernel_share", share);
    lp_text_printf(
        text, "One kernel, %s, takes %s %% of the device time of %s%s: study it first, with ncu.",
        stage->top_kernel, PERCENT(share), stage->label, without_nested(stage));
    return true;
}

static bool uneven_ranks(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double share = stage->waiting_ms / stage->wall_ms;

    if (!(share >= 0.05))
        return false;
    add(out, "waiting_share", share);
    add(out, "waiting_gpu", stage->waiting_gpu);
    add(out, "last_gpu", stage->last_gpu);
    add(out, "last_share", stage->last_share);
    add_word(out, "cause", stage->straggler_cause);
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

/* Warm-up is not counted again. */
static double above_median(const struct lp_stage_facts *stage)
{
    double warm_up_ms = warm_up_loss(stage) > 0 ? warm_up_loss(stage) : 0;

    return fmax(0, stage->wall_ms - stage->wall_p50_ms * (double)stage->instances - warm_up_ms);
}

static bool step_tail(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text)
{
    double ratio = stage->wall_p99_ms / stage->wall_p50_ms;

    if (stage->instances < 50 || !(ratio >= 2) ||
        (warm_up_loss(stage) > 0 && !(above_median(stage) > 0.01 * stage->wall_ms)))
        return false;
    add(out, "p50_ms", stage->wall_p50_ms);
    add(out, "p99_ms", stage->wall_p99_ms);
    lp_text_printf(text,
                   "%s has slow calls: p99 is %s ms, %sx the median of %s ms. Look for prefills "
                   "in between, allocations, garbage collection and growing contexts.",
                   stage->label, N(stage->wall_p99_ms), N(ratio), N(stage->wall_p50_ms));
    return true;
}

static double launch_idle(const struct lp_stage_facts *stage)
{
    return stage->idle_launch_ms;
}

static double wait_idle(const struct lp_stage_facts *stage)
{
    return stage->idle_wait_ms;
}

static double not_busy(const struct lp_stage_facts *stage)
{
    return stage->wall_ms - stage->busy_ms;
}

static double above_floor(const struct lp_stage_facts *stage)
{
    return stage->busy_ms - stage->floor_ms;
}

static double small_kernels(const struct lp_stage_facts *stage)
{
    return stage->small_ms;
}

static double copies_and_casts(const struct lp_stage_facts *stage)
{
    return stage->copy_cast_ms;
}

static double memory_copies(const struct lp_stage_facts *stage)
{
    return stage->memcpy_ms;
}

static double waiting(const struct lp_stage_facts *stage)
{
    return stage->waiting_ms;
}

const struct lp_stage_rule lp_stage_rules[LP_STAGE_RULES] = {
    { "launch_bound", false, launch_bound, launch_idle, true },
    { "waiting", false, waits, wait_idle, true },
    { "host_gap", false, host_gap, host_only, true },
    { "device_idle", false, device_idle, not_busy, true },
    { "warm_up", true, warm_up, warm_up_loss, true },
    { "slow_operator", false, slow_operator, operator_loss, false },
    { "slow_kernels", false, slow_kernels, above_floor, true },
    { "memory_bound", false, memory_bound, NULL, false },
    { "small_batch", false, small_batch, NULL, false },
    { "tiny_kernels", false, tiny_kernels, small_kernels, false },
    { "copy_cast", false, copy_cast, copies_and_casts, false },
    { "memcpy_in_decode", false, memcpy_in_decode, memory_copies, true },
    { "allocation_in_decode", false, allocation_in_decode, NULL, false },
    { "dominant_kernel", false, dominant_kernel, NULL, false },
    { "uneven_ranks", false, uneven_ranks, waiting, true },
    { "step_tail", true, step_tail, above_median, true },
};

static bool incomplete_ledger(const struct lp_run_facts *run, struct lp_recommendation *out,
                              struct lp_text *text)
{
    if (!run->problem)
        return false;
    add_word(out, "problem", run->problem);
    out->advice.severity = LLMPERF_SEVERITY_HIGH;
    lp_text_printf(text,
                   "The ledger does not add up (%s): fix this before you trust the other numbers.",
                   run->problem);
    return true;
}

static bool outside_regions(const struct lp_run_facts *run, struct lp_recommendation *out,
                            struct lp_text *text)
{
    double share = run->outside_ms / run->device_ms;

    if (!run->device_usable || !(share >= 0.05))
        return false;
    add(out, "outside_share", share);
    out->advice.severity = share >= 0.25 ? LLMPERF_SEVERITY_MEDIUM : LLMPERF_SEVERITY_LOW;
    lp_text_printf(text,
                   "%s %% of the device time was launched with no region open: mark the stage that "
                   "it belongs to, or it is missing from every stage.",
                   PERCENT(share));
    return true;
}

const struct lp_run_rule lp_run_rules[LP_RUN_RULES] = {
    { "incomplete_ledger", incomplete_ledger },
    { "outside_regions", outside_regions },
};
