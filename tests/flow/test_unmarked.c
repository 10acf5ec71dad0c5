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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_outside_of_regions_has_its_causes),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
