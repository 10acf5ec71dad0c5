/* SPDX-License-Identifier: Apache-2.0 */
/** One line of a stage that many processes or GPUs are in: the least and the most of each number.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/format/markdown.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

/* NaN both: no row knows it. */
struct spread {
    double least, most;
};

struct rows {
    uint64_t least_instances, most_instances;
    struct spread mean_ms, rate, wall_ratio, mbu, mfu, busy_ms, busy_share;
    bool compute; /* the floor of a row is one of arithmetic */
};

static void widen(struct spread *spread, double value)
{
    spread->least = fmin(spread->least, value); /* the other one, if one is NaN */
    spread->most = fmax(spread->most, value);
}

static void add_row(struct rows *rows, const struct lp_region_finding *row)
{
    const llmperf_region_stats *region = &row->stats;

    widen(&rows->mean_ms, region->wall_mean_ms);
    if (region->instances < rows->least_instances)
        rows->least_instances = region->instances;
    if (region->instances > rows->most_instances)
        rows->most_instances = region->instances;
    widen(&rows->rate, row->tokens_per_s);
    widen(&rows->wall_ratio, row->use.wall_ratio);
    widen(&rows->mbu, 100 * row->use.mbu);
    widen(&rows->mfu, 100 * row->use.mfu);
    rows->compute |= row->use.compute_floor_ms > row->use.memory_floor_ms;
    if (region->device < 0)
        return;
    widen(&rows->busy_ms, region->gpu_busy_ms);
    widen(&rows->busy_share, 100 * row->busy_share);
}

static struct rows rows_of(const struct lp_findings *findings, const char *path)
{
    static const struct spread none = { NAN, NAN };
    struct rows rows = { UINT64_MAX, 0, none, none, none, none, none, none, none, false };

    for (size_t i = 0; i < findings->regions.count; i++)
        if (strcmp(findings->regions.items[i].stats.path, path) == 0 &&
            findings->regions.items[i].stats.instances > 0)
            add_row(&rows, &findings->regions.items[i]);
    return rows;
}

/* ", MBU 11.26 to 13.71 %"; nothing if no row knows it. */
static void add(struct lp_text *out, const char *before, struct spread spread, const char *after)
{
    const char *least = LP_NUMBER(spread.least, 4), *most = LP_NUMBER(spread.most, 4);

    if (isnan(spread.least))
        return;
    lp_text_printf(out, "%s%s", before, least);
    if (strcmp(least, most) != 0)
        lp_text_printf(out, " to %s", most);
    lp_text_puts(out, after);
}

static void add_busy(const struct rows *rows, bool at_once, struct lp_text *out)
{
    if (at_once)
        add(out, ", GPUs busy ", rows->busy_ms, " ms in all, with several instances at once");
    else if (rows->busy_share.most > 100)
        add(out, ", GPUs busy ", rows->busy_ms, " ms in all, some of it after the region");
    else
        add(out, ", GPUs busy ", rows->busy_share, " %");
}

void lp_stage_rows_md(const struct lp_findings *findings, const char *path, struct lp_text *out)
{
    struct lp_stage_sum sum = lp_stage_sum_of(findings, path, -1);
    struct rows rows = rows_of(findings, path);
    bool at_once = lp_findings_overlaps(findings, path);

    lp_text_puts(out, "- ");
    lp_md_code(out, path);
    if (sum.processes > 1)
        lp_text_printf(out, " of %zu processes, each", sum.processes);
    else
        lp_text_printf(out, " on %zu GPUs", sum.rows);
    add(out, ": ", rows.mean_ms, " ms");
    lp_text_printf(out, " mean of %" PRIu64, rows.least_instances);
    if (rows.most_instances > rows.least_instances)
        lp_text_printf(out, " to %" PRIu64, rows.most_instances);
    add(out, ", ", rows.rate, at_once ? " tokens/s a thread" : " tokens/s");
    if (!at_once)
        add(out, ", ", rows.wall_ratio,
            rows.compute ? "x its compute floor" : "x its memory floor");
    add(out, ", MBU ", rows.mbu, " %");
    add(out, ", MFU ", rows.mfu, " %");
    if (findings->device_known)
        add_busy(&rows, at_once, out);
    lp_text_puts(out, "\n");
}
