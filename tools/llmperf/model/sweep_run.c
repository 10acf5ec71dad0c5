/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a measured run, and the share of their bounds that they reach. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llmperf/findings.h"
#include "model/gpu.h"
#include "model/sweep.h"

#define ABOVE_BOUND 1.05

static const char *label_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The row of a stage with the most calls. */
static bool find_stage(const llmperf_profile *profile, const char *label,
                       llmperf_region_stats *stats)
{
    llmperf_region_stats row = LLMPERF_REGION_STATS_INIT;
    bool found = false;

    for (size_t i = 0; llmperf_profile_region(profile, i, &row) == 0; i++) {
        if (strcmp(label_of(row.path), label) != 0 || (found && row.instances <= stats->instances))
            continue;
        *stats = row;
        found = true;
    }
    return found && stats->instances > 0;
}

/* The median is not disturbed by warm-up. */
static double elapsed_of(const llmperf_profile *profile, const llmperf_region_stats *stage)
{
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_iteration_stats(profile, i, &row) == 0; i++)
        if (strcmp(row.region, stage->path) == 0 && strcmp(row.quantity, "elapsed") == 0 &&
            !row.warm_up && row.count > 0)
            return row.p50_ms;
    return stage->wall_p50_ms;
}

static uint64_t mean_of(uint64_t sum, uint64_t count)
{
    return sum == LLMPERF_UNKNOWN || count == 0 ? 0 : (sum + count / 2) / count;
}

/* Compare a stage with the bound of a step like its mean call. */
static void measure(const struct sweep *sweep, const char *label, uint32_t phase,
                    struct sweep_measured *out)
{
    const struct model_answer *answer = sweep->answer;
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    uint64_t tp = answer->decode_step.tensor_parallel;
    llmperf_step step;

    *out = (struct sweep_measured){ .ms = NAN, .bound_ms = NAN, .efficiency = NAN };
    if (!find_stage(sweep->run.profile, label, &stats))
        return;
    out->batch = mean_of(stats.sequences, stats.instances);
    if (out->batch == 0 && phase == LLMPERF_PHASE_PREFILL)
        out->batch = 1;
    out->context = mean_of(stats.context, out->batch * stats.instances);
    out->prompt = mean_of(stats.tokens, out->batch * stats.instances);
    if (phase == LLMPERF_PHASE_PREFILL && out->context < out->prompt)
        out->context = out->prompt;
    if (out->batch == 0 || out->context == 0 || out->prompt == 0)
        return;
    step = phase == LLMPERF_PHASE_DECODE ? sweep_decode_step(answer, tp, out->context, out->batch)
                                         : sweep_prefill_step(answer, tp, out->context);
    if (phase == LLMPERF_PHASE_PREFILL) {
        step.requests = out->batch;
        step.new_each = out->prompt;
        step.cached_each = out->context - out->prompt;
    }
    out->ms = elapsed_of(sweep->run.profile, &stats);
    if (llmperf_model_floor(answer->model, &step, sweep->run.hardware, LLMPERF_LIMITS_IN_USE,
                            &floor) < 0)
        return;
    out->bound_ms = floor.roofline_ms;
    out->efficiency = out->bound_ms / out->ms;
}

/* Times below the bound are of other work. A little: the peak is a nominal one. */
static int check_bound(const struct sweep *sweep, const char *label,
                       const struct sweep_measured *measured)
{
    if (!(measured->efficiency > ABOVE_BOUND))
        return EXIT_FINE;
    return fail_usage(sweep->command,
                      "%s of the run takes %.4g ms, less than its bound of %.4g ms, so the run is "
                      "not of this model (fewer layers, another dtype, several GPUs: --tp)",
                      label, measured->ms, measured->bound_ms);
}

int sweep_open_run(struct sweep *sweep, const char *path)
{
    struct sweep_run *run = &sweep->run;
    llmperf_gpu gpu = LLMPERF_GPU_INIT;
    const char *model;
    int status = llmperf_profile_open(path, &run->profile);

    if (status < 0)
        return fail_status(status);
    run->id = llmperf_profile_fact(run->profile, "run_id");
    model = llmperf_profile_fact(run->profile, "model_name");
    if (model && strcmp(model, sweep->answer->info.name) != 0)
        return fail_usage(sweep->command, "%s is a run of %s, not of %s", path, model,
                          sweep->answer->info.name);
    if (llmperf_profile_gpu(run->profile, 0, &gpu) < 0 || !gpu.name)
        return fail_usage(sweep->command, "the GPU of %s is not known, so its bound is not", path);
    run->gpu_name = gpu.name;
    if ((status = find_gpu(gpu.name, &run->hardware)) < 0)
        return fail_status(status);
    measure(sweep, "LLM@decode_step", LLMPERF_PHASE_DECODE, &run->decode);
    measure(sweep, "LLM@prefill", LLMPERF_PHASE_PREFILL, &run->prefill);
    if ((status = check_bound(sweep, "LLM@decode_step", &run->decode)) != EXIT_FINE ||
        (status = check_bound(sweep, "LLM@prefill", &run->prefill)) != EXIT_FINE)
        return status;
    sweep->decode_efficiency = run->decode.efficiency > 1 ? 1 : run->decode.efficiency;
    sweep->prefill_efficiency = run->prefill.efficiency > 1 ? 1 : run->prefill.efficiency;
    if (isnan(run->decode.efficiency) && isnan(run->prefill.efficiency))
        return fail_usage(sweep->command,
                          "%s has no stage LLM@decode_step or LLM@prefill with tokens, sequences "
                          "and context",
                          path);
    return EXIT_FINE;
}

void sweep_close_run(struct sweep_run *run)
{
    llmperf_hardware_free(run->hardware);
    llmperf_profile_free(run->profile);
}
