/* SPDX-License-Identifier: Apache-2.0 */
/** The least that a CUPTI program can do: records of kernels, thrown away. What a profiler costs
 * beyond it is its own. As a library that CUDA loads (CUDA_INJECTION64_PATH) it starts by itself
 * and says "bare: " and bare_state() on stderr at the end. */
#ifndef TESTS_BENCH_BARE_CUPTI_H
#define TESTS_BENCH_BARE_CUPTI_H

#ifdef __cplusplus
extern "C" {
#endif

/** Loads the CUPTI that llmperf would load. @return 0, or -1 after a line on stderr. */
int bare_start(void);
void bare_flush(void);
/** "ok", "no_records", or "refused_buffers": it did not keep up, so its times say nothing. */
const char *bare_state(void);

#ifdef __cplusplus
}
#endif

#endif
