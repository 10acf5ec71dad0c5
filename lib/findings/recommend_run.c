/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the whole run. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/findings/recommend_say.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "lib/record/stall_reasons.h"

static bool incomplete_ledger(const struct lp_run_facts *run, struct lp_recommendation *out,
                              struct lp_text *text)
{
    if (!run->problem)
        return false;
    lp_evidence_add_word(out, "problem", run->problem);
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

    if (!run->device_usable || !(share >= 0.05) || (run->found && run->marked))
        return false;
    lp_evidence_add(out, "outside_share", share);
    out->advice.severity = share >= 0.25 ? LLMPERF_SEVERITY_MEDIUM : LLMPERF_SEVERITY_LOW;
    if (run->marked)
        lp_text_printf(text,
                       "%s %% of the device time was launched with no region open: mark the stage "
                       "that it belongs to, or it is missing from every stage.",
                       PERCENT(share));
    else
        lp_text_printf(text,
                       "No stage is marked: mark prefill and decode steps (%s) to get time, "
                       "tokens/s, bound and advice of each.",
                       run->imported ? "NVTX ranges prefill and decode_step of the domain LLM"
                                     : "llmperf/region.h, llmperf.decode_step() in Python, or NVTX "
                                       "ranges of the domain LLM");
    return true;
}

/* "The GPU was busy for 10.7 % of 1500 ms" */
static void say_device(const struct lp_run_facts *run, double used_ms,
                       struct lp_recommendation *out, struct lp_text *text)
{
    lp_evidence_add(out, "busy_share", run->busy_ms / used_ms);
    lp_evidence_add(out, "used_ms", used_ms);
    lp_text_printf(text, "The GPU was busy for %s %% of %s ms", PERCENT(run->busy_ms / used_ms),
                   N(used_ms));
    if (run->idle_host_ms >= IDLE_SHARE * run->span_ms) {
        lp_evidence_add(out, "idle_host_ms", run->idle_host_ms);
        lp_text_printf(
            text,
            " (not counting %s ms of gaps of " LP_HOST_GAP_WORDS
            " or more in which the host launched nothing: it loads, compiles, schedules, or runs "
            "Python between launches)",
            N(run->idle_host_ms));
    }
}

static double used_ms_of(const struct lp_run_facts *run)
{
    return run->span_ms - run->idle_host_ms;
}

static bool is_idle(const struct lp_run_facts *run)
{
    return run->busy_ms > 0 &&
           fmax(run->idle_launch_ms, run->idle_wait_ms) >= IDLE_SHARE * used_ms_of(run);
}

static void say_remedy(const struct lp_run_facts *run, bool launch, struct lp_text *text)
{
    if (!launch)
        lp_text_puts(text, " Launch fewer, larger kernels (fusion), and look for dependencies "
                           "between streams and events.");
    else
        lp_text_printf(text,
                       " Use CUDA graphs or torch.compile (mode=\"reduce-overhead\")%s, or give "
                       "each launch more work, for example with a larger batch.",
                       run->graph_share > 0 ? " for the others" : "");
}

static bool idle_device(const struct lp_run_facts *run, struct lp_recommendation *out,
                        struct lp_text *text)
{
    double used_ms = used_ms_of(run), mean_us = 1e3 * run->busy_ms / run->activities;
    bool launch = run->idle_launch_ms >= run->idle_wait_ms;
    double idle_ms = launch ? run->idle_launch_ms : run->idle_wait_ms;

    if (!run->device_usable || run->marked || !is_idle(run))
        return false;
    say_device(run, used_ms, out, text);
    lp_evidence_add(out, launch ? "idle_launch_share" : "idle_wait_share", idle_ms / used_ms);
    lp_evidence_add(out, "activity_mean_us", mean_us);
    lp_evidence_add(out, "graph_share", run->graph_share);
    out->advice.saving_ms = idle_ms;
    out->advice.severity = lp_severity_of(idle_ms, used_ms);
    lp_text_printf(text,
                   launch ? " and waited for launches for %s %%"
                          : " and had gaps before work that was launched already for %s %%",
                   PERCENT(idle_ms / used_ms));
    lp_text_printf(text, "; a kernel or copy took %s us on average", N(mean_us));
    if (run->graph_share > 0)
        lp_text_printf(text, ", and %s %% of the kernels ran in CUDA graphs",
                       PERCENT(run->graph_share));
    lp_text_puts(text, ".");
    say_remedy(run, launch, text);
    return true;
}

static bool idle_host(const struct lp_run_facts *run, struct lp_recommendation *out,
                      struct lp_text *text)
{
    if (!run->device_usable || run->marked || is_idle(run) ||
        !(run->idle_host_ms >= IDLE_MOST * run->span_ms))
        return false;
    lp_evidence_add(out, "idle_host_ms", run->idle_host_ms);
    lp_evidence_add(out, "span_ms", run->span_ms);
    out->advice.severity = LLMPERF_SEVERITY_LOW;
    lp_text_printf(text,
                   "From its first to its last work (%s ms) the GPU had nothing to do for %s ms "
                   "because the host launched nothing for " LP_HOST_GAP_WORDS
                   " or longer: loading, compilation, tokenisation, scheduling, or Python between "
                   "launches. Marked stages show whether this is in them.",
                   N(run->span_ms), N(run->idle_host_ms));
    return true;
}

static bool short_run(const struct lp_run_facts *run, struct lp_recommendation *out,
                      struct lp_text *text)
{
    static const char *const times[] = { "", "once", "twice", "three times" };

    if (!run->rare_stage)
        return false;
    lp_evidence_add_word(out, "rare_stage", run->rare_stage);
    lp_evidence_add(out, "calls", (double)run->rare_calls);
    out->advice.severity = LLMPERF_SEVERITY_LOW;
    lp_text_printf(text,
                   "%s was called %s: warm-up cannot be told from its usual time. 4 calls or more "
                   "show the steady time, 50 or more its percentiles and slow calls.",
                   run->rare_stage, times[run->rare_calls]);
    return true;
}

/* Results of ncu */

/* Theoretical occupancy below it leaves few warps to hide latency. */
#define LOW_OCCUPANCY 50
/* Achieved below this part of the theoretical one: blocks differ in time, or are too few. */
#define ACHIEVED_PART 0.6

/* What allows the fewest blocks on an SM. */
static const char *limiter_of(const struct lp_ncu_kernel *kernel)
{
    const struct {
        const char *name;
        double blocks;
    } limits[] = { { "registers", kernel->limit_registers },
                   { "shared memory", kernel->limit_shared },
                   { "the block size", kernel->limit_warps },
                   { "the number of blocks", kernel->limit_blocks } };
    size_t least = 0;

    for (size_t i = 1; i < LP_LENGTH(limits); i++)
        if (limits[i].blocks < limits[least].blocks || isnan(limits[least].blocks))
            least = i;
    return isnan(limits[least].blocks) ? NULL : limits[least].name;
}

static void say_bound(const struct lp_ncu_kernel *kernel, struct lp_recommendation *out,
                      struct lp_text *text)
{
    lp_evidence_add_word(out, "kernel_bound", kernel->bound);
    lp_evidence_add(out, "sm_percent", kernel->sm_percent);
    lp_evidence_add(out, "memory_percent", kernel->memory_percent);
    lp_text_printf(
        text, " ncu's Speed of Light rule calls it %s-bound: compute %s %%, memory %s %% of peak",
        kernel->bound, N(kernel->sm_percent), N(kernel->memory_percent));
    if (!isnan(kernel->dram_gbs))
        lp_text_printf(text, ", DRAM %s GB/s", N(kernel->dram_gbs));
    lp_text_puts(text, ".");
}

static void say_occupancy(const struct lp_ncu_kernel *kernel, struct lp_recommendation *out,
                          struct lp_text *text)
{
    const char *limiter = limiter_of(kernel);

    if (kernel->waves < 1)
        lp_text_printf(text,
                       " Its blocks fill %s of a wave, so some SMs are idle: use smaller tiles, "
                       "split the longest dimension, or give it a larger batch.",
                       N(kernel->waves));
    lp_evidence_add(out, "waves", kernel->waves);
    lp_evidence_add(out, "occupancy_percent", kernel->occupancy_percent);
    if (kernel->occupancy_limit_percent < LOW_OCCUPANCY) {
        lp_text_printf(text, " Occupancy is %s %% of at most %s %%", N(kernel->occupancy_percent),
                       N(kernel->occupancy_limit_percent));
        if (limiter)
            lp_text_printf(text, ", limited by %s", limiter);
        if (limiter && strcmp(limiter, "registers") == 0 && !isnan(kernel->registers))
            lp_text_printf(text, " (%s a thread)", COUNT(kernel->registers));
        lp_text_puts(text, ".");
    } else if (kernel->occupancy_percent < ACHIEVED_PART * kernel->occupancy_limit_percent) {
        lp_text_printf(text,
                       " Occupancy is %s %% of the %s %% that it could reach: its warps or blocks "
                       "differ in length, or there are too few of them.",
                       N(kernel->occupancy_percent), N(kernel->occupancy_limit_percent));
    }
}

static void say_stall(const struct lp_ncu_kernel *kernel, struct lp_recommendation *out,
                      struct lp_text *text)
{
    const struct lp_ncu_stall *top = &kernel->top[0];
    double share = top->cycles / kernel->stalls_cycles;

    if (!(top->cycles > 0) && kernel->bound && strcmp(kernel->bound, "latency") == 0)
        lp_text_puts(text, " Section WarpStateStats would show what its warps wait for.");
    if (!top->reason || !(share >= STALL_SHARE))
        return;
    lp_evidence_add(out, "stall_share", share);
    lp_text_printf(text,
                   " Warps spend %s %% of the %s cycles between two instructions waiting for %s: "
                   "%s.",
                   PERCENT(share), N(kernel->issue_cycles), top->reason->words,
                   top->reason->remedy);
}

/* Says only what was counted. */
static bool measured_kernel(const struct lp_run_facts *run, struct lp_recommendation *out,
                            struct lp_text *text)
{
    const struct lp_ncu_kernel *kernel = run->measured;

    if (!kernel || !(kernel->duration_ms > 0) || (!kernel->name && !kernel->region))
        return false;
    if (kernel->name)
        lp_evidence_add_word(out, "kernel", kernel->short_name);
    lp_evidence_add(out, "kernel_share", kernel->share);
    lp_evidence_add(out, "kernel_ms", kernel->duration_ms);
    out->advice.severity = kernel->bound ? LLMPERF_SEVERITY_MEDIUM : LLMPERF_SEVERITY_LOW;
    if (kernel->name)
        lp_text_printf(text, "%s takes %s %% of the time that ncu measured (%s us a call%s%s).",
                       kernel->short_name, PERCENT(kernel->share), N(1e3 * kernel->duration_ms),
                       kernel->region && *kernel->region ? ", in " : "",
                       kernel->region ? kernel->region : "");
    else
        lp_text_printf(text, "%s is the longest range that ncu measured (%s us a call).",
                       kernel->region, N(1e3 * kernel->duration_ms));
    if (kernel->bound)
        say_bound(kernel, out, text);
    say_occupancy(kernel, out, text);
    say_stall(kernel, out, text);
    if (!kernel->bound)
        lp_text_puts(text, " What limits it was not measured: collect the sections SpeedOfLight, "
                           "Occupancy and WarpStateStats (ncu --section).");
    return true;
}

const struct lp_run_rule lp_run_rules[] = {
    { "incomplete_ledger", incomplete_ledger },
    { "measured_kernel", measured_kernel },
    { "idle_device", idle_device },
    { "idle_host", idle_host },
    { "outside_regions", outside_regions },
    { "short_run", short_run },
    { NULL, NULL },
};
