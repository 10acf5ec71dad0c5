/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/fields.h"
#include "lib/record/stall_reasons.h"

#define MOST_KERNELS 15u
#define MOST_REASONS 3u /* of a kernel */

static bool is_kernel(const struct lp_stall *a, const char *region, const char *name,
                      int32_t device, uint32_t process_id)
{
    return strcmp(a->region, region) == 0 && strcmp(a->name, name) == 0 && a->device == device &&
           a->process_id == process_id;
}

static bool is_same_kernel(const struct lp_stall *a, const struct lp_stall *b)
{
    return is_kernel(a, b->region, b->name, b->device, b->process_id);
}

/* Rows of a kernel follow one another. */
static bool is_first(const struct lp_findings *findings, const void *row)
{
    return row == lp_row_at(findings->profile, LP_ROW_STALL, 0) ||
           !is_same_kernel(row, (const struct lp_stall *)row - 1);
}

static void show_reasons(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_stall *first = row, *all = lp_row_at(findings->profile, LP_ROW_STALL, 0);
    const struct lp_stall *end = all + lp_row_count(findings->profile, LP_ROW_STALL);

    for (const struct lp_stall *at = first;
         at < end && at < first + MOST_REASONS && is_same_kernel(first, at); at++)
        lp_text_printf(out, "%s%s %.1f %%", at > first ? ", " : "", at->reason, 100 * at->share);
}

static void show_hot(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_hot_instruction *hot = NULL;

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_HOT_INSTRUCTION); i++) {
        hot = lp_row_at(findings->profile, LP_ROW_HOT_INSTRUCTION, i);
        if (is_kernel(row, hot->region, hot->name, hot->device, hot->process_id))
            break;
        hot = NULL;
    }
    if (hot && hot->source)
        lp_md_code(out, hot->source);
    else if (hot)
        lp_text_printf(out, "offset 0x%" PRIx64, hot->offset);
    if (hot)
        lp_text_printf(out, ", %.1f %%, %s", 100 * hot->share, hot->reason);
    else
        lp_text_puts(out, LP_MD_UNKNOWN);
}

/* Of the reasons with a share that counts. */
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
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel", struct lp_stall, short_name),
        LP_COLUMN_REGION_OF("Region", struct lp_stall, region, process_id),
        LP_COLUMN("Samples", struct lp_stall, kernel_samples),
        LP_COLUMN_WORDS("Most frequent reasons", show_reasons),
        LP_COLUMN_WORDS("Hottest instruction", show_hot),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_ROWS(findings->profile, LP_ROW_STALL), .has = is_first,
                                    .limit = MOST_KERNELS, .all_in = "metrics.json" };

    if (table.row_count == 0)
        return;
    lp_text_puts(out, "Why warps of a kernel did not issue their next "
                      "instruction, from samples of some calls of each region (nested regions "
                      "included).\n\n");
    lp_table_add(findings, &table, out);
    lp_text_puts(out, "\n");
    add_meanings(table.rows, table.row_count, out);
}
