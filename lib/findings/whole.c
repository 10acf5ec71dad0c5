/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "lib/record/paths.h"

#define GPUS_MOST 64u /* more are not counted */

static const char *program_of(const struct lp_findings *findings)
{
    const char *program = lp_machine_text(findings->machine, "program");
    const char *slash = program ? strrchr(program, '/') : NULL;

    return slash ? slash + 1 : program;
}

/* Processes on two GPUs may each call theirs 0, and several may share one. */
static uint64_t count_gpus(const struct lp_findings *findings)
{
    const llmperf_region_stats *seen[GPUS_MOST];
    size_t count = 0, known = lp_machine_gpu_count(findings->machine);

    for (size_t i = 0; i < findings->regions.count && count < GPUS_MOST; i++) {
        const llmperf_region_stats *row = &findings->regions.items[i].stats;
        size_t k = 0;

        while (k < count &&
               (seen[k]->device != row->device || seen[k]->process_id != row->process_id))
            k++;
        if (row->device >= 0 && k == count)
            seen[count++] = row;
    }
    return known > 0 && known < count ? known : count;
}

static double batch_of(const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *row = &findings->regions.items[i].stats;

        if (lp_label_is_decode(row->label) && row->sequences != LLMPERF_UNKNOWN &&
            row->instances + row->truncated > 0)
            return (double)row->sequences / (double)(row->instances + row->truncated);
    }
    return NAN;
}

/* Without the control characters of a program or model that has them in its name. */
static void add_part(char *title, size_t size, const char *before, const char *text)
{
    struct lp_text clean = { NULL, 0, 0, false };
    size_t length = strlen(title);

    if (text)
        lp_text_clean(&clean, text);
    if (clean.length > 0)
        snprintf(title + length, size - length, "%s%s%s", length ? " · " : "", before, clean.bytes);
    lp_text_clear(&clean);
}

static void set_title(struct lp_about *about)
{
    const llmperf_about *values = &about->values;
    char gpu[128] = "";

    if (values->gpu && values->gpus > 1)
        snprintf(gpu, sizeof(gpu), "%s × %" PRIu64, values->gpu, values->gpus);
    else if (values->gpu)
        snprintf(gpu, sizeof(gpu), "%s", values->gpu);
    add_part(about->title, sizeof(about->title), "", values->program);
    add_part(about->title, sizeof(about->title), "", values->model);
    add_part(about->title, sizeof(about->title), "", gpu);
    if (!isnan(values->batch))
        add_part(
            about->title, sizeof(about->title), "batch ",
            LP_NUMBER(values->batch, fabs(values->batch - round(values->batch)) < 1e-9 ? 1 : 3));
    add_part(about->title, sizeof(about->title), "", values->dtype);
}

void lp_about_set(struct lp_about *about, const struct lp_findings *findings)
{
    const char *run_id = llmperf_profile_fact(findings->profile, "run_id");
    llmperf_about *values = &about->values;

    *about = (struct lp_about){ .values = LLMPERF_ABOUT_INIT };
    values->program = program_of(findings);
    values->model = lp_model_fact(findings->profile);
    values->gpu = findings->limits.gpu_name;
    values->gpus = count_gpus(findings);
    values->batch = batch_of(findings);
    values->dtype = findings->limits.dtype[0] ? findings->limits.dtype : NULL;
    values->title = about->title;
    set_title(about);
    if (!about->title[0])
        add_part(about->title, sizeof(about->title), "", run_id ? run_id : "unnamed run");
}

/* MFU and MBU of all stages together */

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
    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row;
         row = lp_rows_next(findings, row))
        if (row->stats.gpu_busy_ms > 0)
            add_row(overall, row);
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
