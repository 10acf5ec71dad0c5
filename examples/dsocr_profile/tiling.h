/* SPDX-License-Identifier: Apache-2.0 */
/** DeepSeek-OCR's modes: how an image of any size becomes views of fixed sizes. */
#ifndef DSOCR_PROFILE_TILING_H
#define DSOCR_PROFILE_TILING_H

#include <stddef.h>

enum mode { MODE_TINY, MODE_SMALL, MODE_BASE, MODE_LARGE, MODE_GUNDAM, MODES };

/** The views of one image. */
struct tiling {
    size_t whole_pixels;
    size_t tile_pixels, rows, columns; /* rows x columns tiles; 0 x 0: none */
};

/** @return 0 or -1: no such mode. */
int mode_find(const char *name, enum mode *mode_out);
const char *mode_name(enum mode mode);

/** Gundam cuts images that are larger than a tile into 2 to 9 tiles, in the grid whose shape is
 * nearest to the image's; the other modes have one view. */
struct tiling tile_image(enum mode mode, size_t width, size_t height);

#endif
