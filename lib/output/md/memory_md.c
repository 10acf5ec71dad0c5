/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/profile/fields.h"

#define MOST 15u /* rows of regions; metrics.json has all */

static void add_mib(struct lp_text *out, uint64_t bytes)
{
    lp_md_cell_number(out, bytes == LLMPERF_UNKNOWN ? (double)NAN : (double)bytes / 1048576);
}

static void add_device(const struct lp_memory_use *row, struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_device(out, row->device);
    lp_md_cell_count(out, row->allocations);
    lp_md_cell_count(out, row->frees);
    add_mib(out, row->allocated_bytes);
    add_mib(out, row->peak_bytes);
    add_mib(out, row->live_bytes);
    add_mib(out, row->kept_bytes);
    lp_text_puts(out, "\n");
}

static void add_region(const struct lp_memory_use *row, struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_text(out, *row->region ? row->region : LP_MD_UNKNOWN);
    lp_md_cell_device(out, row->device);
    lp_md_cell_count(out, row->allocations);
    lp_md_cell_count(out, row->frees);
    add_mib(out, row->allocated_bytes);
    add_mib(out, row->live_bytes);
    add_mib(out, row->peak_bytes);
    lp_text_puts(out, "\n");
}

static void add_rows(const struct lp_findings *findings, bool devices, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_MEMORY), shown = 0;

    for (size_t i = 0; i < count; i++) {
        const struct lp_memory_use *row = lp_row_at(findings->profile, LP_ROW_MEMORY, i);

        if (devices && !row->region)
            add_device(row, out);
        else if (!devices && row->region && shown++ < MOST)
            add_region(row, out);
    }
    if (shown > MOST)
        lp_text_printf(out, "\nmetrics.json has all %zu rows.\n", shown);
}

void lp_memory_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (lp_row_count(findings->profile, LP_ROW_MEMORY) == 0)
        return;
    lp_text_puts(out,
                 "\n## Device memory\n\nMemory that the program allocated during the session. Not "
                 "included: memory from before the session, CUDA contexts and code, memory nodes "
                 "of graphs, managed memory, and what a pool keeps beyond its allocations. An "
                 "allocator of the engine, such as PyTorch's, allocates larger blocks and divides "
                 "them itself.\n\n"
                 "| GPU | Allocations | Frees | Allocated MiB | Peak MiB | Live at the end MiB | "
                 "Kept from before the first stage MiB |\n"
                 "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    add_rows(findings, true, out);
    lp_text_puts(out,
                 "\nBy region, without nested regions; peak: on the GPU while a call of the "
                 "stage was open.\n\n"
                 "| Region | GPU | Allocations | Frees | Allocated MiB | Live at the end MiB | "
                 "Peak MiB |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    add_rows(findings, false, out);
}
