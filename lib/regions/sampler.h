/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: device activity is collected for a sample of calls of chosen regions. Only while
 * such a call is open are CUPTI's records on, one call at a time in the process, and only launches
 * of its own thread count. Besides, the collector can open a window for all threads (for programs
 * that mark no such region), a triggered window (all calls of all threads), and sampling bursts (a
 * row of calls, with CUPTI out of the process between them). docs/explanation/light-tier.md has the
 * states, transitions and invariants. */
#ifndef LP_REGIONS_SAMPLER_H
#define LP_REGIONS_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"
#include "lib/regions/threads.h"

#define LP_SAMPLER_LABELS 8u

/** State, flags, owner and session: sampler_state.h. 0: no session samples. */
extern _Atomic uint64_t lp_sampler_word;

/** Does a session sample? Else everything is collected. Relaxed: a region more or less at the edge
 * of a session is fine. */
static inline bool lp_sampler_is_on(void)
{
    return atomic_load_explicit(&lp_sampler_word, memory_order_relaxed) != 0;
}

/** Sample calls of these labels, the first call and then 1 of `every` at random.
 * `collect` switches the driver's records on and off, from any thread; `wake` wakes the collector
 * for lp_sampler_settles(), NULL: none. Nothing is collected before lp_sampler_go().
 * @threads collector only */
void lp_sampler_begin(const char *const *labels, size_t count, uint32_t every,
                      void (*collect)(enum lp_collect what), void (*wake)(void));

/** Windows may open from now on; none does any more. @threads collector only */
void lp_sampler_go(void);
void lp_sampler_suspend(void);

/** Close what is open; everything is collected from now on as the source has it. @threads collector
 * only */
void lp_sampler_end(void);

/** 1 of `every` calls of label `index` from now on. @threads any thread */
void lp_sampler_set(size_t index, uint32_t every);

/** Calls of any of the labels so far. @threads any thread */
struct lp_sampler_calls {
    uint64_t seen;    /* all */
    uint64_t taken;   /* that opened a window */
    uint64_t touched; /* that were not collected, and yet had records on */
};
struct lp_sampler_calls lp_sampler_calls(void);

/** A graph is launched in the window. @threads any thread */
void lp_sampler_graph(void);

/** Is a window with graphs over whose records are still on? Then they are to be brought in, and
 * lp_sampler_settled() switches them off, unless the next window opened meanwhile. @threads
 * collector only */
bool lp_sampler_settles(void);
void lp_sampler_settled(void);

/** Open a window for all threads, if no other is open; close it. @threads collector only */
bool lp_sampler_open_all(void);
void lp_sampler_close_all(void);

/** Collect the next `units` calls of the labels, all of them, as window `number` (1 to
 * LP_SAMPLER_WINDOWS): as soon as the call that is collected now is over. Calls that begin
 * meanwhile, and those after the last, are left out until the window is closed. @threads collector
 * only */
#define LP_SAMPLER_WINDOWS UINT16_MAX
#define LP_SAMPLER_UNITS   1000u
void lp_sampler_trigger(uint32_t number, uint32_t units);

/** Open the triggered window if it can be by now, and close it once its calls are over. false:
 * there is none, or it is closed now. @threads collector only */
bool lp_sampler_triggered(void);

/** No further call belongs to the triggered window. @threads collector only */
void lp_sampler_cut(void);

/** A sampling burst: collect the next `calls` calls, all of them. Records are on already and stay
 * on until CUPTI leaves the process (nothing is collected until the next burst; false: it must not,
 * because a call is being collected), or until bursts end (sampling goes on without them). Calls
 * stop at the safepoint if one is requested (safepoint.h). A burst begins only before
 * lp_sampler_go() or after lp_sampler_detach(). @threads collector only */
void lp_sampler_burst(uint32_t calls);
bool lp_sampler_detach(void);
void lp_sampler_end_bursts(void);

/** Calls of the burst that are still to come. @threads any thread */
uint32_t lp_sampler_burst_left(void);

/** In a burst: has a thread launched that is not the one that opens the calls? @threads any thread
 */
bool lp_sampler_several(void);

/** A region begins on its thread: enum lp_begin; `*value_out` goes with it. */
uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node, uint64_t *value_out);

/** The region that opened this thread's window has ended. */
void lp_sampler_close(struct lp_thread *thread);

/** A thread launches: does that belong to an open window, and have a record there?
 * @param word  lp_sampler_word, as read after the mark of the call. */
bool lp_sampler_takes(const struct lp_thread *thread, enum lp_launch_kind kind, uint64_t word);

#endif
