/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/output/md/kernel_names.h"
#include "lib/output/format/markdown.h"
#include "lib/profile/fields.h"

struct entry {
    const char *short_name, *demangled;
    size_t row;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = strcmp(left->short_name, right->short_name);

    if (order == 0)
        order = strcmp(left->demangled, right->demangled);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* Number of entries from `first` with the same short name. */
static size_t group_size(const struct entry *first, const struct entry *end)
{
    const struct entry *at = first;

    while (at < end && strcmp(at->short_name, first->short_name) == 0)
        at++;
    return (size_t)(at - first);
}

static void number_group(struct lp_kernel_name *rows, const struct entry *group, size_t size)
{
    uint32_t variant = 0;

    if (strcmp(group[0].demangled, group[size - 1].demangled) == 0)
        return;
    for (size_t i = 0; i < size; i++) {
        bool first = i == 0 || strcmp(group[i].demangled, group[i - 1].demangled) != 0;

        variant += first;
        rows[group[i].row] = (struct lp_kernel_name){ variant, first };
    }
}

int lp_kernel_names_init(struct lp_kernel_names *names, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_KERNEL);
    struct entry *entries = calloc(count + 1, sizeof(*entries));

    *names = (struct lp_kernel_names){ calloc(count + 1, sizeof(*names->rows)), count };
    if (!entries || !names->rows) {
        free(entries);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        entries[i] = (struct entry){ kernel.short_name, kernel.demangled, i };
    }
    qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count;) {
        size_t size = group_size(entries + i, entries + count);

        number_group(names->rows, entries + i, size);
        i += size;
    }
    free(entries);
    return 0;
}

void lp_kernel_names_clear(struct lp_kernel_names *names)
{
    free(names->rows);
    *names = (struct lp_kernel_names){ NULL, 0 };
}

void lp_kernel_names_cell(const struct lp_kernel_names *names, size_t index,
                          const llmperf_kernel_stats *kernel, struct lp_text *out)
{
    lp_text_puts(out, " ");
    lp_md_code(out, kernel->short_name);
    if (names->rows[index].variant > 0)
        lp_text_printf(out, " #%u", names->rows[index].variant);
    lp_text_puts(out, " |");
}

static void legend_line(const struct lp_kernel_names *names, const llmperf_profile *profile,
                        size_t row, struct lp_text *out)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    llmperf_profile_kernel(profile, row, &kernel);
    lp_text_puts(out, "- ");
    lp_md_code(out, kernel.short_name);
    lp_text_printf(out, " #%u: ", names->rows[row].variant);
    lp_md_code(out, kernel.demangled);
    lp_text_puts(out, "\n");
}

void lp_kernel_names_legend(const struct lp_kernel_names *names, const llmperf_profile *profile,
                            size_t rows, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < rows && i < names->count; i++) {
        if (!names->rows[i].first)
            continue;
        if (!any)
            lp_text_puts(out, "\nOne short name, several kernels:\n\n");
        any = true;
        legend_line(names, profile, i, out);
    }
}
