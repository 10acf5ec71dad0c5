/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/model_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

llmperf_model *open_test_model(const char *name)
{
    llmperf_model *model = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/model/%s.json", getenv("LLMPERF_TEST_DATA"), name);
    if (llmperf_model_open(path, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    return model;
}

llmperf_work work_of(const llmperf_model *model, const llmperf_step *step)
{
    llmperf_work work = LLMPERF_WORK_INIT;

    if (llmperf_model_work(model, step, &work) < 0)
        fail_msg("%s", llmperf_last_error());
    return work;
}

llmperf_step step_of(uint32_t phase, const uint64_t *tokens, const uint64_t *cached)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = phase;
    step.requests = 1;
    step.new_tokens = tokens;
    step.cached_tokens = cached;
    return step;
}

llmperf_work prefill_work(const llmperf_model *model, uint64_t tokens, uint64_t cached,
                          uint32_t logits)
{
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);

    step.logits = logits;
    return work_of(model, &step);
}

llmperf_work decode_work(const llmperf_model *model, uint64_t context)
{
    uint64_t cached = context - 1;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);

    return work_of(model, &step);
}

llmperf_model_info info_of(const llmperf_model *model)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

    assert_int_equal(llmperf_model_info_get(model, &info), 0);
    return info;
}

/* The row of an operator; all zero if there is none. */
llmperf_operator_work find_operator_work(const llmperf_model *model, const llmperf_step *step,
                                         const char *name, const char *kind)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;

    for (size_t i = 0; llmperf_model_operator(model, step, i, &op) == 0; i++)
        if (strcmp(op.name, name) == 0 && (!kind || strcmp(op.layer_kind, kind) == 0))
            return op;
    fail_msg("no operator %s", name);
    return op;
}
