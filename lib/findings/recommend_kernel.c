/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the kernel that takes most of a stage's time. */
#include <inttypes.h>
#include <string.h>

#include "lib/findings/recommend_say.h"
#include "lib/profile/fields.h"
#include "lib/record/stall_reasons.h"

static bool is_explained(const struct lp_stage_facts *stage)
{
    return stage->top_stall && stage->top_stall->share >= STALL_SHARE;
}

bool lp_rule_dominant_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                             struct lp_text *text)
{
    double share = stage->top_kernel_ms / stage->device_ms;

    if (!stage->top_kernel || !(share >= 0.5) || is_explained(stage) ||
        stage->floor_ratio <= 1.5) /* near its bound */
        return false;
    lp_evidence_add_word(out, "kernel", stage->top_kernel);
    lp_evidence_add(out, "kernel_share", share);
    lp_text_printf(
        text, "One kernel, %s, takes %s %% of the device time of %s%s: study it first, with ncu.",
        stage->top_kernel, PERCENT(share), stage->label,
        stage->holds_stages ? " without nested stages" : "");
    return true;
}

bool lp_rule_stalled_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                            struct lp_text *text)
{
    const struct lp_stall *stall = stage->top_stall;
    const struct lp_hot_instruction *hot = stage->top_instruction;
    const struct lp_stall_reason *reason;

    if (!is_explained(stage))
        return false;
    reason = lp_stall_reason_find(stall->reason);
    lp_evidence_add_word(out, "kernel", stage->top_kernel);
    lp_evidence_add(out, "kernel_share", stage->top_kernel_ms / stage->device_ms);
    lp_evidence_add_word(out, "stall_reason", stall->reason);
    lp_evidence_add(out, "stall_share", stall->share);
    lp_text_printf(text,
                   "%s takes %s %% of the device time of %s, and in %s %% of its samples a warp "
                   "waits for %s (%s)",
                   stage->top_kernel, PERCENT(stage->top_kernel_ms / stage->device_ms),
                   stage->label, PERCENT(stall->share), reason->words, stall->reason);
    if (hot && hot->source)
        lp_text_printf(text, ", most often at %s", hot->source);
    else if (hot)
        lp_text_printf(text, ", most often at offset 0x%" PRIx64, hot->offset);
    lp_text_printf(text, ": %s.", reason->remedy);
    return true;
}
