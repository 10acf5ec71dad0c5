/* SPDX-License-Identifier: Apache-2.0 */
/** Names of GPUs, as drivers and people write them, and which row of the table one is.
 * @threads any thread */
#ifndef LP_HARDWARE_MATCH_H
#define LP_HARDWARE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hardware/table.h"
#include "llmperf/hardware.h"

/** Size of the longest GPU name that is parsed, with its NUL. */
#define LP_GPU_NAME_BYTES 256

/** A parsed GPU name. */
struct lp_gpu_name {
    char words[LP_GPU_NAME_BYTES + 2]; /* " nvidia a100 sxm4 80gb ": lower case, one blank around */
    bool mig;                          /* a slice of the GPU in `words` */
    double mig_memory_gb;
};

void lp_gpu_name_parse(struct lp_gpu_name *name, const char *text);

/** The table's match for a query. */
struct lp_gpu_match {
    const struct lp_gpu_row *row;  /* the GPU; NULL: none fits */
    const struct lp_gpu_row *near; /* similar name, but another part */
    bool several;                  /* more than one fits */
    char why[512];                 /* why none fits; "" if nothing is near */
};

void lp_gpu_table_find(const struct lp_gpu_table *table, const llmperf_hardware_query *query,
                       const struct lp_gpu_name *name, struct lp_gpu_match *match_out);

/** One memory size among those of the row: the one named or nearest to the device's; NaN: open. */
double lp_gpu_row_memory(const struct lp_gpu_row *row, const struct lp_gpu_name *name,
                         uint64_t memory_bytes);

#endif
