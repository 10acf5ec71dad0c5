/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of profiles with the numbers that a test thinks of. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "lib/profile/data.h"

/** A stage of a process on a device (-1: none): instances of a mean wall time, so far apart. */
void put_region_row(llmperf_profile *profile, const char *path, uint32_t process_id, int32_t device,
                    uint64_t instances, double mean_ms, double std_ms);

/** Calls of a mean; `spread_ms`: the standard deviation that the percentiles show. */
void put_kernel_row(llmperf_profile *profile, const char *name, const char *region, int32_t device,
                    uint64_t calls, double mean_ms, double spread_ms);

/** The profile is complete and has all that is worked out of its rows. */
void finish_rows(llmperf_profile *profile);

#endif
