/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that prints the speed of its stages: stages [SCRIPT]. SCRIPT simulates the GPU
 * (fake.txt).
 */
#include <stdio.h>
#include <unistd.h>
#include "llmperf/llmperf.h"

/* In place of a forward pass: a real engine launches its kernels and waits for them. */
static void generate(uint64_t prompt, uint64_t output)
{
    llmperf_prefill_begin(prompt);
    usleep(40000);
    llmperf_prefill_end();
    for (uint64_t i = 0; i < output; i++) {
        llmperf_decode_step_begin(1, prompt + i);
        usleep(8000);
        llmperf_decode_step_end();
    }
}

static void print_number(const llmperf_profile *profile, size_t at, const char *field, double value)
{
    const char *reason = llmperf_profile_stage_reason(profile, at, field);

    printf("  %-13s%.4g%s%s\n", field, value, reason ? ": " : "", reason ? reason : "");
}

static void print_stage(const llmperf_profile *profile, size_t at)
{
    llmperf_stage stage = LLMPERF_STAGE_INIT;

    llmperf_profile_stage(profile, at, &stage);
    printf("%s, calls: %llu\n", stage.path, (unsigned long long)stage.calls);
    print_number(profile, at, "tokens_per_s", stage.tokens_per_s);
    print_number(profile, at, "mfu", stage.mfu); /* while busy */
    print_number(profile, at, "mbu", stage.mbu);
    print_number(profile, at, "mfu_elapsed", stage.mfu_elapsed);
    print_number(profile, at, "mbu_elapsed", stage.mbu_elapsed);
    print_number(profile, at, "busy_ms", stage.busy_ms);
    print_number(profile, at, "floor_ms", stage.floor_ms);
    printf("  bound        %s\n", llmperf_name(LLMPERF_NAME_BOUND, stage.bound));
}

int main(int argc, char **argv)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    options.tier = LLMPERF_TIER_DEEP;
    options.model_path = "llama_3_8b";
    options.device_source = argc > 1 ? LLMPERF_SOURCE_FAKE : LLMPERF_SOURCE_AUTO;
    options.device_path = argc > 1 ? argv[1] : NULL;
    if (llmperf_session_start(&options, &session) == 0)
        generate(1024, 16);
    if (!session || llmperf_session_stop(session, &profile) < 0)
        fprintf(stderr, "stages: %s\n", llmperf_last_error());
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_STAGES); i++)
        print_stage(profile, i);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return profile ? 0 : 1;
}
