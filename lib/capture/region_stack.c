/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/capture/region_stack.h"

bool lp_stack_close_other(struct lp_thread *thread, uint32_t owner)
{
    uint32_t at = thread->depth;

    if (at > LLMPERF_REGION_DEPTH) { /* Whose level it is was not kept. */
        thread->depth--;
        return true;
    }
    while (at > 0 && thread->owner[at - 1] != owner)
        at--;
    if (at > 0)
        thread->owner[at - 1] |= LP_OWNER_CLOSED;
    else if (lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_UNBALANCED, 0, LP_PATH_ROOT, 0);
    return at > 0;
}

uint32_t lp_stack_depth(const struct lp_thread *thread, uint32_t owner)
{
    uint32_t levels = thread->depth < LLMPERF_REGION_DEPTH ? thread->depth : LLMPERF_REGION_DEPTH;
    uint32_t open = thread->depth - levels;

    for (uint32_t i = 0; i < levels; i++)
        open += thread->owner[i] == owner;
    return open;
}
