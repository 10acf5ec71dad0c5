/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of CUPTI before a session: is it installed and available? */
#ifndef LP_SOURCES_CUPTI_CUPTI_H
#define LP_SOURCES_CUPTI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/** Check CUPTI without starting anything.
 * @param holder  Name of the profiler that uses it, with LLMPERF_EBUSY.
 * @return 0; LLMPERF_ENODEVICE (no driver), LLMPERF_ENOENT (no libcupti), LLMPERF_EBUSY (another
 * profiler), with the error text. */
int lp_cupti_probe(char *path, size_t path_size, uint32_t *version, char *holder,
                   size_t holder_size);

/** Subscribe, and enable and disable records once. 0; LLMPERF_ENODEVICE, LLMPERF_ENOENT,
 * LLMPERF_EBUSY. @threads any thread */
int lp_cupti_prewarm(void);

#endif
