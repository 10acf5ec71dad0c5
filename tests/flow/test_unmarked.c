/* SPDX-License-Identifier: Apache-2.0 */
/** Programs in which nothing is marked: where the time of the GPU goes, and the first advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "tests/support/play.h"

static json_t *metrics_of(const llmperf_profile *profile)
{
    char *text = NULL;
    json_t *root;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    llmperf_text_free(text);
    return root;
}

static double device_number(const json_t *root, const char *key)
{
    const json_t *rows = json_object_get(root, "devices");

    assert_int_equal(json_array_size(rows), 1);
    return json_number_value(json_object_get(json_array_get(rows, 0), key));
}

static void check_number(const json_t *root, const char *key, double expected)
{
    double value = device_number(root, key);

    if (!(value > expected - 1e-6 && value < expected + 1e-6))
        fail_msg("%s is %f, expected %f", key, value, expected);
}

/* A kernel of 2 us every 10 us, a pause of the host of 5 ms, and two kernels launched at once of
 * which the second starts 20 us after the first ends. */
static void idle_time_outside_of_regions_has_its_causes(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 100\nlaunch gemm duration=2000\nwait 9000\ndone\n"
                    "wait 5000000\nlaunch gemm duration=2000\n"
                    "launch gemm duration=2000 delay=23000\n");
    json_t *root = metrics_of(profile);

    (void)state;
    check_number(root, "activities", 102);
    check_number(root, "busy_ms", 0.204);
    check_number(root, "idle_launch_ms", 99 * 0.008);
    check_number(root, "idle_host_ms", 5.008);
    check_number(root, "idle_wait_ms", 0.020);
    check_number(root, "span_ms", 0.204 + 99 * 0.008 + 5.008 + 0.020);
    json_decref(root);
    llmperf_profile_free(profile);
}

/* Kernels of 2 us every 18 us, after 400 ms in which the host loads something. */
static void the_first_advice_says_what_an_unmarked_gpu_waits_for(void **state)
{
    llmperf_profile *profile = play_script("launch gemm duration=2000\nwait 400000000\n"
                                           "repeat 5000\nlaunch gemm duration=2000\nwait 17000\n"
                                           "done\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    assert_string_equal(advice.id, "idle_device");
    assert_null(advice.stage);
    assert_int_equal(advice.severity, LLMPERF_SEVERITY_HIGH);
    assert_non_null(
        strstr(advice.text, "The GPU was busy for 11.1 % of 90.0 ms (not counting 400 ms"));
    assert_non_null(strstr(advice.text, "and waited for launches for 88.9 %"));
    assert_non_null(strstr(advice.text, "Use CUDA graphs or torch.compile"));
    assert_true(advice.saving_ms > 79.9 && advice.saving_ms < 80.1);
    assert_int_equal(llmperf_profile_advice(profile, 1, &advice), 0);
    assert_string_equal(advice.id, "outside_regions");
    assert_non_null(strstr(advice.text, "mark prefill and decode steps"));
    llmperf_profile_free(profile);
}

/* A GPU that is kept busy has no such advice. */
static void a_busy_unmarked_gpu_does_not_wait(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 500\nlaunch gemm duration=20000\nwait 1000\ndone\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    assert_string_equal(advice.id, "outside_regions");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_outside_of_regions_has_its_causes),
        cmocka_unit_test(the_first_advice_says_what_an_unmarked_gpu_waits_for),
        cmocka_unit_test(a_busy_unmarked_gpu_does_not_wait),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
