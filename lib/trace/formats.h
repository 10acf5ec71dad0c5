/* SPDX-License-Identifier: Apache-2.0 */
/** The writers. For lib/trace only. @threads any thread */
#ifndef LP_TRACE_FORMATS_H
#define LP_TRACE_FORMATS_H

#include "lib/trace/trace.h"

/** Each as lp_trace_writer_open(). */
int lp_trace_open_perfetto(const char *path, struct lp_trace_writer **writer_out);
int lp_trace_open_chrome(const char *path, struct lp_trace_writer **writer_out);
int lp_trace_open_nsys(const char *path, struct lp_trace_writer **writer_out);

#endif
