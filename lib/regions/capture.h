/* SPDX-License-Identifier: Apache-2.0 */
/** Regions of all threads: their host records, and callbacks about them. */
#ifndef LP_REGIONS_CAPTURE_H
#define LP_REGIONS_CAPTURE_H

#include "lib/device/device.h"

/** Start to keep host records, in rings of `ring_bytes` per thread. Regions that are open on a
 * thread are reported as begun before, with the thread's first record.
 * @param anew  lp_capture_drain() has another sink than before.
 * @threads collector only */
void lp_capture_begin(uint64_t ring_bytes, bool anew);

/** Stop keeping host records. Records written so far can be drained until the next begin. */
void lp_capture_end(void);

/** Pass all host records written so far to `sink`.
 * @return their number. @threads collector only */
size_t lp_capture_drain(const struct lp_device_sink *sink);

/** Between begin and end: note whether any thread opens a region, without recording it.
 * @threads collector, or before it runs; lp_capture_ignored(): any thread */
void lp_capture_ignore_begin(void);
void lp_capture_ignore_end(void);
bool lp_capture_ignored(void);

/** Called when a ring is half full, on any thread in the hot path: it may only wake the collector.
 * NULL: none. */
void lp_capture_on_pressure(void (*wake)(void));

/** Free the paths that no thread, range or graph uses. Between sessions; no effect while paths are
 * in use. */
void lp_capture_give_back_paths(void);

/** Called once, on the thread that is about to mark the first region of the process. The region has
 * no path yet, so the callback may start collection. NULL: none. */
void lp_capture_on_first_thread(void (*callback)(void));

/** Called when the program first creates a context, and again when it first launches, in a driver
 * callback on the program's thread. NULL: none. */
void lp_capture_on_first_use(void (*callback)(void));

/** Has the program created a context since CUPTI callbacks are enabled? */
bool lp_capture_device_used(void);

/** Was the library built with NVTX output? */
bool lp_nvtx_out_available(void);

/** Is this thread initialising NVTX for our own regions? NVTX then calls the tool in the
 * environment, which may be this library: it must not listen to itself. */
bool lp_nvtx_out_starting(void);

/** Turn the NVTX ranges of one shared object into regions.
 * @param export_table  As passed to InitializeInjectionNvtx2().
 * @return 0, LLMPERF_ENOTSUP, LLMPERF_ENOMEM. @threads any thread */
int lp_nvtx_listen(const void *(*export_table)(uint32_t id));

/** The same for NVTX extensions: ranges with a payload.
 * @param extension  As passed to InitializeInjectionNvtxExtension().
 * @return false: the extension has no ranges. @threads any thread */
bool lp_nvtx_extend(const void *extension);

#endif
