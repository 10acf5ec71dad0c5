/* SPDX-License-Identifier: Apache-2.0 */
/** What region reports show, from the key `regions` of the run's configuration. For the files that
 * write region reports.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_REGION_OPTIONS_H
#define LP_FINDINGS_REGION_OPTIONS_H

#include <stdbool.h>

#include "lib/base/pattern.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

enum lp_region_section {
    LP_SECTION_TIME,
    LP_SECTION_WORK,
    LP_SECTION_COUNTERS,
    LP_SECTION_KERNELS
};
#define LP_SECTIONS 4u

/** By enum lp_region_section: as in a configuration and in the JSON. */
extern const char *const lp_section_names[LP_SECTIONS];

/** Which kernels of the regions that it is for are shown. */
struct lp_kernel_rule {
    struct lp_patterns *regions; /* NULL: all */
    struct lp_patterns *include; /* NULL: all */
    struct lp_patterns *exclude; /* NULL: none; wins */
};

struct lp_region_options {
    struct lp_patterns *include; /* NULL: all */
    bool aggregate;              /* write the report over all processes and devices */
    bool sections[LP_SECTIONS];
    size_t most_regions, most_kernels;
    LP_VECTOR(struct lp_kernel_rule) rules; /* the last that fits a region counts */
    char fingerprint[20];                   /* of the configuration; "": there was none */
};

/** Read the profile's configuration; without one all is shown. Clear it afterwards in both cases.
 * 0; LLMPERF_EFORMAT, LLMPERF_EINVAL (the error names file, line and key), LLMPERF_ENOMEM. */
int lp_region_options_init(struct lp_region_options *options, const llmperf_profile *profile);
void lp_region_options_clear(struct lp_region_options *options);

/** Is this region to be shown, by label or by path? */
bool lp_region_options_shows(const struct lp_region_options *options,
                             const llmperf_region_stats *region);

/** The rule for a region; NULL: all its kernels. */
const struct lp_kernel_rule *lp_region_options_rule(const struct lp_region_options *options,
                                                    const llmperf_region_stats *region);

/** Does a rule show a kernel, by its demangled, short or raw name? */
bool lp_kernel_rule_shows(const struct lp_kernel_rule *rule, const llmperf_kernel_stats *kernel);

#endif
