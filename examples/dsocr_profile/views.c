/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "views.h"

/* A picture in memory, or none. */
struct source {
    const unsigned char *pixels;
    size_t width, height;
};

static float pixel(const struct source *source, double x, double y, size_t c)
{
    size_t left = x < 0 ? 0 : (size_t)x, top = y < 0 ? 0 : (size_t)y;
    size_t right = left + 1 < source->width ? left + 1 : source->width - 1;
    size_t below = top + 1 < source->height ? top + 1 : source->height - 1;
    double part_x = x < 0 ? 0 : x - (double)left, part_y = y < 0 ? 0 : y - (double)top, upper,
           lower;

    upper = source->pixels[(top * source->width + left) * 3 + c] * (1 - part_x) +
            source->pixels[(top * source->width + right) * 3 + c] * part_x;
    lower = source->pixels[(below * source->width + left) * 3 + c] * (1 - part_x) +
            source->pixels[(below * source->width + right) * 3 + c] * part_x;
    return (float)((upper * (1 - part_y) + lower * part_y) / 127.5 - 1);
}

/* Where in a square of `side` pixels the source stands: its corner and its size there. */
struct frame {
    double left, top, width, height;
};

static void draw(const struct source *source, const struct frame *frame, bf16 *to, size_t side)
{
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            double at_x = ((double)x + 0.5 - frame->left) / frame->width;
            double at_y = ((double)y + 0.5 - frame->top) / frame->height;
            int inside = at_x >= 0 && at_y >= 0 && at_x < 1 && at_y < 1;

            for (size_t c = 0; c < 3; c++)
                to[(y * side + x) * 3 + c] =
                    bf16_from_float(inside ? pixel(source, at_x * (double)source->width - 0.5,
                                                   at_y * (double)source->height - 0.5, c)
                                           : 0);
        }
}

static struct frame frame_of_whole(const struct source *source, enum mode mode, size_t side)
{
    double width = (double)source->width, height = (double)source->height, all = (double)side;
    double scale = all / (width > height ? width : height);
    struct frame frame = { 0, 0, all, all };

    if (mode == MODE_TINY || mode == MODE_SMALL)
        return frame;
    frame.width = width * scale;
    frame.height = height * scale;
    frame.left = (all - frame.width) / 2;
    frame.top = (all - frame.height) / 2;
    return frame;
}

static void draw_all(struct page_views *views, const struct source *source)
{
    const struct tiling *tiling = &views->tiling;
    struct frame frame = frame_of_whole(source, views->mode, tiling->whole_pixels);
    size_t side = tiling->tile_pixels;

    draw(source, &frame, views->whole, tiling->whole_pixels);
    for (size_t i = 0; i < tiling->rows * tiling->columns; i++) {
        frame = (struct frame){ -(double)(i % tiling->columns * side),
                                -(double)(i / tiling->columns * side),
                                (double)(tiling->columns * side), (double)(tiling->rows * side) };
        draw(source, &frame, views->tiles + i * side * side * 3, side);
    }
}

static void randomise(bf16 *to, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        to[i] = bf16_from_float(random_value(seed, i, 1, 0));
}

void views_plan(struct page_views *views, const struct page *page, enum mode mode)
{
    memset(views, 0, sizeof(*views));
    views->mode = mode;
    views->tiling = tile_image(mode, page->width, page->height);
}

int views_make(struct page_views *views, const struct page *page, uint64_t seed)
{
    struct source source = { NULL, page->width, page->height };
    unsigned char *pixels = page->path ? image_decode(page->path, page->width, page->height) : NULL;
    size_t whole, tiles;

    whole = views->tiling.whole_pixels * views->tiling.whole_pixels * 3;
    tiles = views->tiling.rows * views->tiling.columns * views->tiling.tile_pixels *
            views->tiling.tile_pixels * 3;
    views->whole = malloc(whole * sizeof(bf16));
    views->tiles = tiles ? malloc(tiles * sizeof(bf16)) : NULL;
    if (!views->whole || (tiles && !views->tiles)) {
        free(pixels);
        views_clear(views);
        return -1;
    }
    source.pixels = pixels;
    views->decoded = pixels != NULL;
    if (pixels) {
        draw_all(views, &source);
    } else {
        randomise(views->whole, whole, seed);
        randomise(views->tiles, tiles, seed + 1);
    }
    free(pixels);
    return 0;
}

void views_clear(struct page_views *views)
{
    free(views->tiles);
    free(views->whole);
    views->tiles = views->whole = NULL;
}
