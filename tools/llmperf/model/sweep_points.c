/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds at one place of a sweep. */
#include <math.h>

#include "model/memory.h"
#include "model/sweep.h"

llmperf_step sweep_decode_step(const struct model_answer *answer, uint64_t tp, uint64_t context,
                               uint64_t batch)
{
    llmperf_step step = answer->decode_step;

    step.tensor_parallel = (uint32_t)tp;
    step.requests = batch;
    step.cached_each = context - 1;
    return step;
}

llmperf_step sweep_prefill_step(const struct model_answer *answer, uint64_t tp, uint64_t context)
{
    llmperf_step step = answer->prefill_step;

    step.tensor_parallel = (uint32_t)tp;
    step.requests = 1;
    step.cached_each = answer->prefix < context ? answer->prefix : context - 1;
    step.new_each = context - step.cached_each;
    return step;
}

static void set_values(const struct sweep *sweep, struct sweep_point *point,
                       const llmperf_work *work)
{
    const struct sweep_gpu *gpu = &sweep->gpus[point->gpu];
    double *values = point->values;

    values[SWEEP_CONTEXT] = (double)point->context;
    values[SWEEP_BATCH] = (double)point->batch;
    values[SWEEP_MEASURED_TPOT] = NAN;
    values[SWEEP_SCALED_TTFT] = values[SWEEP_TTFT] / sweep->prefill_efficiency;
    values[SWEEP_SCALED_TPOT] = values[SWEEP_TPOT] / sweep->decode_efficiency;
    values[SWEEP_SCALED_RATE] = values[SWEEP_RATE] * sweep->decode_efficiency;
    values[SWEEP_VALUE] = values[SWEEP_RATE] * 3600 / gpu->price / 1e6;
    values[SWEEP_SCALED_VALUE] = values[SWEEP_VALUE] * sweep->decode_efficiency;
    values[SWEEP_TOUCHED] = work->experts_touched;
    values[SWEEP_CACHE] = (double)work->kv_read_bytes / SWEEP_GB;
    point->fits =
        isnan(gpu->memory_gb) ? -1 : values[SWEEP_WEIGHTS] + values[SWEEP_CACHE] <= gpu->memory_gb;
}

int sweep_work_out(const struct sweep *sweep, struct sweep_point *point)
{
    const struct model_answer *answer = sweep->answer;
    const llmperf_hardware *hardware = sweep->gpus[point->gpu].hardware;
    llmperf_step decode = sweep_decode_step(answer, point->tp, point->context, point->batch);
    llmperf_step prefill = sweep_prefill_step(answer, point->tp, point->context);
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT, first = LLMPERF_STEP_FLOOR_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;
    double each;
    int status;

    if ((status = llmperf_model_work(answer->model, &decode, &work)) < 0 ||
        (status = llmperf_model_floor(answer->model, &decode, hardware, LLMPERF_LIMITS_IN_USE,
                                      &floor)) < 0 ||
        (status = llmperf_model_floor(answer->model, &prefill, hardware, LLMPERF_LIMITS_IN_USE,
                                      &first)) < 0)
        return status;
    each = work.tokens_expected / (double)point->batch;
    point->values[SWEEP_TTFT] = first.roofline_ms;
    point->values[SWEEP_TPOT] = floor.roofline_ms / each;
    point->values[SWEEP_TPOT_SERIAL] = floor.serial_ms / each;
    point->values[SWEEP_RATE] = floor.tokens_per_s / (double)point->tp;
    point->values[SWEEP_WEIGHTS] = weights_held(answer, &prefill) / SWEEP_GB;
    point->bound = floor.bound;
    point->reason = floor.bound_reason ? floor.bound_reason : first.bound_reason;
    set_values(sweep, point, &work);
    return 0;
}
