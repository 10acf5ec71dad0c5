/* SPDX-License-Identifier: Apache-2.0 */
/* Work that several GPUs share, and work that is done for nothing: drafts and padding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/model_work.h"
#include "llmperf/sys/analysis.h"

static void tensor_parallel_shares_add_up(void **state)
{
    llmperf_model *model = open_test_model("llama_3_70b");
    uint64_t cached = 2047;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    llmperf_work whole = work_of(model, &step), share;
    uint64_t norms = find_operator_work(model, &step, "norm", "dense").weight_bytes + 2 * 8192;

    (void)state;
    step.tensor_parallel = 8;
    share = work_of(model, &step);
    assert_true(8 * share.model_flops == whole.model_flops);
    assert_true(8 * share.hardware_flops == whole.hardware_flops);
    assert_true(8 * share.kv_read_bytes == whole.kv_read_bytes);
    /* Norms and rows of the table are on every GPU. */
    assert_true(8 * share.weight_bytes == whole.weight_bytes + 7 * (norms + 2 * 8192));
    /* Two sums a layer, 2 (t - 1) / t of a vector each. */
    assert_true(share.communication_bytes == (uint64_t)80 * 2 * (2 * 7 * 8192 * 2 / 8));
    /* Eight KV heads on sixteen GPUs: each holds one. */
    step.tensor_parallel = 16;
    assert_true(work_of(model, &step).kv_read_bytes == share.kv_read_bytes);
    assert_true(16 * work_of(model, &step).model_flops == whole.model_flops);
    assert_true(16 * work_of(model, &step).hardware_flops > whole.hardware_flops);
    llmperf_model_free(model);
}

static void latent_cache_is_not_shared(void **state)
{
    llmperf_model *model = open_test_model("deepseek_v3");
    uint64_t cached = 2047;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    uint64_t whole = work_of(model, &step).kv_read_bytes;

    (void)state;
    step.tensor_parallel = 8;
    assert_true(work_of(model, &step).kv_read_bytes == whole);
    llmperf_model_free(model);
}

static void pipeline_stages_add_up(void **state)
{
    llmperf_model *model = open_test_model("deepseek_v3");
    uint64_t tokens = 100, cached = 50, flops = 0, weights = 0, layers = 0;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);
    llmperf_work whole = work_of(model, &step);

    (void)state;
    step.pipeline_parallel = 4;
    for (step.pipeline_rank = 0; step.pipeline_rank < 4; step.pipeline_rank++) {
        llmperf_work stage = work_of(model, &step);

        flops += stage.model_flops;
        weights += stage.weight_bytes;
        layers += find_operator_work(model, &step, "attention", "moe").layers;
        assert_true(stage.communication_bytes ==
                    (step.pipeline_rank < 3 ? (uint64_t)100 * 7168 * 2 : 0));
    }
    assert_int_equal(layers, 58);
    assert_true(flops == whole.model_flops);
    assert_true(llabs((long long)(weights - whole.weight_bytes)) <= 4); /* rounding of experts */
    llmperf_model_free(model);
}

static void expert_parallel_spreads_whole_experts(void **state)
{
    llmperf_model *model = open_test_model("deepseek_v3");
    uint64_t cached[32];
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, cached);
    uint64_t whole;
    llmperf_work work;

    (void)state;
    for (size_t i = 0; i < 32; i++)
        cached[i] = 2047;
    step.requests = 32;
    whole = find_operator_work(model, &step, "experts", "moe").model_flops;
    step.expert_parallel = step.data_parallel = 8;
    work = work_of(model, &step);
    /* Tokens of all replicas choose. */
    assert_true(work.experts_touched == llmperf_experts_expected(256, 8, 256));
    assert_true(find_operator_work(model, &step, "experts", "moe").model_flops == whole);
    assert_true(fabs((double)find_operator_work(model, &step, "experts", "moe").weight_bytes -
                     58.0 * 3 * 7168 * 2048 * 4097 / 4096 * work.experts_touched / 8) < 2);
    llmperf_model_free(model);
}

static void certain_drafts_are_all_model_work(void **state)
{
    llmperf_model *model = open_test_model("mixtral_8x7b");
    uint64_t cached = 500;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    uint64_t plain = work_of(model, &step).model_flops;
    llmperf_work work;

    (void)state;
    step.draft_tokens = 4;
    work = work_of(model, &step);
    assert_true(work.model_flops == plain);
    assert_true(work.tokens_expected == 1);
    step.acceptance = 1;
    work = work_of(model, &step);
    assert_true(work.model_flops == work.hardware_flops);
    assert_true(work.tokens_expected == 5);
    assert_true(work.experts_touched == llmperf_experts_expected(8, 2, 5));
    llmperf_model_free(model);
}

static void padding_is_hardware_work(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t cached = 99;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    llmperf_work plain = work_of(model, &step), padded;

    (void)state;
    step.padded_tokens = 8;
    padded = work_of(model, &step);
    assert_true(padded.model_flops == plain.model_flops);
    assert_true(padded.hardware_flops - plain.hardware_flops == 7 * info_of(model).flops_per_token);
    llmperf_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_parallel_shares_add_up),
        cmocka_unit_test(latent_cache_is_not_shared),
        cmocka_unit_test(pipeline_stages_add_up),
        cmocka_unit_test(expert_parallel_spreads_whole_experts),
        cmocka_unit_test(certain_drafts_are_all_model_work),
        cmocka_unit_test(padding_is_hardware_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
