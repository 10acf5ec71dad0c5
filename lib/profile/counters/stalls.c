/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/counters/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/record/paths.h"
#include "lib/record/stall_reasons.h"

struct instruction {
    uint64_t offset;
    uint32_t node, name, source;
    uint16_t device;
    double samples;
    size_t values; /* by column */
};

struct lp_stalls {
    size_t columns;
    LP_VECTOR(struct instruction) rows;
    LP_VECTOR(double) values;
    struct lp_hashmap index;
};

/* The instructions of a kernel in a region: a part of the sorted list. */
struct kernel {
    size_t first, count;
    double samples;
};

struct freezer {
    const struct lp_stalls *stalls;
    const struct lp_counter_plan *plan;
    const struct lp_names *names;
    uint32_t process_id;
    llmperf_profile *profile;
    LP_VECTOR(struct instruction) rows; /* by kernel, then by samples */
    LP_VECTOR(struct kernel) kernels;
    struct lp_text path;
    double *sums; /* by column, of one kernel */
};

struct lp_stalls *lp_stalls_create(size_t columns)
{
    struct lp_stalls *stalls = calloc(1, sizeof(*stalls));

    if (stalls)
        stalls->columns = columns;
    return stalls;
}

void lp_stalls_free(struct lp_stalls *stalls)
{
    if (!stalls)
        return;
    lp_vector_clear(&stalls->rows);
    lp_vector_clear(&stalls->values);
    lp_hashmap_clear(&stalls->index);
    free(stalls);
}

/* Offsets are below 2^48, the one of instructions without a row has all bits set. */
static uint64_t key_of(const struct lp_counter_fact *fact)
{
    return fact->offset << 16 | fact->device;
}

static struct instruction *find(struct lp_stalls *stalls, const struct lp_counter_fact *fact)
{
    uint64_t kernel = (uint64_t)fact->node << 32 | fact->name;
    uint32_t row = lp_hashmap_get(&stalls->index, kernel, key_of(fact));
    struct instruction fresh = { fact->offset, fact->node, fact->name,          fact->source,
                                 fact->device, 0,          stalls->values.count };

    if (row != LP_HASHMAP_NONE)
        return &stalls->rows.items[row];
    row = (uint32_t)stalls->rows.count;
    if (lp_vector_reserve(&stalls->values, stalls->columns) < 0 ||
        lp_vector_push(&stalls->rows, fresh) < 0 ||
        lp_hashmap_put(&stalls->index, kernel, key_of(fact), row) < 0)
        return NULL;
    memset(stalls->values.items + stalls->values.count, 0,
           stalls->columns * sizeof(*stalls->values.items));
    stalls->values.count += stalls->columns;
    return &stalls->rows.items[row];
}

int lp_stalls_add(struct lp_stalls *stalls, const struct lp_counter_fact *fact,
                  const double *values)
{
    struct instruction *row = find(stalls, fact);

    if (!row)
        return LLMPERF_ENOMEM;
    row->source = fact->source; /* it may have become known */
    for (size_t i = 0; i < stalls->columns; i++) {
        stalls->values.items[row->values + i] += values[i];
        row->samples += values[i];
    }
    return 0;
}

/* Rows of a profile */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_kernel_of(const struct instruction *a, const struct instruction *b)
{
    int order = compare_numbers(a->node, b->node);

    order = order ? order : compare_numbers(a->name, b->name);
    return order ? order : compare_numbers(a->device, b->device);
}

static int compare_rows(const void *left, const void *right)
{
    const struct instruction *a = left, *b = right;
    int order = compare_kernel_of(a, b);

    order = order ? order : (a->samples < b->samples) - (a->samples > b->samples);
    return order ? order : compare_numbers(a->offset, b->offset);
}

static int compare_kernels(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    int order = (a->samples < b->samples) - (a->samples > b->samples);

    return order ? order : compare_numbers(a->first, b->first);
}

static int list_kernels(struct freezer *freezer)
{
    const struct lp_stalls *stalls = freezer->stalls;

    if (stalls->rows.count == 0)
        return 0;
    if (lp_vector_reserve(&freezer->rows, stalls->rows.count) < 0)
        return LLMPERF_ENOMEM;
    memcpy(freezer->rows.items, stalls->rows.items,
           stalls->rows.count * sizeof(*stalls->rows.items));
    freezer->rows.count = stalls->rows.count;
    qsort(freezer->rows.items, freezer->rows.count, sizeof(*freezer->rows.items), compare_rows);
    for (size_t i = 0; i < freezer->rows.count; i++) {
        const struct instruction *row = &freezer->rows.items[i];
        struct kernel *last;

        if ((i == 0 || compare_kernel_of(row - 1, row) != 0) &&
            lp_vector_push(&freezer->kernels, (struct kernel){ i, 0, 0 }) < 0)
            return LLMPERF_ENOMEM;
        last = &freezer->kernels.items[freezer->kernels.count - 1];
        last->count++;
        last->samples += row->samples;
    }
    qsort(freezer->kernels.items, freezer->kernels.count, sizeof(*freezer->kernels.items),
          compare_kernels);
    return 0;
}

static const double *values_of(const struct freezer *freezer, const struct instruction *row)
{
    return freezer->stalls->values.items + row->values;
}

static int put_reasons(struct freezer *freezer, const struct kernel *kernel, struct lp_stall row)
{
    const struct instruction *first = &freezer->rows.items[kernel->first];
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

static size_t top_column(const struct freezer *freezer, const struct instruction *instruction)
{
    const double *values = values_of(freezer, instruction);
    size_t top = 0;

    for (size_t c = 1; c < freezer->stalls->columns; c++)
        top = values[c] > values[top] ? c : top;
    return top;
}

static int put_instruction(struct freezer *freezer, const struct instruction *instruction,
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
    const struct instruction *first = &freezer->rows.items[kernel->first];
    const char *name = lp_names_text(freezer->names, first->name);
    struct lp_stall row = { .device = first->device,
                            .process_id = freezer->process_id,
                            .kernel_samples = (uint64_t)kernel->samples };
    int status;

    freezer->path.length = 0;
    lp_text_puts(&freezer->path, "");
    lp_path_print(&freezer->path, first->node);
    if (freezer->path.failed ||
        !(row.region = lp_profile_text(freezer->profile, freezer->path.bytes)) ||
        !(row.name = lp_profile_text(freezer->profile, name ? name : "")))
        return LLMPERF_ENOMEM;
    status = put_reasons(freezer, kernel, row);
    for (size_t i = 0; i < kernel->count && i < LP_STALL_INSTRUCTIONS && status == 0; i++)
        status = put_instruction(freezer, first + i, &row);
    return status;
}

int lp_stalls_freeze(const struct lp_stalls *stalls, const struct lp_counter_plan *plan,
                     const struct lp_names *names, uint32_t process_id, llmperf_profile *profile)
{
    struct freezer freezer = { stalls,
                               plan,
                               names,
                               process_id,
                               profile,
                               { 0 },
                               { 0 },
                               { NULL, 0, 0, false },
                               calloc(stalls->columns, sizeof(double)) };
    int status = freezer.sums ? 0 : LLMPERF_ENOMEM;

    if (status == 0 && stalls->rows.count > 0)
        status = list_kernels(&freezer);
    for (size_t i = 0; i < freezer.kernels.count && i < LP_STALL_KERNELS && status == 0; i++)
        status = put_kernel(&freezer, &freezer.kernels.items[i]);
    if (status == 0 && freezer.kernels.count > LP_STALL_KERNELS)
        status = lp_profile_add_note(profile,
                                     "stalls: %zu kernels were sampled; the %u with most samples "
                                     "are listed, by region.",
                                     freezer.kernels.count, LP_STALL_KERNELS);
    lp_vector_clear(&freezer.rows);
    lp_vector_clear(&freezer.kernels);
    lp_text_clear(&freezer.path);
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
    order = compare_numbers(a.process_id, b.process_id);
    order = order ? order : lp_compare_paths(a.region, b.region);
    order = order ? order : compare_numbers(b.kernel_samples, a.kernel_samples);
    order = order ? order : strcmp(a.name, b.name);
    order = order ? order : a.device - b.device;
    order = order ? order : compare_numbers(b.samples, a.samples);
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
