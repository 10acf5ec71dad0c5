/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/sections_md.h"
#include "llmperf/region.h"

void lp_part_name_md(const struct lp_waterfall_part *part, struct lp_text *out)
{
    bool kernels = part->kind == LP_PART_KERNELS;
    const char *at = part->region && kernels ? strchr(part->region, '@') : NULL;

    lp_text_puts(out, !kernels             ? lp_part_names[part->kind].heading
                      : part->kernel_class ? part->kernel_class
                                           : "kernels");
    if (!part->region ||
        (kernels && at && part->kernel_class && !strcmp(at + 1, part->kernel_class)))
        return; /* norms in LLM@norm are "norm" */
    lp_text_puts(out, kernels ? " in " : " ");
    lp_md_code(out, at ? at + 1 : part->region);
}

static void add_row(const struct lp_waterfall *waterfall, const struct lp_waterfall_part *part,
                    struct lp_text *out)
{
    lp_text_puts(out, "| ");
    lp_part_name_md(part, out);
    lp_text_puts(out, " |");
    lp_text_puts(out, " ");
    lp_md_interval(out, part->ms,
                   (struct lp_interval){ part->ms - part->half_ms, part->ms + part->half_ms }, 4);
    lp_text_puts(out, " |");
    lp_md_cell_number(out, 100 * part->ms / waterfall->elapsed_ms);
    if (!waterfall->bound_reason) {
        lp_md_cell_number(out, part->busy_ms);
        lp_md_cell_number(out, part->bound_ms);
        lp_md_cell_number(out,
                          lp_part_is_small(part) ? (double)NAN : part->busy_ms / part->bound_ms);
    }
    lp_text_puts(out, " ");
    if (part->kernel)
        lp_md_code(out, part->kernel);
    else
        lp_text_puts(out, "–");
    lp_text_puts(out, " |\n");
}

static void add_waterfall(const struct lp_waterfall *waterfall, bool sampled, struct lp_text *out)
{
    double small_ms = 0;

    lp_md_code(out, waterfall->region);
    lp_text_puts(out, ": ");
    lp_md_interval(out, waterfall->elapsed_ms,
                   (struct lp_interval){ waterfall->elapsed_ms - waterfall->half_ms,
                                         waterfall->elapsed_ms + waterfall->half_ms },
                   4);
    lp_text_printf(out, " ms of elapsed time a %scall.",
                   sampled && isnan(waterfall->half_ms) ? "collected " : "");
    if (waterfall->bound_reason)
        lp_text_printf(out, " Lower bounds of operators are unknown: %s.", waterfall->bound_reason);
    lp_text_puts(out, waterfall->bound_reason
                          ? "\n\n| Part of a call | Time ms | % of call | Longest kernel |\n"
                            "| --- | ---: | ---: | --- |\n"
                          : "\n\n| Part of a call | Above bound ms | % of call | Kernels ms | "
                            "Bound ms | Kernels / bound | Longest kernel |\n"
                            "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for (size_t i = 0; i < waterfall->parts.count; i++) {
        const struct lp_waterfall_part *part = &waterfall->parts.items[i];

        if (fabs(part->ms) < LP_SMALL_PART * waterfall->elapsed_ms)
            small_ms += part->ms;
        else
            add_row(waterfall, part, out);
    }
    if (fabs(small_ms) > 0) {
        lp_text_printf(out, "| Parts below %s %% |", LP_NUMBER(100 * LP_SMALL_PART, 1));
        lp_md_cell_number(out, small_ms);
        lp_md_cell_number(out, 100 * small_ms / waterfall->elapsed_ms);
        lp_text_puts(out, waterfall->bound_reason ? " – |\n" : " – | – | – | – |\n");
    }
    lp_text_puts(out, "\n");
}

/* All calls together. */
static double stage_ms(const struct lp_findings *findings, const struct lp_waterfall *waterfall)
{
    uint64_t calls = findings->regions.items[waterfall->finding].stats.instances;

    return waterfall->elapsed_ms * (double)(calls > 0 ? calls : 1);
}

const struct lp_waterfall *lp_main_waterfall(const struct lp_findings *findings)
{
    const struct lp_waterfall *longest = NULL;

    for (size_t i = 0; i < findings->waterfalls.rows.count; i++) {
        const struct lp_waterfall *row = &findings->waterfalls.rows.items[i];

        if (!longest || stage_ms(findings, row) > stage_ms(findings, longest))
            longest = row;
    }
    return longest;
}

static const char *why_none(const struct lp_findings *findings)
{
    bool stages = false;

    for (size_t i = 0; i < findings->regions.count; i++)
        stages |= findings->regions.items[i].stats.kind == LLMPERF_REGION_STAGE;
    if (!stages)
        return "no stage was marked (prefill, decode_all, decode_step, vision)";
    return findings->stages.count == 0 && findings->ncu_kernels.rows.count > 0
               ? "ncu measured kernels or ranges one by one, not calls of stages; see below"
               : "no call of a stage has device work of its own: none was recorded, or calls ran "
                 "at the same time";
}

void lp_waterfall_md(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_waterfall *row = lp_main_waterfall(findings);

    if (!row) {
        lp_text_printf(out, "Unknown: %s.\n", why_none(findings));
        return;
    }
    add_waterfall(row, lp_is_sampled(findings->profile), out);
    lp_text_puts(out, row->bound_reason
                          ? "The parts add up to the elapsed time of a call.\n"
                          : "The lower bound of the whole call and the other parts add up to its "
                            "elapsed time. A part of kernels is what they take above the bound of "
                            "the model's operators that they compute; where no operator is known "
                            "to be theirs, all of their time.\n");
}

void lp_other_waterfalls_md(const struct lp_findings *findings, struct lp_text *out)
{
    for (size_t i = 0; i < findings->waterfalls.rows.count; i++)
        if (&findings->waterfalls.rows.items[i] != lp_main_waterfall(findings))
            add_waterfall(&findings->waterfalls.rows.items[i], lp_is_sampled(findings->profile),
                          out);
}
