/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of PC sampling: windows (pc.c), and what was sampled in them (pc_data.c). */
#ifndef LP_COUNTERS_PC_H
#define LP_COUNTERS_PC_H

#include "lib/counters/run.h"
#include "lib/record/stall_sums.h"

#define LP_PC_REASONS_MOST 64u /* CUPTI 13.0 has 40 */

/* A kernel in a region. */
struct lp_pc_kernel {
    uint64_t samples, cubin_crc;
};

struct lp_pc {
    _Atomic int window;      /* enum lp_pc_window; who makes it busy has what follows */
    _Atomic uint64_t opened; /* ns of all windows, for the budget */
    _Atomic uint64_t length; /* ns of the last one: the next will cost as much */
    _Atomic(const struct lp_thread *) owner; /* closes the window; NULL: nobody will */
    uint32_t node;                           /* of the window; also read by its owner */
    uint64_t since_ns;                       /* start of sampling */
    uint64_t begin_ns, end_ns;               /* of the window */
    bool spoilt;                             /* it is not used */
    struct lp_hashmap turns;                 /* node -> round in which it last had a window */
    uint32_t round;
    uint64_t refused_ns; /* since when only regions come that had their turn; 0: not so */
    void *context;       /* PC sampling is enabled in it; NULL: in none */
    uint32_t period;     /* 2^period cycles */
    bool full;           /* the buffer overflowed in this window */
    uint32_t indices[LP_PC_REASONS_MOST]; /* CUPTI's numbers of the columns */
    struct lp_cupti_pc_data data, last;
    /* The collector's */
    struct lp_stall_sums sums; /* not passed on yet; `kernels`: the same samples */
    LP_VECTOR(struct lp_pc_kernel) kernels;
    struct lp_hashmap kernel_index;
    struct lp_hashmap sources; /* of instructions, as they were looked up */
    uint64_t samples, lost, unknown, overflows, passed_ns;
};

/** Room for what GetData reads. 0 or LLMPERF_ENOMEM. */
int lp_pc_data_make(struct lp_cupti_pc_data *data, size_t reasons);
void lp_pc_data_free(struct lp_cupti_pc_data *data);

/** Add what GetData has read, as samples of the window's region. @threads collector only */
void lp_pc_take(struct lp_counters *counters);

/** Pass on what was sampled since the last time. @threads collector only */
void lp_pc_pass(struct lp_counters *counters, const struct lp_device_sink *sink);

#endif
