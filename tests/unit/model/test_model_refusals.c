/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that must be refused, and names and numbers of formats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/model_work.h"
#include "lib/model/work.h"
#include "llmperf/sys/analysis.h"

static void a_smaller_struct_is_filled_as_far_as_it_goes(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    llmperf_work work;

    (void)state;
    memset(&work, 0x55, sizeof(work));
    work.struct_size = offsetof(llmperf_work, vector_flops);
    {
        llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);

        step.struct_size = offsetof(llmperf_step, new_tokens);
        assert_int_equal(llmperf_model_work(model, &step, &work), 0);
    }
    assert_int_equal(work.model_flops, UINT64_C(15009841152));
    assert_int_equal(work.vector_flops, UINT64_C(0x5555555555555555));
    assert_int_equal(work.struct_size, offsetof(llmperf_work, vector_flops));
    llmperf_model_free(model);
}

static void assert_step_refused(const llmperf_model *model, const llmperf_step *step, int status,
                                const char *part)
{
    llmperf_work work = LLMPERF_WORK_INIT;

    assert_int_equal(llmperf_model_work(model, step, &work), status);
    assert_int_equal(work.model_flops, 0);
    if (!strstr(llmperf_last_error(), part) || strchr(llmperf_last_error(), '\n'))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

static void impossible_steps_are_refused(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t tokens = 10, cached = 5, none = 0, huge = UINT64_MAX, rows = 11;
    const llmperf_step fine = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);
    llmperf_step step;

    (void)state;
#define REFUSED(change, part)                                                                      \
    do {                                                                                           \
        step = fine;                                                                               \
        change;                                                                                    \
        assert_step_refused(model, &step, LLMPERF_EINVAL, part);                                   \
    } while (0)
    REFUSED(step.new_tokens = &none, "0 new tokens");
    REFUSED(step.new_tokens = &huge, "new tokens");
    REFUSED(step.cached_tokens = &huge, "cached tokens");
    REFUSED(step.new_tokens = NULL, "needs new_tokens");
    REFUSED(step.requests = 0, "0 requests");
    REFUSED(step.phase = 0, "phase 0");
    REFUSED(step.phase = 9, "phase 9");
    REFUSED(step.logits = 9, "logits value 9");
    REFUSED(step.logits_rows = &rows, "11 rows of logits");
    REFUSED(step.weight_dtype = 99, "weight_dtype 99");
    REFUSED(step.kv_dtype = LLMPERF_DTYPE_INT4_G128, "kv_dtype int4_g128");
    REFUSED(step.draft_tokens = 3, "decode phase");
    REFUSED(step.acceptance = 0.5, "acceptance needs draft_tokens");
    REFUSED(step.tensor_parallel = 3, "does not divide");
    REFUSED(step.tensor_parallel = UINT32_MAX, "parallel GPUs");
    REFUSED(step.pipeline_parallel = 33, "only 32 layers");
    REFUSED(step.pipeline_rank = 1, "pipeline_rank 1");
    REFUSED(step.expert_parallel = 2, "expert_parallel");
    REFUSED(step.experts_touched = 1, "experts_touched");
    REFUSED(step.experts_touched = (double)NAN, "experts_touched");
    REFUSED(step.struct_size = 0, "struct_size");
    REFUSED((step.phase = LLMPERF_PHASE_DECODE, step.draft_tokens = 3, step.new_tokens = NULL,
             step.acceptance = 1.5),
            "acceptance is 1.5");
    REFUSED((step.phase = LLMPERF_PHASE_DECODE, step.draft_tokens = 3, step.acceptance = 0.5),
            "one more");
    step = fine;
    step.phase = LLMPERF_PHASE_VISION;
    assert_step_refused(model, &step, LLMPERF_ENOTSUP, "no vision");
    llmperf_model_free(model);
}

static void impossible_images_are_refused(void **state)
{
    llmperf_model *model = open_test_model("deepseek_ocr"), *resnet = open_test_model("resnet_50");
    uint64_t tiny = 8, huge = UINT64_C(1) << 40, many = 5000, tokens = 1;
    llmperf_step step = LLMPERF_STEP_INIT;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "0 images");
    step.images = 1;
    step.image_heights = &tiny;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "too small");
    step.image_heights = &huge;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "pixels");
    step.image_heights = NULL;
    step.tile_rows = &many;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "must be given together");
    step.tile_columns = &many;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "tiles");
    step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);
    assert_step_refused(resnet, &step, LLMPERF_ENOTSUP, "no decoder");
    llmperf_model_free(model);
    llmperf_model_free(resnet);
}

static void numbers_above_64_bits_are_refused(void **state)
{
    llmperf_model *model = open_test_model("llama_3_1_405b");
    uint64_t tokens = UINT64_C(1) << 36, flops;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &tokens);

    (void)state;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "exceeds 64 bits");
    assert_int_equal(llmperf_model_flops(model, &step, "palm", &flops), LLMPERF_EINVAL);
    assert_true(lp_pairs_causal(tokens, tokens, 4096) == 4096 * tokens);
    llmperf_model_free(model);
}

static void conventions_are_of_whole_steps(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t flops;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);

    (void)state;
    for (size_t i = 0; llmperf_convention_name(i); i++) {
        assert_non_null(llmperf_convention_note(llmperf_convention_name(i)));
        assert_int_equal(llmperf_model_flops(model, &step, llmperf_convention_name(i), &flops), 0);
        assert_true(flops > 0);
    }
    assert_int_equal(llmperf_model_flops(model, &step, "mine", &flops), LLMPERF_EINVAL);
    assert_null(llmperf_convention_note("mine"));
    step.tensor_parallel = 2;
    assert_int_equal(llmperf_model_flops(model, &step, "palm", &flops), LLMPERF_EINVAL);
    llmperf_model_free(model);
}

static void formats_have_names_and_bits(void **state)
{
    uint32_t dtype, i;

    (void)state;
    for (i = 1; lp_dtype(i); i++) {
        assert_int_equal(llmperf_dtype_find(llmperf_name(LLMPERF_NAME_DTYPE, i), &dtype), 0);
        assert_int_equal(dtype, i);
        assert_true(lp_dtype_bytes(i, 256) >= 128);
    }
    assert_true(i > LLMPERF_DTYPE_INT4_G32_SYM);
    assert_string_equal(llmperf_name(LLMPERF_NAME_DTYPE, i), "unknown");
    assert_true(8 * lp_dtype_bytes(LLMPERF_DTYPE_NVFP4, 256) == 1152 /* 4.5 bits each */);
    assert_true(8 * lp_dtype_bytes(LLMPERF_DTYPE_INT4_G128, 256) == 1064);
    assert_true(8 * lp_dtype_bytes(LLMPERF_DTYPE_Q6_K, 256) == 1680);
    assert_int_equal(llmperf_dtype_find("fp7", &dtype), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "fp7"));
    assert_string_equal(llmperf_name(LLMPERF_NAME_DTYPE, 99), "unknown");
    assert_true(!lp_dtype(12345));
}

static void expectations_of_nonsense_are_not_numbers(void **state)
{
    (void)state;
    assert_true(isnan(llmperf_experts_expected(8, 0, 1)));
    assert_true(isnan(llmperf_experts_expected(8, 9, 1)));
    assert_true(llmperf_experts_expected(8, 8, 1) == 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smaller_struct_is_filled_as_far_as_it_goes),
        cmocka_unit_test(impossible_steps_are_refused),
        cmocka_unit_test(impossible_images_are_refused),
        cmocka_unit_test(numbers_above_64_bits_are_refused),
        cmocka_unit_test(conventions_are_of_whole_steps),
        cmocka_unit_test(formats_have_names_and_bits),
        cmocka_unit_test(expectations_of_nonsense_are_not_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
