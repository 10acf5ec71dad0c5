/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings to export: that of a run, or those of the runs in a merged run.
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
    uint32_t process_id; /* process id in the merged run; 0: as in the recording */
};

/** Zero-initialised: none. */
struct lp_trace_sources {
    LP_VECTOR(struct lp_trace_source) items;
    struct lp_merged_gpus gpus;   /* GPU numbers of the merged run */
    struct lp_text without, lost; /* names of runs without a trace; of runs that were not found */
    size_t missing;               /* number of both */
};

/** Find the recordings. Clear `sources` in any case.
 * @param source  Run directory, run.llmperf or recording.
 * @return 0; LLMPERF_ENOENT (no such file, or no trace), LLMPERF_EFORMAT, LLMPERF_EIO,
 * LLMPERF_ENOMEM. */
int lp_trace_sources_find(struct lp_trace_sources *sources, const char *source);
void lp_trace_sources_clear(struct lp_trace_sources *sources);

#endif
