/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the paths that threads, open ranges and graphs use when a session starts. */
#include "lib/regions/capture.h"
#include "lib/device/graph_log.h"
#include "lib/regions/nvtx_in.h"
#include "lib/regions/threads.h"
#include "lib/record/paths.h"

/* From the top, because levels move down when a lower one is dropped. Caches of closed regions are
 * kept too: their paths may be pushed again without a lock. */
static void keep_thread(const struct lp_thread *thread)
{
    for (uint32_t i = LLMPERF_REGION_DEPTH; i-- > 0;)
        lp_path_keep(__atomic_load_n(&thread->stack[i], __ATOMIC_ACQUIRE));
    for (uint32_t i = 0; i < LP_PATH_CACHE; i++) {
        lp_path_keep(thread->cache[i].node);
        lp_path_keep(thread->ranges[i].node);
    }
    lp_path_keep(thread->learned);
}

/* Stacks first: what a graph callback reads from a stack is in the log before it leaves the
 * stack. */
static void keep_all(void)
{
    for (const struct lp_thread *thread = atomic_load(&lp_all_threads); thread;
         thread = thread->next)
        keep_thread(thread);
    lp_nvtx_ranges_keep_paths();
    lp_nvtx_strings_keep_paths();
    lp_graph_log_keep_paths();
}

void lp_capture_give_back_paths(void)
{
    /* In the lock order of the fork handlers: open ranges, then paths. */
    lp_nvtx_ranges_hold();
    lp_path_give_back(keep_all);
    lp_nvtx_ranges_release();
}
