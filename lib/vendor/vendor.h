/* SPDX-License-Identifier: Apache-2.0 */
/** What the readers of this folder share: what to read and what became of it. One reader a format.
 * @threads one at a time per object */
#ifndef LP_VENDOR_VENDOR_H
#define LP_VENDOR_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/profile/profile.h"
#include "llmperf/sys/vendor.h"

/** An export of nsys (SQLite) as a profile of all its processes. 0, LLMPERF_ENOENT,
 * LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_nsys_sqlite_read(const char *path, uint32_t flags, llmperf_profile **profile_out);

/** Label of a range: "DOMAIN@name". @param domain  NULL: the default domain. @param flags
 * LLMPERF_IMPORT_…; unless names are to stay exact, counters that PyTorch appends (", op_id = 7")
 * are cut off: with them each call would be a region of its own. */
void lp_range_label(struct lp_text *label, const char *domain, const char *name, uint32_t flags);

/** What a call of the CUDA API starts, by its name (enum lp_call_kind). */
uint8_t lp_nsys_call_kind(const char *name);

#endif
