/* SPDX-License-Identifier: Apache-2.0 */
/** conf/hardware/rates.yaml: throughput per clock of each compute capability's units.
 * @threads any thread */
#ifndef LP_HARDWARE_RATES_H
#define LP_HARDWARE_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/dtype.h"

/** Rates of a compute capability (x 10), FLOPs per clock and SM. */
struct lp_gpu_rates {
    bool known;
    double rate[LP_PEAKS]; /* 0: no such unit */
    bool geforce_half[LP_PEAKS];
    double tensor_clock; /* relative to the clock that CUDA reports */
    char geforce_word[32];
};

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_gpu_rates_read(int32_t capability, struct lp_gpu_rates *rates_out);

#endif
