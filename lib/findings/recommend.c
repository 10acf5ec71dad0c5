/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/findings/recommend_say.h"
#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/text.h"

/* Device work may run on after its region has ended. */
static double time_of(const struct lp_stage_facts *stage)
{
    return fmax(stage->wall_ms, stage->busy_ms); /* fmax() ignores NaN */
}

/* Is it nested in another stage, whose time includes its own? */
static bool is_nested(const struct lp_stage_facts *stages, size_t count, size_t index)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(stages[i].region, stages[index].region) != 0 &&
            lp_region_is_in(stages[index].region, stages[i].region))
            return true;
    return false;
}

/* Without what is lost once: it would make what recurs in each call small in a short run. */
static double time_of_all(const struct lp_stage_facts *stages, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        if (time_of(&stages[i]) > 0 && !is_nested(stages, count, i))
            sum += time_of(&stages[i]) -
                   fmax(0, stages[i].warm_up_ms - stages[i].warm_up_calls * stages[i].steady_ms);
    return sum;
}

/* Add advice and take ownership of its text. */
static int keep(struct lp_recommendations *out, struct lp_recommendation *row, struct lp_text *text)
{
    int status = lp_text_take(text, &row->text);

    row->advice.text = row->text;
    if (status == 0 && (status = lp_vector_push(&out->rows, *row)) < 0)
        free(row->text);
    return status;
}

/* Savings of stages inside are theirs: none is counted twice. */
static double saving_inside(const struct lp_stage_rule *rule, const struct lp_stage_facts *stages,
                            size_t count, size_t index, struct lp_text *text)
{
    double sum = 0;

    for (size_t i = 0; rule->inclusive && i < count; i++) {
        double saving;

        if (!stages[i].around || strcmp(stages[i].around, stages[index].region) != 0 ||
            !((saving = rule->saving(&stages[i])) > 0))
            continue;
        lp_text_printf(text, "%s%s", sum > 0 ? ", " : " The saving does not include that of ",
                       stages[i].label);
        sum += saving;
    }
    if (sum > 0)
        lp_text_puts(text, " inside it.");
    return sum;
}

/* Kernel time that other advice on the stage saves. */
static double saved_by_others(const struct lp_recommendations *out, const char *stage)
{
    double sum = 0;

    for (size_t i = 0; i < out->rows.count; i++) {
        const struct lp_recommendation *row = &out->rows.items[i];

        if (row->of_kernels && row->advice.saving_ms > 0 && strcmp(row->advice.stage, stage) == 0)
            sum += row->advice.saving_ms;
    }
    return sum;
}

/* What a call, and the rate of tokens, would become if only this was mended. */
static void set_gain(const struct lp_stage_facts *stage, struct lp_recommendation *row)
{
    llmperf_advice *advice = &row->advice;
    double all_ms = isnan(stage->step_ms) ? time_of(stage) : stage->step_ms;

    row->tokens_per_s = stage->tokens_per_s;
    if (stage->instances > 0)
        advice->saving_call_ms = advice->saving_ms / (double)stage->instances;
    if (advice->saving_ms > 0 && advice->saving_ms < all_ms)
        advice->mended_tokens_per_s = stage->tokens_per_s * all_ms / (all_ms - advice->saving_ms);
}

/* Advice that saves less of the time of all stages is not worth a word, nor is any about the
 * shortest stages that have less than this together. A stage with less needs a known saving. */
#define LEAST_SAVING 0.005
#define SMALL_STAGES 0.05

/* Is the time of all stages that are no longer than this one together small? */
static bool is_small(const struct lp_stage_facts *stages, size_t count, size_t index, double all_ms)
{
    double own_ms = time_of(&stages[index]), sum = 0;

    for (size_t i = 0; i < count; i++)
        if (time_of(&stages[i]) <= own_ms && (i == index || !is_nested(stages, count, i)))
            sum += time_of(&stages[i]);
    return sum < SMALL_STAGES * all_ms;
}

static int apply(const struct lp_stage_rule *rule, const struct lp_stage_facts *stages,
                 size_t count, size_t index, double all_ms, struct lp_recommendations *out)
{
    const struct lp_stage_facts *stage = &stages[index];
    struct lp_recommendation row = {
        .advice = { sizeof(row.advice), .id = rule->id, .stage = stage->region, .saving_ms = NAN,
                    .saving_call_ms = NAN, .mended_tokens_per_s = NAN },
        .of_kernels = (rule->kind & LP_OF_KERNELS) != 0
    };
    struct lp_text text = { NULL, 0, 0, false };

    if (!rule->check(stage, &row, &text)) {
        lp_text_clear(&text);
        return 0;
    }
    if (rule->saving)
        row.advice.saving_ms =
            rule->saving(stage) - saving_inside(rule, stages, count, index, &text);
    if (rule->kind & LP_OF_REST)
        row.advice.saving_ms -= saved_by_others(out, stage->region);
    row.advice.saving_ms = row.advice.saving_ms < 0 ? 0 : row.advice.saving_ms;
    row.advice.severity = lp_severity_of(row.advice.saving_ms, all_ms);
    row.advice.once = (rule->kind & LP_ONCE) != 0;
    if (!row.advice.once)
        set_gain(stage, &row);
    else if (row.advice.severity == LLMPERF_SEVERITY_HIGH) /* its share depends on the run */
        row.advice.severity = LLMPERF_SEVERITY_MEDIUM;
    if (row.advice.saving_ms < LEAST_SAVING * all_ms || is_small(stages, count, index, all_ms) ||
        (isnan(row.advice.saving_ms) && time_of(stage) < SMALL_STAGES * all_ms)) {
        lp_text_clear(&text);
        return 0;
    }
    return keep(out, &row, &text);
}

static int apply_to_run(const struct lp_run_rule *rule, const struct lp_run_facts *run,
                        struct lp_recommendations *out)
{
    struct lp_recommendation row = { .advice = { sizeof(row.advice), .id = rule->id,
                                                 .saving_ms = NAN, .saving_call_ms = NAN,
                                                 .mended_tokens_per_s = NAN } };
    struct lp_text text = { NULL, 0, 0, false };

    if (!rule->check(run, &row, &text)) {
        lp_text_clear(&text);
        return 0;
    }
    return keep(out, &row, &text);
}

static int compare(const void *left, const void *right)
{
    const llmperf_advice *a = &((const struct lp_recommendation *)left)->advice;
    const llmperf_advice *b = &((const struct lp_recommendation *)right)->advice;
    double x = isnan(a->saving_ms) ? -1 : a->saving_ms;
    double y = isnan(b->saving_ms) ? -1 : b->saving_ms;

    /* Advice about the run says whether its numbers are valid, so it comes first among equals, if
     * that matters. */
    if (a->severity != b->severity)
        return (int)a->severity - (int)b->severity;
    if (a->once != b->once)
        return (int)a->once - (int)b->once;
    if (!a->stage != !b->stage && a->severity != LLMPERF_SEVERITY_LOW)
        return a->stage ? 1 : -1;
    if (x < y || x > y)
        return x < y ? 1 : -1;
    return strcmp(a->id, b->id);
}

int lp_recommend(const struct lp_run_facts *run, const struct lp_stage_facts *stages, size_t count,
                 struct lp_recommendations *out)
{
    static const struct lp_stage_rule *const tables[] = { lp_idle_rules, lp_kernel_rules };
    double all_ms = time_of_all(stages, count);
    int status = 0;

    *out = (struct lp_recommendations){ 0 };
    for (const struct lp_run_rule *rule = lp_run_rules; status == 0 && rule->id; rule++)
        status = apply_to_run(rule, run, out);
    for (size_t table = 0; table < 2; table++)
        for (const struct lp_stage_rule *rule = tables[table]; rule->id; rule++)
            for (size_t i = 0; status == 0 && i < count; i++)
                if ((rule->kind & LP_OF_HOST) ? run->host_usable : run->device_usable)
                    status = apply(rule, stages, count, i, all_ms, out);
    lp_vector_sort(&out->rows, compare);
    return status;
}

void lp_recommendations_clear(struct lp_recommendations *recommendations)
{
    for (size_t i = 0; i < recommendations->rows.count; i++)
        free(recommendations->rows.items[i].text);
    lp_vector_clear(&recommendations->rows);
}
