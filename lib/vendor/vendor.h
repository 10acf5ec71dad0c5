/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that the readers of this folder share. There is one reader per format.
 * @threads one at a time per object */
#ifndef LP_VENDOR_VENDOR_H
#define LP_VENDOR_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/profile/profile.h"
#include "llmperf/sys/vendor.h"

/** Read an nsys export (SQLite) into a profile of all its processes. 0, LLMPERF_ENOENT,
 * LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_nsys_sqlite_read(const char *path, uint32_t flags, llmperf_profile **profile_out);

/** Label of a range: "DOMAIN@name", or that of an operator by a rule for engines, unless names must
 * stay exact.
 * @param domain  NULL: the default domain.
 * @param flags  LLMPERF_IMPORT_… */
void lp_range_label(struct lp_text *label, const char *domain, const char *name, uint32_t flags);

/** Path node of a range with this label below `parent`; `parent`: it is no region of its own. */
uint32_t lp_range_node(uint32_t parent, const char *label, uint32_t flags);

/** What a CUDA API call launches, from its name (enum lp_call_kind). */
uint8_t lp_nsys_call_kind(const char *name);

#endif
