/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of PC sampling: windows (pc.c), and what was sampled in them (pc_data.c). */
#ifndef LP_COUNTERS_PC_H
#define LP_COUNTERS_PC_H

#include "lib/counters/run.h"

/* Samples of an instruction that were not passed on yet; the values are by column. */
struct lp_pc_instruction {
    uint64_t offset, cubin_crc;
    uint32_t node, name;
    uint32_t kernel;  /* index in `kernels` */
    uint32_t source;  /* LP_HASHMAP_NONE: not looked up yet */
    uint64_t samples; /* since the beginning */
    size_t values;
};

struct lp_pc {
    _Atomic int window;      /* enum lp_pc_window; who makes it busy has what follows */
    _Atomic uint64_t opened; /* ns of all windows, for the budget */
    _Atomic(const struct lp_thread *) owner; /* closes the window; NULL: nobody will */
    uint32_t node;                           /* of the window; also read by its owner */
    uint64_t since_ns;                       /* start of sampling */
    uint64_t begin_ns, end_ns;               /* of the window */
    bool spoilt;                             /* it holds more than its region */
    struct lp_hashmap turns;                 /* node -> round in which it last had a window */
    uint32_t round;
    uint64_t refused_ns; /* since when only regions come that had their turn; 0: not so */
    bool enabled;
    uint32_t *indices; /* CUPTI's numbers of the columns */
    struct lp_cupti_pc_data data, last;
    /* The collector's */
    LP_VECTOR(struct lp_pc_instruction) instructions;
    LP_VECTOR(uint64_t) kernels; /* samples of each */
    LP_VECTOR(double) values;
    struct lp_hashmap instruction_index, kernel_index;
    uint64_t samples, lost, overflows, passed_ns;
};

/** Room for what GetData reads. 0 or LLMPERF_ENOMEM. */
int lp_pc_data_make(struct lp_cupti_pc_data *data, size_t reasons);
void lp_pc_data_free(struct lp_cupti_pc_data *data);

/** Add what GetData has read, as samples of the window's region. @threads collector only */
void lp_pc_take(struct lp_counters *counters);

/** Pass on what was sampled since the last time. @threads collector only */
void lp_pc_pass(struct lp_counters *counters, const struct lp_device_sink *sink);

#endif
