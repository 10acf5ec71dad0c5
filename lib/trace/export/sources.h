/* SPDX-License-Identifier: Apache-2.0 */
/** The recordings that a trace is made of: that of a run, or those of the runs of a merged one.
 * @threads one at a time per object */
#ifndef LP_TRACE_EXPORT_SOURCES_H
#define LP_TRACE_EXPORT_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/store/merge_gpus.h"

struct lp_trace_source {
    char *recording;
    uint32_t process_id; /* that it has in the merged run; 0: that of the recording */
};

/** Zero-initialised: none. */
struct lp_trace_sources {
    LP_VECTOR(struct lp_trace_source) items;
    struct lp_merged_gpus gpus;   /* of the merged run: the same ones have these numbers */
    struct lp_text without, lost; /* runs that keep no trace; that are not where they were */
    size_t missing;               /* both */
};

/** Find them. @param source  Run directory, run.llmperf or recording. 0; LLMPERF_ENOENT (no such
 * file, or no trace), LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. Clear them in all cases. */
int lp_trace_sources_find(struct lp_trace_sources *sources, const char *source);
void lp_trace_sources_clear(struct lp_trace_sources *sources);

#endif
