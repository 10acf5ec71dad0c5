/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/profile/fields.h"

#define MOST 15u /* rows; metrics.json has all */

void lp_host_calls_md(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_HOST_CALL);

    if (count == 0)
        return;
    lp_text_puts(out, "\n## Host calls that block\n\nCalls of the CUDA driver that wait for the "
                      "GPU, copy, allocate or load code, by region. GPU idle: the part of their "
                      "time in which the GPU had no work of the stage.\n\n"
                      "| Call | Region | Calls | Total ms | Mean ms | Longest ms | GPU idle ms |\n"
                      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count && i < MOST; i++) {
        const llmperf_host_call *row = lp_row_at(findings->profile, LP_ROW_HOST_CALL, i);

        lp_text_puts(out, "|");
        lp_md_cell_text(out, row->call);
        lp_md_cell_text(out, *row->region ? row->region : LP_MD_UNKNOWN);
        lp_md_cell_count(out, row->calls);
        lp_md_cell_number(out, row->total_ms);
        lp_md_cell_number(out, row->total_ms / (double)row->calls);
        lp_md_cell_number(out, row->max_ms);
        lp_md_cell_number(out, row->idle_ms);
        lp_text_puts(out, "\n");
    }
    if (count > MOST)
        lp_text_printf(out, "\nmetrics.json has all %zu rows.\n", count);
}
