/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/config/image_size.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"

#define JPEG_SEGMENTS_MOST 512 /* a file may have any number of them before its frame header */

struct size {
    uint32_t width, height;
};

/* `count` bytes at `at`, the first one being the most significant. */
static uint32_t big(const uint8_t *at, unsigned count)
{
    uint32_t value = 0;

    while (count-- > 0)
        value = value << 8 | *at++;
    return value;
}

static uint32_t little(const uint8_t *at, unsigned count)
{
    uint32_t value = 0;

    while (count-- > 0)
        value = value << 8 | at[count];
    return value;
}

static struct size png_size(const uint8_t *header, ssize_t size)
{
    if (size < 24 || memcmp(header + 8, "\0\0\0\15IHDR", 8) != 0)
        return (struct size){ 0 };
    return (struct size){ big(header + 16, 4), big(header + 20, 4) };
}

static struct size webp_size(const uint8_t *header, ssize_t size)
{
    if (size >= 25 && memcmp(header + 12, "VP8L", 4) == 0 && header[20] == 0x2f)
        return (struct size){ (little(header + 21, 4) & 0x3fff) + 1,
                              (little(header + 21, 4) >> 14 & 0x3fff) + 1 };
    if (size >= 30 && memcmp(header + 12, "VP8X", 4) == 0)
        return (struct size){ little(header + 24, 3) + 1, little(header + 27, 3) + 1 };
    if (size >= 30 && memcmp(header + 12, "VP8 ", 4) == 0 &&
        memcmp(header + 23, "\x9d\x01\x2a", 3) == 0)
        return (struct size){ little(header + 26, 2) & 0x3fff, little(header + 28, 2) & 0x3fff };
    return (struct size){ 0 };
}

/* Start of frame, of any coding; 0xc4, 0xc8 and 0xcc are tables and an extension. */
static bool is_frame(uint8_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static struct size jpeg_size(int fd)
{
    uint8_t at[9]; /* 0xff, marker, length in 2 bytes; in a frame: precision, height, width */
    off_t offset = 2;

    for (int i = 0; i < JPEG_SEGMENTS_MOST; i++) {
        if (pread(fd, at, sizeof(at), offset) != (ssize_t)sizeof(at) || at[0] != 0xff)
            break;
        if (is_frame(at[1]))
            return (struct size){ big(at + 7, 2), big(at + 5, 2) };
        if (at[1] == 0xda || at[1] == 0xd9) /* image data, or the end */
            break;
        offset += at[1] == 0xff ? 1 : 2 + (off_t)big(at + 2, 2); /* 0xff may be repeated */
    }
    return (struct size){ 0 };
}

bool lp_image_size(const char *path, uint32_t *width_out, uint32_t *height_out)
{
    uint8_t header[30] = { 0 };
    struct size size = { 0 };
    ssize_t got;
    int fd;

    if (lp_file_open(path, &fd) < 0)
        return false;
    got = pread(fd, header, sizeof(header), 0);
    if (memcmp(header, "\x89PNG\r\n\x1a\n", 8) == 0)
        size = png_size(header, got);
    else if (memcmp(header, "RIFF", 4) == 0 && memcmp(header + 8, "WEBP", 4) == 0)
        size = webp_size(header, got);
    else if (memcmp(header, "\xff\xd8", 2) == 0)
        size = jpeg_size(fd);
    close(fd);
    if (size.width - 1 >= INT32_MAX || size.height - 1 >= INT32_MAX)
        return false;
    *width_out = size.width;
    *height_out = size.height;
    return true;
}
