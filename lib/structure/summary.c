/* SPDX-License-Identifier: Apache-2.0 */
/** What was found, as JSON. */
#include <inttypes.h>

#include "lib/base/text.h"
#include "lib/structure/inside.h"

#define NOTHING "no sequence of launches repeats in the way that the steps of a model do"

static void put_count(struct lp_text *text, const char *name, bool known, uint64_t count)
{
    if (known)
        lp_text_printf(text, ", \"%s\": %" PRIu64, name, count);
    else
        lp_text_printf(text, ", \"%s\": null", name);
}

/* The end of a row: its device time. */
static void put_time(struct lp_text *text, const struct lp_structure *structure,
                     const struct lp_found_loop *row)
{
    lp_text_printf(text, ", \"device_ms\": %.6f, \"share\": %.6f}", (double)row->busy_ns / 1e6,
                   (double)row->busy_ns / (double)structure->device_ns);
}

static void put_rows(struct lp_text *text, const struct lp_structure *structure)
{
    const struct lp_found_loop *row = structure->loops;
    const char *comma = "";

    lp_text_puts(text, ", \"loops\": [");
    for (size_t i = 0; i < LP_STEP_KINDS; i++, row++) {
        if (row->steps == 0)
            continue;
        lp_text_printf(text, "%s{\"label\": \"%s\", \"count\": %" PRIu64 ", \"kernels\": %.1f",
                       comma, lp_step_labels[i], row->steps,
                       (double)row->launches / (double)row->steps);
        put_time(text, structure, row);
        comma = ", ";
    }
    lp_text_puts(text, "], \"operators\": [");
    row = structure->operators;
    comma = "";
    for (size_t i = 0; i < LP_OPERATORS; i++, row++) {
        if (row->launches == 0)
            continue;
        lp_text_printf(text, "%s{\"name\": \"%s\", \"launches\": %" PRIu64, comma,
                       lp_operator_name((enum lp_operator)i), row->launches);
        put_time(text, structure, row);
        comma = ", ";
    }
    lp_text_puts(text, "]");
}

static void put_found(struct lp_text *text, const struct lp_structure *structure)
{
    const struct lp_found_loop *loops = structure->loops;
    bool named = loops[LP_STEP_PREFILL].steps > 0;
    uint64_t count = 0;

    for (size_t i = 0; i < LP_STEP_KINDS; i++)
        count += loops[i].steps;
    lp_text_printf(text, "{\"steps\": {\"count\": %" PRIu64, count);
    put_count(text, "prefill", named, loops[LP_STEP_PREFILL].steps);
    put_count(text, "decode", named, loops[LP_STEP_DECODE].steps);
    lp_text_puts(text, "}, \"layers\": ");
    if (structure->layers > 0)
        lp_text_printf(text, "{\"count\": %u, \"kernels\": %u}", (unsigned)structure->layers,
                       (unsigned)structure->layer_kernels);
    else
        lp_text_puts(text, "null");
    lp_text_printf(text, ", \"covered\": %.6f, \"confidence\": %.4f",
                   (double)structure->covered_ns / (double)structure->device_ns,
                   structure->confidence / structure->steps_judged);
    put_rows(text, structure);
    lp_text_puts(text, ", \"reason\": null");
}

/* What the first lines of documents say of it. */
static void put_sentence(struct lp_text *text, const struct lp_structure *structure)
{
    const struct lp_found_loop *loops = structure->loops;
    uint64_t prefill = loops[LP_STEP_PREFILL].steps, decode = loops[LP_STEP_DECODE].steps;

    lp_text_puts(text, "The program marks no region");
    if (structure->steps_judged == 0) {
        lp_text_printf(text, ", and no steps were found: %s.", NOTHING);
        return;
    }
    lp_text_printf(text, ": %" PRIu64 " steps", prefill + decode + loops[LP_STEP_ANY].steps);
    if (structure->layers > 0)
        lp_text_printf(text, " of %u layers", (unsigned)structure->layers);
    if (prefill > 0)
        lp_text_printf(text, ", %" PRIu64 " of prefill and %" PRIu64 " of decode,", prefill,
                       decode);
    lp_text_printf(text,
                   " were found in the order of its launches (%s, confidence %.2f). They have %.0f "
                   "%% of the device time",
                   structure->in_others ? "in stages that a library marks" : "stages found@…",
                   structure->confidence / structure->steps_judged,
                   100 * (double)structure->covered_ns / (double)structure->device_ns);
    lp_text_puts(text, structure->covered_ns * 100 < structure->device_ns * 99
                           ? "; the rest is work outside of steps, such as loading weights or "
                             "compiling."
                           : ".");
}

int lp_structure_fill(const struct lp_structure *structure, llmperf_profile *profile)
{
    struct lp_text text = { NULL, 0, 0, false }, sentence = text;
    int status = LLMPERF_ENOMEM;

    if (structure->marked || structure->kernels == 0)
        return 0;
    put_sentence(&sentence, structure);
    if (structure->steps_judged > 0)
        put_found(&text, structure);
    else
        lp_text_printf(&text,
                       "{\"steps\": null, \"layers\": null, \"covered\": 0, \"confidence\": null, "
                       "\"loops\": [], \"operators\": [], \"reason\": \"%s\"",
                       NOTHING);
    lp_text_printf(&text, ", \"text\": \"%s\"}", sentence.bytes ? sentence.bytes : "");
    if (!text.failed && !sentence.failed &&
        (status = lp_profile_set_fact(profile, LP_FOUND_FACT, text.bytes)) == 0)
        status = lp_profile_set_fact(profile, LP_FOUND_TEXT_FACT, sentence.bytes);
    lp_text_clear(&text);
    lp_text_clear(&sentence);
    return status;
}
