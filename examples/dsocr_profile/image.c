/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes from the headers of PNG and JPEG files; pixels by libpng and libjpeg where they were found.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PNG
#include <png.h>
#endif
#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

#include "page.h"

static size_t big_endian(const unsigned char *bytes, int count)
{
    size_t value = 0;

    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int png_size(FILE *file, size_t *width, size_t *height)
{
    unsigned char header[24];

    if (fread(header, 1, sizeof(header), file) != sizeof(header) ||
        memcmp(header, "\x89PNG\r\n\x1a\n", 8) != 0 || memcmp(header + 12, "IHDR", 4) != 0)
        return -1;
    *width = big_endian(header + 16, 4);
    *height = big_endian(header + 20, 4);
    return 0;
}

/* C0 to CF but for tables (C4), extensions (C8) and conditioning (CC). */
static int is_start_of_frame(int marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* Segments follow each other until the one that begins a frame: length, precision, height, width.
 */
static int jpeg_size(FILE *file, size_t *width, size_t *height)
{
    unsigned char bytes[7];

    rewind(file);
    if (fread(bytes, 1, 2, file) != 2 || bytes[0] != 0xff || bytes[1] != 0xd8)
        return -1;
    for (;;) {
        int marker;

        if (getc(file) != 0xff)
            return -1;
        while ((marker = getc(file)) == 0xff)
            ;
        if (marker == EOF || fread(bytes, 1, 2, file) != 2)
            return -1;
        if (is_start_of_frame(marker)) {
            if (fread(bytes + 2, 1, 5, file) != 5)
                return -1;
            *height = big_endian(bytes + 3, 2);
            *width = big_endian(bytes + 5, 2);
            return 0;
        }
        if (fseek(file, (long)big_endian(bytes, 2) - 2, SEEK_CUR) != 0)
            return -1;
    }
}

int image_size(const char *path, size_t *width_out, size_t *height_out, char *problem,
               size_t problem_size)
{
    FILE *file = fopen(path, "rb");
    int found;

    if (!file) {
        snprintf(problem, problem_size, "cannot read %.400s: %s", path, strerror(errno));
        return -1;
    }
    found =
        png_size(file, width_out, height_out) == 0 || jpeg_size(file, width_out, height_out) == 0;
    fclose(file);
    if (found && *width_out > 0 && *height_out > 0 && *width_out <= 65535 && *height_out <= 65535)
        return 0;
    snprintf(problem, problem_size, "%.400s is no PNG or JPEG file of 1 to 65535 pixels a side",
             path);
    return -1;
}

#ifdef HAVE_PNG
static unsigned char *decode_png(const char *path, size_t width, size_t height)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    unsigned char *pixels = NULL;

    if (!png_image_begin_read_from_file(&image, path))
        return NULL;
    image.format = PNG_FORMAT_RGB;
    if (image.width == width && image.height == height)
        pixels = malloc(PNG_IMAGE_SIZE(image));
    if (pixels && !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        free(pixels);
        pixels = NULL;
    }
    png_image_free(&image);
    return pixels;
}
#else
static unsigned char *decode_png(const char *path, size_t width, size_t height)
{
    (void)path;
    (void)width;
    (void)height;
    return NULL;
}
#endif

#ifdef HAVE_JPEG
/* libjpeg ends the program on a damaged file unless its error handler does not return. */
struct jpeg_fault {
    struct jpeg_error_mgr manager; /* first: libjpeg knows this part */
    jmp_buf back;
};

static void leave(j_common_ptr info)
{
    longjmp(((struct jpeg_fault *)(void *)info->err)->back, 1);
}

static void say_nothing(j_common_ptr info)
{
    (void)info;
}

static int read_rows(struct jpeg_decompress_struct *info, FILE *file, unsigned char *pixels,
                     size_t width, size_t height)
{
    struct jpeg_fault fault;

    info->err = jpeg_std_error(&fault.manager);
    fault.manager.error_exit = leave;
    fault.manager.output_message = say_nothing;
    if (setjmp(fault.back))
        return -1;
    jpeg_create_decompress(info);
    jpeg_stdio_src(info, file);
    jpeg_read_header(info, TRUE);
    info->out_color_space = JCS_RGB;
    jpeg_start_decompress(info);
    if (info->output_width != width || info->output_height != height ||
        info->output_components != 3)
        return -1;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = pixels + (size_t)info->output_scanline * width * 3;

        jpeg_read_scanlines(info, &row, 1);
    }
    jpeg_finish_decompress(info);
    return 0;
}

static unsigned char *decode_jpeg(const char *path, size_t width, size_t height)
{
    struct jpeg_decompress_struct info;
    unsigned char *pixels = malloc(width * height * 3);
    FILE *file = fopen(path, "rb");

    memset(&info, 0, sizeof(info));
    if (pixels && (!file || read_rows(&info, file, pixels, width, height) < 0)) {
        free(pixels);
        pixels = NULL;
    }
    jpeg_destroy_decompress(&info);
    if (file)
        fclose(file);
    return pixels;
}
#else
static unsigned char *decode_jpeg(const char *path, size_t width, size_t height)
{
    (void)path;
    (void)width;
    (void)height;
    return NULL;
}
#endif

unsigned char *image_decode(const char *path, size_t width, size_t height)
{
    unsigned char *pixels = decode_png(path, width, height);

    return pixels ? pixels : decode_jpeg(path, width, height);
}
