/* SPDX-License-Identifier: Apache-2.0 */
/** The fake device. With a script (device_path) it plays launches, records and faults of its own;
 * with a script of rules regions of this process launch its kernels; without one it takes
 * lp_fake_launch() calls of this process's threads. Both go through the same rings and buffers as
 * CUPTI. */
#ifndef LP_SOURCES_FAKE_FAKE_H
#define LP_SOURCES_FAKE_FAKE_H

#include "lib/device/device.h"

/** Launch a kernel on the fake device from this thread; needs a fake session without a script.
 * @param name  A string that lives as long as the session. @threads any thread */
void lp_fake_launch(const char *name, uint32_t stream, uint64_t duration_ns);

/** A launch that becomes a node of a graph that is captured: it is reported, then taken back.
 * @threads any thread */
void lp_fake_capture(void);

/** Replay a graph (1 to 4) of kernels that follow one another. While records are off, its ends go
 * into those of the last replay that had them on and that were not handed over yet, as with
 * CUPTI 13.0. @threads any thread */
void lp_fake_replay(uint32_t graph, size_t nodes, uint32_t stream, uint64_t duration_ns);

/** A copy, reported to the session if it collects copies. @threads any thread */
void lp_fake_copy(uint32_t stream, uint64_t duration_ns);

/** From now on launches have no records, as with a driver whose tracing is dead. @threads any
 * thread */
void lp_fake_silence(bool on);

/** From now on the device never becomes idle. @threads any thread */
void lp_fake_busy(bool on);

/** How often the profiler has come back into the process since the session began. @threads any
 * thread */
uint32_t lp_fake_joins(void);

/** Called on each launching thread, to hold it there: the launch has its id and is not reported
 * yet; it is reported, and its record is not decided yet. NULL: none. @threads any thread */
enum lp_fake_moment { LP_FAKE_BEFORE_REPORT, LP_FAKE_AFTER_REPORT };
typedef void (*lp_fake_pause)(enum lp_fake_moment moment);
void lp_fake_pause_at_launch(lp_fake_pause pause);

struct lp_fake_script;

/** @param rules  What regions of this process launch; taken, also where it fails. NULL: nothing. */
int lp_fake_live_open(const struct lp_device_options *options, struct lp_fake_script *rules,
                      struct lp_device_source **source_out);

#endif
