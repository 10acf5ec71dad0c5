/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/config/options.h"
#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/findings/recommend.h"

static size_t find_gpu(const struct lp_findings *findings)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    if (lp_row_count(findings->profile, LP_ROW_KERNEL) > 0)
        llmperf_profile_kernel(findings->profile, 0, &kernel);
    for (size_t i = 0; i < lp_machine_gpu_count(findings->machine); i++)
        if (lp_machine_gpu_number(findings->machine, i, "device") == kernel.device)
            return i;
    return 0;
}

/* More than rounding and late records explain. */
#define OVERLAP 1.05

/* Busy times of calls that ran at the same time add up to more than that of the region. */
static bool overlaps(const struct lp_findings *findings, const struct lp_stage_iterations *stage)
{
    double busy_ms = 0;

    for (const struct lp_region_finding *row = lp_rows_of(findings, stage->region); row;
         row = lp_rows_next(findings, row))
        busy_ms += fmax(0, row->stats.gpu_busy_ms); /* NaN counts as 0 */
    return busy_ms > 0 && lp_all_sum(stage, LP_TIME_BUSY) > OVERLAP * busy_ms;
}

/* Was a sample of whole calls collected? True if calls have device times, or if none of the stage's
 * calls was collected. */
static bool has_chosen_calls(const struct lp_findings *findings,
                             const struct lp_stage_iterations *stage)
{
    const struct lp_region_finding *row = lp_rows_of(findings, stage->region);

    return lp_all_calls(stage, LP_TIME_BUSY) > 0 || (row && row->stats.skipped_fraction >= 1);
}

static void mark_sampled(struct lp_findings *findings)
{
    for (size_t i = 0; findings->ledger.sampled_fraction < 1 && i < findings->stages.count; i++) {
        struct lp_stage_iterations *stage = &findings->stages.items[i];

        stage->sampled = has_chosen_calls(findings, stage);
        for (size_t k = 0; stage->sampled && k < findings->stages.count; k++)
            stage->sampled = k == i ||
                             !lp_region_is_in(stage->region, findings->stages.items[k].region) ||
                             !has_chosen_calls(findings, &findings->stages.items[k]);
    }
}

static uint64_t collected_calls_of(const struct lp_findings *findings,
                                   const llmperf_region_stats *stats)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, stats->path);

    if (!findings->device_known)
        return LLMPERF_UNKNOWN;
    if (!(stats->skipped_fraction > 0))
        return stats->instances - stats->window_instances;
    if (stats->skipped_fraction >= 1)
        return 0;
    return stage && lp_all_calls(stage, LP_TIME_BUSY) > 0 &&
                   lp_stage_sum_of(findings, stats->path, -1).processes == 1
               ? (uint64_t)lp_all_calls(stage, LP_TIME_BUSY)
               : LLMPERF_UNKNOWN;
}

static void set_collected(struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        findings->regions.items[i].collected_calls =
            collected_calls_of(findings, &findings->regions.items[i].stats);
}

static int add_stages(struct lp_findings *findings)
{
    size_t rows = lp_row_count(findings->profile, LP_ROW_SPREAD);

    for (size_t row = 0; row < rows;) {
        struct lp_stage_iterations stage;

        row = lp_stage_iterations_read(&stage, findings->profile, row);
        stage.overlaps = overlaps(findings, &stage);
        if (lp_vector_push(&findings->stages, stage) < 0)
            return LLMPERF_ENOMEM;
    }
    mark_sampled(findings);
    set_collected(findings);
    lp_clocks_set(findings);
    lp_regions_set_elapsed(findings);
    lp_regions_set_energy(findings);
    return 0;
}

/* Without the table of classes no class is known. */
static int add_classes(struct lp_findings *findings)
{
    const llmperf_profile *profile = findings->profile;
    size_t count = lp_row_count(profile, LP_ROW_KERNEL);
    int status = lp_kernel_classes_open(NULL, &findings->classes);

    if (status < 0)
        return status == LLMPERF_ENOMEM ? status : 0;
    if (lp_vector_reserve(&findings->kernel_classes, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);

        findings->kernel_classes.items[findings->kernel_classes.count++] =
            lp_kernel_class(findings->classes, kernel->demangled, kernel->kind);
    }
    return lp_class_totals_init(&findings->class_totals, profile, findings->kernel_classes.items);
}

static int work_out(struct lp_findings *findings)
{
    int status;

    if ((status = add_classes(findings)) < 0 || (status = lp_regions_add(findings)) < 0 ||
        (status = add_stages(findings)) < 0 ||
        (status = lp_collectives_init(&findings->collectives, findings)) < 0 ||
        (status = lp_ranks_init(&findings->ranks, findings)) < 0)
        return status;
    lp_profiler_costs_set(findings);
    lp_bounds_set(findings);
    if ((status = lp_stage_rows_add(findings)) < 0 || (status = lp_stages_mark(findings)) < 0 ||
        (status = lp_kernel_shapes_init(&findings->kernel_shapes, findings)) < 0 ||
        (status = lp_waterfalls_init(&findings->waterfalls, findings)) < 0 ||
        (status = lp_ncu_kernels_read(&findings->ncu_kernels, findings->profile)) < 0 ||
        (status = lp_advice_add(findings)) < 0 ||
        (status = lp_cost_centres_init(&findings->cost_centres, findings)) < 0)
        return status;
    lp_about_set(&findings->about, findings);
    lp_overall_set(&findings->overall, findings);
    if ((status = lp_tables_init(&findings->tables, findings->profile)) < 0 ||
        (status = lp_memory_held_init(&findings->memory, findings->profile)) < 0)
        return status;
    return lp_kernel_works_read(&findings->kernel_works, findings);
}

static void free_findings(struct lp_kept *kept)
{
    struct lp_findings *findings = (struct lp_findings *)kept;

    lp_tables_clear(&findings->tables);
    lp_kernel_works_clear(&findings->kernel_works);
    lp_ncu_kernels_clear(&findings->ncu_kernels);
    lp_kernel_shapes_clear(&findings->kernel_shapes);
    lp_memory_held_clear(&findings->memory);
    lp_cost_centres_clear(&findings->cost_centres);
    lp_recommendations_clear(&findings->advice);
    lp_waterfalls_clear(&findings->waterfalls);
    lp_collectives_found_clear(&findings->collectives);
    lp_ranks_clear(&findings->ranks);
    lp_vector_clear(&findings->stage_rows.rows);
    lp_vector_clear(&findings->stages);
    lp_vector_clear(&findings->regions);
    lp_class_totals_clear(&findings->class_totals);
    lp_vector_clear(&findings->kernel_classes);
    lp_limits_clear(&findings->limits);
    lp_machine_free(findings->machine);
    lp_kernel_classes_free(findings->classes);
    free(findings);
}

int lp_findings_of(const llmperf_profile *profile, const struct lp_findings **findings_out)
{
    struct lp_findings *findings = (struct lp_findings *)lp_profile_kept(profile);
    int64_t cents = 0;
    int status;

    if ((*findings_out = findings))
        return 0;
    if (!(findings = calloc(1, sizeof(*findings))))
        return lp_out_of_memory();
    findings->kept.free = free_findings;
    findings->profile = profile;
    findings->ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    llmperf_profile_ledger(profile, &findings->ledger);
    findings->device_known = lp_device_known(&findings->ledger);
    findings->withheld = findings->ledger.verdict == LLMPERF_VERDICT_INCOMPLETE &&
                         !(lp_coverage(&findings->ledger) >= LP_HEADLINE_COVERAGE);
    findings->machine = lp_machine_open(profile);
    findings->gpu = find_gpu(findings);
    lp_aggregates_read(&findings->sums, profile);
    lp_limits_init(&findings->limits, profile, findings->machine, findings->gpu);
    if (lp_option_of_profile(profile, "report.top", &findings->top) < 0)
        findings->top = 0; /* from a configuration that a run would refuse */
    if (lp_option_of_profile(profile, "session.gpu_hour_cents", &cents) < 0)
        cents = 0;
    lp_serving_read(&findings->serving, profile, cents);
    if ((status = work_out(findings)) < 0) {
        free_findings(&findings->kept);
        return lp_error(status, "out of memory");
    }
    *findings_out = (const struct lp_findings *)lp_profile_keep(profile, &findings->kept);
    return 0;
}
