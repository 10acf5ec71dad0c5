/* SPDX-License-Identifier: Apache-2.0 */
/** The device work of one call of each stage, interval by interval, for a timeline. Kept is the
 * newest of the 1st, 2nd, 3rd, 5th, 9th, … collected call: each time the number of calls has
 * doubled. For lib/profile only. */
#ifndef LP_PROFILE_KEPT_CALL_H
#define LP_PROFILE_KEPT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/record/names.h"
#include "lib/record/record.h"

/** Most intervals kept of a call, the first that arrive, and most stages that have one. */
#define LP_KEPT_EVENTS 4096u
#define LP_KEPT_STAGES 12u

struct lp_kept_event {
    uint64_t start_ns, length_ns;
    uint32_t name, node, stream;
    uint16_t device;
    uint8_t kernel_class;
};

/** Zero-initialised: nothing kept. */
struct lp_kept_call {
    bool wanted;
    uint64_t begin_ns, sequence, total; /* total: intervals of the call, kept or not */
    LP_VECTOR(struct lp_kept_event) events;
    char *text, *gap; /* as JSON, and its longest gap, once asked for */
};

/** Keep the next call of a stage of which this many were collected? */
static inline bool lp_kept_call_is_due(uint32_t collected)
{
    return (collected & (collected - 1)) == 0; /* 0, 1, 2, 4, 8, … */
}

/** 0 or LLMPERF_ENOMEM. */
int lp_kept_call_add(struct lp_kept_call *call, const struct lp_activity *activity,
                     uint8_t kernel_class);

/** Add it to a profile as fact LP_KEPT_CALL_FACT + path: an object with `begin_ns`, `sequence`,
 * `events_total`, the lists `names`, `regions`, `streams` and `classes`, and `events`: for each
 * [start after begin_ns, duration, stream, name, region, class], ns and numbers in these lists. 0
 * or LLMPERF_ENOMEM. */
int lp_kept_call_freeze(struct lp_kept_call *call, const char *path, const struct lp_names *names,
                        const struct lp_classifier *classifier, llmperf_profile *profile);

void lp_kept_call_clear(struct lp_kept_call *call);

#endif
