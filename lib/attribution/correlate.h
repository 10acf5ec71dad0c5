/* SPDX-License-Identifier: Apache-2.0 */
/** Correlation id -> launch. Ids come from one counter of the process, so launches fill pages
 * densely. Pages from a million launches or ten minutes ago are freed once all their kernel
 * launches have records; so memory grows only with a backlog of records. Several records may have
 * the same id. */
#ifndef LP_ATTRIBUTION_CORRELATE_H
#define LP_ATTRIBUTION_CORRELATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LP_CORRELATION_PAGE_BITS 12u
#define LP_CORRELATION_PAGE      (1u << LP_CORRELATION_PAGE_BITS) /* launches */
#define LP_CORRELATION_PAGES     8192u /* 33 million ids in progress at once */
#define LP_CORRELATION_KEPT      256u /* newest pages that are never freed: 1 million ids, 20 MiB */

struct lp_launch {
    uint32_t node;
    uint32_t unit;   /* LP_UNIT_NONE: none */
    uint32_t queued; /* time of the call, see lp_queued() */
    uint32_t length; /* of the call, in steps of lp_queued(); 0: unknown */
    uint8_t kind;    /* enum lp_launch_kind; 0: no launch has this id */
    uint8_t call_failed : 1;
    uint8_t spoiled : 1; /* a record with invalid times came */
    uint16_t seen;       /* valid records so far; saturates */
};

struct lp_launch_page {
    uint32_t number;
    uint64_t full_ns; /* when the first newer page was added; 0: none */
    struct lp_launch launches[LP_CORRELATION_PAGE];
};

struct lp_correlation {
    struct lp_launch_page *pages[LP_CORRELATION_PAGES]; /* by page number modulo */
    uint32_t newest;                                    /* page number */
    uint64_t forgotten;  /* kernel launches that left the window without a record */
    uint64_t duplicates; /* launches with the id of an earlier one */
    bool failed;         /* memory ran out: some launches are unknown */
};

/** NULL: unknown id. */
static inline struct lp_launch *lp_correlation_find(struct lp_correlation *correlation, uint32_t id)
{
    uint32_t number = id >> LP_CORRELATION_PAGE_BITS;
    struct lp_launch_page *page = correlation->pages[number % LP_CORRELATION_PAGES];
    struct lp_launch *launch;

    if (!page || page->number != number)
        return NULL;
    launch = &page->launches[id % LP_CORRELATION_PAGE];
    return launch->kind ? launch : NULL;
}

/** Add a launch; the caller fills in all fields. NULL: LP_CORRELATION_NONE, or out of memory. */
struct lp_launch *lp_correlation_add(struct lp_correlation *correlation, uint32_t id);

/** Free old pages whose launches all have records.
 * @param now_ns  Host time; must not decrease. */
void lp_correlation_retire(struct lp_correlation *correlation, uint64_t now_ns);

/** Kernel launches in the window without any record. */
uint64_t lp_correlation_missing(const struct lp_correlation *correlation);

void lp_correlation_clear(struct lp_correlation *correlation);

#endif
