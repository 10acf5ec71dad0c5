/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "lib/attribution/correlate.h"
#include "lib/record/record.h"

#define PAGE_LAUNCHES (1u << LP_CORRELATION_PAGE_BITS)

struct lp_launch *lp_correlation_find(struct lp_correlation *correlation, uint32_t id)
{
    uint32_t number = id >> LP_CORRELATION_PAGE_BITS;
    struct lp_launch_page *page = correlation->pages[number % LP_CORRELATION_PAGES];
    struct lp_launch *launch =
        page && page->number == number ? &page->launches[id % PAGE_LAUNCHES] : NULL;

    return launch && launch->kind ? launch : NULL;
}

static uint64_t count_missing(const struct lp_launch_page *page)
{
    uint64_t missing = 0;

    for (uint32_t i = 0; i < PAGE_LAUNCHES; i++) {
        const struct lp_launch *launch = &page->launches[i];

        missing += launch->kind == LP_LAUNCH_KERNEL && !launch->is_void && !launch->spoiled &&
                   launch->seen == 0;
    }
    return missing;
}

/* The page of an id. A page that stands in its place is older by the whole window, or newer after a
 * reset: it goes. */
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

void lp_correlation_add(struct lp_correlation *correlation, uint32_t id,
                        const struct lp_launch *launch)
{
    struct lp_launch_page *page = make_page(correlation, id >> LP_CORRELATION_PAGE_BITS);

    if (!page)
        return;
    correlation->duplicates += page->launches[id % PAGE_LAUNCHES].kind != 0;
    page->launches[id % PAGE_LAUNCHES] = *launch;
}

void lp_correlation_retire(struct lp_correlation *correlation)
{
    for (uint32_t i = 0; i < LP_CORRELATION_PAGES; i++) {
        struct lp_launch_page *page = correlation->pages[i];

        /* Unsigned difference: ids wrap. */
        if (!page || correlation->newest - page->number <= LP_CORRELATION_KEPT ||
            correlation->newest - page->number > UINT32_MAX / 2 || count_missing(page) > 0)
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
