/* SPDX-License-Identifier: Apache-2.0 */
/** Words for LLMPERF_TIER_…. @threads any thread */
#ifndef LP_SESSION_OPTIONS_TIER_H
#define LP_SESSION_OPTIONS_TIER_H

#include <stdint.h>

/** "regions", "light", "deep", "counters"; "unknown". */
const char *lp_tier_name(uint32_t tier);

/** The tier of a word; LLMPERF_TIER_DEFAULT: there is none. */
uint32_t lp_tier_find(const char *word);

#endif
