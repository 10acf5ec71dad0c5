/* SPDX-License-Identifier: Apache-2.0 */
/* The system may write less than it is asked to, or be interrupted: nothing is lost by that. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "tests/support/play.h"

static unsigned calls;
static bool partly;

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (partly && calls++ % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, partly && size > 7 ? 7 : size);
}

static void what_is_written_in_parts_is_written_whole(void **state)
{
    static const char text[] = "a text of more than seven bytes, so that it comes in parts";
    char *read = NULL;
    size_t size = 0;
    int status;

    (void)state;
    partly = true;
    status = lp_file_write(in_test_folder("parts"), text, sizeof(text));
    partly = false;
    assert_int_equal(status, 0);
    assert_true(calls > sizeof(text) / 7);
    assert_int_equal(lp_file_read(in_test_folder("parts"), &read, &size), 0);
    assert_int_equal(size, sizeof(text));
    assert_memory_equal(read, text, size);
    free(read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_in_parts_is_written_whole),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
