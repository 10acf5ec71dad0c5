/* SPDX-License-Identifier: Apache-2.0 */
/** Runs of sessions that have not ended. */
#ifndef LLMPERF_TOOL_SNAPSHOT_H
#define LLMPERF_TOOL_SNAPSHOT_H

#include <stdbool.h>

#include "llmperf/llmperf.h"

/** Is the session of this run not stopped (still running or killed)? */
bool snapshot_is_open(const llmperf_profile *profile);

#endif
