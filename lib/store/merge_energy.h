/* SPDX-License-Identifier: Apache-2.0 */
/** Energy of the GPUs of several profiles. For lib/store only.
 * @threads one at a time per object */
#ifndef LP_STORE_MERGE_ENERGY_H
#define LP_STORE_MERGE_ENERGY_H

#include "lib/profile/data.h"

/** Merge a row into `out`: a GPU that several processes read at the same time is counted once. 0 or
 * LLMPERF_ENOMEM.
 * @param from  Its device is that of the merged run. */
int lp_merge_energy(llmperf_profile *out, const llmperf_energy *from);

/** The energy of a stage cannot be told from that of another process that ran at the same time:
 * forget it. */
void lp_merge_energy_finish(llmperf_profile *out);

#endif
