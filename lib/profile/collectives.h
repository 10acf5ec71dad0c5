/* SPDX-License-Identifier: Apache-2.0 */
/** Collective kernels one by one: when the newest of them ran, and how long compute kernels ran on
 * the same GPU meanwhile. For lib/profile only. */
#ifndef LP_PROFILE_COLLECTIVES_H
#define LP_PROFILE_COLLECTIVES_H

#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_totals;
struct lp_kernel_total;
struct lp_activity;

struct lp_collective_call {
    uint64_t start_ns;
    uint32_t length_ns, kernel; /* row of the kernel */
};

struct lp_compute_span {
    uint64_t start_ns, end_ns;
};

/** A GPU that ran a collective. */
struct lp_collective_device {
    uint16_t device;
    uint64_t newest_ns;                         /* latest end of an activity */
    LP_VECTOR(struct lp_compute_span) compute;  /* that calls may still overlap with */
    LP_VECTOR(struct lp_collective_call) calls; /* whose overlap is not settled */
};

struct lp_collectives {
    struct lp_collective_call *recent; /* ring; NULL before the first call */
    uint64_t count;                    /* of calls so far */
    LP_VECTOR(struct lp_collective_device) devices;
};

/** Time of calls that was compared with compute kernels, and the part in which some ran. */
struct lp_overlap {
    uint64_t compared_ns, shared_ns;
};

/** An activity of this kernel. */
void lp_collectives_add(struct lp_totals *totals, struct lp_kernel_total *kernel,
                        const struct lp_activity *activity);

/** Add the rows of collectives to a profile that has the rows of the kernels, in the order of the
 * totals. 0 or LLMPERF_ENOMEM. */
int lp_collectives_freeze(const struct lp_totals *totals, uint32_t process_id,
                          llmperf_profile *profile);

void lp_collectives_clear(struct lp_collectives *collectives);

/** Position in the encoded calls of a row. Zero-initialised: at its start. */
struct lp_calls_position {
    size_t offset;
    uint64_t start_ns;
};

/** Read the next call, in the order of starts.
 * @return 1: read; 0: end; LLMPERF_EFORMAT: damaged. */
int lp_calls_next(const char *bytes, size_t size, struct lp_calls_position *position,
                  struct lp_compute_span *call_out);

#endif
