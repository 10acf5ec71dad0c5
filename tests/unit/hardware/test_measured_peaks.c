/* SPDX-License-Identifier: Apache-2.0 */
/* Measured peaks: the file that keeps them, and the look-up that reads it back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/hardware/measured_peaks.h"
#include "lib/base/file.h"
#include "llmperf/roofline.h"
#include "llmperf/sys/hardware.h"
#include "tests/support/hardware.h"
#include "tests/support/text.h"

#define UUID   "GPU-01234567-89ab-cdef-0123-456789abcdef"
#define DRIVER "580.95.05"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/llmperf-peaks-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

static void set(struct lp_measured_peak *item, double best, const char *how)
{
    item->best = best;
    item->median = best / 1.01;
    item->clock_mhz = 1755;
    item->repeats = 40;
    item->reason[0] = '\0';
    snprintf(item->how, sizeof(item->how), "%s", how);
}

static struct lp_measured_peaks sample(void)
{
    struct lp_measured_peaks measured_peaks;

    lp_measured_peaks_init(&measured_peaks, "libcublasLt wasn't found");
    snprintf(measured_peaks.uuid, sizeof(measured_peaks.uuid), "%s", UUID);
    snprintf(measured_peaks.driver, sizeof(measured_peaks.driver), "%s", DRIVER);
    snprintf(measured_peaks.gpu, sizeof(measured_peaks.gpu), "It's a GPU: #1");
    snprintf(measured_peaks.measured_at, sizeof(measured_peaks.measured_at),
             "2026-11-21T07:00:00Z");
    set(&measured_peaks.items[LP_PEAK_COPY], 4012.25, "kernel, 2 x 1 GiB");
    set(&measured_peaks.items[LP_PEAK_READ], 4380.5, "kernel");
    set(&measured_peaks.items[lp_measured_peak_index("bf16")], 788.125,
        "cublasLt 8192 x 8192 x 8192");
    lp_sweep_add(&measured_peaks.sweep, "bf16", 8, 4096, 14336, 40123);
    lp_sweep_add(&measured_peaks.sweep, "htod_pinned", 65536, 1, 1, 9000);
    return measured_peaks;
}

static char *write_sample(void)
{
    struct lp_measured_peaks measured_peaks = sample();
    char *path = NULL;

    assert_int_equal(lp_measured_peaks_path(UUID, DRIVER, &path), 0);
    assert_int_equal(lp_measured_peaks_write(path, &measured_peaks), 0);
    return path;
}

static llmperf_hardware *find_this_gpu(void)
{
    llmperf_hardware_query query = h200_query();

    query.uuid = UUID;
    query.driver = DRIVER;
    return find_gpu(&query);
}

static llmperf_measured_peak measured_peak_of(const llmperf_hardware *hardware, const char *what)
{
    llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;

    if (llmperf_hardware_measured_peak(hardware, what, &measured_peak) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_true(isnan(measured_peak.best) == (measured_peak.reason != NULL));
    assert_true(isnan(measured_peak.best) == (measured_peak.how == NULL));
    return measured_peak;
}

static void the_file_says_what_was_written(void **state)
{
    struct lp_measured_peaks read, written = sample();
    char *path = write_sample();

    (void)state;
    assert_int_equal(lp_measured_peaks_read(path, &read), 0);
    assert_string_equal(read.gpu, written.gpu);
    assert_string_equal(read.measured_at, written.measured_at);
    for (size_t i = 0; i < LP_MEASURED_PEAKS; i++) {
        const struct lp_measured_peak *a = &read.items[i], *b = &written.items[i];

        assert_true(isnan(a->best) == isnan(b->best));
        assert_string_equal(a->how, b->how);
        assert_string_equal(a->reason, b->reason);
        assert_int_equal(a->repeats, b->repeats);
        if (isnan(a->best))
            continue;
        assert_near(a->best, b->best, 1e-3, "best");
        assert_near(a->median, b->median, 1e-3, "median");
        assert_near(a->clock_mhz, b->clock_mhz, 1e-3, "clock");
    }
    assert_int_equal(read.sweep.count, 2);
    assert_string_equal(read.sweep.points[1].what, "htod_pinned");
    assert_true(read.sweep.points[0].m == 8 && read.sweep.points[0].n == 4096 &&
                read.sweep.points[0].k == 14336 && read.sweep.points[0].ns == 40123);
    free(path);
}

static uint64_t nearest(const struct lp_sweep *sweep, const char *what, uint64_t m, uint64_t n,
                        uint64_t k)
{
    const struct lp_sweep_point *point = lp_sweep_nearest(sweep, what, m, n, k);

    return point ? point->ns : 0;
}

/* Even if a smaller one is nearer. */
static void the_nearest_larger_point_of_a_sweep_is_found(void **state)
{
    struct lp_sweep sweep;

    (void)state;
    lp_sweep_read(&sweep, "bf16:8x4096x4096=1 bf16:64x4096x4096=2 bf16:64x8192x8192=3 "
                          "fp8:8x4096x4096=4 broken:8x=5 bf16:1x1x1=6");
    assert_int_equal(sweep.count, 4);
    assert_int_equal(nearest(&sweep, "bf16", 9, 4096, 4096), 2);
    assert_int_equal(nearest(&sweep, "bf16", 8, 4097, 4096), 3);
    assert_int_equal(nearest(&sweep, "bf16", 1, 1000, 1000), 1);
    assert_int_equal(nearest(&sweep, "bf16", 512, 4096, 4096), 2); /* none is larger */
    assert_int_equal(nearest(&sweep, "fp8", 8, 4096, 4096), 4);
    assert_null(lp_sweep_nearest(&sweep, "fp4", 8, 4096, 4096));
}

static void a_look_up_of_the_gpu_reads_its_measured_peaks_back(void **state)
{
    llmperf_hardware *hardware;
    char *path = write_sample();

    (void)state;
    hardware = find_this_gpu();
    assert_near(measured_peak_of(hardware, "bf16").best, 788.125, 1e-9, "bf16");
    assert_near(measured_peak_of(hardware, "bfloat16").best, 788.125, 1e-9, "another spelling");
    assert_near(measured_peak_of(hardware, "read").best, 4380.5, 1e-9, "read");
    assert_string_equal(measured_peak_of(hardware, "copy").how, "kernel, 2 x 1 GiB");
    assert_string_equal(measured_peak_of(hardware, "fp8").reason, "libcublasLt wasn't found");
    assert_text_has(llmperf_hardware_measured(hardware), path);
    assert_text_has(llmperf_hardware_measured(hardware),
                    "2026-11-21T07:00:00Z with driver " DRIVER);
    /* The peaks in use stay what they were. */
    assert_true(peak_of(hardware, "bf16").value == 989.4);
    llmperf_hardware_free(hardware);
    free(path);
}

static void a_gpu_without_a_file_has_no_measured_peaks_and_says_what_to_do(void **state)
{
    llmperf_hardware *hardware = find_this_gpu();

    (void)state;
    assert_true(isnan(measured_peak_of(hardware, "bf16").best));
    assert_text_has(measured_peak_of(hardware, "bf16").reason, "llmperf hardware --measure");
    assert_null(llmperf_hardware_measured(hardware));
    llmperf_hardware_free(hardware);
    hardware = find_gpu_name("H200");
    assert_true(isnan(measured_peak_of(hardware, "copy").best));
    llmperf_hardware_free(hardware);
}

static void another_driver_needs_another_measurement(void **state)
{
    llmperf_hardware_query query = h200_query();
    llmperf_hardware *hardware;

    (void)state;
    free(write_sample());
    query.uuid = UUID;
    query.driver = "590.10";
    hardware = find_gpu(&query);
    assert_null(llmperf_hardware_measured(hardware));
    llmperf_hardware_free(hardware);
}

static void floors_against_measured_peaks_are_longer_than_against_published(void **state)
{
    llmperf_step_floor peaks = LLMPERF_STEP_FLOOR_INIT, measured_peaks = LLMPERF_STEP_FLOOR_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_hardware *hardware;
    llmperf_model *model = NULL;
    uint64_t cached = 2047;

    (void)state;
    free(write_sample());
    hardware = find_this_gpu();
    assert_int_equal(llmperf_model_open("llama_3_8b", &model), LLMPERF_OK);
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 1;
    step.cached_tokens = &cached;
    assert_int_equal(llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_IN_USE, &peaks), 0);
    assert_int_equal(
        llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_MEASURED, &measured_peaks), 0);
    assert_near(peaks.roofline_ms, 15278424064.0 / 4800e6, 1e-9, "published");
    assert_near(measured_peaks.roofline_ms, 15278424064.0 / 4380.5e6, 1e-9,
                "the faster of read and copy");
    assert_near(measured_peaks.peak_tflops, 788.125, 1e-9, "peak");
    step.weight_dtype = step.activation_dtype = LLMPERF_DTYPE_FP8;
    assert_int_equal(
        llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_MEASURED, &measured_peaks), 0);
    assert_true(isnan(measured_peaks.roofline_ms));
    assert_string_equal(measured_peaks.bound_reason, "libcublasLt wasn't found");
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

/* The text stands in place of the file; a look-up still finds the GPU. */
static void check_damaged(const char *text, const char *reason, const char *warning)
{
    llmperf_hardware *hardware;
    char *path = write_sample();

    assert_int_equal(lp_file_write(path, text, strlen(text)), 0);
    hardware = find_this_gpu();
    assert_true(isnan(measured_peak_of(hardware, "bf16").best));
    assert_text_has(measured_peak_of(hardware, "bf16").reason, reason);
    if (warning)
        assert_true(hardware_warns(hardware, warning));
    assert_true(peak_of(hardware, "bf16").value == 989.4);
    llmperf_hardware_free(hardware);
    free(path);
}

static void a_damaged_file_is_a_warning_not_a_number(void **state)
{
    (void)state;
    check_damaged("{", "damaged", ".yaml");
    check_damaged("", "damaged", "measure again");
    check_damaged("measured_at: x\npeaks: {bf16: {best: nan, how: a}}", "was not measured", NULL);
    check_damaged("measured_at: x\npeaks: {bf16: {best: -5, how: a}}", "was not measured", NULL);
    check_damaged("measured_at: x\npeaks: {bf16: {best: 0, how: a}}", "was not measured", NULL);
    check_damaged("measured_at: x\npeaks: {bf16: {best: 1e300}}", "was not measured", NULL);
    check_damaged("measured_at: x\npeaks: [1, 2]", "was not measured", NULL);
}

static void names_that_leave_the_folder_are_refused(void **state)
{
    char *path = NULL;

    (void)state;
    assert_int_equal(lp_measured_peaks_path("../../etc/x", DRIVER, &path), LLMPERF_EINVAL);
    assert_int_equal(lp_measured_peaks_path(UUID, "1/2", &path), LLMPERF_EINVAL);
    assert_int_equal(lp_measured_peaks_path("", DRIVER, &path), LLMPERF_EINVAL);
    assert_int_equal(lp_measured_peaks_path(UUID, ".", &path), LLMPERF_EINVAL);
    assert_null(path);
}

static void without_the_variable_the_home_folder_has_the_cache(void **state)
{
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *path = NULL;

    (void)state;
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/a/home", 1);
    assert_int_equal(lp_measured_peaks_path(UUID, DRIVER, &path), 0);
    assert_string_equal(path, "/a/home/.cache/llmperf/" UUID "-" DRIVER ".yaml");
    free(path);
    unsetenv("HOME");
    assert_int_equal(lp_measured_peaks_path(UUID, DRIVER, &path), LLMPERF_ENOENT);
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

static void every_peak_has_a_name_and_other_names_are_refused(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;
    size_t count = 0;

    (void)state;
    for (const char *name; (name = llmperf_measured_peak_name(count)); count++)
        assert_int_equal(lp_measured_peak_index(name), count);
    assert_int_equal(count, LP_MEASURED_PEAKS);
    assert_int_equal(llmperf_hardware_measured_peak(hardware, "write", &measured_peak),
                     LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "unknown quantity write");
    assert_int_equal(llmperf_hardware_measured_peak(NULL, "copy", &measured_peak), LLMPERF_EINVAL);
    measured_peak.struct_size = 0;
    assert_int_equal(llmperf_hardware_measured_peak(hardware, "copy", &measured_peak),
                     LLMPERF_EINVAL);
    llmperf_hardware_free(hardware);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_nearest_larger_point_of_a_sweep_is_found),
        CASE(the_file_says_what_was_written),
        CASE(a_look_up_of_the_gpu_reads_its_measured_peaks_back),
        CASE(a_gpu_without_a_file_has_no_measured_peaks_and_says_what_to_do),
        CASE(another_driver_needs_another_measurement),
        CASE(floors_against_measured_peaks_are_longer_than_against_published),
        CASE(a_damaged_file_is_a_warning_not_a_number),
        CASE(names_that_leave_the_folder_are_refused),
        CASE(without_the_variable_the_home_folder_has_the_cache),
        CASE(every_peak_has_a_name_and_other_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
