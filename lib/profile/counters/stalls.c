/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/counters/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/record/stall_reasons.h"

/* The instructions of a kernel in a region: a part of the sorted list. */
struct kernel {
    size_t first, count;
    double samples;
};

struct freezer {
    const struct lp_stall_sums *stalls;
    const struct lp_counter_plan *plan;
    const struct lp_names *names;
    uint32_t process_id;
    llmperf_profile *profile;
    LP_VECTOR(struct lp_stall_sum) rows; /* by kernel, then by samples */
    LP_VECTOR(struct kernel) kernels;
    double *sums; /* by column, of one kernel */
};

/* Rows of a profile */

static int compare_kernel_of(const struct lp_stall_sum *a, const struct lp_stall_sum *b)
{
    int order = LP_ORDER(a->node, b->node);

    order = order ? order : LP_ORDER(a->name, b->name);
    return order ? order : LP_ORDER(a->device, b->device);
}

static int compare_rows(const void *left, const void *right)
{
    const struct lp_stall_sum *a = left, *b = right;
    int order = compare_kernel_of(a, b);

    order = order ? order : LP_ORDER(b->samples, a->samples);
    return order ? order : LP_ORDER(a->offset, b->offset);
}

static int compare_kernels(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    int order = LP_ORDER(b->samples, a->samples);

    return order ? order : LP_ORDER(a->first, b->first);
}

static int list_kernels(struct freezer *freezer)
{
    const struct lp_stall_sums *stalls = freezer->stalls;

    if (stalls->rows.count == 0)
        return 0;
    if (lp_vector_reserve(&freezer->rows, stalls->rows.count) < 0)
        return LLMPERF_ENOMEM;
    memcpy(freezer->rows.items, stalls->rows.items,
           stalls->rows.count * sizeof(*stalls->rows.items));
    freezer->rows.count = stalls->rows.count;
    lp_vector_sort(&freezer->rows, compare_rows);
    for (size_t i = 0; i < freezer->rows.count; i++) {
        const struct lp_stall_sum *row = &freezer->rows.items[i];
        struct kernel *last;

        if ((i == 0 || compare_kernel_of(row - 1, row) != 0) &&
            lp_vector_push(&freezer->kernels, (struct kernel){ i, 0, 0 }) < 0)
            return LLMPERF_ENOMEM;
        last = &freezer->kernels.items[freezer->kernels.count - 1];
        last->count++;
        last->samples += row->samples;
    }
    lp_vector_sort(&freezer->kernels, compare_kernels);
    return 0;
}

static const double *values_of(const struct freezer *freezer, const struct lp_stall_sum *row)
{
    return freezer->stalls->values.items + row->values;
}

static int put_reasons(struct freezer *freezer, const struct kernel *kernel, struct lp_stall row)
{
    const struct lp_stall_sum *first = &freezer->rows.items[kernel->first];
    int status = 0;

    memset(freezer->sums, 0, freezer->stalls->columns * sizeof(*freezer->sums));
    for (size_t i = 0; i < kernel->count; i++)
        for (size_t c = 0; c < freezer->stalls->columns; c++)
            freezer->sums[c] += values_of(freezer, first + i)[c];
    for (size_t c = 0; c < freezer->stalls->columns && status == 0; c++) {
        row.reason = lp_profile_text(freezer->profile, freezer->plan->columns[c].quantity);
        row.samples = (uint64_t)freezer->sums[c];
        if (!row.reason)
            return LLMPERF_ENOMEM;
        status = row.samples > 0 ? lp_row_push(freezer->profile, LP_ROW_STALL, &row) : 0;
    }
    return status;
}

static size_t top_column(const struct freezer *freezer, const struct lp_stall_sum *instruction)
{
    const double *values = values_of(freezer, instruction);
    size_t top = 0;

    for (size_t c = 1; c < freezer->stalls->columns; c++)
        top = values[c] > values[top] ? c : top;
    return top;
}

static int put_instruction(struct freezer *freezer, const struct lp_stall_sum *instruction,
                           const struct lp_stall *kernel)
{
    const char *source = lp_names_text(freezer->names, instruction->source);
    size_t top = top_column(freezer, instruction);
    struct lp_hot_instruction row = {
        .region = kernel->region,
        .name = kernel->name,
        .device = kernel->device,
        .process_id = kernel->process_id,
        .offset = instruction->offset,
        .samples = (uint64_t)instruction->samples,
        .kernel_samples = kernel->kernel_samples,
        .source = source && *source ? lp_profile_text(freezer->profile, source) : NULL,
        .reason = lp_profile_text(freezer->profile, freezer->plan->columns[top].quantity),
    };

    if (instruction->offset == LP_COUNTER_NO_OFFSET)
        return 0;
    return row.reason ? lp_row_push(freezer->profile, LP_ROW_HOT_INSTRUCTION, &row)
                      : LLMPERF_ENOMEM;
}

static int put_kernel(struct freezer *freezer, const struct kernel *kernel)
{
    const struct lp_stall_sum *first = &freezer->rows.items[kernel->first];
    const char *name = lp_names_text(freezer->names, first->name);
    struct lp_stall row = { .device = first->device,
                            .process_id = freezer->process_id,
                            .kernel_samples = (uint64_t)kernel->samples };
    int status;

    if (!(row.region = lp_profile_path(freezer->profile, first->node)) ||
        !(row.name = lp_profile_text(freezer->profile, name ? name : "")))
        return LLMPERF_ENOMEM;
    status = put_reasons(freezer, kernel, row);
    for (size_t i = 0; i < kernel->count && i < LP_STALL_INSTRUCTIONS && status == 0; i++)
        status = put_instruction(freezer, first + i, &row);
    return status;
}

int lp_stalls_freeze(const struct lp_stall_sums *stalls, const struct lp_counter_plan *plan,
                     const struct lp_names *names, uint32_t process_id, llmperf_profile *profile)
{
    struct freezer freezer = { stalls,  plan,  names, process_id,
                               profile, { 0 }, { 0 }, calloc(stalls->columns, sizeof(double)) };
    int status = freezer.sums ? 0 : LLMPERF_ENOMEM;

    if (status == 0 && stalls->rows.count > 0)
        status = list_kernels(&freezer);
    for (size_t i = 0; i < freezer.kernels.count && i < LP_STALL_KERNELS && status == 0; i++)
        status = put_kernel(&freezer, &freezer.kernels.items[i]);
    if (status == 0 && freezer.kernels.count > LP_STALL_KERNELS)
        status = lp_profile_note(profile,
                                 "stalls: %zu kernels were sampled; the %u with most samples "
                                 "are listed, by region.",
                                 freezer.kernels.count, LP_STALL_KERNELS);
    lp_vector_clear(&freezer.rows);
    lp_vector_clear(&freezer.kernels);
    free(freezer.sums);
    return status < 0 ? lp_out_of_memory() : 0;
}

/* Finishing. Instructions begin with the members of a stall. */

/* By region; the kernel with most samples first, and in it what has most of them. */
static int compare_stalls(const void *left, const void *right)
{
    struct lp_stall a, b;
    int order;

    memcpy(&a, left, sizeof(a));
    memcpy(&b, right, sizeof(b));
    order = LP_ORDER(a.process_id, b.process_id);
    order = order ? order : lp_compare_paths(a.region, b.region);
    order = order ? order : LP_ORDER(b.kernel_samples, a.kernel_samples);
    order = order ? order : strcmp(a.name, b.name);
    order = order ? order : a.device - b.device;
    order = order ? order : LP_ORDER(b.samples, a.samples);
    return order ? order : strcmp(a.reason, b.reason);
}

static const char *shorten(llmperf_profile *profile, const char *symbol)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char *name;

    lp_kernel_short_name(&text, symbol);
    name = text.failed ? NULL : lp_profile_text(profile, text.bytes);
    lp_text_clear(&text);
    return name;
}

/* @param before  The row before, which may have the same name; NULL: there is none. */
static int finish_row(llmperf_profile *profile, void *row, const void *before)
{
    const struct lp_stall_reason *reason;
    struct lp_stall stall, last;

    memcpy(&stall, row, sizeof(stall));
    memcpy(&last, before ? before : row, sizeof(last));
    reason = lp_stall_reason_find(stall.reason);
    stall.meaning = reason ? reason->words : NULL;
    stall.share = stall.kernel_samples ? (double)stall.samples / (double)stall.kernel_samples : 0;
    stall.short_name = before && strcmp(last.name, stall.name) == 0 ? last.short_name
                                                                    : shorten(profile, stall.name);
    memcpy(row, &stall, sizeof(stall));
    return stall.short_name ? 0 : lp_out_of_memory();
}

static int finish_rows(llmperf_profile *profile, char *rows, size_t count, size_t size)
{
    int status = 0;

    if (count > 0)
        qsort(rows, count, size, compare_stalls);
    for (size_t i = 0; i < count && status == 0; i++)
        status = finish_row(profile, rows + i * size, i ? rows + (i - 1) * size : NULL);
    return status;
}

int lp_stalls_finish(llmperf_profile *profile)
{
    int status = finish_rows(profile, (char *)profile->stalls.items, profile->stalls.count,
                             sizeof(*profile->stalls.items));

    return status < 0 ? status
                      : finish_rows(profile, (char *)profile->hot_instructions.items,
                                    profile->hot_instructions.count,
                                    sizeof(*profile->hot_instructions.items));
}
