/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model: it is read or refused with one line, and what was read has work and floors.
 */
#include <string.h>

#include "llmperf/roofline.h"
#include "tests/fuzz/fuzz.h"

static llmperf_hardware *hardware;

static void find_hardware(void)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    query.name = "H200";
    if (!hardware && llmperf_hardware_find(&query, NULL, &hardware) < 0)
        abort();
}

static void check_step(const llmperf_model *model, uint32_t phase, uint32_t tensor)
{
    static const uint64_t tokens[2] = { 100, 7 }, cached[2] = { 0, 300 };
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t flops = 0;

    step.phase = phase;
    step.requests = 2;
    step.images = 1;
    step.tensor_parallel = tensor;
    step.new_tokens = phase == LLMPERF_PHASE_PREFILL ? tokens : NULL;
    step.cached_tokens = cached;
    if (llmperf_model_work(model, &step, &work) < 0)
        return;
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        flops += op.model_flops;
    if (flops != work.model_flops)
        abort(); /* the rows of a step add up */
    if (llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_IN_USE, &floor) < 0)
        abort(); /* what has work has floors, known or not */
    if (floor.serial_ms < floor.roofline_ms * (1 - 1e-9))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
    llmperf_model *model = NULL;

    find_hardware();
    if (llmperf_model_open(fuzz_file(bytes, size, ".json"), &model) < 0) {
        if (strlen(llmperf_last_error()) < 10 || strchr(llmperf_last_error(), '\n'))
            abort();
        return 0;
    }
    if (llmperf_model_info_get(model, &info) < 0)
        abort();
    for (uint32_t phase = LLMPERF_PHASE_PREFILL; phase <= LLMPERF_PHASE_VISION; phase++) {
        check_step(model, phase, 1);
        check_step(model, phase, 2);
    }
    llmperf_model_free(model);
    return 0;
}
