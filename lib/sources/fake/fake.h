/* SPDX-License-Identifier: Apache-2.0 */
/** The fake device. A script (device_path) has launches, records and faults of its own. With a
 * script of rules, regions of this process launch its kernels. Without a script it takes
 * lp_fake_launch() calls of this process's threads. All use the same rings and buffers as CUPTI. */
#ifndef LP_SOURCES_FAKE_FAKE_H
#define LP_SOURCES_FAKE_FAKE_H

#include "lib/device/device.h"

/** Launch a kernel on the fake device from this thread; needs a fake session without a script.
 * @param name  A string that lives as long as the session. @threads any thread */
void lp_fake_launch(const char *name, uint32_t stream, uint64_t duration_ns);

/** Launch under stream capture: reported, then cancelled.
 * @threads any thread */
void lp_fake_capture(void);

/** Replay a graph (1 to 4) of consecutive kernels. While records are disabled, its end times
 * overwrite those of the last recorded replay, if undelivered, as in CUPTI 13.0. @threads any
 * thread */
void lp_fake_replay(uint32_t graph, size_t nodes, uint32_t stream, uint64_t duration_ns);

/** A memcpy, reported if the session collects memory operations. @threads any thread */
void lp_fake_copy(uint32_t stream, uint64_t duration_ns);

/** From now on launches have no records, as if tracing had failed. @threads any thread */
void lp_fake_silence(bool on);

/** From now on the device never becomes idle. @threads any thread */
void lp_fake_busy(bool on);

/** How often the profiler was attached again since the session began. @threads any thread */
uint32_t lp_fake_joins(void);

/** Callbacks that may block a launching thread: after the launch has its id, before it is reported;
 * and after it is reported, before its record is decided. NULL: none. @threads any thread */
enum lp_fake_moment { LP_FAKE_BEFORE_REPORT, LP_FAKE_AFTER_REPORT };
typedef void (*lp_fake_pause)(enum lp_fake_moment moment);
void lp_fake_pause_at_launch(lp_fake_pause pause);

struct lp_fake_script;

/** @param rules  What regions of this process launch; taken, even on failure. NULL: nothing. */
int lp_fake_live_open(const struct lp_device_options *options, struct lp_fake_script *rules,
                      struct lp_device_source **source_out);

#endif
