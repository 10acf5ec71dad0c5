/* SPDX-License-Identifier: Apache-2.0 */
/** What the documents of a profile share: its rows and what they mean, worked out once.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_VIEW_H
#define LP_FINDINGS_VIEW_H

#include <inttypes.h>
#include <stdbool.h>

#include "lib/base/vector.h"
#include "lib/findings/class_totals.h"
#include "lib/findings/facts.h"
#include "lib/findings/limits.h"
#include "lib/findings/ranks.h"
#include "lib/findings/stage_iterations.h"
#include "llmperf/profile.h"
#include "lib/findings/kernel_class.h"
#include "lib/findings/recommend.h"

/** An incomplete profile that accounts for less than this has no headline. */
#define LP_HEADLINE_COVERAGE 0.95

/** A region row and its utilisation; NaN where that is not known. A reason is NULL where its value
 * is known. */
struct lp_region_view {
    llmperf_region_stats stats;
    llmperf_utilisation use; /* mbu is never above 1 here */
    const char *mfu_reason, *mbu_reason, *bound_reason;
    /* The same against the ceilings that were measured on this GPU. */
    double mfu_measured, mbu_measured;
    const char *mfu_measured_reason, *mbu_measured_reason;
    bool advised;       /* lp_advice_is_about() */
    const char *around; /* path of the innermost advised stage that holds it; NULL: none */
};

/** Zero-initialised: nothing. */
struct lp_view {
    const llmperf_profile *profile;
    llmperf_ledger ledger;
    struct lp_machine *machine;
    struct lp_kernel_classes *classes; /* NULL: the table could not be read */
    struct lp_class_totals class_totals;
    struct lp_limits limits;
    LP_VECTOR(struct lp_region_view) regions; /* as in the profile */
    LP_VECTOR(struct lp_stage_iterations) stages;
    struct lp_ranks ranks;
    struct lp_recommendations advice;
    bool device_known; /* device times mean something */
    bool withheld;     /* too little is accounted for to lead with a number */
};

/** Look at a profile, which must outlive the view. 0 or LLMPERF_ENOMEM. Clear it afterwards in both
 * cases. */
int lp_view_init(struct lp_view *view, const llmperf_profile *profile);
void lp_view_clear(struct lp_view *view);

/** Did instances of the stage with this path run on the device at once? */
static inline bool lp_view_overlaps(const struct lp_view *view, const char *path)
{
    return lp_stage_overlaps(view->stages.items, view->stages.count, path);
}

/** Is this row the first one of its path? It has one for each process and GPU. */
bool lp_view_is_first(const struct lp_view *view, size_t region);

/** Do the instances of this stage differ by more than 10 % (std / mean)? */
bool lp_view_varies(const llmperf_region_stats *region);

/** How documents say so: path, instances, percent. */
#define LP_VARIATION_FORMAT                                                                        \
    "%s: wall times of its %" PRIu64 " instances differ, std / mean is %.0f %%; look at the "      \
    "percentiles, not at the mean."

/** "program" or "model"; NULL: FLOPs (bytes) are not known. */
const char *lp_work_origin(uint32_t origin);

/** Do the limits describe this device? A run may use GPUs that are not alike. */
bool lp_view_describes(const struct lp_view *view, int32_t device);

/** The GPU that the profile is about, an index for lp_machine_gpu_text(): the first device that
 * shows up in its rows. */
size_t lp_view_gpu(const struct lp_view *view);

/** A run of a program that opened no region and used no device, as far as was seen. */
bool lp_view_is_empty(const struct lp_view *view);

#endif
