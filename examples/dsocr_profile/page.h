/* SPDX-License-Identifier: Apache-2.0 */
/** What is profiled over: pages, as image files or as shapes alone. */
#ifndef DSOCR_PROFILE_PAGE_H
#define DSOCR_PROFILE_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct page {
    char *name;     /* of the shape, or of the file without its folder */
    char *path;     /* absolute; NULL: a shape, pixels are random */
    char *category; /* "text-heavy", "mixed", "image-rich", or the category in the list; "" */
    size_t width, height;
};

struct pages {
    struct page *items;
    size_t count;
    /* Which are run, in order: indices. */
    size_t *order;
    size_t runs;
};

struct sampling {
    size_t epochs, samples; /* samples 0: all */
    int random;
    uint64_t seed;
};

/** A list: one line a page, a path (below the list's folder) or WIDTHxHEIGHT, then a category.
 * @return 0, or -1 with `problem`. */
int pages_read_list(struct pages *pages, const char *path, char *problem, size_t problem_size);

/** A file of conf/dataset, by name or path. @param sampling  Filled from the file. */
int pages_read_dataset(struct pages *pages, const char *name, struct sampling *sampling,
                       char *problem, size_t problem_size);

/** Make `order`. @return 0 or -1: out of memory. */
int pages_sample(struct pages *pages, const struct sampling *sampling);
void pages_clear(struct pages *pages);

/** Size of a PNG or JPEG file from its header. @return 0, or -1 with `problem`. */
int image_size(const char *path, size_t *width_out, size_t *height_out, char *problem,
               size_t problem_size);

/** Pixels of a PNG or JPEG file, 3 bytes each. @return malloc()ed; NULL: no library for it was
 * found at build time, or a damaged file. */
unsigned char *image_decode(const char *path, size_t width, size_t height);

#endif
