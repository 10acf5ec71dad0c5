/* SPDX-License-Identifier: Apache-2.0 */
/* A disk may be found full only when a file is closed: /dev/full takes what is buffered, and no
 * more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/sources/replay/recording.h"
#include "lib/record/names.h"
#include "lib/trace/out_file.h"
#include "tests/support/play.h"

static void a_recording_that_ends_on_a_full_disk_is_an_error(void **state)
{
    const struct lp_device_stats stats = { 0 };
    struct lp_recorder *recorder = NULL;
    struct lp_names names = { 0 };

    (void)state;
    if (!lp_path_exists("/dev/full"))
        skip();
    assert_int_equal(lp_recorder_open("/dev/full", &names,
                                      &(struct lp_recorder_options){ .limit_bytes = 0 }, &recorder),
                     0);
    assert_int_equal(lp_recorder_close(recorder, &stats, "{}"), LLMPERF_EIO);
    check_error("cannot write recording /dev/full");
    lp_names_clear(&names);
}

static void a_trace_that_ends_on_a_full_disk_is_an_error(void **state)
{
    struct lp_out_file out = { 0 };
    struct lp_text text = { NULL, 0, 0, false };

    (void)state;
    if (!lp_path_exists("/dev/full"))
        skip();
    assert_int_equal(lp_out_file_open(&out, "/dev/full"), 0);
    lp_text_puts(&text, "{}");
    lp_out_file_write(&out, &text);
    assert_int_equal(lp_out_file_finish(&out), LLMPERF_EIO);
    check_error("cannot write /dev/full");
    lp_out_file_close(&out);
    lp_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_that_ends_on_a_full_disk_is_an_error),
        cmocka_unit_test(a_trace_that_ends_on_a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
