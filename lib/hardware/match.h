/* SPDX-License-Identifier: Apache-2.0 */
/** Which row of the table a GPU is.
 * @threads any thread */
#ifndef LP_HARDWARE_MATCH_H
#define LP_HARDWARE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hardware/name.h"
#include "lib/hardware/table.h"
#include "llmperf/hardware.h"

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
