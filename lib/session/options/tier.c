/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/session/options/tier.h"
#include "llmperf/session.h"

static const char *const tiers[] = { NULL, "regions", "light", "deep", "counters" };
#define TIERS (sizeof(tiers) / sizeof(tiers[0]))

const char *lp_tier_name(uint32_t tier)
{
    return tier > 0 && tier < TIERS ? tiers[tier] : "unknown";
}

uint32_t lp_tier_find(const char *word)
{
    for (uint32_t tier = 1; tier < TIERS; tier++)
        if (strcmp(word, tiers[tier]) == 0)
            return tier;
    return LLMPERF_TIER_DEFAULT;
}
