/* SPDX-License-Identifier: Apache-2.0 */
/** Device time by stage and kernel class. @threads one at a time per object */
#ifndef LP_FINDINGS_CLASS_TOTALS_H
#define LP_FINDINGS_CLASS_TOTALS_H

#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_class_total {
    const char *stage;        /* label; NULL: below no stage */
    const char *kernel_class; /* lives as long as the classes */
    uint64_t calls;
    double total_ms;
    double share; /* of the device time of its stage, 0 to 1 */
};

/** Zero-initialised: empty. */
struct lp_class_totals {
    LP_VECTOR(struct lp_class_total) rows; /* by stage, in each the longest first */
};

/** Add up a profile. @param kernel_classes  Of its kernel rows. 0 or LLMPERF_ENOMEM. Clear it
 * afterwards in both cases. */
int lp_class_totals_init(struct lp_class_totals *totals, const llmperf_profile *profile,
                         const char *const *kernel_classes);
void lp_class_totals_clear(struct lp_class_totals *totals);

#endif
