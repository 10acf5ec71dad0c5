/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/compare/repeats_same.h"

/* Differing regions listed by name. */
#define REGIONS_MOST 8

static const char *program_of(const struct lp_findings *findings)
{
    return lp_machine_text(findings->machine, "program");
}

static const char *gpu_of(const struct lp_findings *findings)
{
    return findings->limits.gpu_name;
}

static const char *driver_of(const struct lp_findings *findings)
{
    return lp_machine_text(findings->machine, "driver.kernel_version");
}

static const char *dtype_of(const struct lp_findings *findings)
{
    return findings->limits.dtype[0] ? findings->limits.dtype : NULL;
}

/* Properties that repeats must share. */
static const struct {
    const char *name, *fact; /* fact NULL: use `get` */
    const char *(*get)(const struct lp_findings *findings);
} traits[] = {
    { "program", NULL, program_of },
    { "GPU", NULL, gpu_of },
    { "driver", NULL, driver_of },
    { "tier", "tier", NULL },
    { "source of device records", "source", NULL },
    { "configuration (SHA-256)", "config_fingerprint", NULL },
    { "model", "model", NULL },
    { "dtype", NULL, dtype_of },
    { "llmperf", "llmperf_version", NULL },
};

static int keep(struct lp_repeats *repeats, bool difference, struct lp_text *text)
{
    const char *line = text->failed ? NULL : lp_strings_add(&repeats->pool, text->bytes);
    int status = !line        ? LLMPERF_ENOMEM
                 : difference ? lp_vector_push(&repeats->differences, line)
                              : lp_vector_push(&repeats->cautions, line);

    lp_text_clear(text);
    return status == 0 ? 0 : lp_out_of_memory();
}

static const char *trait_of(const struct lp_repeats *repeats, size_t trait, size_t run)
{
    const struct lp_findings *findings = repeats->findings[run];
    const char *text = traits[trait].fact
                           ? llmperf_profile_fact(findings->profile, traits[trait].fact)
                           : traits[trait].get(findings);

    return text ? text : "unknown";
}

static int check_trait(struct lp_repeats *repeats, size_t trait)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char *first = trait_of(repeats, trait, 0);
    size_t run = 1;

    while (run < repeats->count && strcmp(trait_of(repeats, trait, run), first) == 0)
        run++;
    if (run == repeats->count)
        return 0;
    lp_text_printf(&text, "%s: %s in run 1, %s in run %zu", traits[trait].name, first,
                   trait_of(repeats, trait, run), run + 1);
    return keep(repeats, true, &text);
}

/* A region that some run lacks or called a different number of times. */
static bool is_other_work(const struct lp_repeats *repeats, const struct lp_repeats_row *row)
{
    return row->subject->scope == LP_REPEATS_REGION &&
           strcmp(row->quantity, LP_REPEATS_INSTANCES) == 0 &&
           (row->count < repeats->count || row->max > row->min);
}

static void put_instances(struct lp_text *text, double instances, size_t run)
{
    if (isnan(instances))
        lp_text_printf(text, " not in run %zu", run + 1);
    else
        lp_text_printf(text, " %.0f calls in run %zu", instances, run + 1);
}

static int report_work(struct lp_repeats *repeats, const struct lp_repeats_row *row)
{
    struct lp_text text = { NULL, 0, 0, false };
    size_t run = 1;

    while (run + 1 < repeats->count && (row->values[run] == row->values[0] ||
                                        (isnan(row->values[run]) && isnan(row->values[0]))))
        run++;
    lp_text_printf(&text,
                   "work of %s:", *row->subject->region ? row->subject->region : "(no region)");
    put_instances(&text, row->values[0], 0);
    lp_text_puts(&text, ",");
    put_instances(&text, row->values[run], run);
    return keep(repeats, true, &text);
}

static int report_more(struct lp_repeats *repeats, size_t more)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_text_printf(&text, "work of %zu more regions", more);
    return keep(repeats, true, &text);
}

static int check_work(struct lp_repeats *repeats)
{
    size_t found = 0;
    int status = 0;

    for (size_t i = 0; i < repeats->rows.count && status == 0; i++)
        if (is_other_work(repeats, &repeats->rows.items[i]) && found++ < REGIONS_MOST)
            status = report_work(repeats, &repeats->rows.items[i]);
    return status == 0 && found > REGIONS_MOST ? report_more(repeats, found - REGIONS_MOST)
                                               : status;
}

/* Runs with the same id may be one run given twice. */
static int check_ids(struct lp_repeats *repeats)
{
    struct lp_text text = { NULL, 0, 0, false };

    for (size_t run = 1; run < repeats->count; run++)
        for (size_t other = 0; other < run; other++) {
            const llmperf_profile *a = repeats->findings[other]->profile;
            const llmperf_profile *b = repeats->findings[run]->profile;
            const char *id = llmperf_profile_fact(a, "run_id");
            const char *created = llmperf_profile_fact(a, "created_at");

            if (id && created && llmperf_profile_fact(b, "run_id") &&
                llmperf_profile_fact(b, "created_at") &&
                strcmp(id, llmperf_profile_fact(b, "run_id")) == 0 &&
                strcmp(created, llmperf_profile_fact(b, "created_at")) == 0) {
                lp_text_printf(&text, "runs %zu and %zu are the same run", other + 1, run + 1);
                return keep(repeats, true, &text);
            }
        }
    return 0;
}

static int check_verdict(struct lp_repeats *repeats, size_t run)
{
    struct lp_text text = { NULL, 0, 0, false };
    uint32_t verdict = repeats->findings[run]->ledger.verdict;

    if (verdict == LLMPERF_VERDICT_COMPLETE || verdict == LLMPERF_VERDICT_NO_DEVICE)
        return 0;
    lp_text_printf(&text, "run %zu is %s: its device times may be incomplete, see its report",
                   run + 1, llmperf_name(LLMPERF_NAME_VERDICT, verdict));
    return keep(repeats, false, &text);
}

/* Without region or device times, only the run's duration is left, which is not comparable. */
static int check_content(struct lp_repeats *repeats)
{
    struct lp_text text = { NULL, 0, 0, false };

    for (size_t run = 0; run < repeats->count; run++)
        if (!lp_findings_is_empty(repeats->findings[run]))
            return 0;
    lp_text_puts(&text, "no run contains a region or device activity: there is nothing to compare");
    return keep(repeats, true, &text);
}

int lp_repeats_check_same(struct lp_repeats *repeats)
{
    int status = check_ids(repeats);

    if (status == 0)
        status = check_content(repeats);

    for (size_t i = 0; i < LP_LENGTH(traits) && status == 0; i++)
        status = check_trait(repeats, i);
    if (status == 0)
        status = check_work(repeats);
    for (size_t run = 0; run < repeats->count && status == 0; run++)
        status = check_verdict(repeats, run);
    return status;
}
