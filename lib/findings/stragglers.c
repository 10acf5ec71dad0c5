/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/stragglers.h"

#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/findings.h"
#include "llmperf/profile.h"

#define N(value)       LP_NUMBER(value, 3)
#define PERCENT(share) LP_NUMBER(100 * (share), 3)

#define NOTABLE   0.02 /* least part of a call that waiting takes */
#define EXPLAINED 0.5  /* least part of the waiting that a cause explains */
#define ALIKE     0.25 /* classes are slower alike if their ratios differ by less */
#define SMALL     0.05 /* a class with a smaller share of the time is not compared */
#define MORE      0.02 /* more kernels than this share: another amount of work */

/* Kernels of one class on both GPUs, per call of the stage. */
struct pair {
    const char *kernel_class;
    double last_ms, waits_ms;
};

struct difference {
    struct pair pairs[LLMPERF_ITERATION_CLASSES];
    size_t count;
    struct pair all;
    double last_kernels, waits_kernels;
};

static struct pair *find_pair(struct difference *out, const char *kernel_class)
{
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->pairs[i].kernel_class, kernel_class) == 0)
            return &out->pairs[i];
    if (out->count == LLMPERF_ITERATION_CLASSES)
        return NULL;
    out->pairs[out->count] = (struct pair){ .kernel_class = kernel_class };
    return &out->pairs[out->count++];
}

static void add(struct difference *out, const char *kernel_class,
                const llmperf_kernel_stats *kernel, bool is_last, double calls)
{
    struct pair *pair = find_pair(out, kernel_class);
    double ms = kernel->total_ms / calls;

    *(is_last ? &out->all.last_ms : &out->all.waits_ms) += ms;
    *(is_last ? &out->last_kernels : &out->waits_kernels) += (double)kernel->calls / calls;
    if (pair)
        *(is_last ? &pair->last_ms : &pair->waits_ms) += ms;
}

static struct difference compare(const struct lp_findings *findings, const struct lp_rank *last,
                                 const struct lp_rank *waits)
{
    struct difference out = { .count = 0 };

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);
        const char *kernel_class = findings->kernel_classes.items[i];

        if (kernel->kind != LLMPERF_ACTIVITY_KERNEL ||
            strcmp(kernel_class, LP_CLASS_COLLECTIVE) == 0 ||
            !lp_region_is_in(kernel->region, last->region))
            continue;
        if (kernel->device == last->device)
            add(&out, kernel_class, kernel, true, (double)last->instances);
        else if (kernel->device == waits->device)
            add(&out, kernel_class, kernel, false, (double)waits->instances);
    }
    return out;
}

static double more_ms(const struct pair *pair)
{
    return pair->last_ms - pair->waits_ms;
}

static double longer(const struct pair *pair)
{
    return more_ms(pair) / pair->waits_ms;
}

static const struct pair *largest(const struct difference *of)
{
    const struct pair *most = NULL;

    for (size_t i = 0; i < of->count; i++)
        if (!most || more_ms(&of->pairs[i]) > more_ms(most))
            most = &of->pairs[i];
    return most;
}

/* Are several classes slower, all by about the same part? */
static bool is_everything(const struct difference *of)
{
    size_t classes = 0;

    for (size_t i = 0; i < of->count; i++) {
        const struct pair *pair = &of->pairs[i];

        if (pair->waits_ms < SMALL * of->all.waits_ms)
            continue;
        if (fabs(longer(pair) - longer(&of->all)) > ALIKE * longer(&of->all))
            return false;
        classes++;
    }
    return classes > 1;
}

static void put_compute(const struct difference *of, struct lp_text *text)
{
    const struct pair *most = largest(of);

    if (of->last_kernels > (1 + MORE) * of->waits_kernels)
        lp_text_printf(text, "it runs %s kernels a call more",
                       N(of->last_kernels - of->waits_kernels));
    else if (is_everything(of))
        lp_text_printf(text, "all its kernels take %s %% longer, so compare the clocks of the GPUs",
                       PERCENT(longer(&of->all)));
    else if (most->waits_ms > 0)
        lp_text_printf(text, "its %s kernels take %s %% longer", most->kernel_class,
                       PERCENT(longer(most)));
    else
        lp_text_printf(text, "only it runs %s kernels, %s ms a call", most->kernel_class,
                       N(most->last_ms));
}

/* Time of a call in which the GPU has no work; NaN: not known. */
static double idle_of(const struct lp_findings *findings, const struct lp_rank *rank)
{
    for (const struct lp_region_finding *row = lp_rows_of(findings, rank->region); row;
         row = lp_rows_next(findings, row))
        if (row->stats.device == rank->device && row->stats.process_id == rank->process_id)
            return row->stats.idle_ms / (double)rank->instances;
    return NAN;
}

void lp_straggler_cause(const struct lp_findings *findings, const struct lp_rank *last,
                        const struct lp_rank *waits, struct lp_text *text)
{
    struct difference difference = compare(findings, last, waits);
    double needed_ms = EXPLAINED * waits->waiting_ms;
    double idle_ms = idle_of(findings, last) - idle_of(findings, waits);

    if (!(waits->waiting_ms >= NOTABLE * waits->wall_ms))
        return;
    if (difference.count > 0 && more_ms(&difference.all) >= needed_ms)
        put_compute(&difference, text);
    else if (idle_ms >= needed_ms)
        lp_text_printf(text, "it is idle for %s ms a call longer, so its host launches late",
                       N(idle_ms));
}
