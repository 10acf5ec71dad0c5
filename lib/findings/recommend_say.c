/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/findings/recommend_say.h"

/* The suffix of a name gives its unit. */
static const char *unit_of(const char *name)
{
    const char *end = strrchr(name, '_');

    return end && (strcmp(end, "_ms") == 0 || strcmp(end, "_us") == 0) ? end + 1 : "";
}

void lp_evidence_add(struct lp_recommendation *out, const char *name, double value)
{
    if (!isnan(value) && out->advice.evidence < LP_EVIDENCE_MOST)
        out->evidence[out->advice.evidence++] =
            (llmperf_evidence){ sizeof(llmperf_evidence), name, unit_of(name), NULL, value };
}

void lp_evidence_add_word(struct lp_recommendation *out, const char *name, const char *word)
{
    if (word && out->advice.evidence < LP_EVIDENCE_MOST)
        out->evidence[out->advice.evidence++] =
            (llmperf_evidence){ sizeof(llmperf_evidence), name, "", word, NAN };
}

/* Of the time of all stages. */
#define HIGH_SHARE   0.25
#define MEDIUM_SHARE 0.05

const char *lp_severity_name(uint32_t severity)
{
    static const char *const names[] = { "high", "medium", "low" };

    return names[severity - LLMPERF_SEVERITY_HIGH];
}

uint32_t lp_severity_of(double saving_ms, double all_ms)
{
    if (saving_ms >= HIGH_SHARE * all_ms)
        return LLMPERF_SEVERITY_HIGH;
    return saving_ms >= MEDIUM_SHARE * all_ms ? LLMPERF_SEVERITY_MEDIUM : LLMPERF_SEVERITY_LOW;
}
