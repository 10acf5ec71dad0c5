/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/about.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/findings.h"

#define GPUS_MOST 64u /* that are told apart */

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
        const char *name = row->label ? strchr(row->label, '@') : NULL;

        if (name && strcmp(name, "@decode_step") == 0 && row->sequences != LLMPERF_UNKNOWN &&
            row->instances + row->truncated > 0)
            return (double)row->sequences / (double)(row->instances + row->truncated);
    }
    return NAN;
}

static void add(char *title, size_t size, const char *before, const char *text)
{
    size_t length = strlen(title);

    if (text && *text)
        snprintf(title + length, size - length, "%s%s%s", length ? " · " : "", before, text);
}

static void set_title(struct lp_about *about)
{
    const llmperf_about *values = &about->values;
    char gpu[128] = "";

    if (values->gpu && values->gpus > 1)
        snprintf(gpu, sizeof(gpu), "%s × %" PRIu64, values->gpu, values->gpus);
    else if (values->gpu)
        snprintf(gpu, sizeof(gpu), "%s", values->gpu);
    add(about->title, sizeof(about->title), "", values->program);
    add(about->title, sizeof(about->title), "", values->model);
    add(about->title, sizeof(about->title), "", gpu);
    if (!isnan(values->batch))
        add(about->title, sizeof(about->title), "batch ",
            LP_NUMBER(values->batch, fabs(values->batch - round(values->batch)) < 1e-9 ? 1 : 3));
    add(about->title, sizeof(about->title), "", values->dtype);
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
        add(about->title, sizeof(about->title), "", run_id ? run_id : "unnamed run");
}
