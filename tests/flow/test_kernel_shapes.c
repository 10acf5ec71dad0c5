/* SPDX-License-Identifier: Apache-2.0 */
/** Shapes of kernels and copies from a script to the rows of a profile, its documents, traces,
 * imports and merged runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "llmperf/sys/run.h"
#include "llmperf/sys/trace.h"
#include "llmperf/sys/vendor.h"
#include "tests/support/play.h"

/* Two shapes of one kernel, one launch without a shape, and both ways of a copy. */
#define WORK                                                                                       \
    "begin LLM@prefill\n"                                                                          \
    "repeat 3\n"                                                                                   \
    "launch gemm grid=66x2 block=128 registers=168 static_shared=0 dynamic_shared=49152 "          \
    "duration=5000 host=6400\n"                                                                    \
    "launch gemm grid=8 block=8x4x2 registers=32 static_shared=1024 dynamic_shared=0\n"            \
    "done\n"                                                                                       \
    "launch other\n"                                                                               \
    "copy htod bytes=100 reads=pageable writes=device call=sync host=12800\n"                      \
    "set bytes=7 writes=managed call=async\n"                                                      \
    "graph node grid=5 block=32 registers=16 static_shared=0 dynamic_shared=0 host=9000\n"         \
    "end\n"
#define H100 "gpu \"NVIDIA H100 80GB HBM3\"\n"

static llmperf_kernel_shape find_shape(const llmperf_profile *profile, const char *name,
                                       uint64_t grid_x)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        assert_int_equal(llmperf_profile_kernel_shape(profile, i, &shape), 0);
        if (strcmp(shape.name, name) == 0 && shape.grid_x == grid_x)
            return shape;
    }
    fail_msg("no shape of %s with %u blocks", name, (unsigned)grid_x);
    return shape;
}

static void shapes_of_one_kernel_are_rows_of_their_own(void **state)
{
    llmperf_profile *profile = play_script(WORK);
    llmperf_kernel_shape big = find_shape(profile, "gemm", 66),
                         small = find_shape(profile, "gemm", 8);
    llmperf_kernel_shape copy = find_shape(profile, "[memcpy HtoD]", LLMPERF_UNKNOWN);
    llmperf_kernel_shape set = find_shape(profile, "[memset]", LLMPERF_UNKNOWN);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES), 5);
    assert_int_equal(find_kernel(profile, "gemm", "LLM@prefill").calls, 6);
    assert_string_equal(big.region, "LLM@prefill");
    assert_true(big.grid_y == 2 && big.grid_z == 1 && big.block_x == 128 && big.registers == 168 &&
                big.dynamic_shared_bytes == 49152 && big.calls == 3 && !big.others);
    check_close(big.total_ms, 0.015);
    assert_true(small.block_x == 8 && small.block_y == 4 && small.block_z == 2 && small.calls == 3);
    assert_string_equal(copy.source, "pageable");
    assert_string_equal(copy.destination, "device");
    assert_string_equal(copy.call, "sync");
    assert_int_equal(copy.bytes, 100);
    assert_true(copy.registers == LLMPERF_UNKNOWN && isnan(copy.occupancy));
    assert_null(set.source);
    assert_string_equal(set.destination, "managed");
    assert_string_equal(set.call, "async");
    llmperf_profile_free(profile);
}

/* A call of a graph launches all of its nodes: its length is none of theirs. */
static void launch_calls_have_a_length_where_it_is_known(void **state)
{
    llmperf_profile *profile = play_script(WORK);
    llmperf_kernel_shape big = find_shape(profile, "gemm", 66);

    (void)state;
    assert_int_equal(big.timed_launches, 3);
    check_close(big.launch_ms, 3 * 0.0064);
    check_close(find_shape(profile, "[memcpy HtoD]", LLMPERF_UNKNOWN).launch_ms, 0.0128);
    assert_int_equal(find_shape(profile, "gemm", 8).timed_launches, 0);
    assert_true(isnan(find_shape(profile, "gemm", 8).launch_ms));
    assert_true(isnan(find_shape(profile, "node", 5).launch_ms));
    llmperf_profile_free(profile);
}

static void occupancy_and_waves_follow_from_a_known_gpu(void **state)
{
    llmperf_profile *known = play_script(H100 WORK), *unknown = play_script(WORK);
    llmperf_kernel_shape big = find_shape(known, "gemm", 66);
    llmperf_kernel_shape small = find_shape(known, "gemm", 8);

    (void)state;
    assert_int_equal(big.blocks_per_sm, 3); /* registers */
    check_close(big.occupancy, 12 / 64.0);
    check_close(big.waves, 132 / (132 * 3.0));
    check_close(big.tail_share, 1 - 1 / 3.0);
    assert_int_equal(small.blocks_per_sm, 32); /* blocks */
    check_close(small.occupancy, 1);
    big = find_shape(unknown, "gemm", 66);
    assert_true(big.blocks_per_sm == LLMPERF_UNKNOWN && isnan(big.occupancy) && isnan(big.waves) &&
                isnan(big.tail_share));
    llmperf_profile_free(known);
    llmperf_profile_free(unknown);
}

static void documents_have_the_rows(void **state)
{
    llmperf_profile *profile = play_script(H100 WORK);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    assert_non_null(strstr(text, "\"kernel_shapes\": ["));
    assert_non_null(strstr(text, "\"occupancy\": 0.1875"));
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_ROWS_JSONL, &text), 0);
    assert_non_null(strstr(text, "{\"type\": \"kernel_shape\",\"name\": \"gemm\""));
    assert_non_null(strstr(text, "\"occupancy\": 0.1875"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void merged_runs_add_shapes(void **state)
{
    const llmperf_profile *parts[2] = { play_script(WORK), play_script(WORK) };
    llmperf_profile *merged = NULL;
    llmperf_kernel_shape big;

    (void)state;
    assert_int_equal(llmperf_profile_merge(parts, 2, &merged), 0);
    assert_int_equal(llmperf_profile_count(merged, LLMPERF_ROWS_KERNEL_SHAPES), 5);
    big = find_shape(merged, "gemm", 66);
    assert_int_equal(big.calls, 6);
    check_close(big.total_ms, 0.03);
    check_close(big.mean_ms, 0.005);
    assert_int_equal(big.timed_launches, 6);
    assert_int_equal(find_shape(merged, "[memset]", LLMPERF_UNKNOWN).bytes, 14);
    llmperf_profile_free(merged);
    for (size_t i = 0; i < 2; i++)
        llmperf_profile_free((llmperf_profile *)(uintptr_t)parts[i]);
}

static llmperf_profile *play_traced(const char *folder)
{
    llmperf_session_options options = script_options(WORK);

    options.run_dir = in_test_folder(folder);
    options.keep_trace = 1;
    return play_options(&options);
}

static void kernels_of_a_trace_have_their_shape(void **state)
{
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    const char *path = in_test_folder("trace.json");
    char *text = NULL;
    size_t size;

    (void)state;
    llmperf_profile_free(play_traced("traced"));
    assert_int_equal(
        llmperf_trace_export(in_test_folder("traced"), LLMPERF_TRACE_CHROME, path, &summary), 0);
    assert_int_equal(lp_file_read(path, &text, &size), 0);
    assert_non_null(strstr(text, "\"grid\":[66,2,1],\"block\":[128,1,1],"
                                 "\"registers per thread\":168,\"shared memory\":49152"));
    assert_non_null(strstr(text, "\"launch call ns\":6400"));
    assert_non_null(strstr(text, "\"source\":\"pageable\",\"destination\":\"device\","
                                 "\"call\":\"sync\""));
    free(text);
    path = in_test_folder("trace.pftrace");
    assert_int_equal(
        llmperf_trace_export(in_test_folder("traced"), LLMPERF_TRACE_PERFETTO, path, &summary), 0);
    assert_int_equal(lp_file_read(path, &text, &size), 0);
    assert_non_null(memmem(text, size, "66x2x1", 6));
    assert_non_null(memmem(text, size, "registers per thread", 20));
    assert_non_null(memmem(text, size, "launch call ns", 14));
    assert_non_null(memmem(text, size, "pageable", 8));
    free(text);
}

static void an_export_of_nsys_brings_shapes_back(void **state)
{
    const char *path = in_test_folder("export.sqlite");
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    llmperf_profile *imported = NULL;
    llmperf_kernel_shape big, copy;

    (void)state;
    llmperf_profile_free(play_traced("exported"));
    assert_int_equal(
        llmperf_trace_export(in_test_folder("exported"), LLMPERF_TRACE_NSYS_SQLITE, path, &summary),
        0);
    assert_int_equal(llmperf_import(&path, 1, NULL, &imported), 0);
    big = find_shape(imported, "gemm", 66);
    assert_true(big.grid_y == 2 && big.block_x == 128 && big.registers == 168 &&
                big.static_shared_bytes == 0 && big.dynamic_shared_bytes == 49152 &&
                big.calls == 3);
    copy = find_shape(imported, "[memcpy HtoD]", LLMPERF_UNKNOWN);
    assert_string_equal(copy.source, "pageable");
    assert_string_equal(copy.destination, "device");
    assert_null(copy.call);
    assert_string_equal(find_shape(imported, "[memset]", LLMPERF_UNKNOWN).destination, "managed");
    llmperf_profile_free(imported);
}

static void scripts_refuse_shapes_that_cannot_be(void **state)
{
    static const struct {
        const char *script, *error;
    } cases[] = {
        { "launch k grid=0\n", "0 is out of range" },
        { "launch k grid=4x\n", "launch needs a number" },
        { "launch k block=32x1x1x1\n", "\"1x1\" is not a number" },
        { "launch k block=2048\n", "2048 is out of range" },
        { "launch k grid=1x65536\n", "65536 is out of range" },
        { "copy htod reads=disk\n", "copy does not accept \"disk\"" },
        { "set reads=device\n", "set does not accept \"reads\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_session_options options = script_options(cases[i].script);
        llmperf_session *session = NULL;

        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
        check_error(cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_one_kernel_are_rows_of_their_own),
        cmocka_unit_test(launch_calls_have_a_length_where_it_is_known),
        cmocka_unit_test(occupancy_and_waves_follow_from_a_known_gpu),
        cmocka_unit_test(documents_have_the_rows),
        cmocka_unit_test(merged_runs_add_shapes),
        cmocka_unit_test(kernels_of_a_trace_have_their_shape),
        cmocka_unit_test(an_export_of_nsys_brings_shapes_back),
        cmocka_unit_test(scripts_refuse_shapes_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
