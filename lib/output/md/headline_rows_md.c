/* SPDX-License-Identifier: Apache-2.0 */
/** One line for a stage with many processes or GPUs: smallest and largest value of each number. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/format/markdown.h"

/* ", MBU 11.26 to 13.71 %"; nothing if it is not known in any row. */
static void add(struct lp_text *out, const char *before, struct lp_spread spread, double factor,
                const char *after)
{
    const char *least = LP_NUMBER(factor * spread.least, 4);
    const char *most = LP_NUMBER(factor * spread.most, 4);

    if (isnan(spread.least))
        return;
    lp_text_printf(out, "%s%s", before, least);
    if (strcmp(least, most) != 0)
        lp_text_printf(out, " to %s", most);
    lp_text_puts(out, after);
}

static void add_busy(const struct lp_stage_spread *rows, struct lp_text *out)
{
    if (isnan(rows->busy_share.most))
        add(out, ", GPUs busy ", rows->busy_ms, 1, " ms in total, with several calls at once");
    else if (rows->busy_share.most > 1)
        add(out, ", GPUs busy ", rows->busy_ms, 1, " ms in total, partly after the region");
    else
        add(out, ", GPUs busy ", rows->busy_share, 100, " %");
}

void lp_stage_rows_md(const struct lp_findings *findings, const char *path, struct lp_text *out)
{
    struct lp_stage_sum sum = lp_stage_sum_of(findings, path, -1);
    struct lp_stage_spread rows = lp_stage_spread_of(findings, path);
    const struct lp_region_finding *first =
        &findings->regions.items[lp_profile_find_region(findings->profile, path)];

    lp_text_puts(out, "- ");
    lp_md_code(out, path);
    if (sum.processes > 1)
        lp_text_printf(out, " of %zu processes, each", sum.processes);
    else
        lp_text_printf(out, " on %zu GPUs", sum.rows);
    add(out, ": ", rows.call_ms, 1, " ms of ");
    lp_text_printf(out, "%s, mean of %" PRIu64, lp_clock_words(first->clock), rows.least_calls);
    if (rows.most_calls > rows.least_calls)
        lp_text_printf(out, " to %" PRIu64, rows.most_calls);
    lp_text_puts(out, rows.most_calls == 1 ? " call" : " calls");
    add(out, ", ", rows.tokens_per_s, 1,
        first->rate == LLMPERF_RATE_TOTAL ? " tokens/s in all" : " tokens/s");
    if (!isnan(rows.wall_ratio.least)) {
        add(out, ", ", rows.wall_ratio, 1, "x the ");
        lp_text_puts(out, rows.bound);
    }
    add(out, ", MBU ", rows.mbu_elapsed, 100, " %");
    add(out, ", MBU while busy ", rows.mbu, 100, " %");
    add(out, ", MFU ", rows.mfu_elapsed, 100, " %");
    add(out, ", MFU while busy ", rows.mfu, 100, " %");
    if (findings->device_known)
        add_busy(&rows, out);
    lp_text_puts(out, "\n");
}
