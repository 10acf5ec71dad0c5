/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/overall.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/profile/profile.h"

static const char no_time[] = "the elapsed time is not known: calls ran at the same time, or the "
                              "session began or ended in one";

/* The first reason stays. */
static void keep_reason(const char **reason, char *room, size_t size, const char *path,
                        const char *text)
{
    if (*reason || !text)
        return;
    if (path)
        snprintf(room, size, "%s: %s", path, text);
    else
        snprintf(room, size, "%s", text);
    *reason = room;
}

static void keep_reasons(struct lp_overall *overall, const char *path, const char *mfu,
                         const char *mbu, const char *elapsed)
{
    llmperf_overall *values = &overall->values;

    keep_reason(&values->mfu_reason, overall->mfu_reason, sizeof(overall->mfu_reason), path, mfu);
    keep_reason(&values->mbu_reason, overall->mbu_reason, sizeof(overall->mbu_reason), path, mbu);
    keep_reason(&values->elapsed_reason, overall->elapsed_reason, sizeof(overall->elapsed_reason),
                path, elapsed);
}

/* FLOPs / peak is MFU x time. Of sampled calls, scaled to all calls. */
static void add_row(struct lp_overall *overall, const struct lp_region_finding *row)
{
    llmperf_overall *values = &overall->values;
    double busy_ms = row->scale * row->stats.gpu_busy_ms;
    bool timed = row->collected_ms > 0 && row->stats.truncated == 0;

    values->busy_ms += busy_ms;
    values->mfu += row->use.mfu * busy_ms;
    values->mbu += row->use.mbu * busy_ms;
    values->elapsed_ms += row->scale * fmax(row->collected_ms, row->stats.gpu_busy_ms);
    keep_reasons(overall, row->stats.path, row->mfu_reason, row->mbu_reason,
                 timed ? NULL : no_time);
}

/* All rows of the stage: one for each process and GPU. */
static void add_stage(struct lp_overall *overall, const struct lp_findings *findings,
                      const char *path)
{
    for (size_t i = lp_profile_find_region(findings->profile, path);
         i < findings->regions.count && strcmp(findings->regions.items[i].stats.path, path) == 0;
         i++)
        if (findings->regions.items[i].stats.gpu_busy_ms > 0)
            add_row(overall, &findings->regions.items[i]);
}

void lp_overall_set(struct lp_overall *overall, const struct lp_findings *findings)
{
    llmperf_overall *values = &overall->values;
    const char *none = !findings->device_known ? "no GPU was observed, or no record of its work "
                                                 "was received"
                                               : "no stage used a GPU, or its busy time is not "
                                                 "known";

    *overall = (struct lp_overall){ .values = LLMPERF_OVERALL_INIT };
    for (size_t i = 0; findings->device_known && i < findings->regions.count; i++)
        if (findings->regions.items[i].advised && !findings->regions.items[i].around)
            add_stage(overall, findings, findings->regions.items[i].stats.path);
    if (!(values->busy_ms > 0)) {
        keep_reasons(overall, NULL, none, none, none);
        values->busy_ms = NAN;
    }
    if (values->elapsed_reason)
        values->elapsed_ms = NAN;
    values->mfu_elapsed = values->mfu_reason ? (double)NAN : values->mfu / values->elapsed_ms;
    values->mbu_elapsed = values->mbu_reason ? (double)NAN : values->mbu / values->elapsed_ms;
    values->mfu = values->mfu_reason ? (double)NAN : values->mfu / values->busy_ms;
    values->mbu = values->mbu_reason ? (double)NAN : values->mbu / values->busy_ms;
}
