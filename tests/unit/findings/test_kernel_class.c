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

#include "llmperf/api.h"
#include "llmperf/profile.h"
#include "lib/findings/kernels/kernel_class.h"

/* tests/data/kernel_names/names.tsv: class, source and name of each kernel. */
static void check_names(FILE *file, struct lp_kernel_classes *classes)
{
    char *line = NULL, *rest = NULL;
    size_t capacity = 0, count = 0, wrong = 0;

    assert_true(getline(&line, &capacity, file) > 0); /* titles */
    for (; getline(&line, &capacity, file) > 0; count++) {
        const char *wanted = strtok_r(line, "\t", &rest), *source = strtok_r(NULL, "\t", &rest);
        const char *name = strtok_r(NULL, "\n", &rest), *found;

        assert_non_null(name);
        found = lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL);
        if (strcmp(found, wanted) != 0) {
            print_message("%s, not %s: %s (%s)\n", found, wanted, name, source);
            wrong++;
        }
    }
    free(line);
    assert_true(count >= 300);
    assert_int_equal(wrong, 0);
}

static void kernels_of_engines_have_their_class(void **state)
{
    const char *data = getenv("LLMPERF_TEST_DATA");
    struct lp_kernel_classes *classes = NULL;
    char path[512];
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/kernel_names/names.tsv", data ? data : "");
    assert_non_null(file = fopen(path, "r"));
    assert_int_equal(lp_kernel_classes_open(NULL, &classes), 0);
    check_names(file, classes);
    assert_string_equal(lp_kernel_class(classes, "[memcpy HtoD]", LLMPERF_ACTIVITY_MEMCPY),
                        "memory op");
    assert_string_equal(lp_kernel_class(classes, "[memset]", LLMPERF_ACTIVITY_MEMSET), "memory op");
    fclose(file);
    lp_kernel_classes_free(classes);
}

/* NCCL's names say RING and LL also of what runs otherwise. */
static void names_of_collectives_say_what_they_do(void **state)
{
    static const struct {
        const char *name, *kind, *algorithm, *protocol, *dtype;
    } names[] = {
        { "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          "all_reduce", "not tree", NULL, "bf16" },
        { "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce",
          "tree", NULL, "fp32" },
        { "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_gather",
          "not tree", NULL, NULL },
        { "ncclDevKernel_ReduceScatter_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          "reduce_scatter", "not tree", NULL, "fp16" },
        { "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send_recv", NULL, NULL,
          NULL },
        { "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "broadcast",
          "not tree", NULL, NULL },
        { "ncclKernel_AllReduce_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)",
          "all_reduce", "not tree", NULL, "fp16" },
        { "ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)", "all_reduce",
          "one-shot", "LL", "fp32" },
        { "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)", "all_reduce",
          "one-shot", NULL, "bf16" },
        { "void vllm::cross_device_reduce_2stage<half, 8>(vllm::RankData*)", "all_reduce",
          "two-shot", NULL, "fp16" },
        { "void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", "all_reduce",
          "in-switch", NULL, "bf16" },
        { "void ar_fusion::allreduce_fusion_kernel_oneshot_lamport<__nv_bfloat16, 8>(int)",
          "all_reduce", "one-shot", "Lamport", "bf16" },
        { "deep_ep::internode::barrier(int)", "all_to_all", NULL, NULL, NULL },
        { "nvshmemi_kernel(int)", NULL, NULL, NULL, NULL },
    };
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(lp_kernel_classes_open(NULL, &classes), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *wanted[LP_TRAITS] = { names[i].kind, names[i].algorithm, names[i].protocol,
                                          names[i].dtype };

        for (int trait = 0; trait < LP_TRAITS; trait++) {
            const char *found =
                lp_collective_trait(classes, (enum lp_collective_trait)trait, names[i].name);

            if (!found != !wanted[trait] || (found && strcmp(found, wanted[trait]) != 0))
                fail_msg("%s: %s, not %s", names[i].name, found, wanted[trait]);
        }
    }
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

static void check_class(struct lp_kernel_classes *classes, const char *name, const char *wanted)
{
    /* The second time it is remembered. */
    for (int i = 0; i < 2; i++)
        assert_string_equal(lp_kernel_class(classes, name, LLMPERF_ACTIVITY_KERNEL), wanted);
}

static void the_first_matching_rule_wins(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(open_text("rules:\n"
                               "  - class: first\n    patterns: [\"regex:^a.*b$\"]\n"
                               "  - class: second\n    patterns: [AB, b]\n",
                               &classes),
                     0);
    check_class(classes, "a_b", "first");
    check_class(classes, "a_bx", "second");
    check_class(classes, "xaBx", "second");
    check_class(classes, "", "other");
    lp_kernel_classes_free(classes);
}

static void the_own_name_of_a_function_counts_before_the_rest(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(open_text("rules:\n"
                               "  - class: attention\n    patterns: [flash]\n"
                               "  - class: norm\n    patterns: [norm]\n"
                               "  - class: copy\n    patterns: [copy]\n",
                               &classes),
                     0);
    check_class(classes, "void flashinfer::norm_kernel<half>(half*)", "norm");
    check_class(classes, "void flashinfer::kernel<norm>(half*)", "attention");
    check_class(classes, "void apply<&(copy<float>(float*)), 4>(flash::params)", "attention");
    check_class(classes, "std::enable_if<flash, void>::type a::(anonymous namespace)::copy<4>(int)",
                "copy");
    check_class(classes, "void <unnamed>::copy_kernel<(bool)1>(flash *)", "copy");
    check_class(classes, "void kernel<float>(norm*)", "norm");
    check_class(classes, "void kernel<float>(int)", "other");
    lp_kernel_classes_free(classes);
}

static void patterns_have_pieces_and_a_beginning(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(open_text("rules:\n"
                               "  - class: begin\n    patterns: [\"^loop_*Fusion\"]\n"
                               "  - class: order\n    patterns: [\"a_*b_*c_\", \"end*\"]\n",
                               &classes),
                     0);
    check_class(classes, "loop_add_fusion_3", "begin");
    check_class(classes, "wide_loop_add_fusion", "other");
    check_class(classes, "loop_add", "other");
    check_class(classes, "xa_yb_zc_", "order");
    check_class(classes, "a_b_c_", "order");
    check_class(classes, "b_a_c_", "other");
    check_class(classes, "a_b_c", "other");
    check_class(classes, "the_end", "order");
    lp_kernel_classes_free(classes);
}

static void rules_that_say_where_they_look_count_first(void **state)
{
    struct lp_kernel_classes *classes = NULL;

    (void)state;
    assert_int_equal(
        open_text("rules:\n"
                  "  - class: elementwise\n    patterns: [elementwise]\n"
                  "  - class: copy\n    in: name\n    patterns: [\"<copy\"]\n"
                  "  - class: list\n    in: function\n    patterns: [\"regex:^add_\"]\n",
                  &classes),
        0);
    check_class(classes, "void a::elementwise_kernel<copy<4>>(int)", "copy");
    check_class(classes, "void a::elementwise_kernel<add<4>>(int)", "elementwise");
    check_class(classes, "void a::add_elementwise<4>(int)", "list");
    check_class(classes, "void a::elementwise_kernel<add_one>(int)", "elementwise");
    check_class(classes, "void a::kernel<add_one>(int)", "other");
    lp_kernel_classes_free(classes);
}

/* Names are searched in small letters. */
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
    static const char *const wrong[] = {
        "rules: []\n",
        "rules:\n  - class: a\n",
        "rules:\n  - patterns: [a]\n",
        "rules:\n  - class: a\n    patterns: [\"\"]\n",
        "rules:\n  - class: a\n    patterns: [\"regex:(\"]\n",
        "rules:\n  - class: a\n    patterns: [\"^*\"]\n",
        "rules:\n  - class: a\n    in: path\n    patterns: [a]\n",
        "rules:\n  - class: a\n    in: [name]\n    patterns: [a]\n",
        "other: 1\n"
    };

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
        cmocka_unit_test(kernels_of_engines_have_their_class),
        cmocka_unit_test(names_of_collectives_say_what_they_do),
        cmocka_unit_test(the_first_matching_rule_wins),
        cmocka_unit_test(the_own_name_of_a_function_counts_before_the_rest),
        cmocka_unit_test(patterns_have_pieces_and_a_beginning),
        cmocka_unit_test(rules_that_say_where_they_look_count_first),
        cmocka_unit_test(neither_length_nor_capitals_change_the_class),
        cmocka_unit_test(a_wrong_table_is_refused_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
