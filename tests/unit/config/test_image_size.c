/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of image files, as an encoder wrote them, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/config/image_size.h"

#define BYTES(text) text, sizeof(text) - 1

#define PNG  "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x2c\0\0\0\xc8\x08\x02\0\0\0\xdd"
#define JFIF "\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
#define JPEG                                                                                       \
    "\xff\xd8" JFIF "\xff\xc0\0\x11\x08\0\xc8\x01\x2c\x03\x01\x22\0\x02\x11\x01\x03\x11\x01"
#define WEBP_LOSSY    "RIFF\x52\x03\0\0WEBPVP8 \x46\x03\0\0\x50\x30\0\x9d\x01\x2a\x2c\x01\xc8\0"
#define WEBP_LOSSLESS "RIFF\x38\x22\0\0WEBPVP8L\x2b\x22\0\0\x2f\x2b\xc1\x31\0\xcd\x30\x68\x1b\xc9"
#define WEBP_ALPHA    "RIFF\x5a\x28\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x2b\x01\0\xc7\0\0"

static const char *write_file(const void *bytes, size_t size)
{
    static char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/tmp/llmperf-image-%ld", (long)getpid());
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static bool size_of(const void *bytes, size_t size, uint32_t *width, uint32_t *height)
{
    const char *path = write_file(bytes, size);
    bool known = lp_image_size(path, width, height);

    unlink(path);
    return known;
}

static void images_of_each_format_have_their_size(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } images[] = {
        { BYTES(PNG) },
        { BYTES(JPEG) },
        /* A progressive one with EXIF data, and fill bytes before a marker. */
        { BYTES("\xff\xd8" JFIF "\xff\xe1\0\x0a"
                "Exif\0\0MM\xff\xff\xff\xc2\0\x11\x08\0\xc8\x01\x2c\x03") },
        { BYTES(WEBP_LOSSY) },
        { BYTES(WEBP_LOSSLESS) },
        { BYTES(WEBP_ALPHA) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        uint32_t width = 0, height = 0;

        print_message("image %zu\n", i);
        assert_true(size_of(images[i].bytes, images[i].size, &width, &height));
        assert_int_equal(width, 300);
        assert_int_equal(height, 200);
    }
}

static void a_file_that_is_cut_has_no_size(void **state)
{
    static const struct {
        const char *bytes;
        size_t enough;
    } images[] = {
        { PNG, 24 }, { JPEG, 29 }, { WEBP_LOSSY, 30 }, { WEBP_LOSSLESS, 25 }, { WEBP_ALPHA, 30 }
    };
    uint32_t width, height;

    (void)state;
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        for (size_t size = 0; size < images[i].enough; size++)
            assert_false(size_of(images[i].bytes, size, &width, &height));
        assert_true(size_of(images[i].bytes, images[i].enough, &width, &height));
    }
}

static void a_damaged_header_has_no_size(void **state)
{
    static char fill[100000] = "\xff\xd8", segments[100000] = "\xff\xd8";
    uint32_t width, height;

    (void)state;
    memset(fill + 2, 0xff, sizeof(fill) - 2);
    for (size_t i = 2; i + 4 < sizeof(segments); i += 4) /* empty comments, without end */
        memcpy(segments + i, "\xff\xfe\0\x02", 4);
    assert_false(size_of(fill, sizeof(fill), &width, &height));
    assert_false(size_of(segments, sizeof(segments), &width, &height));
    assert_false(size_of(BYTES("\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\xff\xda\0\x02....."), &width,
                         &height)); /* segments of length 0, then data */
    assert_false(size_of(BYTES("\xff\xd8\xff\xe0\xff\xff........"), &width, &height));
    assert_false(size_of(BYTES("\xff\xd8" JFIF "\xff\xc4\0\x11\x08\0\xc8\x01\x2c\x03"), &width,
                         &height)); /* a table, not a frame */
    assert_false(
        size_of(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\xc8"), &width, &height));
    assert_false(
        size_of(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\xff\0\0\0\xc8"), &width, &height));
    assert_false(size_of(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIDAT\0\0\0\1\0\0\0\1"), &width, &height));
    assert_false(size_of(BYTES("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0"), &width,
                         &height));
    assert_false(size_of(BYTES("GIF89a\x2c\x01\xc8\0 ........................"), &width, &height));
}

static void what_is_no_file_has_no_size(void **state)
{
    uint32_t width, height;
    const char *path = write_file("", 0);

    (void)state;
    assert_false(lp_image_size("/nonexistent/image.png", &width, &height));
    assert_false(lp_image_size("/tmp", &width, &height));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* does not block */
    assert_false(lp_image_size(path, &width, &height));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_of_each_format_have_their_size),
        cmocka_unit_test(a_file_that_is_cut_has_no_size),
        cmocka_unit_test(a_damaged_header_has_no_size),
        cmocka_unit_test(what_is_no_file_has_no_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
