/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and kernels in the words of nsys and ncu, and the library's functions around their
 * commands; tests/cli/test_vendor.sh runs the commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/vendor/commands.h"
#include "llmperf/llmperf.h"

static llmperf_commands *words;

static int make_words(void **state)
{
    (void)state;
    words = calloc(1, sizeof(*words));
    return words ? 0 : -1;
}

static int free_words(void **state)
{
    (void)state;
    llmperf_commands_free(words);
    return 0;
}

static void nsys_takes_message_at_domain(void **state)
{
    (void)state;
    assert_string_equal(lp_nsys_range(words, "LLM@prefill"), "prefill@LLM");
    assert_string_equal(lp_nsys_range(words, "prefill"), "prefill@LLM");
    assert_string_equal(lp_nsys_range(words, "NCCL@ncclAllReduce"), "ncclAllReduce@NCCL");
    /* A range whose name holds the domain, as Python programs wrote it. */
    assert_string_equal(lp_nsys_range(words, "LLM@LLM@prefill"), "LLM\\@prefill@LLM");
    assert_string_equal(lp_nsys_range(words, "default@forward"), "forward");
    assert_string_equal(lp_nsys_range(words, "default@a@b\\c"), "a\\@b\\\\c");
    assert_null(lp_nsys_range(words, "LLM@prefill/LLM@mlp"));
    assert_null(lp_nsys_range(words, "regex:LLM@.*"));
    assert_null(lp_nsys_range(words, "LLM@"));
}

static const char *ncu(const char *text)
{
    const char *problem = NULL, *range = lp_ncu_range(words, text, &problem);

    assert_true(range ? !problem : problem && *problem);
    return range;
}

static void ncu_takes_domain_at_names_with_slashes(void **state)
{
    (void)state;
    assert_string_equal(ncu("LLM@prefill"), "LLM@prefill/");
    assert_string_equal(ncu("decode_all"), "LLM@decode_all/");
    assert_string_equal(ncu("LLM@prefill/LLM@mlp"), "LLM@prefill/mlp");
    assert_string_equal(ncu("LLM@LLM@prefill"), "LLM@LLM\\@prefill/");
    assert_string_equal(ncu("default@forward"), "forward/");
    assert_string_equal(ncu("M@0"), "M@0/");
    /* Expressions of ncu stay as they are. */
    assert_string_equal(ncu("LLM@prefill/"), "LLM@prefill/");
    assert_string_equal(ncu("regex:LLM@dec.*/"), "regex:LLM@dec.*/");
    assert_string_equal(ncu("LLM@prefill/*/mlp"), "LLM@prefill/*/mlp");
    assert_string_equal(ncu("M:0\\[Sequential\\]/"), "M:0\\[Sequential\\]/");
    /* These would match nothing, without a word. */
    assert_null(ncu("LLM@*"));
    assert_null(ncu("decode*"));
    assert_null(ncu("layer*/"));
    assert_null(ncu("layer1;layer2"));
    assert_null(ncu("LLM@a/NCCL@b"));
    assert_null(ncu(""));
}

static void functions_of_kernels_are_found(void **state)
{
    static const char *const names[][2] = {
        { "ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn" },
        { "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
          "std::array<char*, 1ul>>(int, at::native::FillFunctor<float>)",
          "vectorized_elementwise_kernel" },
        { "void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm>(Params)", "Kernel2" },
        { "void (anonymous namespace)::softmax<float, 10>(float *)", "softmax" },
        { "<unnamed>::reduce(int)", "reduce" },
        { "std::enable_if<(1 > 0), void>::type foo<int>(int)", "foo" },
        { "copy_rows(int)", "copy_rows" },
        { "void unbalanced::kernel<32", "kernel" },
        { "plain", "plain" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(lp_kernel_function(words, names[i][0]), names[i][1]);
}

static bool has_argument(const llmperf_commands *commands, const char *wanted)
{
    const char *argument;

    for (size_t i = 0; (argument = llmperf_commands_argument(commands, 0, i)); i++)
        if (strcmp(argument, wanted) == 0)
            return true;
    return false;
}

static void names_that_the_tools_expand_are_escaped(void **state)
{
    llmperf_tool_request request = LLMPERF_TOOL_REQUEST_INIT;
    llmperf_commands *commands = NULL;
    llmperf_config *config = NULL;
    char *json;

    (void)state;
    assert_int_equal(llmperf_config_parse("pipeline: {nsys: {}}\n", &config), LLMPERF_OK);
    request.tool = LLMPERF_TOOL_NSYS;
    request.folder = "/runs/50%p";
    request.program = "%p";
    assert_int_equal(llmperf_commands_build(config, &request, NULL, &commands), LLMPERF_OK);
    assert_true(has_argument(commands, "--output=/runs/50%%p/run"));
    assert_true(has_argument(commands, "%p"));
    assert_true(has_argument(commands, "--sample=none")); /* also where nothing is said */
    assert_true(has_argument(commands, "--trace=cuda,nvtx"));
    assert_string_equal(llmperf_commands_output(commands, 0), "/runs/50%p/run.nsys-rep");
    assert_string_equal(llmperf_commands_step(commands, 1), "export");
    assert_null(llmperf_commands_step(commands, llmperf_commands_count(commands)));
    assert_null(llmperf_commands_argument(commands, 99, 0));
    assert_null(llmperf_commands_note(commands, 0));
    assert_int_equal(llmperf_commands_json(commands, &json), LLMPERF_OK);
    assert_non_null(strstr(json, "\"tool\": \"nsys\""));
    llmperf_text_free(json);
    llmperf_commands_free(commands);
    llmperf_config_free(config);
}

static void lines_to_keep_have_no_secrets(void **state)
{
    static const char *arguments[] = { "--api-key", "sk-live", "it's", "HF_TOKEN=x" };
    llmperf_tool_request request = LLMPERF_TOOL_REQUEST_INIT;
    llmperf_commands *commands = NULL;
    llmperf_config *config = NULL;
    char *line = NULL;

    (void)state;
    assert_int_equal(llmperf_config_parse("pipeline: {nsys: {}}\n", &config), LLMPERF_OK);
    request.tool = LLMPERF_TOOL_NSYS;
    request.folder = "/runs";
    request.program = "engine";
    request.arguments = arguments;
    request.argument_count = 4;
    assert_int_equal(llmperf_commands_build(config, &request, NULL, &commands), LLMPERF_OK);
    assert_true(has_argument(commands, "sk-live")); /* the program gets it */
    assert_int_equal(llmperf_commands_line(commands, 0, &line), LLMPERF_OK);
    assert_non_null(strstr(line, " engine --api-key '***' 'it'\\''s' 'HF_TOKEN=***'"));
    assert_null(strstr(line, "sk-live"));
    assert_int_equal(llmperf_commands_line(commands, 99, &line), LLMPERF_EINVAL);
    llmperf_text_free(line);
    llmperf_commands_free(commands);
    llmperf_config_free(config);
}

static void incomplete_requests_are_refused(void **state)
{
    llmperf_tool_request request = LLMPERF_TOOL_REQUEST_INIT;
    llmperf_commands *commands = NULL;
    llmperf_config *config = NULL;
    char *path = NULL, *version = NULL;

    (void)state;
    assert_int_equal(llmperf_config_parse("a: 1\n", &config), LLMPERF_OK);
    request.tool = LLMPERF_TOOL_NCU;
    request.folder = "x";
    assert_int_equal(llmperf_commands_build(config, &request, NULL, &commands), LLMPERF_EINVAL);
    request.program = "p";
    request.tool = 3;
    assert_int_equal(llmperf_commands_build(config, &request, NULL, &commands), LLMPERF_EINVAL);
    request.tool = LLMPERF_TOOL_NCU;
    assert_int_equal(llmperf_commands_build(NULL, &request, NULL, &commands), LLMPERF_EINVAL);
    assert_null(commands);
    assert_int_equal(llmperf_commands_count(NULL), 0);
    assert_int_equal(llmperf_tool_find(9, &path, &version), LLMPERF_EINVAL);
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(llmperf_tool_find(LLMPERF_TOOL_NCU, &path, &version), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "install"));
    llmperf_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nsys_takes_message_at_domain),
        cmocka_unit_test(ncu_takes_domain_at_names_with_slashes),
        cmocka_unit_test(functions_of_kernels_are_found),
        cmocka_unit_test(names_that_the_tools_expand_are_escaped),
        cmocka_unit_test(lines_to_keep_have_no_secrets),
        cmocka_unit_test(incomplete_requests_are_refused),
    };

    return cmocka_run_group_tests(tests, make_words, free_words);
}
