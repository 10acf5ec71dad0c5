/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/analysis/analysis.h"
#include "llmperf/activity.h"
#include "llmperf/api.h"

/* Names as CUDA libraries, PyTorch, vLLM, FlashInfer, Triton and our own examples give them. */
static const struct {
    const char *class_name, *kernel;
} known[] = {
    { "GEMM", "nvjet_sm90_hsh_64x8_64x16_1x2_h_bz_bias_TNT" },
    { "GEMM", "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(Params)" },
    { "GEMM", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1" },
    { "GEMM",
      "void gemv2T_kernel_val<int, int, __nv_bfloat16, float, 128, 16, 4, 4, false>(Params)" },
    { "GEMM", "resnet::conv3x3_kernel(float*, float const*, float const*)" },
    { "attention",
      "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>(Params)" },
    { "attention", "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::Params)" },
    { "attention", "void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128, 16>(float*)" },
    { "attention", "void flashinfer::BatchDecodeWithPagedKVCacheKernel<2u, 8u>(Params)" },
    { "MoE", "fused_moe_kernel" },
    { "MoE", "void vllm::moe::topkGatingSoftmax<4, 64, 4, 16>(float const*, bool const*)" },
    { "norm", "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)" },
    { "norm",
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)" },
    { "elementwise", "void at::native::vectorized_elementwise_kernel<4, "
                     "at::native::CUDAFunctor_add<float>>(int)" },
    { "elementwise",
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<Mul>>(int)" },
    { "copy/cast",
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda>>(int)" },
    { "elementwise", "rope_kernel(float*)" },
    { "elementwise",
      "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<float>>(Half*)" },
    { "elementwise", "triton_poi_fused_mul_0" },
    { "copy/cast",
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<OpaqueType<2u>>(int)" },
    { "reduction",
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(ReduceOp)" },
    { "sampling",
      "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(TensorInfo)" },
    { "collective", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)" },
    { "collective", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(RankData*)" },
    { "other", "my_secret_kernel" },
};

static void known_kernels_have_their_class(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(lp_kernel_classes_open(NULL, &classes), 0);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const char *found = lp_kernel_class(classes, known[i].kernel, LLMPERF_ACTIVITY_KERNEL);

        if (strcmp(found, known[i].class_name))
            print_message("%s\n", known[i].kernel);
        assert_string_equal(found, known[i].class_name);
    }
    assert_string_equal(lp_kernel_class(classes, "[memcpy HtoD]", LLMPERF_ACTIVITY_MEMCPY),
                        "memory op");
    assert_string_equal(lp_kernel_class(classes, "[memset]", LLMPERF_ACTIVITY_MEMSET), "memory op");
    lp_kernel_classes_free(classes);
}

static int open_text(const char *text, struct lp_kernel_classes **classes)
{
    char path[] = "/tmp/llmperf-classes-XXXXXX";
    int fd = mkstemp(path), status;

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    status = lp_kernel_classes_open(path, classes);
    unlink(path);
    return status;
}

static void the_first_matching_rule_wins(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(open_text("rules:\n"
                               "  - class: first\n    patterns: [\"regex:^void a.*b$\"]\n"
                               "  - class: second\n    patterns: [AB, b]\n",
                               &classes),
                     0);
    assert_string_equal(lp_kernel_class(classes, "void a::b", LLMPERF_ACTIVITY_KERNEL), "first");
    assert_string_equal(lp_kernel_class(classes, "void a::b()", LLMPERF_ACTIVITY_KERNEL), "second");
    assert_string_equal(lp_kernel_class(classes, "xaBx", LLMPERF_ACTIVITY_KERNEL), "second");
    assert_string_equal(lp_kernel_class(classes, "", LLMPERF_ACTIVITY_KERNEL), "other");
    lp_kernel_classes_free(classes);
}

/* Names are searched in small letters, long ones as they are; the answer is the same. */
static void neither_length_nor_capitals_change_the_class(void **state)
{
    struct lp_kernel_classes *classes = NULL;
    static char name[5000];

    (void)state;
    assert_int_equal(open_text("rules:\n"
                               "  - class: long\n    patterns: [\"A_Pattern_of_many_letters\"]\n"
                               "  - class: short\n    patterns: [\"Q\", \"regex:z$\"]\n",
                               &classes),
                     0);
    for (size_t length = 1; length < sizeof(name) - 40; length = length * 3 + 1) {
        memset(name, '-', length);
        strcpy(name + length, "a_PATTERN_of_many_letters");
        assert_string_equal(lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL), "long");
        /* All of its pairs, but not the pattern. */
        strcpy(name + length, "a_p_pattern_of_many_lettersz");
        assert_string_equal(lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL), "short");
        strcpy(name + length, "--q");
        assert_string_equal(lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL), "short");
        strcpy(name + length, "---");
        assert_string_equal(lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL), "other");
    }
    lp_kernel_classes_free(classes);
}

static void a_wrong_table_is_refused_with_its_place(void **state)
{
    static const char *const wrong[] = { "rules: []\n",
                                         "rules:\n  - class: a\n",
                                         "rules:\n  - patterns: [a]\n",
                                         "rules:\n  - class: a\n    patterns: [\"\"]\n",
                                         "rules:\n  - class: a\n    patterns: [\"regex:(\"]\n",
                                         "other: 1\n" };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct lp_kernel_classes *classes = NULL;

        assert_true(open_text(wrong[i], &classes) < 0);
        assert_null(classes);
        assert_true(strlen(llmperf_last_error()) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_kernels_have_their_class),
        cmocka_unit_test(the_first_matching_rule_wins),
        cmocka_unit_test(neither_length_nor_capitals_change_the_class),
        cmocka_unit_test(a_wrong_table_is_refused_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
