/* SPDX-License-Identifier: Apache-2.0 */
/** What region reports show: the key `regions` of the run's configuration.
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

/** By enum lp_region_section: names in configuration and JSON. */
extern const char *const lp_section_names[LP_SECTIONS];

/** Kernels to show for some regions. */
struct lp_kernel_rule {
    struct lp_patterns *regions; /* NULL: all */
    struct lp_patterns *include; /* NULL: all */
    struct lp_patterns *exclude; /* NULL: none; has precedence */
};

struct lp_region_options {
    struct lp_patterns *include; /* NULL: all */
    bool aggregate;              /* write a report over all processes and devices */
    bool sections[LP_SECTIONS];
    size_t most_regions, most_kernels;
    LP_VECTOR(struct lp_kernel_rule) rules; /* the last one that matches a region applies */
};

/** Read the configuration in the profile; without one everything is shown. Clear `options` in any
 * case.
 * @return 0; LLMPERF_EFORMAT, LLMPERF_EINVAL (the error names file, line and key);
 * LLMPERF_ENOMEM. */
int lp_region_options_init(struct lp_region_options *options, const llmperf_profile *profile);
void lp_region_options_clear(struct lp_region_options *options);

/** Is a region with this label or path shown? */
bool lp_region_options_shows(const struct lp_region_options *options,
                             const llmperf_region_stats *region);

/** The rule for a region; NULL: all its kernels. */
const struct lp_kernel_rule *lp_region_options_rule(const struct lp_region_options *options,
                                                    const llmperf_region_stats *region);

/** Does a rule show a kernel with one of these names: demangled, short, raw? */
bool lp_kernel_rule_shows(const struct lp_kernel_rule *rule, const llmperf_kernel_stats *kernel);

#endif
