/* SPDX-License-Identifier: Apache-2.0 */
/** artifacts.keep_runs: old runs are removed when new ones start. For lib/session only. */
#ifndef LP_SESSION_RETENTION_H
#define LP_SESSION_RETENTION_H

#include <stdint.h>

/** Remove the oldest runs beside `run_dir` until `keep` are left, it among them. A run is a folder
 * that holds run.llmperf, merged/run.llmperf or repeats.json; one that was written to within the
 * last minute may still be running and stays, and so does whatever cannot be removed. */
void lp_runs_retain(const char *run_dir, int64_t keep);

#endif
