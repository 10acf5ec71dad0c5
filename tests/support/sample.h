/* SPDX-License-Identifier: Apache-2.0 */
/** A run of a made-up engine on an H200, built by hand: a prefill that holds a vision stage, and
 * 300 steps of decode that the host is too slow for. Tests of reports change what they are about.
 */
#ifndef TESTS_SUPPORT_SAMPLE_H
#define TESTS_SUPPORT_SAMPLE_H

#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

#define SAMPLE_STEPS 300
#define SAMPLE_STEP  "LLM@decode_all/LLM@decode_step"

/** Complete verdict; llmperf_profile_free(). Never NULL: a failure aborts the test. */
llmperf_profile *sample_profile(void);

/** The sample without finishing it: rows may be added, then lp_profile_finish(). */
llmperf_profile *sample_rows(void);

/** report.md of a profile, which is freed; llmperf_text_free(). */
char *sample_report_md(llmperf_profile *profile);

/** A row of a region, with wall times of `instances` that took `wall_ms` each; device 0. It is in
 * the profile; valid until the next row. */
llmperf_region_stats *sample_region(llmperf_profile *profile, const char *path, const char *parent,
                                    uint64_t instances, double wall_ms, double busy_ms);

void sample_kernel(llmperf_profile *profile, const char *name, const char *region, uint32_t kind,
                   uint64_t calls, double total_ms);

/** The region row with this path. */
llmperf_region_stats *sample_find(llmperf_profile *profile, const char *path);

#endif
