/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX start/end ranges. They may overlap and end on another thread, so they are on no thread's
 * stack. Each is an interval of host time at the top of the path tree; launches are attributed to
 * push/pop regions only. */
#include <pthread.h>

#include "lib/base/clock.h"
#include "lib/regions/nvtx_in.h"
#include "lib/record/paths.h"

#define OPEN_MAX 16384u

struct open_range {
    uint64_t begin_ns;
    uint32_t node, epoch;
    uint32_t use;  /* uses of the slot: the upper half of ids; even: free */
    uint32_t next; /* next free slot, from 1; 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct open_range ranges[OPEN_MAX];
static uint32_t first_free, used; /* from 1; number of slots used so far */

void lp_nvtx_ranges_hold(void)
{
    pthread_mutex_lock(&lock);
}

void lp_nvtx_ranges_release(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void make_fork_hooks(void)
{
    pthread_atfork(lp_nvtx_ranges_hold, lp_nvtx_ranges_release, lp_nvtx_ranges_release);
}

/* Under the lock. Returns a slot, from 1; 0: all are in use. */
static uint32_t take_place(void)
{
    uint32_t place = first_free;

    if (place > 0)
        first_free = ranges[place - 1].next;
    else if (used < OPEN_MAX)
        place = ++used;
    return place;
}

uint64_t lp_nvtx_range_start(uint32_t node)
{
    struct open_range *range;
    uint32_t place;
    uint64_t id = 0;

    pthread_mutex_lock(&lock);
    if ((place = take_place()) > 0) {
        range = &ranges[place - 1];
        range->use++;
        range->node = node;
        range->epoch = atomic_load(&lp_capture_epoch);
        range->begin_ns = lp_clock_now();
        id = (uint64_t)range->use << 32 | place;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

void lp_nvtx_ranges_keep_paths(void)
{
    for (uint32_t place = 0; place < used; place++)
        if (ranges[place].use & 1)
            lp_path_keep(ranges[place].node);
}

/* Remove the range with this id. false: it is not open. */
static bool take_range(uint64_t id, struct open_range *range_out)
{
    uint32_t place = (uint32_t)id;
    struct open_range *range;
    bool open = false;

    pthread_mutex_lock(&lock);
    if (place > 0 && place <= used) {
        range = &ranges[place - 1];
        open = range->use == id >> 32 && (range->use & 1);
        if (open) {
            *range_out = *range;
            range->use++;
            range->next = first_free;
            first_free = place;
        }
    }
    pthread_mutex_unlock(&lock);
    return open;
}

void lp_nvtx_range_end(struct lp_thread *thread, uint64_t id)
{
    uint64_t now_ns = lp_clock_now();
    struct open_range range;
    bool open = take_range(id, &range);

    if (!thread || !lp_thread_recording())
        return;
    if (!open)
        lp_thread_record(thread, LP_RECORD_UNBALANCED, 0, LP_PATH_ROOT, 0);
    else if (range.node != LP_PATH_UNKNOWN)
        lp_thread_record(thread, LP_RECORD_RANGE, range.epoch != atomic_load(&lp_capture_epoch),
                         range.node, now_ns - range.begin_ns);
}
