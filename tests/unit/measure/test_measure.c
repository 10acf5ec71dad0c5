/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring on a GPU that is made up: its driver functions note what they are asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/measure/kernels.h"
#include "lib/measure/profiler.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/hardware.h"
#include "tests/support/driver.h"
#include "tests/support/hardware.h"
#include "tests/support/text.h"
#include "lib/hardware/measured_peaks.h"

/* A launch takes as many ms as the script says, in turn. Events note the time. */
static struct {
    double now_ms, script[8];
    size_t script_length, launches, copies;
    int fail_at; /* launch that fails; -1: none */
    uint64_t pieces, words;
    lp_device_address from, to;
} gpu;

static double event_times[LP_BENCH_ROUND + 1];

static int pass_time(void)
{
    if (gpu.fail_at >= 0 && gpu.launches == (size_t)gpu.fail_at)
        return 719; /* CUDA_ERROR_LAUNCH_FAILED */
    gpu.now_ms += gpu.script[gpu.launches++ % gpu.script_length];
    return 0;
}

static int fake_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void *stream, void **parameters, void **extra)
{
    (void)function, (void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)shared_bytes;
    (void)stream, (void)extra;
    memcpy(&gpu.from, parameters[0], sizeof(gpu.from));
    memcpy(&gpu.pieces, parameters[1], sizeof(gpu.pieces));
    memcpy(&gpu.to, parameters[2], sizeof(gpu.to));
    /* The kernels look after no rest. */
    assert_int_equal(gpu.pieces % ((uint64_t)grid_x * block_x * 4), 0);
    return pass_time();
}

static int fake_copy(lp_device_address to, lp_device_address from, size_t bytes, void *stream)
{
    (void)stream;
    gpu.copies++;
    gpu.to = to;
    gpu.from = from;
    gpu.pieces = bytes / 16;
    return pass_time();
}

static int fake_record(void *event, void *stream)
{
    (void)stream;
    *(double *)event = gpu.now_ms;
    return 0;
}

static int fake_elapsed(float *ms, void *start, void *end)
{
    *ms = (float)(*(double *)end - *(double *)start);
    return 0;
}

static int fake_synchronize(void *stream)
{
    (void)stream;
    return 0;
}

static int fake_error(int result, const char **text)
{
    *text = result == 2 ? "out of memory" : "launch failed";
    return 0;
}

static void start_gpu(struct lp_bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    memset(&gpu, 0, sizeof(gpu));
    gpu.script[0] = 1;
    gpu.script_length = 1;
    gpu.fail_at = -1;
    bench->cuda.launch = fake_launch;
    bench->cuda.copy = fake_copy;
    bench->cuda.event_record = fake_record;
    bench->cuda.event_elapsed = fake_elapsed;
    bench->cuda.stream_synchronize = fake_synchronize;
    bench->cuda.error_string = fake_error;
    for (size_t i = 0; i <= LP_BENCH_ROUND; i++)
        bench->events[i] = &event_times[i];
    for (size_t i = 0; i < LP_BENCH_BUFFERS; i++)
        bench->buffers[i] = 0x1000 * (i + 1);
    bench->buffer_bytes = (size_t)1 << 26;
    bench->sm_count = 4;
    bench->seconds = 0.1;
}

static int run_scripted(struct lp_bench *bench, void *work, uint64_t turn)
{
    (void)bench, (void)work, (void)turn;
    return pass_time();
}

static void best_and_median_are_of_the_repeats_after_the_warm_up(void **state)
{
    struct lp_bench bench;
    struct lp_times times;

    (void)state;
    start_gpu(&bench);
    /* The warm-up takes the first two, which are not counted. */
    memcpy(gpu.script, (double[]){ 90, 80, 4, 2, 3, 3, 3, 5 }, sizeof(gpu.script));
    gpu.script_length = 8;
    assert_int_equal(lp_bench_repeat(&bench, run_scripted, NULL, 0.008, &times), 0);
    assert_int_equal(times.repeats, 3);
    assert_near(times.best_ms, 2, 1e-6, "best");
    assert_near(times.median_ms, 3, 1e-6, "median");
    assert_true(isnan(times.clock_mhz));
}

static void repeats_fill_the_time_that_is_asked_for(void **state)
{
    struct lp_bench bench;
    struct lp_times times;

    (void)state;
    start_gpu(&bench);
    assert_int_equal(lp_bench_repeat(&bench, run_scripted, NULL, 0.5, &times), 0);
    assert_true(times.repeats >= 500 && times.repeats < 500 + LP_BENCH_ROUND);
    assert_near(times.best_ms, 1, 1e-6, "best");
}

static void a_launch_that_fails_is_an_error_with_its_reason(void **state)
{
    struct lp_bench bench;
    struct lp_times times;

    (void)state;
    start_gpu(&bench);
    gpu.fail_at = 4;
    assert_int_equal(lp_bench_repeat(&bench, run_scripted, NULL, 0.5, &times), LLMPERF_ENODEVICE);
    assert_text_has(llmperf_last_error(), "719 (launch failed)");
}

static void a_clock_that_stands_still_is_an_error_not_an_endless_rate(void **state)
{
    struct lp_bench bench;
    struct lp_times times;

    (void)state;
    start_gpu(&bench);
    gpu.script[0] = 0;
    assert_int_equal(lp_bench_repeat(&bench, run_scripted, NULL, 0.01, &times), LLMPERF_ENODEVICE);
}

static void bandwidth_is_bytes_over_time_and_a_copy_counts_both_ways(void **state)
{
    struct lp_kernels kernels = { (void *)"read", (void *)"fill" };
    struct lp_measured_peaks measured_peaks;
    struct lp_bench bench;
    double bytes = (double)((size_t)1 << 26);

    (void)state;
    start_gpu(&bench);
    lp_measured_peaks_init(&measured_peaks, "not yet");
    lp_measure_memory(&kernels, &bench, &measured_peaks);
    /* 64 MiB a ms. */
    assert_near(measured_peaks.items[LP_PEAK_READ].best, bytes / 1e6, 1e-6, "read");
    assert_near(measured_peaks.items[LP_PEAK_COPY].best, 2 * bytes / 1e6, 1e-6, "copy");
    assert_near(measured_peaks.items[LP_PEAK_COPY].median, 2 * bytes / 1e6, 1e-6, "median");
    assert_true(gpu.copies > 0);
    assert_true(gpu.from != gpu.to);
    assert_string_equal(measured_peaks.items[LP_PEAK_READ].reason, "");
    assert_text_has(measured_peaks.items[LP_PEAK_READ].how, "kernel");
}

static void what_cannot_be_measured_has_a_reason_and_the_rest_goes_on(void **state)
{
    struct lp_kernels kernels = { (void *)"read", (void *)"fill" };
    struct lp_measured_peaks measured_peaks;
    struct lp_bench bench;

    (void)state;
    start_gpu(&bench);
    lp_measured_peaks_init(&measured_peaks, "not yet");
    gpu.fail_at = 0;
    lp_measure_memory(&kernels, &bench, &measured_peaks);
    assert_true(isnan(measured_peaks.items[LP_PEAK_READ].best));
    assert_text_has(measured_peaks.items[LP_PEAK_READ].reason, "launch failed");
    assert_string_equal(measured_peaks.items[LP_PEAK_READ].how, "");
}

static void a_peak_keeps_the_higher_of_two_ways(void **state)
{
    struct lp_measured_peaks measured_peaks;
    struct lp_measured_peak *item = &measured_peaks.items[LP_PEAK_COPY];
    const struct lp_times slow = { 2, 3, 1000, 10 }, fast = { 1, 2, 900, 20 };

    (void)state;
    lp_measured_peaks_init(&measured_peaks, "not yet");
    lp_measured_peak_take(item, 8e6, 1e6, &slow, "slow");
    assert_near(item->best, 4, 1e-9, "the first one");
    lp_measured_peak_take(item, 8e6, 1e6, &fast, "fast");
    assert_near(item->best, 8, 1e-9, "a higher one");
    lp_measured_peak_take(item, 8e6, 1e6, &slow, "slow");
    assert_near(item->best, 8, 1e-9, "not a lower one");
    assert_near(item->median, 4, 1e-9, "median");
    assert_string_equal(item->how, "fast");
    assert_int_equal(item->repeats, 20);
    lp_measured_peak_fail(item);
    assert_string_equal(item->reason, "");
}

/* Launches take longer while a session records kernels. */
#define ADDED_NS 4000

static bool capturing;
static int graph_launches;

static int slow_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void *stream, void **parameters, void **extra)
{
    uint64_t start = lp_clock_now();

    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
    assert_int_equal(*(const uint64_t *)parameters[1], 0);
    if (capturing || !driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL))
        return 0;
    driver->call(&kernel);
    while (lp_clock_now() - start < ADDED_NS)
        continue;
    return 0;
}

static int begin_capture(void *stream, int mode)
{
    (void)stream, (void)mode;
    capturing = true;
    return 0;
}

static int end_capture(void *stream, void **graph)
{
    (void)stream;
    capturing = false;
    *graph = &capturing;
    return 0;
}

static int instantiate(void **executable, void *graph, unsigned long long flags)
{
    (void)flags;
    *executable = graph;
    return 0;
}

static int launch_graph(void *executable, void *stream)
{
    uint64_t start = lp_clock_now();

    (void)executable, (void)stream;
    graph_launches++;
    while (driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL) && lp_clock_now() - start < 1000000)
        continue; /* 2 us for each of 500 nodes */
    return 0;
}

static int destroy(void *graph)
{
    (void)graph;
    return 0;
}

static void what_a_session_adds_to_launches_and_graph_nodes_is_measured(void **state)
{
    struct lp_kernels kernels = { (void *)"read", NULL };
    struct lp_measured_peaks measured_peaks;
    const struct lp_measured_peak *launch, *node;
    struct lp_bench bench;

    (void)state;
    load_driver();
    reset_driver(NULL);
    start_gpu(&bench);
    bench.cuda.launch = slow_launch;
    bench.cuda.capture_begin = begin_capture;
    bench.cuda.capture_end = end_capture;
    bench.cuda.graph_instantiate = instantiate;
    bench.cuda.graph_launch = launch_graph;
    bench.cuda.graph_destroy = bench.cuda.graph_exec_destroy = destroy;
    lp_measured_peaks_init(&measured_peaks, "not yet");
    setenv("LLMPERF_OUT", "/nowhere/nothing/is/written", 1);
    cupti->set_failure("ActivityEnable", 999);
    lp_measure_profiler(&kernels, &bench, &measured_peaks);
    launch = &measured_peaks.items[lp_measured_peak_index("profiler_launch_us")];
    node = &measured_peaks.items[lp_measured_peak_index("profiler_node_us")];
    assert_true(isnan(launch->best) && isnan(node->best));
    assert_text_has(launch->reason, "CUPTI cannot record kernels");
    cupti->reset();
    lp_measure_profiler(&kernels, &bench, &measured_peaks);
    unsetenv("LLMPERF_OUT");
    assert_string_equal(launch->reason, "");
    assert_true(launch->best > 0.8 * ADDED_NS / 1000 && node->best > 1.6);
    assert_text_has(launch->how, "us without a session");
    /* Another GPU of this process: CUPTI is attached now, and the cost is that of the host. */
    graph_launches = 0;
    lp_measured_peaks_init(&measured_peaks, "not yet");
    lp_measure_profiler(&kernels, &bench, &measured_peaks);
    assert_int_equal(graph_launches, 0);
    assert_true(node->best > 1.6);
}

static void options_out_of_range_are_refused_before_anything_starts(void **state)
{
    llmperf_measure_options options = LLMPERF_MEASURE_OPTIONS_INIT;

    (void)state;
    options.seconds = 61;
    assert_int_equal(llmperf_hardware_measure(0, &options, NULL), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "seconds is 61");
    options.seconds = NAN;
    assert_int_equal(llmperf_hardware_measure(0, &options, NULL), LLMPERF_EINVAL);
    options.seconds = 0;
    options.buffer_bytes = 5;
    assert_int_equal(llmperf_hardware_measure(0, &options, NULL), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "buffer_bytes is 5");
    options.struct_size = 0;
    assert_int_equal(llmperf_hardware_measure(0, &options, NULL), LLMPERF_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_and_median_are_of_the_repeats_after_the_warm_up),
        cmocka_unit_test(repeats_fill_the_time_that_is_asked_for),
        cmocka_unit_test(a_launch_that_fails_is_an_error_with_its_reason),
        cmocka_unit_test(a_clock_that_stands_still_is_an_error_not_an_endless_rate),
        cmocka_unit_test(bandwidth_is_bytes_over_time_and_a_copy_counts_both_ways),
        cmocka_unit_test(what_cannot_be_measured_has_a_reason_and_the_rest_goes_on),
        cmocka_unit_test(a_peak_keeps_the_higher_of_two_ways),
        cmocka_unit_test(what_a_session_adds_to_launches_and_graph_nodes_is_measured),
        cmocka_unit_test(options_out_of_range_are_refused_before_anything_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
