/* SPDX-License-Identifier: Apache-2.0 */
/** The region stack of a thread, for those who open and close regions on it: our own calls
 * (regions.c) and the NVTX ranges of other people's code (nvtx_in.c). A level belongs to an owner:
 * our calls, or one NVTX domain. An owner closes only its own levels. */
#ifndef LP_CAPTURE_REGION_STACK_H
#define LP_CAPTURE_REGION_STACK_H

#include "lib/capture/nvtx_out.h"
#include "lib/capture/region_hook.h"
#include "lib/capture/sampler.h"
#include "lib/capture/threads.h"
#include "lib/record/paths.h"

#define LP_OWNER_SELF 0u /* llmperf_region_begin(); NVTX domains count from 1 */

/** Of a level: its owner closed it while levels of others stood above it. */
#define LP_OWNER_CLOSED UINT32_C(0x80000000)

/** Open a level. Above LLMPERF_REGION_DEPTH use only its count: `depth`. */
static inline void lp_stack_open(struct lp_thread *thread, uint32_t node, uint32_t owner)
{
    const struct lp_region_hook *hook = lp_region_hook_get();

    if (__builtin_expect(hook != NULL, 0))
        hook->begin(thread, node);
    if (lp_thread_recording()) { /* Before the push: a thread that joins an epoch here tells what
                                    was open before. */
        uint64_t value = 0;
        uint16_t begin = atomic_load_explicit(&lp_sampler_on, memory_order_relaxed)
                             ? lp_sampler_open(thread, node, &value)
                             : LP_BEGIN_NOW;

        lp_thread_record(thread, LP_RECORD_REGION_BEGIN, begin, node, value);
    }
    thread->owner[thread->depth] = owner;
    thread->stack[thread->depth++] = node;
    thread->node = node;
    if (owner == LP_OWNER_SELF)
        lp_nvtx_push(node);
}

static inline void lp_stack_close_top(struct lp_thread *thread)
{
    const struct lp_region_hook *hook = lp_region_hook_get();
    uint32_t node = thread->node;

    if (lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_REGION_END, 0, node, 0);
    if ((thread->owner[thread->depth - 1] & ~LP_OWNER_CLOSED) == LP_OWNER_SELF)
        lp_nvtx_pop(node);
    if (thread->window_depth == thread->depth)
        lp_sampler_close(thread);
    thread->depth--;
    thread->node = thread->depth > 0 ? thread->stack[thread->depth - 1] : LP_PATH_ROOT;
    if (__builtin_expect(hook != NULL, 0))
        hook->end(thread, node);
}

/** The owner's innermost level is not on top, or there is none, or too many are open. */
bool lp_stack_close_other(struct lp_thread *thread, uint32_t owner);

/** Close the owner's innermost level. If levels of other owners stand above it, it goes on until
 * they are closed: on a stack ranges cannot cross. false: the owner has none open; counted as
 * unbalanced. */
static inline bool lp_stack_close(struct lp_thread *thread, uint32_t owner)
{
    uint32_t top = thread->depth - 1; /* above the limit without any level */

    if (__builtin_expect(top >= LLMPERF_REGION_DEPTH || thread->owner[top] != owner, 0))
        return lp_stack_close_other(thread, owner);
    lp_stack_close_top(thread);
    while (thread->depth > 0 && (thread->owner[thread->depth - 1] & LP_OWNER_CLOSED))
        lp_stack_close_top(thread);
    return true;
}

/** Levels that the owner has open. */
uint32_t lp_stack_depth(const struct lp_thread *thread, uint32_t owner);

#endif
