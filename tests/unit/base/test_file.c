/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "llmperf/api.h"
#include "tests/support/play.h"

static void bytes_read_back(void **state)
{
    const size_t sizes[] = { 0, 1, 65534, 65535, 65536, 65537, 200000 };
    char *bytes = malloc(200000), *read = NULL;
    size_t size;

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < 200000; i++)
        bytes[i] = (char)(i * 31);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(lp_file_write(in_test_folder("bytes"), bytes, sizes[i]), 0);
        assert_int_equal(lp_file_read(in_test_folder("bytes"), &read, &size), 0);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(read, bytes, size);
        assert_int_equal(read[size], 0);
        free(read);
    }
    free(bytes);
}

static void a_file_above_the_limit_is_refused_and_one_at_it_is_not(void **state)
{
    char *read = NULL;
    size_t size;

    (void)state;
    assert_int_equal(lp_file_write(in_test_folder("limit"), "12345", 5), 0);
    assert_int_equal(lp_file_read_most(in_test_folder("limit"), 5, &read, &size), 0);
    assert_int_equal(size, 5);
    free(read);
    assert_int_equal(lp_file_read_most(in_test_folder("limit"), 4, &read, &size), LLMPERF_EFORMAT);
    check_error("larger than 4 bytes");
    /* Has no size of its own. */
    assert_int_equal(lp_file_read_most("/proc/self/status", 10, &read, &size), LLMPERF_EFORMAT);
    assert_int_equal(truncate(in_test_folder("limit"), (off_t)10 << 30), 0);
    assert_int_equal(lp_file_read_most(in_test_folder("limit"), 1 << 20, &read, &size),
                     LLMPERF_EFORMAT);
    unlink(in_test_folder("limit"));
}

static int count_files(const char *folder)
{
    DIR *files = opendir(folder);
    int count = -2;

    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(lp_folder_make(in_test_folder("w/target")), 0);
    assert_int_equal(lp_file_write(in_test_folder("w/target"), "x", 1), LLMPERF_EIO);
    check_error("w/target");
    assert_int_equal(count_files(in_test_folder("w")), 1);
    assert_int_equal(lp_file_write(in_test_folder("none/file"), "x", 1), LLMPERF_EIO);
}

static void what_cannot_be_read_is_told_apart(void **state)
{
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(lp_file_read(in_test_folder("missing"), &bytes, &size), LLMPERF_ENOENT);
    check_error("missing");
    assert_int_equal(lp_file_read(in_test_folder(""), &bytes, &size), LLMPERF_EINVAL);
    check_error("is a folder, not a regular file");
    assert_int_equal(lp_file_read("/dev/zero", &bytes, &size), LLMPERF_EINVAL);
    check_error("is a pipe or a device, not a regular file");
    assert_null(bytes);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    assert_int_equal(lp_folder_make(in_test_folder("a/b//c/")), 0);
    assert_true(lp_path_is_folder(in_test_folder("a/b/c")));
    assert_int_equal(lp_folder_make(in_test_folder("a/b/c")), 0);
    write_test_file("a/file", "x", 1);
    assert_int_equal(lp_folder_make(in_test_folder("a/file")), LLMPERF_EIO);
    assert_int_equal(lp_folder_make(in_test_folder("a/file/below")), LLMPERF_EIO);
    assert_int_equal(lp_folder_make(""), LLMPERF_EIO);
    check_error("empty");
    assert_int_equal(lp_folder_make("/"), 0);
    assert_true(lp_path_exists(in_test_folder("a/file")));
    assert_false(lp_path_is_folder(in_test_folder("a/file")));
    assert_false(lp_path_exists(in_test_folder("a/nothing")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_read_back),
        cmocka_unit_test(a_file_above_the_limit_is_refused_and_one_at_it_is_not),
        cmocka_unit_test(a_failed_write_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(what_cannot_be_read_is_told_apart),
        cmocka_unit_test(folders_are_made_with_their_parents),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
