/* SPDX-License-Identifier: Apache-2.0 */
/** The region stack of a thread, shared by our own calls (regions.c) and NVTX ranges (nvtx_in.c).
 * Each level has an owner: our calls, or an NVTX domain. An end closes its owner's newest level and
 * drops levels of other owners that were opened inside it and are still open. */
#ifndef LP_REGIONS_REGION_STACK_H
#define LP_REGIONS_REGION_STACK_H

#include "lib/regions/nvtx_out.h"
#include "lib/regions/region_hook.h"
#include "lib/regions/sampler.h"
#include "lib/regions/threads.h"
#include "lib/record/paths.h"

#define LP_OWNER_SELF 0u /* llmperf_region_begin(); NVTX domains count from 1 */

/** Dropped levels kept per thread: the newest. */
#define LP_STACK_DROPPED 16u

/** Open a level. Above LLMPERF_REGION_DEPTH levels are only counted. */
static inline void lp_stack_open(struct lp_thread *thread, uint32_t node, uint32_t owner)
{
    const struct lp_region_hook *hook = lp_region_hook_get();

    if (__builtin_expect(hook != NULL, 0) && hook->begin)
        hook->begin(thread, node);
    if (lp_thread_recording()) { /* before the push: a thread that starts recording here reports
                                    what was open before */
        uint64_t value = 0;
        uint16_t begin = lp_sampler_is_on() ? lp_sampler_open(thread, node, &value) : LP_BEGIN_NOW;

        lp_thread_record(thread, LP_RECORD_REGION_BEGIN, begin, node, value);
    }
    thread->owner[thread->depth] = owner;
    /* Release: a thread that frees paths sees everything that this thread did before. */
    __atomic_store_n(&thread->stack[thread->depth++], node, __ATOMIC_RELEASE);
    thread->node = node;
    if (owner == LP_OWNER_SELF)
        lp_nvtx_push(node);
    if (__builtin_expect(hook != NULL, 0) && hook->opened)
        hook->opened(node);
}

/** Open a level that is in no path and in no record. Its owner's end closes it. */
static inline void lp_stack_open_hidden(struct lp_thread *thread, uint32_t owner)
{
    thread->owner[thread->depth] = owner | LP_OWNER_DROPPED;
    __atomic_store_n(&thread->stack[thread->depth++], thread->node, __ATOMIC_RELEASE);
}

/** The top level must not be a dropped one. */
static inline void lp_stack_close_top(struct lp_thread *thread, enum lp_end end)
{
    const struct lp_region_hook *hook = lp_region_hook_get();
    uint32_t node = thread->node;

    if (lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_REGION_END, (uint16_t)end, node, 0);
    if (thread->owner[thread->depth - 1] == LP_OWNER_SELF)
        lp_nvtx_pop(node);
    if (thread->window_depth == thread->depth)
        lp_sampler_close(thread);
    thread->depth--;
    thread->node = thread->depth > 0 ? thread->stack[thread->depth - 1] : LP_PATH_ROOT;
    if (__builtin_expect(hook != NULL, 0) && hook->end)
        hook->end(thread, node);
}

/** Slow path: the owner's newest level is not on top, there is none, or too many are open. */
bool lp_stack_close_other(struct lp_thread *thread, uint32_t owner);

/** Close the owner's newest level and drop those of other owners above it. false: the owner has
 * none; counted as unbalanced. */
static inline bool lp_stack_close(struct lp_thread *thread, uint32_t owner)
{
    uint32_t top = thread->depth - 1; /* above the limit if there is no level */

    if (__builtin_expect(top >= LLMPERF_REGION_DEPTH || thread->owner[top] != owner, 0))
        return lp_stack_close_other(thread, owner);
    lp_stack_close_top(thread, LP_END_NOW);
    return true;
}

/** Levels that the owner has not ended, including dropped ones. */
uint32_t lp_stack_depth(const struct lp_thread *thread, uint32_t owner);

#endif
