/* SPDX-License-Identifier: Apache-2.0 */
/* Is a difference of two means larger than chance? */
#include <math.h>
#include <stddef.h>

#include "lib/compare/compare.h"
#include "lib/compare/reader.h"
#include "lib/statistics/student.h"

#define MINOR 0.01  /* share of a run's time; smaller rows are not judged */
#define SMALL 0.005 /* share of the time of a stage; smaller changes are not counted */

double lp_compare_noise(const struct lp_compare_mean *a, const struct lp_compare_mean *b)
{
    double va = a->error_ms * a->error_ms, vb = b->error_ms * b->error_ms, both = va + vb;
    double freedom;

    if (isnan(both))
        return NAN;
    freedom = both > 0 ? both * both / (va * va / a->freedom + vb * vb / b->freedom)
                       : fmin(a->freedom, b->freedom);
    return lp_student_99(freedom) * sqrt(both);
}

static bool is_minor(const struct lp_compare_side *side)
{
    return !(side->of.total_ms >= MINOR * side->whole_ms);
}

bool lp_compare_is_small(const struct lp_comparison *comparison, const struct lp_compare_row *row)
{
    const struct lp_compare_mean *base = &row->base.of, *fresh = &row->fresh.of;
    double calls = base->total_ms / base->mean_ms;
    double least_ms = fmin(SMALL, comparison->threshold) * row->base.stage_ms;

    return fabs(fresh->mean_ms - base->mean_ms) * calls < least_ms;
}

/* Verdict if the base had needed `times` its time because of different work. */
static enum lp_compare_verdict judge_at(const struct lp_comparison *comparison,
                                        const struct lp_compare_row *row, double times)
{
    struct lp_compare_mean base = row->base.of;
    double difference, noise;

    base.mean_ms *= times;
    base.error_ms *= times;
    difference = row->fresh.of.mean_ms - base.mean_ms;
    noise = lp_compare_noise(&base, &row->fresh.of);
    if (!(fabs(difference) > comparison->threshold * base.mean_ms) || fabs(difference) <= noise)
        return LP_COMPARE_SAME;
    return difference > 0 ? LP_COMPARE_SLOWER : LP_COMPARE_FASTER;
}

enum lp_compare_verdict lp_compare_judge(const struct lp_comparison *comparison,
                                         const struct lp_compare_row *row, bool sum)
{
    enum lp_compare_verdict verdict;

    if (isnan(row->base.of.mean_ms))
        return LP_COMPARE_ONLY_NEW;
    if (isnan(row->fresh.of.mean_ms))
        return LP_COMPARE_ONLY_BASE;
    if (is_minor(&row->base) && is_minor(&row->fresh))
        return LP_COMPARE_MINOR;
    if (sum && !comparison->same_gpus)
        return LP_COMPARE_UNLIKE;
    if (row->base.single_sample || row->fresh.single_sample)
        return LP_COMPARE_SINGLE;
    verdict = judge_at(comparison, row, row->work.least);
    return verdict == judge_at(comparison, row, row->work.most) ? verdict : LP_COMPARE_WORK;
}

const char *lp_compare_verdict_name(enum lp_compare_verdict verdict)
{
    static const char *const names[] = { "same",         "slower",      "faster",
                                         "only in base", "only in new", "minor",
                                         "other GPUs",   "one sample",  "other work" };

    return names[verdict];
}

uint32_t lp_compare_run_verdict(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    return ledger.verdict;
}

void lp_compare_use_estimate(struct lp_compare_mean *mean, const llmperf_iteration_stats *stats)
{
    if (!(stats->estimate_high_ms > 0))
        return;
    mean->mean_ms = stats->estimate_ms;
    mean->error_ms = lp_estimate_error(stats);
    mean->freedom = lp_freedom_of_differences((double)stats->estimate_collected);
}
