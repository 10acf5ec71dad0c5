/* SPDX-License-Identifier: Apache-2.0 */
/** The writers, and words that they share. For lib/trace only. @threads any thread */
#ifndef LP_TRACE_FORMATS_H
#define LP_TRACE_FORMATS_H

#include "lib/trace/trace.h"

/** Each as lp_trace_writer_open(). */
int lp_trace_open_perfetto(const char *path, struct lp_trace_writer **writer_out);
int lp_trace_open_chrome(const char *path, struct lp_trace_writer **writer_out);
int lp_trace_open_nsys(const char *path, struct lp_trace_writer **writer_out);

/** What is known of a device; NULL: nothing. */
const struct lp_trace_gpu *lp_trace_find_gpu(const struct lp_trace_facts *facts, uint32_t device);

/** "stream 7", of a further lane "stream 7 (2)". */
void lp_trace_stream_name(char *text, size_t size, const struct lp_activity *activity,
                          uint32_t lane);

/** "launch", "graph launch" … of enum lp_launch_kind. Static text. */
const char *lp_trace_launch_word(uint32_t kind);

/** The CUDA function that such a call usually is, for formats that have calls by name. Static text.
 */
const char *lp_trace_launch_function(uint32_t kind);

#endif
