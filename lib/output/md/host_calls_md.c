/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/fields.h"

void lp_host_calls_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN("Call", llmperf_host_call, call),
        LP_COLUMN_REGION("Region", llmperf_host_call, region),
        LP_COLUMN("Calls", llmperf_host_call, calls),
        LP_COLUMN("Total ms", llmperf_host_call, total_ms),
        LP_COLUMN_PER("Mean ms", llmperf_host_call, total_ms, 1, calls),
        LP_COLUMN("Longest ms", llmperf_host_call, max_ms),
        LP_COLUMN("GPU idle ms", llmperf_host_call, idle_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_ROWS(findings->profile, LP_ROW_HOST_CALL), .limit = 15,
                                    .all_in = "metrics.json" };

    if (table.row_count == 0)
        return;
    lp_text_puts(out,
                 "Calls of the CUDA driver that wait for the GPU, copy, allocate or load code, "
                 "by region. GPU idle: the part of their time in which the GPU had no work of "
                 "the stage.\n\n");
    lp_table_add(findings, &table, out);
}
