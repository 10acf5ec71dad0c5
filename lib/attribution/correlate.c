/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "lib/attribution/correlate.h"
#include "lib/record/record.h"

#define AHEAD   16u                    /* launches */
#define KEPT_NS UINT64_C(600000000000) /* ten minutes */

#define PAGE_NUMBERS (UINT32_C(1) << (32 - LP_CORRELATION_PAGE_BITS))

static uint64_t count_missing(const struct lp_launch_page *page)
{
    uint64_t missing = 0;

    for (uint32_t i = 0; i < LP_CORRELATION_PAGE; i++) {
        const struct lp_launch *launch = &page->launches[i];

        missing += launch->kind == LP_LAUNCH_KERNEL && !launch->call_failed && !launch->spoiled &&
                   launch->seen == 0;
    }
    return missing;
}

/* The page of an id. If its slot has another page, that page is out of the window or from before a
 * reset, and is freed. */
static struct lp_launch_page *make_page(struct lp_correlation *correlation, uint32_t number)
{
    struct lp_launch_page **slot = &correlation->pages[number % LP_CORRELATION_PAGES];

    if (*slot && (*slot)->number == number)
        return *slot;
    if (*slot)
        correlation->forgotten += count_missing(*slot);
    free(*slot);
    *slot = calloc(1, sizeof(**slot));
    if (*slot)
        (*slot)->number = correlation->newest = number;
    else
        correlation->failed = true;
    return *slot;
}

struct lp_launch *lp_correlation_add(struct lp_correlation *correlation, uint32_t id)
{
    struct lp_launch_page *page = NULL;
    struct lp_launch *launches;

    /* Records without an id must not match a launch. */
    if (id != LP_CORRELATION_NONE)
        page = make_page(correlation, id >> LP_CORRELATION_PAGE_BITS);
    launches = page ? page->launches : NULL;

    if (!launches)
        return NULL;
    /* Prefetch: this memory was last used a million launches ago. */
    __builtin_prefetch(&launches[(id + AHEAD) % LP_CORRELATION_PAGE], 1);
    correlation->duplicates += launches[id % LP_CORRELATION_PAGE].kind != 0;
    return &launches[id % LP_CORRELATION_PAGE];
}

/* A graph may wait long for other work. */
static bool awaits_graph(const struct lp_launch_page *page)
{
    for (uint32_t i = 0; i < LP_CORRELATION_PAGE; i++)
        if (page->launches[i].kind == LP_LAUNCH_GRAPH && !page->launches[i].call_failed &&
            page->launches[i].seen == 0)
            return true;
    return false;
}

static bool is_old(const struct lp_correlation *correlation, struct lp_launch_page *page,
                   uint64_t now_ns)
{
    uint32_t behind = (correlation->newest - page->number) % PAGE_NUMBERS; /* ids wrap around */

    if (behind == 0 || behind > PAGE_NUMBERS / 2)
        return false;
    if (page->full_ns == 0)
        page->full_ns = now_ns;
    return behind > LP_CORRELATION_KEPT ||
           (now_ns > page->full_ns + KEPT_NS && !awaits_graph(page));
}

void lp_correlation_retire(struct lp_correlation *correlation, uint64_t now_ns)
{
    for (uint32_t i = 0; i < LP_CORRELATION_PAGES; i++) {
        struct lp_launch_page *page = correlation->pages[i];

        if (!page || !is_old(correlation, page, now_ns) || count_missing(page) > 0)
            continue;
        free(page);
        correlation->pages[i] = NULL;
    }
}

uint64_t lp_correlation_missing(const struct lp_correlation *correlation)
{
    uint64_t missing = 0;

    for (uint32_t i = 0; i < LP_CORRELATION_PAGES; i++)
        if (correlation->pages[i])
            missing += count_missing(correlation->pages[i]);
    return missing;
}

void lp_correlation_clear(struct lp_correlation *correlation)
{
    for (uint32_t i = 0; i < LP_CORRELATION_PAGES; i++)
        free(correlation->pages[i]);
    *correlation = (struct lp_correlation){ { NULL }, 0, 0, 0, false };
}
