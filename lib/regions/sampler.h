/* SPDX-License-Identifier: Apache-2.0 */
/** Collecting device activity for some instances of chosen regions only. A window is open while
 * such an instance is; one at a time in the process, and only what its own thread launches belongs
 * to it. Between windows the driver reports nothing, so that it costs nothing. The collector may
 * open a window for all threads instead, for programs that mark no such regions, or a triggered
 * window, in which instances on all threads are collected one and all. */
#ifndef LP_REGIONS_SAMPLER_H
#define LP_REGIONS_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"
#include "lib/regions/threads.h"

#define LP_SAMPLER_LABELS 8u

/** Is sampling on? Off: everything is collected. */
extern _Atomic bool lp_sampler_on;

/** Sample instances of these labels, the first one and then one of `every`, at random distances.
 * `collect` switches the driver's records on and off, from any thread; `wake` wakes the collector
 * for lp_sampler_settles(), NULL: nobody. @threads collector only */
void lp_sampler_begin(const char *const *labels, size_t count, uint32_t every,
                      void (*collect)(enum lp_collect what), void (*wake)(void));

/** Windows open from now on; before that nothing is collected. No window opens any more. @threads
 * collector only */
void lp_sampler_go(void);
void lp_sampler_rest(void);

/** Close what is open; everything is collected from now on as the source has it. */
void lp_sampler_end(void);

/** 1 of `every` instances of label `index` from now on. @threads any thread */
void lp_sampler_set(size_t index, uint32_t every);

/** Instances of any of the labels that were begun so far. */
uint64_t lp_sampler_seen(void);

/** A graph is launched in the window. @threads any thread */
void lp_sampler_graph(void);

/** Is a window with graphs over whose records are still on? Then they are to be brought in, and
 * lp_sampler_settled() switches them off, unless the next window opened meanwhile. @threads
 * collector only */
bool lp_sampler_settles(void);
void lp_sampler_settled(void);

/** Instances so far that opened a window; that were not collected, and yet had records on. */
uint64_t lp_sampler_taken(void);
uint64_t lp_sampler_touched(void);

/** Open a window for all threads, if no other is open; close it. @threads collector only */
bool lp_sampler_open_all(void);
void lp_sampler_close_all(void);

/** Collect the next `units` instances of the labels one and all, as window `number` (1 to
 * LP_SAMPLER_WINDOWS): as soon as the instance that is collected now is over. Instances that begin
 * meanwhile, and those behind the last, are left out until it is closed. @threads collector only */
#define LP_SAMPLER_WINDOWS UINT16_MAX
#define LP_SAMPLER_UNITS   1000u
void lp_sampler_trigger(uint32_t number, uint32_t units);

/** Open the triggered window if it can be by now, and close it once its instances are over. false:
 * there is none, or it is closed now. @threads collector only */
bool lp_sampler_triggered(void);

/** No further instance belongs to the triggered window. @threads collector only */
void lp_sampler_cut(void);

/** Collect the next `units` instances one and all, as samples: records are on and stay on behind
 * them, until the span is over. Sampling then goes on without spans, or, with `next`, collects
 * nothing until the next one. Instances hold their thread if that is asked for (hold.h). Only while
 * no other window is open. @threads collector only */
void lp_sampler_span(uint32_t units);
void lp_sampler_span_over(bool next);

/** Units of the span that are still to come. @threads any thread */
uint32_t lp_sampler_span_left(void);

/** A thread launches. In a span: has one launched that is not the one that opens the instances?
 * @threads any thread */
void lp_sampler_launched(const struct lp_thread *thread);
bool lp_sampler_several(void);

/** A region begins on its thread: enum lp_begin; `*value_out` goes with it. */
uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node, uint64_t *value_out);

/** The region that opened this thread's window has ended. */
void lp_sampler_close(struct lp_thread *thread);

/** Does what this thread launches belong to an open window, and brings it records there? */
bool lp_sampler_takes(const struct lp_thread *thread, enum lp_launch_kind kind);

#endif
