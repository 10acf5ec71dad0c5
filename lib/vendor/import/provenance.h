/* SPDX-License-Identifier: Apache-2.0 */
/** When, where and with which tools imported files were made.
 * @threads one at a time per profile */
#ifndef LP_VENDOR_IMPORT_PROVENANCE_H
#define LP_VENDOR_IMPORT_PROVENANCE_H

#include "lib/profile/profile.h"
#include "llmperf/sys/vendor.h"

/** Set the facts that the options give and the files do not. 0 or LLMPERF_ENOMEM. */
int lp_import_provenance(const llmperf_import_options *options, llmperf_profile *profile);

#endif
