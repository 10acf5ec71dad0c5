/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: device activity is collected for a sample of calls of chosen regions. CUPTI's
 * records are enabled only while such calls are open, and only launches of their threads count. The
 * collector can also open a window for all threads (for programs without such regions), a triggered
 * window (all calls on all threads), and sampling bursts (consecutive calls, with CUPTI detached
 * between bursts). docs/explanation/light-tier.md has states, transitions and invariants. */
#ifndef LP_REGIONS_SAMPLER_H
#define LP_REGIONS_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"
#include "lib/regions/threads.h"

#define LP_SAMPLER_LABELS 8u
#define LP_SAMPLER_EVERY  1000000u /* at most */

/** State, flags, owner and session, see sampler_state.h. 0: no session samples. */
extern _Atomic uint64_t lp_sampler_word;

/** Does a session sample? If not, everything is collected. Relaxed: a region more or less at the
 * edge of a session is acceptable. */
static inline bool lp_sampler_is_on(void)
{
    return atomic_load_explicit(&lp_sampler_word, memory_order_relaxed) != 0;
}

/** Sample calls with these labels: the first one, then of each block of `every` calls one at
 * random. Nothing is collected before lp_sampler_go().
 * @param collect  Enables and disables the driver's records; called on any thread.
 * @param wake  Wakes the collector for lp_sampler_settles(); NULL: none.
 * @threads collector only */
void lp_sampler_begin(const char *const *labels, size_t count, uint32_t every,
                      void (*collect)(enum lp_collect what), void (*wake)(void));

/** Set where the random sequence continues; without it, it is the same in each process. Ranks do
 * the same at the same time, so they must differ. @threads collector only */
void lp_sampler_seed(uint64_t seed);

/** Allow windows to open; forbid it. @threads collector only */
void lp_sampler_go(void);
void lp_sampler_suspend(void);

/** Close open windows and end sampling. @threads collector only */
void lp_sampler_end(void);

/** Sample 1 of `every` calls (1 to LP_SAMPLER_EVERY) of label `index` from the next block on.
 * @threads any thread */
void lp_sampler_set(size_t index, uint32_t every);

/** Counts of calls with any of the labels. @threads any thread */
struct lp_sampler_calls {
    uint64_t seen;    /* all calls */
    uint64_t taken;   /* sampled calls */
    uint64_t touched; /* calls that were not collected but ran with records enabled */
};
struct lp_sampler_calls lp_sampler_calls(void);

/** A graph was launched in the window. @threads any thread */
void lp_sampler_graph(void);

/** Is there an ended window with graphs, with records still enabled? Then flush them and call
 * lp_sampler_settled(), which disables records unless the next window has opened. @threads
 * collector only */
bool lp_sampler_settles(void);
void lp_sampler_settled(void);

/** Open a window for all threads, unless one is open; close it. @threads collector only */
bool lp_sampler_open_all(void);
void lp_sampler_close_all(void);

/** Collect all of the next `units` calls with the labels as window `number` (1 to
 * LP_SAMPLER_WINDOWS), once the current sampled call is over. Calls that begin before that, and
 * those after the last, are skipped until the window is closed. @threads collector only */
#define LP_SAMPLER_WINDOWS UINT16_MAX
#define LP_SAMPLER_UNITS   1000u
void lp_sampler_trigger(uint32_t number, uint32_t units);

/** Open the triggered window when possible, and close it when its calls are over. false: there is
 * none, or it is closed now. @threads collector only */
bool lp_sampler_triggered(void);

/** End the triggered window: no further call belongs to it. @threads collector only */
void lp_sampler_cut(void);

/** Sampling burst: collect all of the next `calls` calls. Records are enabled and stay so until
 * CUPTI is detached (false: not possible, a call is being collected) or bursts end (sampling
 * continues without them). Calls stop at the safepoint if one is requested (safepoint.h). A burst
 * may begin only before lp_sampler_go() or after lp_sampler_detach(). @threads collector only */
void lp_sampler_burst(uint32_t calls);
bool lp_sampler_detach(void);
void lp_sampler_end_bursts(void);

/** Remaining calls of the burst. @threads any thread */
uint32_t lp_sampler_burst_left(void);

/** In a burst: did another thread launch than the one that opens the calls? @threads any thread */
bool lp_sampler_several(void);

/** A region begins on its thread.
 * @return enum lp_begin; `*value_out`, 0 before, becomes the record's value. */
uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node, uint64_t *value_out);

/** The region that opened this thread's window has ended. */
void lp_sampler_close(struct lp_thread *thread);

/** A thread launches: is the launch in an open window, and does it have a record?
 * @param word  lp_sampler_word, read after the mark of the call. */
bool lp_sampler_takes(const struct lp_thread *thread, enum lp_launch_kind kind, uint64_t word);

#endif
