/* SPDX-License-Identifier: Apache-2.0 */
/** Device memory from a script to the rows of a profile, its documents, recordings and merged runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "llmperf/sys/run.h"
#include "tests/support/play.h"

#define MIB "1048576"

/* Weights, a KV cache in prefill, and in each of three steps a block that is freed and 1 KiB that
 * is not. */
#define WORK                                                                                       \
    "call cuMemAlloc id=4096 bytes=8000000 host=100000\n"                                          \
    "call cuMemCreate id=1 bytes=4000000 host=100000\n"                                            \
    "call cuMemAlloc id=8192 bytes=500000\ncall cuMemFree id=8192\n"                               \
    "begin LLM@prefill\ncall cuMemAllocAsync id=12288 bytes=1000000\nlaunch gemm\nend\n"           \
    "call cuMemFree id=99999\n"                                                                    \
    "begin LLM@decode_step\ncall cuMemAllocAsync id=16384 bytes=2000000\n"                         \
    "call cuMemAlloc id=20480 bytes=1024\nlaunch gemv\ncall cuMemFreeAsync id=16384\nend\n"        \
    "begin LLM@decode_step\ncall cuMemAllocAsync id=16384 bytes=2000000\n"                         \
    "call cuMemAlloc id=24576 bytes=1024\nlaunch gemv\ncall cuMemFreeAsync id=16384\nend\n"        \
    "call cuMemRelease id=1\n"

static llmperf_memory find_use(const llmperf_profile *profile, const char *region)
{
    llmperf_memory row = LLMPERF_MEMORY_INIT;

    for (size_t i = 0; llmperf_profile_memory(profile, i, &row) == 0; i++)
        if (region ? row.region && strcmp(row.region, region) == 0 : !row.region)
            return row;
    fail_msg("no row of %s", region ? region : "the device");
    return row;
}

static void check_work(const llmperf_profile *profile)
{
    llmperf_memory device = find_use(profile, NULL), step, prefill, outside;

    assert_int_equal(device.device, 0);
    assert_int_equal(device.allocations, 8);
    assert_int_equal(device.frees, 5);
    assert_int_equal(device.unmatched, 1);
    assert_int_equal(device.allocated_bytes, 8000000 + 4000000 + 500000 + 1000000 + 4002048);
    assert_int_equal(device.freed_bytes, 500000 + 4000000 + 4000000);
    assert_int_equal(device.live_bytes, 8000000 + 1000000 + 2048);
    assert_int_equal(device.peak_bytes, 13000000 + 2000000 + 2048);
    assert_true(device.peak_ns != LLMPERF_UNKNOWN);
    assert_int_equal(device.kept_bytes, 8000000);
    outside = find_use(profile, "");
    assert_int_equal(outside.allocations, 3);
    assert_int_equal(outside.frees, 3);
    assert_int_equal(outside.live_bytes, 8000000);
    assert_int_equal(outside.peak_bytes, LLMPERF_UNKNOWN);
    prefill = find_use(profile, "LLM@prefill");
    assert_int_equal(prefill.peak_bytes, 13000000);
    assert_int_equal(prefill.live_bytes, 1000000);
    step = find_use(profile, "LLM@decode_step");
    assert_int_equal(step.allocations, 4);
    assert_int_equal(step.frees, 2);
    assert_int_equal(step.allocated_bytes, 4002048);
    assert_int_equal(step.live_bytes, 2048);
    assert_int_equal(step.peak_bytes, 15002048);
    assert_int_equal(step.kept_bytes, LLMPERF_UNKNOWN);
}

static void memory_is_balanced_by_device_and_region(void **state)
{
    llmperf_profile *profile = play_script(WORK);

    (void)state;
    assert_int_equal(profile->memory.count, 4);
    check_work(profile);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger_of(profile).allocations_over_limit, 0);
    llmperf_profile_free(profile);
}

static void the_curve_ends_at_what_is_live(void **state)
{
    llmperf_profile *profile = play_script(WORK);
    const struct lp_memory_point *points = profile->memory_points.items;
    size_t count = profile->memory_points.count;

    (void)state;
    assert_true(count > 5);
    assert_int_equal(points[0].bytes, 8000000);
    assert_int_equal(points[count - 1].bytes, 9002048);
    for (size_t i = 1; i < count; i++)
        assert_true(points[i].time_ns > points[i - 1].time_ns);
    llmperf_profile_free(profile);
}

static void devices_are_apart(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\nlaunch gemm device=1\n"
                                           "call cuMemAlloc id=1 bytes=100 device=1\n"
                                           "call cuMemAlloc id=2 bytes=10\nend\n"
                                           "call cuMemFree id=1 device=0\n");

    (void)state;
    assert_int_equal(profile->memory.items[0].device, 0);
    assert_int_equal(profile->memory.items[0].live_bytes, 10);
    assert_int_equal(profile->memory.items[1].device, 1);
    assert_null(profile->memory.items[1].region);
    assert_int_equal(profile->memory.items[1].live_bytes, 0); /* wherever it was freed */
    assert_int_equal(profile->memory.items[1].peak_bytes, 100);
    llmperf_profile_free(profile);
}

/* Nothing is known of memory from before; 0 would be wrong. */
static void without_allocations_there_are_no_rows(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\nlaunch gemm\nend\n");
    char *text = NULL;

    (void)state;
    assert_int_equal(profile->memory.count, 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, "Device memory"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void tier_light_has_none(void **state)
{
    llmperf_session_options options = script_options(WORK);
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    profile = play_options(&options);
    assert_int_equal(profile->memory.count, 0);
    llmperf_profile_free(profile);
}

static void documents_have_the_rows(void **state)
{
    llmperf_profile *profile = play_script("call cuMemAlloc id=1 bytes=" MIB "\n"
                                           "begin LLM@prefill\nlaunch gemm\n"
                                           "call cuMemAlloc id=2 bytes=" MIB "\nend\n");
    char *text = NULL;

    (void)state;
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON, "\"kept_bytes\": " MIB);
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON, "\"memory_points\": [");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "| Peak | 0.001953 | most allocated");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "| `LLM@prefill` | 0 | 1 | 1.000 | 1.000 | 1.000 | 0 | 1.000 | 2.000 |");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "Not known: weights, KV cache in use: no model was given; ");
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, "| Weights |")); /* of no GPU */
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

/* Llama 3.2 1B: 1,235,814,400 weights, 16 layers of 8 heads of 64 numbers, keys and values. */
#define MODEL                                                                                      \
    "nvml total=8000000000 used=3000000000\n"                                                      \
    "begin LLM@load\nbegin default@weights\nbegin default@layer\n"                                 \
    "call cuMemAlloc id=1 bytes=2500000000\nend\nend\n"                                            \
    "begin default@kv_cache\ncall cuMemAllocAsync id=2 bytes=600000000 reserved=700000000\nend\n"  \
    "call cuMemAlloc id=3 bytes=7\nend\n"                                                          \
    "begin LLM@prefill\ncount tokens 100\ncount context 100\nlaunch gemm\nend\n"                   \
    "nvml total=8000000000 used=5000000000\n"                                                      \
    "repeat 3\nbegin LLM@decode_step\ncount sequences 2\ncount context 1000\n"                     \
    "call cuMemAllocAsync id=9 bytes=10 reserved=650000000\nlaunch gemv\nend\ndone\n"              \
    "call cuMemFreeAsync id=2\n"

static void weights_and_cache_have_names(void **state)
{
    llmperf_session_options options = script_options(MODEL);
    llmperf_profile *profile;
    llmperf_memory device;

    (void)state;
    options.model_path = "llama_3_2_1b";
    profile = play_options(&options);
    device = find_use(profile, NULL);
    assert_int_equal(device.weight_bytes, UINT64_C(2) * 1235814400);
    assert_int_equal(device.weight_allocated_bytes, 2500000000);
    assert_int_equal(device.context_tokens, 1000);
    assert_int_equal(device.cache_bytes, 1000 * 16 * 8 * 64 * 2 * 2);
    assert_int_equal(device.cache_allocated_bytes, 600000000);
    assert_int_equal(device.held_bytes, device.peak_bytes);
    assert_int_equal(find_use(profile, "LLM@load/default@kv_cache").live_bytes, 0);
    assert_int_equal(device.pool_reserved_bytes, 700000000);
    assert_int_equal(device.pool_used_bytes, 600000000);
    assert_int_equal(device.largest_bytes, 2500000000);
    assert_int_equal(device.total_bytes, 8000000000);
    assert_int_equal(device.free_bytes, 3000000000);
    assert_null(device.reason);
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "| Weights | 2.302 | computed from the model |");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "| KV cache capacity | 0.5588 |");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "| Free | 2.794 |");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "In decode steps: 3 allocations");
    llmperf_profile_free(profile);
}

/* A model that is applied after the run, and GPUs that share it in a way that is not known. */
static void what_does_not_follow_has_a_reason(void **state)
{
    llmperf_profile *profile = play_script("call cuMemAlloc id=1 bytes=100\n"
                                           "call cuMemAlloc id=1 bytes=100 device=1\n"
                                           "begin LLM@decode_step\ncount sequences 1\n"
                                           "count context 10\nlaunch gemv\nend\n");
    llmperf_memory device = find_use(profile, NULL);

    (void)state;
    assert_int_equal(device.weight_bytes, LLMPERF_UNKNOWN);
    assert_non_null(strstr(device.reason, "no model was given; allocated for weights: no region "));
    assert_non_null(strstr(device.reason, "GPU memory, free: NVML did not report"));
    assert_int_equal(llmperf_profile_apply_model(profile, "llama_3_2_1b", NULL), 0);
    device = find_use(profile, NULL);
    assert_int_equal(device.weight_bytes, LLMPERF_UNKNOWN);
    assert_int_equal(device.cache_bytes, LLMPERF_UNKNOWN);
    assert_non_null(strstr(device.reason, "the process used several GPUs, and tensor_parallel"));
    llmperf_profile_free(profile);
}

static void models_and_layouts_limit_what_is_known(void **state)
{
    llmperf_session_options options = script_options(MODEL);
    llmperf_profile *profile;
    llmperf_memory device;

    (void)state;
    options.model_path = "llama_3_2_1b";
    options.tensor_parallel = 2;
    profile = play_options(&options);
    device = find_use(profile, NULL);
    assert_int_equal(device.weight_bytes, LLMPERF_UNKNOWN);
    assert_string_equal(device.reason, "weights: how the GPUs share the weights is not known "
                                       "(tensor_parallel, expert_parallel)");
    assert_int_equal(device.cache_bytes, 1000 * 16 * 4 * 64 * 2 * 2);
    assert_int_equal(llmperf_profile_apply_model(profile, "gemma_2_9b", NULL), 0); /* windows */
    device = find_use(profile, NULL);
    assert_int_equal(device.cache_bytes, LLMPERF_UNKNOWN);
    assert_non_null(strstr(device.reason, "the model has no KV cache that keeps all tokens"));
    llmperf_profile_free(profile);
}

static void recordings_run_files_and_merged_runs_keep_the_rows(void **state)
{
    llmperf_session_options options = script_options(WORK);
    const llmperf_profile *parts[2];
    llmperf_profile *profile = NULL, *other = play_script(WORK), *merged = NULL;

    (void)state;
    options.run_dir = in_test_folder("kept");
    options.keep_trace = 1;
    llmperf_profile_free(play_options(&options));
    assert_int_equal(llmperf_profile_open(in_test_folder("kept"), &profile), 0);
    check_work(profile);
    parts[0] = profile;
    parts[1] = other;
    assert_int_equal(llmperf_profile_merge(parts, 2, &merged), 0);
    assert_int_equal(merged->memory.count, 8);
    check_work(merged);
    llmperf_profile_free(merged);
    llmperf_profile_free(other);
    llmperf_profile_free(profile);
    options = script_options("");
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("kept/trace.llmrec");
    profile = play_options(&options);
    check_work(profile);
    llmperf_profile_free(profile);
}

static void allocations_in_decode_steps_are_advice(void **state)
{
    llmperf_profile *profile = play_script("repeat 40\nbegin LLM@decode_step\n"
                                           "call cuMemAlloc id=1 bytes=512 host=20000\n"
                                           "launch gemv duration=900000\n"
                                           "call cuMemFree id=1 host=880000\nend\ndone\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    size_t i = 0;

    (void)state;
    while (llmperf_profile_advice(profile, i, &advice) == 0 &&
           strcmp(advice.id, "allocation_in_decode") != 0)
        i++;
    assert_string_equal(advice.id, "allocation_in_decode");
    assert_non_null(strstr(advice.text, "memory 2.00 times a step, 36.0 ms of host time in all, "
                                        "most of it in cuMemFree"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_balanced_by_device_and_region),
        cmocka_unit_test(the_curve_ends_at_what_is_live),
        cmocka_unit_test(devices_are_apart),
        cmocka_unit_test(without_allocations_there_are_no_rows),
        cmocka_unit_test(tier_light_has_none),
        cmocka_unit_test(documents_have_the_rows),
        cmocka_unit_test(weights_and_cache_have_names),
        cmocka_unit_test(what_does_not_follow_has_a_reason),
        cmocka_unit_test(models_and_layouts_limit_what_is_known),
        cmocka_unit_test(recordings_run_files_and_merged_runs_keep_the_rows),
        cmocka_unit_test(allocations_in_decode_steps_are_advice),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
