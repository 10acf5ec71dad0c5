/* SPDX-License-Identifier: Apache-2.0 */
/** Time of a file and the GPUs that it names, in the formats of a run. @threads one at a time per
 * profile */
#ifndef LP_VENDOR_GPUS_H
#define LP_VENDOR_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/profile/profile.h"

/** 0 and "": not known. */
struct lp_gpu_fact {
    int64_t ordinal; /* device number in the program */
    int64_t major, minor, sm_count, clock_hz, l2_bytes, memory_bytes;
    char name[128];
};

/** Set the fact "created_at", unless the time is not after 1970 or after the year 9999.
 * @param seconds  Since 1970, UTC.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_set_time_fact(llmperf_profile *profile, int64_t seconds);

/** Set the fact "env".
 * @param reason  Why there are no GPUs.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_gpus_set(llmperf_profile *profile, const struct lp_gpu_fact *gpus, size_t count,
                const char *reason);

#endif
