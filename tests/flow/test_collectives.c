/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of two GPUs that a script plays: bandwidth, waiting, overlap, and the GPU that the
 * other one waits for, with the cause. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

#define STEP   "LLM@decode_step"
#define REDUCE "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
#define H100   "gpu \"NVIDIA H100 80GB HBM3\"\n"
#define STEPS  16

/* A step of one GPU in ns: it computes, then sums up with the other GPU. Both leave together. */
struct plant {
    unsigned late_ns;               /* of the host, before the first launch */
    unsigned gemm_ns, attention_ns; /* of eight kernels each */
};

#define LAYERS   8u
#define TRANSFER 20000u

static unsigned arrives(const struct plant *plant)
{
    return plant->late_ns + LAYERS * (plant->gemm_ns + plant->attention_ns);
}

/* Each GPU is a process of its own: the profile of one rank. */
static llmperf_profile *play_rank(const struct plant *plant, const struct plant *other,
                                  unsigned device)
{
    unsigned end = arrives(plant) > arrives(other) ? arrives(plant) : arrives(other);
    char script[2048];

    end += TRANSFER;
    snprintf(script, sizeof(script),
             H100 "repeat %u\nbegin " STEP " tokens=1\nwait %u\nrepeat %u\n"
                  "launch gemm device=%u duration=%u\nlaunch flash_fwd device=%u duration=%u\n"
                  "done\nbegin NCCL@ncclAllReduce\ncount message_bytes 4000000\n"
                  "launch " REDUCE " device=%u duration=%u grid=24\nend\nwait %u\nend\ndone\n",
             STEPS, plant->late_ns, LAYERS, device, plant->gemm_ns, device, plant->attention_ns,
             device, end - arrives(plant), end - plant->late_ns);
    return play_script(script);
}

static llmperf_profile *play_both(const struct plant *first, const struct plant *second)
{
    llmperf_profile *parts[] = { play_rank(first, second, 0), play_rank(second, first, 1) },
                    *merged;

    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
    return merged;
}

static const struct lp_findings *findings_of(const llmperf_profile *profile)
{
    const struct lp_findings *findings;

    assert_int_equal(lp_findings_of(profile, &findings), 0);
    return findings;
}

static bool is_about(double value, double expected, double share)
{
    if (fabs(value - expected) <= share * expected)
        return true;
    print_message("%g is not %g\n", value, expected);
    return false;
}

static void check_straggler(const struct plant *first, const struct plant *second,
                            const char *cause)
{
    llmperf_profile *profile = play_both(first, second);
    double waiting_ms = (arrives(second) - arrives(first)) / 1e6;
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    const struct lp_rank *rows = findings_of(profile)->ranks.rows.items;

    assert_int_equal(findings_of(profile)->ranks.rows.count, 2);
    assert_string_equal(rows[0].waiting_source, "calls");
    assert_true(is_about(rows[0].waiting_ms, waiting_ms, 0.05));
    assert_true(is_about(rows[0].transfer_ms, TRANSFER / 1e6, 0.05));
    assert_true(rows[1].waiting_ms < 0.001);
    check_close(rows[1].last_share, 1);
    assert_null(rows[0].cause);
    assert_non_null(rows[1].cause);
    assert_text_has(rows[1].cause, cause);
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    print_message("%s: %s\n", advice.id, advice.text);
    assert_string_equal(advice.id, "uneven_ranks");
    assert_true(is_about(advice.saving_ms, STEPS * waiting_ms, 0.1));
    assert_text_has(advice.text, "GPU 0 waits ");
    assert_text_has(advice.text, "for GPU 1, which arrives last at 100 % of them: ");
    assert_text_has(advice.text, cause);
    llmperf_profile_free(profile);
}

static const struct plant base = { 0, 90000, 30000 };

static void slow_kernels_of_the_last_gpu_are_named(void **state)
{
    (void)state;
    check_straggler(&base, &(struct plant){ 0, 140000, 30000 },
                    "its GEMM kernels take 55.6 % longer");
}

static void kernels_that_are_all_slower_point_to_the_clocks(void **state)
{
    (void)state;
    check_straggler(&base, &(struct plant){ 0, 135000, 45000 },
                    "all its kernels take 50.0 % longer");
}

static void a_late_host_is_named(void **state)
{
    (void)state;
    check_straggler(&base, &(struct plant){ 400000, 90000, 30000 }, "so its host launches late");
}

static const struct lp_collective *collective_on(const llmperf_profile *profile, int32_t device)
{
    const struct lp_findings *findings = findings_of(profile);

    for (size_t i = 0; i < findings->collectives.rows.count; i++)
        if (findings->collectives.rows.items[i].device == device)
            return &findings->collectives.rows.items[i];
    fail_msg("GPU %d has no collective", device);
    return NULL;
}

/* 4 MB between two GPUs: 4 MB each way, in 20 us of transfer 200 GB/s of the link's 450. */
static void bandwidth_is_that_of_the_transfer(void **state)
{
    llmperf_profile *profile = play_both(&base, &(struct plant){ 0, 140000, 30000 });
    const struct lp_collective *row = collective_on(profile, 0);
    char *text;

    (void)state;
    assert_string_equal(row->region, STEP);
    assert_string_equal(row->kind, "all_reduce");
    assert_string_equal(row->algorithm, "not tree");
    assert_null(row->protocol);
    assert_string_equal(row->dtype, "bf16");
    assert_int_equal(row->ranks, 2);
    assert_int_equal(row->calls, STEPS);
    check_close(row->message_bytes, 4e6);
    assert_string_equal(row->message_source, "nvtx");
    assert_string_equal(row->transfer_source, "ranks");
    assert_true(is_about(row->bus_gbs, 200, 0.06));
    assert_true(is_about(row->bus_elapsed_gbs, 4e6 / (400000 + TRANSFER), 0.01));
    check_close(row->link_gbs, 450);
    check_close(row->link_share, row->bus_gbs / 450);
    assert_null(row->reason);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "## Collectives");
    assert_text_has(text, "| all_reduce, not tree, bf16 | 2 | 16 | 4000");
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_text_has(text, "\nllmperf_collective_bus_gigabytes_per_second{region=\"" STEP "\"");
    assert_text_has(text, ",kernel=\"" REDUCE "\"} 0.");
    assert_text_has(text, "\nllmperf_rank_last_share{");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void transfer_of_one_rank_is_an_estimate(void **state)
{
    llmperf_profile *profile = play_script(
        "begin " STEP "\nlaunch " REDUCE " duration=20000 grid=1\nlaunch " REDUCE
        " duration=50000 grid=1\nlaunch " REDUCE " duration=80000 grid=2\nwait 400000\nend\n");
    const struct lp_collective *row = collective_on(profile, 0);

    (void)state;
    assert_string_equal(row->transfer_source, "shortest calls");
    check_close(row->transfer_ms, (2 * 0.02 + 0.08) / 3);
    check_close(row->waiting_ms, 0.01);
    assert_int_equal(row->ranks, LLMPERF_UNKNOWN);
    assert_true(isnan(row->message_bytes));
    assert_true(isnan(row->bus_gbs));
    assert_text_has(row->reason, "message size unknown");
    llmperf_profile_free(profile);
}

/* Sizes differ with each batch: as a label they would make a new series for each. */
static void prometheus_has_one_series_for_messages_of_all_sizes(void **state)
{
    static const char series[] = "\nllmperf_collective_seconds_total{";
    llmperf_profile *profile =
        play_script("begin " STEP "\nbegin a\ncount message_bytes 3000\nlaunch " REDUCE
                    " duration=20000\nend\nbegin b\ncount message_bytes 7000\nlaunch " REDUCE
                    " duration=50000\nend\nwait 100000\nend\n");
    const char *found;
    char *text;

    (void)state;
    assert_int_equal(findings_of(profile)->collectives.rows.count, 2);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_non_null(found = strstr(text, series));
    assert_null(strstr(found + 1, series));
    assert_text_has(text, "kernel=\"" REDUCE "\"} 7e-05\n");
    assert_text_has(text, "kernel=\"" REDUCE "\"} 3.5e-05\n"); /* mean transfer */
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

/* On a second stream, a kernel runs in 30 of the 100 us of each collective but the first. */
static void overlap_is_the_share_with_compute_kernels(void **state)
{
    llmperf_profile *profile =
        play_script("begin " STEP "\nlaunch " REDUCE " duration=100000\nwait 200000\n"
                    "repeat 9\nlaunch " REDUCE " duration=100000\n"
                    "launch gemm stream=8 duration=20000\nlaunch gemm stream=9 duration=30000\n"
                    "copy htod stream=10 duration=90000\nwait 200000\ndone\nend\n");

    (void)state;
    assert_true(is_about(collective_on(profile, 0)->overlap_share, 0.9 * 0.31, 0.02));
    llmperf_profile_free(profile);
}

/* The program counts the size of two collectives of a region in one. */
static void counted_messages_are_divided_among_the_calls(void **state)
{
    llmperf_profile *profile =
        play_script("begin " STEP "\ncount message_bytes 3000\nlaunch " REDUCE "\nlaunch " REDUCE
                    "\nwait 10000\nend\n");
    const struct lp_collective *row = collective_on(profile, 0);

    (void)state;
    check_close(row->message_bytes, 1500);
    assert_string_equal(row->message_source, "program");
    assert_text_has(row->reason, "number of GPUs unknown");
    llmperf_profile_free(profile);
}

/* A graph with two collectives, captured in ranges of NCCL, runs in each step. If a second graph
 * with other sizes was captured in the same ranges, the size of those that ran is unknown. */
static void captured_messages_are_those_of_one_graph(void **state)
{
#define CAPTURE(graph, bytes)                                                                      \
    "begin NCCL@ncclAllReduce\ncount message_bytes " bytes "\nnode graph=" graph                   \
    " index=0\nend\nbegin NCCL@ncclAllReduce\ncount message_bytes " bytes "\nnode graph=" graph    \
    " index=1\nend\n"
#define RUNS                                                                                       \
    "repeat 4\nbegin " STEP "\ngraph " REDUCE "," REDUCE " graph=9 index=0\nwait "                 \
    "10000\nend\ndone\n"
    static const char *const scripts[] = {
        CAPTURE("1", "5000") "instantiate graph=9 from=1 nodes=2\n" RUNS,
        CAPTURE("1", "5000") CAPTURE("2", "7000") "instantiate graph=9 from=1 nodes=2\n" RUNS,
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        llmperf_profile *profile = play_script(scripts[i]);
        const struct lp_collective *row = collective_on(profile, 0);

        assert_int_equal(row->calls, 8);
        if (i == 0)
            check_close(row->message_bytes, 5000);
        else
            assert_true(isnan(row->message_bytes));
        llmperf_profile_free(profile);
    }
}

/* Two all-reduces in each of the 32 layers, of 8 tokens x 4096 x 2 bytes. */
static void tensor_parallel_layers_give_the_size_of_messages(void **state)
{
    static const unsigned counts[] = { 64, 65, 63, 32 };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char script[256];
        llmperf_session_options options;
        llmperf_profile *profile;
        const struct lp_collective *row;

        snprintf(script, sizeof(script),
                 "repeat 3\nbegin " STEP
                 " sequences=8 tokens=8 context=800\nrepeat %u\nlaunch " REDUCE
                 "\ndone\nwait 100000\nend\ndone\n",
                 counts[i]);
        options = script_options(script);
        options.model_path = "llama_3_8b";
        options.tensor_parallel = 2;
        profile = play_options(&options);
        row = collective_on(profile, 0);
        assert_int_equal(row->ranks, 2);
        if (i < 2) {
            check_close(row->message_bytes, 65536);
            assert_string_equal(row->message_source, "model");
            check_close(row->bus_gbs, 65.536);
        } else {
            assert_true(isnan(row->message_bytes));
            assert_null(row->message_source);
        }
        llmperf_profile_free(profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_kernels_of_the_last_gpu_are_named),
        cmocka_unit_test(kernels_that_are_all_slower_point_to_the_clocks),
        cmocka_unit_test(a_late_host_is_named),
        cmocka_unit_test(bandwidth_is_that_of_the_transfer),
        cmocka_unit_test(transfer_of_one_rank_is_an_estimate),
        cmocka_unit_test(prometheus_has_one_series_for_messages_of_all_sizes),
        cmocka_unit_test(overlap_is_the_share_with_compute_kernels),
        cmocka_unit_test(captured_messages_are_those_of_one_graph),
        cmocka_unit_test(tensor_parallel_layers_give_the_size_of_messages),
        cmocka_unit_test(counted_messages_are_divided_among_the_calls),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
