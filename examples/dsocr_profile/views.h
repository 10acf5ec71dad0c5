/* SPDX-License-Identifier: Apache-2.0 */
/** A page's pixels as the encoder takes them. */
#ifndef DSOCR_PROFILE_VIEWS_H
#define DSOCR_PROFILE_VIEWS_H

#include "number.h"
#include "page.h"
#include "tiling.h"

struct page_views {
    enum mode mode;
    struct tiling tiling;
    bf16 *tiles, *whole; /* views x pixels x pixels x 3, -1 to 1; tiles NULL: none */
    int decoded;         /* 0: random pixels */
};

/** Which views; no pixels yet. */
void views_plan(struct page_views *views, const struct page *page, enum mode mode);

/** Pixels of planned views: the whole page, shrunk to fit and padded with grey (tiny and small:
 * stretched); the tiles of the page stretched over their grid. @return 0 or -1: out of memory. */
int views_make(struct page_views *views, const struct page *page, uint64_t seed);
void views_clear(struct page_views *views);

#endif
