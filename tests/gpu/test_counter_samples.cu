/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters sampled by time: work is told from rest, the interval fits the regions, and
 * live values come while the session goes on. `test_gpu_counter_samples PART [SIZE [FILE
 * [PERIODS]]]` runs one part; `hold N WORDS SECONDS`, no test of its own, counts for a while and
 * prints what came of it. */
#include <thread>

#include "tests/gpu/counters.h"

/* The collector sets the sampling up once it knows the GPU. */
static void await_samples(llmperf_session *session)
{
    bool there = false;

    llmperf_region_begin("first");
    for (int i = 0; !there && i < 100; i++) {
        llmperf_profile *profile = NULL;

        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (llmperf_session_snapshot(session, &profile) == 0)
            there = llmperf_profile_fact(profile, "counters");
        llmperf_profile_free(profile);
    }
    llmperf_region_end();
}

static double number_in(const char *json, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = json ? strstr(json, quoted) : NULL;
    return at ? atof(at + strlen(quoted)) : NAN;
}

/* Half of each 20 ms the GPU multiplies, half it rests. The steady work of the last region says
 * what the busy ones should read. */
static void samples_tell_work_from_rest(int periods, const char *record_path)
{
    llmperf_session *session = start_counting("pm interval_us=100", record_path);
    llmperf_profile *profile;
    double busy, rest, tensor, steady, steady_tensor, lost, interval;

    await_samples(session);
    for (int i = 0; i < periods; i++) {
        double start = now_ms();

        llmperf_region_begin("busy");
        while (now_ms() - start < 10) {
            for (int k = 0; k < 4; k++)
                launch_gemm(2048);
            CUDA(cudaDeviceSynchronize());
        }
        llmperf_region_end();
        llmperf_region_begin("short");
        launch_gemm(256);
        CUDA(cudaDeviceSynchronize());
        llmperf_region_end();
        llmperf_region_begin("rest");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        llmperf_region_end();
    }
    llmperf_region_begin("steady");
    for (int k = 0; k < 50; k++)
        launch_gemm(2048);
    CUDA(cudaDeviceSynchronize());
    llmperf_region_end();
    profile = stop_session(session);
    print_profile(profile);
    expect_complete(profile);
    busy = metric_of(profile, "LLM@busy", "sm_active").mean;
    rest = metric_of(profile, "LLM@rest", "sm_active").mean;
    tensor = metric_of(profile, "LLM@busy", "tensor_active").mean;
    steady = metric_of(profile, "LLM@steady", "sm_active").mean;
    steady_tensor = metric_of(profile, "LLM@steady", "tensor_active").mean;
    CHECK(steady > 90 && fabs(busy - steady) < 3, "SMs %g, in steady work %g", busy, steady);
    CHECK(rest < 3, "SMs active at rest: %g", rest);
    CHECK(fabs(tensor - steady_tensor) < 3, "tensor pipe %g, in steady work %g", tensor,
          steady_tensor);
    CHECK(metric_of(profile, "LLM@rest", "tensor_active").mean < 3, "at rest");
    CHECK(metric_of(profile, "LLM@short", "sm_active").text, "too short to sample");
    /* The thread that takes them out may lose its core for longer than the GPU has room. A machine
     * that cannot keep up with 100 us takes a longer interval. */
    lost = number_in(llmperf_profile_fact(profile, "counters"), "samples_lost");
    interval = number_in(llmperf_profile_fact(profile, "counters"), "interval_ns");
    CHECK(lost <= number_in(llmperf_profile_fact(profile, "counters"), "samples") / 200,
          "%.0f samples are lost at %.0f ns", lost, interval);
    CHECK(interval >= 100000 && interval <= 300000, "%.0f ns", interval);
    llmperf_profile_free(profile);
}

/* Work of 0.7 ms at a time, then rest: 200 us are too coarse for four samples in it. */
static void run_pieces(double seconds)
{
    double start = now_ms();

    while (now_ms() - start < 1000 * seconds) {
        llmperf_region_begin("decode_step");
        for (int k = 0; k < 7; k++)
            launch_gemm(1024);
        CUDA(cudaDeviceSynchronize());
        llmperf_region_end();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

static void the_interval_follows_the_shortest_region(void)
{
    llmperf_session *session = start_counting("pm", NULL);
    llmperf_metric_stats active;
    llmperf_profile *profile;

    run_pieces(8);
    profile = stop_session(session);
    print_profile(profile);
    active = metric_of(profile, "LLM@decode_step", "sm_active");
    CHECK(strstr(llmperf_profile_fact(profile, "counters"), "LLM@decode_step takes"), "the reason");
    CHECK(!active.text && active.mean > 50, "%s %g", active.text ? active.text : "", active.mean);
    llmperf_profile_free(profile);
}

/* Tier light: the session goes on while its values are read. */
static void light_shows_live_values(void)
{
    llmperf_session *session = start_counting("live", NULL, LLMPERF_TIER_LIGHT);
    llmperf_profile *profile = NULL;
    double start = now_ms();
    llmperf_metric_stats tensor;

    while (now_ms() - start < 6000) {
        llmperf_decode_step_begin(1, 100);
        for (int k = 0; k < 10; k++)
            launch_gemm(2048);
        CUDA(cudaDeviceSynchronize());
        llmperf_decode_step_end();
    }
    if (llmperf_session_snapshot(session, &profile) < 0)
        printf("FAILED: %s\n", llmperf_last_error());
    print_profile(profile);
    tensor = metric_of(profile, "LLM@decode_step", "tensor_active");
    CHECK(tensor.mean > 1, "%g", tensor.mean);
    llmperf_profile_free(profile);
    profile = stop_session(session);
    print_profile(profile);
    CHECK(ledger_of(profile).verdict == LLMPERF_VERDICT_SAMPLED, "kernels are sampled as ever");
    llmperf_profile_free(profile);
}

static void hold(const char *words, double seconds)
{
    llmperf_session *session = start_counting(words, NULL);
    llmperf_profile *profile;

    run_pieces(seconds);
    profile = stop_session(session);
    print_profile(profile);
    llmperf_profile_free(profile);
}

int main(int argc, char **argv)
{
    need_device(1);
    make_memory(argc > 2 ? atoi(argv[2]) : 2048);
    if (argc > 4 && !strcmp(argv[1], "hold")) {
        hold(argv[3], atof(argv[4]));
        return 0;
    }
    need_counters();
    if (wants(argc, argv, "samples"))
        samples_tell_work_from_rest(argc > 4 ? atoi(argv[4]) : 100, argc > 3 ? argv[3] : NULL);
    if (wants(argc, argv, "interval"))
        the_interval_follows_the_shortest_region();
    if (wants(argc, argv, "live"))
        light_shows_live_values();
    return finish();
}
