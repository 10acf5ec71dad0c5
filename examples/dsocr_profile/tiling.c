/* SPDX-License-Identifier: Apache-2.0 */
#include "tiling.h"

#include <math.h>
#include <string.h>

#define TILE_PIXELS 640
#define TILES_MIN   2
#define TILES_MAX   9

static const struct {
    const char *name;
    size_t pixels;
} modes[MODES] = {
    { "tiny", 512 }, { "small", 640 }, { "base", 1024 }, { "large", 1280 }, { "gundam", 1024 }
};

int mode_find(const char *name, enum mode *mode_out)
{
    for (int i = 0; i < MODES; i++)
        if (strcmp(name, modes[i].name) == 0) {
            *mode_out = (enum mode)i;
            return 0;
        }
    return -1;
}

const char *mode_name(enum mode mode)
{
    return modes[mode].name;
}

/* Of grids that are equally near, the larger one wins if the image fills more than half of it. */
static void choose_grid(struct tiling *out, double width, double height)
{
    double best = INFINITY;

    for (size_t tiles = TILES_MIN; tiles <= TILES_MAX; tiles++)
        for (size_t columns = 1; columns <= tiles; columns++) {
            size_t rows = tiles / columns;
            double off = fabs(width / height - (double)columns / (double)rows);
            double filled = width * height / (TILE_PIXELS * TILE_PIXELS * (double)tiles);

            if (rows * columns != tiles || off > best || (off == best && filled <= 0.5))
                continue;
            best = off;
            out->rows = rows;
            out->columns = columns;
        }
}

struct tiling tile_image(enum mode mode, size_t width, size_t height)
{
    struct tiling out = { modes[mode].pixels, 0, 0, 0 };

    if (mode != MODE_GUNDAM)
        return out;
    out.tile_pixels = TILE_PIXELS;
    if (width > TILE_PIXELS || height > TILE_PIXELS)
        choose_grid(&out, (double)width, (double)height);
    return out;
}
