/* SPDX-License-Identifier: Apache-2.0 */
/** What tier deep cost a stage, from the costs of a launch and of a graph node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

/* 100 launches and a graph of 50 nodes a step; the GPU waits 0.5 ms for launches in between. */
static const char script[] = "gpu \"NVIDIA H200\"\nrepeat 4\nbegin LLM@decode_step sequences=1 "
                             "tokens=1 context=100\nrepeat 100\nlaunch small duration=2000\nwait "
                             "5000\ndone\nrepeat 50\ngraph node duration=2000\ndone\nend\ndone\n";

/* As if it ran on a GPU; measured: members of env.json. */
static llmperf_profile *play_on_gpu(const char *measured)
{
    llmperf_profile *profile = play_script(script);
    char env[512];

    snprintf(
        env, sizeof(env),
        "{\"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H200\", \"compute_capability\": \"9.0\", "
        "\"sm_count\": 132, \"measured\": %s}]}",
        measured);
    assert_int_equal(lp_profile_set_fact(profile, "env", env), 0);
    assert_int_equal(lp_profile_set_fact(profile, "source", "cupti"), 0);
    return profile;
}

static double cost_of(const llmperf_profile *profile, const char *source)
{
    const struct lp_findings *findings = NULL;

    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_string_equal(findings->profiler_rates.source, source);
    for (size_t i = 0; i < findings->regions.count; i++)
        if (strcmp(findings->regions.items[i].stats.label, "LLM@decode_step") == 0)
            return findings->regions.items[i].profiler.call_ms;
    fail_msg("no stage");
    return 0;
}

static void costs_measured_on_this_machine_replace_those_of_another(void **state)
{
    llmperf_profile *unknown = play_on_gpu("null");
    llmperf_profile *known =
        play_on_gpu("{\"measured_at\": \"2026-11-23T03:00:51Z\", \"profiler_launch_us\": 0.3, "
                    "\"profiler_node_us\": 0.9}");
    llmperf_profile *half = play_on_gpu("{\"measured_at\": \"2026-11-23T03:00:51Z\", "
                                        "\"profiler_launch_us\": 0.3}");
    char *text = NULL;

    (void)state;
    check_close(cost_of(unknown, "measured on an H200 of another machine"),
                0.1 * 0.65 + 0.05 * 1.2);
    check_close(cost_of(known, "measured on this machine on 2026-11-23"), 0.1 * 0.3 + 0.05 * 0.9);
    check_close(cost_of(half, "measured on an H200 of another machine"), 0.1 * 0.65 + 0.05 * 1.2);
    assert_int_equal(llmperf_document_text(known, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "(estimated). Estimates: 0.30 us a launch and 0.90 us a graph node, "
                          "measured on this machine on 2026-11-23.\n");
    llmperf_text_free(text);
    llmperf_profile_free(unknown);
    llmperf_profile_free(known);
    llmperf_profile_free(half);
}

/* 100 launches that each take 3.5 us longer: more than all kernels and gaps. */
static void a_cost_above_all_other_parts_comes_first(void **state)
{
    llmperf_profile *profile =
        play_on_gpu("{\"measured_at\": \"2026-11-23T03:00:51Z\", \"profiler_launch_us\": 3.5, "
                    "\"profiler_node_us\": 0.9}");
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "tokens/s**. Profiling itself takes 5");
    assert_text_has(text, " of a call, more than any other part; without it about 0.");
    assert_text_has(text, " tokens/s (estimated). Largest part of the program: ");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_above_all_other_parts_comes_first),
        cmocka_unit_test(costs_measured_on_this_machine_replace_those_of_another),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
