/* SPDX-License-Identifier: Apache-2.0 */
/** Regions of all threads: their host records, and the events that others wait for. */
#ifndef LP_REGIONS_CAPTURE_H
#define LP_REGIONS_CAPTURE_H

#include "lib/device/device.h"

/** Begin to keep host records; `ring_bytes` for each thread that records. `anew`: the sink of
 * lp_capture_drain() is another one than before.
 * Regions that are open on a thread are reported as begun before, with the thread's first record.
 * @threads collector only */
void lp_capture_begin(uint64_t ring_bytes, bool anew);

/** Stop keeping host records. What threads have written so far can still be drained, until the next
 * begin. */
void lp_capture_end(void);

/** Hand all host records written so far to `sink`. @return records handed over. @threads collector
 * only */
size_t lp_capture_drain(const struct lp_device_sink *sink);

/** From begin to end: note whether any thread opens a region, without keeping a record of it.
 * @threads collector, or before it runs; lp_capture_ignored(): any thread */
void lp_capture_ignore_begin(void);
void lp_capture_ignore_end(void);
bool lp_capture_ignored(void);

/** Called when a ring is half full, from any thread, on the hot path: it must only wake the
 * collector. NULL: none. */
void lp_capture_on_pressure(void (*wake)(void));

/** Give back the paths that no thread, range or graph has. Between sessions; no effect while
 * somebody uses paths. */
void lp_capture_give_back_paths(void);

/** Called once, when a thread is about to mark the first region of the process: on that thread, and
 * before the region has a path, so that it may begin to keep records. NULL: none. */
void lp_capture_on_first_thread(void (*callback)(void));

/** Called when the program first makes a context, and again when it first launches: in a driver
 * callback on its own thread. NULL: none. */
void lp_capture_on_first_use(void (*callback)(void));

/** Has the program made a context since CUPTI listens? */
bool lp_capture_device_used(void);

/** NVTX out was built in. */
bool lp_nvtx_out_available(void);

/** Is this thread initialising NVTX for our own regions right now? NVTX then calls the tool named
 * in the environment, which may be this library: it must not listen to itself. */
bool lp_nvtx_out_starting(void);

/** Make the NVTX ranges of one shared object regions from now on.
 * @param export_table  What NVTX hands to InitializeInjectionNvtx2().
 * @return 0, LLMPERF_ENOTSUP, LLMPERF_ENOMEM. @threads any thread */
int lp_nvtx_listen(const void *(*export_table)(uint32_t id));

/** The same for what an extension of NVTX adds: ranges that are opened or closed with a payload.
 * @param extension  What NVTX hands to InitializeInjectionNvtxExtension().
 * @return false: it opens and closes no ranges. @threads any thread */
bool lp_nvtx_extend(const void *extension);

#endif
