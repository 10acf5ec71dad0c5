/* SPDX-License-Identifier: Apache-2.0 */
/** Steps of engines that are known by the names of their NVTX ranges, with device work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/nvtx_calls.h"
#include "tests/support/play.h"

#define MODEL "llama_3_8b"
#define STEPS 40

static void run_step(const char *name)
{
    nvtx.range_push_a(name);
    lp_fake_launch("gemm", 7, 1000);
    nvtx.range_pop();
}

/* A prefill, decode steps whose context grows, and a step with both. */
static void run_engine(void)
{
    char name[128];

    run_step(
        "execute_512_context_1(sq512sk512sqsq262144sqsk262144)_generation_0(sq0sk0sqsq0sqsk0)");
    for (int i = 0; i < STEPS; i++) {
        snprintf(name, sizeof(name),
                 "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk%dsqsq2sqsk%d)",
                 1000 + 2 * i, 1000 + 2 * i);
        run_step(name);
    }
    run_step("execute_66_context_1(sq64sk64sqsq4096sqsk4096)_generation_2(sq2sk1100sqsq2sqsk1100)");
    run_step("execute_context_1(64)_generation_2(2)");
}

/* The same, marked by the program. */
static void run_marked(void)
{
    llmperf_prefill_begin(512);
    llmperf_region_count(LLMPERF_QUANTITY_CONTEXT, 512);
    llmperf_prefill_end();
    for (uint64_t i = 0; i < STEPS; i++) {
        llmperf_decode_step_begin(2, 1000 + 2 * i);
        llmperf_decode_step_end();
    }
}

static llmperf_session *start(const char *run_dir)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.model_path = MODEL;
    options.run_dir = run_dir;
    options.keep_trace = run_dir != NULL;
    return start_options(&options);
}

static void check_steps(const llmperf_profile *profile)
{
    llmperf_region_stats step = find_region(profile, "vllm@decode_step", 0);

    assert_int_equal(step.kind, LLMPERF_REGION_STAGE);
    assert_int_equal(step.instances, STEPS);
    assert_int_equal(step.kernel_count, STEPS);
    assert_int_equal(step.tokens, 2 * STEPS);
    assert_int_equal(find_region(profile, "vllm@prefill", 0).context, 512);
    assert_int_equal(find_region(profile, "vllm@mixed_step", 0).instances, 2);
    assert_int_equal(find_all_calls(profile, "vllm@decode_step", "elapsed").count, STEPS);
}

static void steps_have_the_work_of_marked_ones(void **state)
{
    llmperf_session *session = start(NULL);
    llmperf_profile *profile, *marked;

    (void)state;
    run_engine();
    profile = stop_session(session);
    session = start(NULL);
    run_marked();
    marked = stop_session(session);
    check_steps(profile);
    assert_true(find_region(profile, "vllm@decode_step", 0).flops ==
                find_region(marked, "LLM@decode_step", -1).flops);
    assert_true(find_region(profile, "vllm@decode_step", 0).flops > 0);
    assert_true(find_region(profile, "vllm@prefill", 0).bytes ==
                find_region(marked, "LLM@prefill", -1).bytes);
    /* One of the mixed steps has no context. */
    assert_true(find_region(profile, "vllm@mixed_step", 0).flops == LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "vllm@mixed_step: its context was not given"));
    llmperf_profile_free(marked);
    llmperf_profile_free(profile);
}

static int replay(const char *recording)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;

    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = recording;
    profile = play_options(&options);
    check_steps(profile);
    llmperf_profile_free(profile);
    return 0;
}

/* In another process, which knows the kinds of paths from the recording alone. */
static void a_replay_follows_their_calls(void **state)
{
    llmperf_session *session = start(in_test_folder("steps"));

    (void)state;
    run_engine();
    llmperf_profile_free(stop_session(session));
    assert_int_equal(run_self(in_test_folder("steps/trace.llmrec"), 0), 0);
}

static uint64_t count_of(const llmperf_profile *profile, const char *quantity)
{
    llmperf_latency latency = LLMPERF_LATENCY_INIT;

    for (size_t i = 0; llmperf_profile_latency(profile, i, &latency) == 0; i++)
        if (strcmp(latency.quantity, quantity) == 0)
            return latency.count;
    return 0;
}

static void requests_wait_for_them(void **state)
{
    llmperf_request_attr attr = LLMPERF_REQUEST_ATTR_INIT;
    llmperf_session *session = start(NULL);
    llmperf_profile *profile;
    uint64_t request;

    (void)state;
    request = llmperf_request_begin(&attr);
    llmperf_request_first_token(request);
    run_engine();
    llmperf_request_end(request, LLMPERF_FINISH_STOP, 0);
    profile = stop_session(session);
    /* From step to step; two of them are mixed. */
    assert_int_equal(count_of(profile, "step") + count_of(profile, "step_prefill"), STEPS + 1);
    llmperf_profile_free(profile);
}

/* Each step sleeps for longer than the limit. */
static void a_rule_about_decode_steps_is_about_theirs(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session_state now = LLMPERF_SESSION_STATE_INIT;
    llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.rules = "decode_step p50 above 100 us for 200 ms collect 10 cooldown 0 s limit 1";
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 100000 && (now.windows == 0 || now.window_open); i++) {
        nvtx.range_push_a("step[DECODE bs=4]");
        lp_fake_launch("gemm", 7, 1000);
        usleep(500);
        nvtx.range_pop();
        assert_int_equal(llmperf_session_status(session, &now), 0);
    }
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_window(profile, 0, &window), 0);
    assert_int_equal(window.units, 10);
    assert_int_equal(window.kernel_count, 10);
    assert_true(find_region(profile, "sglang@decode_step", 0).skipped_fraction < 1);
    llmperf_profile_free(profile);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(steps_have_the_work_of_marked_ones, listen_to_nvtx),
        cmocka_unit_test_setup(a_replay_follows_their_calls, listen_to_nvtx),
        cmocka_unit_test_setup(requests_wait_for_them, listen_to_nvtx),
        cmocka_unit_test_setup(a_rule_about_decode_steps_is_about_theirs, listen_to_nvtx),
    };

    return argc > 1 ? replay(argv[1])
                    : cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
