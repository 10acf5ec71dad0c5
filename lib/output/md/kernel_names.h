/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers for short kernel names that several kernels (template instances) share.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_KERNEL_NAMES_H
#define LP_OUTPUT_MD_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "llmperf/profile.h"

struct lp_kernel_name {
    uint32_t variant; /* 0: the short name is unique */
    bool first;       /* first row with this name */
};

struct lp_kernel_names {
    struct lp_kernel_name *rows; /* one per row of the profile */
    size_t count;
};

/** 0 or LLMPERF_ENOMEM. Clear `names` in any case. */
int lp_kernel_names_init(struct lp_kernel_names *names, const llmperf_profile *profile);
void lp_kernel_names_clear(struct lp_kernel_names *names);

/** Name of a row as a cell: short name, and its number if it has one. */
void lp_kernel_names_cell(const struct lp_kernel_names *names, size_t index,
                          const llmperf_kernel_stats *kernel, struct lp_text *out);

/** List of the numbered names in the first `rows` rows with their full names, to follow a table.
 * Nothing if there are none. */
void lp_kernel_names_legend(const struct lp_kernel_names *names, const llmperf_profile *profile,
                            size_t rows, struct lp_text *out);

#endif
