/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/profile/fields.h"
#include "lib/record/stall_reasons.h"

#define MOST_KERNELS 15u /* metrics.json has more */
#define MOST_REASONS 3u  /* of a kernel */

static bool is_kernel(const struct lp_stall *a, const char *region, const char *name,
                      int32_t device, uint32_t process_id)
{
    return strcmp(a->region, region) == 0 && strcmp(a->name, name) == 0 && a->device == device &&
           a->process_id == process_id;
}

/* Rows of a kernel follow one another. */
static size_t count_reasons(const struct lp_stall *rows, size_t count)
{
    size_t same = 1;

    while (same < count &&
           is_kernel(rows + same, rows->region, rows->name, rows->device, rows->process_id))
        same++;
    return same;
}

static const struct lp_hot_instruction *find_hot(const llmperf_profile *profile,
                                                 const struct lp_stall *stall)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_HOT_INSTRUCTION); i++) {
        const struct lp_hot_instruction *row = lp_row_at(profile, LP_ROW_HOT_INSTRUCTION, i);

        if (is_kernel(stall, row->region, row->name, row->device, row->process_id))
            return row;
    }
    return NULL;
}

static void add_hot(const struct lp_hot_instruction *hot, struct lp_text *out)
{
    if (!hot) {
        lp_md_cell_text(out, LP_MD_UNKNOWN);
        return;
    }
    lp_text_puts(out, " ");
    if (hot->source)
        lp_md_code(out, hot->source);
    else
        lp_text_printf(out, "offset 0x%" PRIx64, hot->offset);
    lp_text_printf(out, ", %.1f %%, %s |", 100 * hot->share, hot->reason);
}

static void add_kernel(const llmperf_profile *profile, const struct lp_stall *rows, size_t count,
                       struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_code(out, rows->short_name);
    lp_md_cell_region_of(out, rows->region, lp_shown_process(profile, rows->process_id));
    lp_md_cell_count(out, rows->kernel_samples);
    for (size_t i = 0; i < count && i < MOST_REASONS; i++)
        lp_text_printf(out, "%s%s %.1f %%", i ? ", " : " ", rows[i].reason, 100 * rows[i].share);
    lp_text_puts(out, " |");
    add_hot(find_hot(profile, rows), out);
    lp_text_puts(out, "\n");
}

/* Of the reasons in the table. */
static void add_meanings(const struct lp_stall *rows, size_t count, struct lp_text *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct lp_stall_reason *reason = lp_stall_reason_find(rows[i].reason);
        size_t before = 0;

        while (before < i && strcmp(rows[before].reason, rows[i].reason) != 0)
            before++;
        if (reason && before == i && rows[i].share >= 0.05)
            lp_text_printf(out, "- %s: the warp waits for %s\n", reason->name, reason->words);
    }
}

void lp_stalls_md(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_STALL), end = 0;
    const struct lp_stall *rows = lp_row_at(findings->profile, LP_ROW_STALL, 0);

    if (count == 0)
        return;
    lp_text_puts(out,
                 "Why warps of a kernel did not issue their next "
                 "instruction, from samples of some calls of each region (nested regions "
                 "included).\n\n"
                 "| Kernel | Region | Samples | Most frequent reasons | Hottest instruction |\n"
                 "| --- | --- | ---: | --- | --- |\n");
    for (unsigned kernels = 0; end < count && kernels < MOST_KERNELS; kernels++) {
        size_t reasons = count_reasons(rows + end, count - end);

        add_kernel(findings->profile, rows + end, reasons, out);
        end += reasons;
    }
    lp_text_puts(out, "\n");
    add_meanings(rows, end, out);
    if (end < count)
        lp_text_puts(out, "\nmetrics.json has all kernels that were sampled.\n");
}
