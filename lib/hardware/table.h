/* SPDX-License-Identifier: Apache-2.0 */
/** The contents of conf/hardware: one row per listed GPU, and in rates.yaml the throughput per
 * clock of each compute capability's units.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_TABLE_H
#define LP_HARDWARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hardware/hardware.h"
#include "lib/base/vector.h"
#include "lib/hardware/occupancy.h"
#include "llmperf/sys/config.h"

#define LP_GPU_MEMORIES 4

struct lp_gpu_row {
    const llmperf_config *config;
    size_t index; /* in the list "gpus" of its file */
    const char *name;
    int32_t capability, sm_count;
    bool formula_holds;
    double memory_gb[LP_GPU_MEMORIES];
    size_t memory_count;
};

struct lp_gpu_table {
    LP_VECTOR(llmperf_config *) files;
    LP_VECTOR(struct lp_gpu_row) rows;
};

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_gpu_table_open(struct lp_gpu_table **table_out);
void lp_gpu_table_free(struct lp_gpu_table *table);

/** A text of the row, "match.0"; NULL: none. It lives as long as the table. */
const char *lp_gpu_row_text(const struct lp_gpu_row *row, const char *part);

/** Set the values that the row gives. 0, LLMPERF_EFORMAT. */
int lp_gpu_row_fill(const struct lp_gpu_row *row, llmperf_hardware *hardware);

/** Of a compute capability (x 10): rates, FLOPs per clock and SM, and the limits of an SM. */
struct lp_gpu_rates {
    bool known;
    double rate[LP_PEAKS]; /* 0: no such unit */
    bool geforce_half[LP_PEAKS];
    double tensor_clock; /* relative to the clock that CUDA reports */
    char geforce_word[32];
    struct lp_sm_limits sm;
};

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_gpu_rates_read(int32_t capability, struct lp_gpu_rates *rates_out);

#endif
