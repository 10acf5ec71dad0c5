/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/format/windows.h"

#include <math.h>

#include "lib/output/format/markdown.h"
#include "lib/output/format/row_fields.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"

#define WINDOWS_WITH_KERNELS 3u /* in Markdown: the newest ones */
#define TOP_KERNELS          10u

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Rows of kernels are in the order of their windows: the next one of `window`, from `*index` on. */
static bool next_kernel(const llmperf_profile *profile, const llmperf_window_stats *window,
                        size_t *index, llmperf_window_kernel *kernel_out)
{
    size_t count = lp_row_count(profile, LP_ROW_WINDOW_KERNEL);

    for (int order = -1; *index < count && order <= 0;) {
        *kernel_out = (llmperf_window_kernel)LLMPERF_WINDOW_KERNEL_INIT;
        llmperf_profile_window_kernel(profile, *index, kernel_out);
        order = compare(kernel_out->process_id, window->process_id);
        order = order ? order : compare(kernel_out->window, window->number);
        *index += order <= 0;
        if (order == 0)
            return true;
    }
    return false;
}

static llmperf_window_stats window_at(const llmperf_profile *profile, size_t index)
{
    llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;

    llmperf_profile_window(profile, index, &window);
    return window;
}

static void put_kernels(struct lp_json *json, const llmperf_profile *profile,
                        const llmperf_window_stats *window, size_t *index)
{
    llmperf_window_kernel kernel;

    lp_json_open(json, "kernels", '[');
    while (next_kernel(profile, window, index, &kernel)) {
        lp_json_open(json, NULL, '{');
        lp_row_json(json, LP_ROW_WINDOW_KERNEL, &kernel);
        lp_json_string(json, "kind", llmperf_name(LLMPERF_NAME_ACTIVITY, kernel.kind));
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static void put_window(struct lp_json *json, const llmperf_profile *profile,
                       const llmperf_window_stats *window, size_t *index)
{
    lp_json_open(json, NULL, '{');
    lp_row_json(json, LP_ROW_WINDOW, window);
    put_kernels(json, profile, window, index);
    lp_json_close(json, '}');
}

void lp_windows_json(struct lp_json *json, const llmperf_profile *profile)
{
    size_t index = 0; /* of the next row of kernels */

    lp_json_open(json, "windows", '[');
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_WINDOW); i++) {
        llmperf_window_stats window = window_at(profile, i);

        put_window(json, profile, &window, &index);
    }
    lp_json_close(json, ']');
}

static double mean_of(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : NAN;
}

static void add_value(const llmperf_window_stats *window, struct lp_text *out)
{
    lp_text_puts(out, " ");
    lp_md_number(out, window->value);
    if (window->unit) {
        lp_text_puts(out, " ");
        lp_md_text(out, window->unit);
        lp_text_printf(out, " of %llu", (unsigned long long)window->value_units);
    }
    lp_text_puts(out, " |");
}

static void add_row(const llmperf_window_stats *window, struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_count(out, window->number);
    lp_md_cell_code(out, window->rule);
    add_value(window, out);
    lp_md_cell_count(out, window->units);
    lp_md_cell_count(out, window->units_left_out);
    lp_md_cell_number(out, mean_of(window->wall_ms, window->units));
    lp_md_cell_number(out, mean_of(window->busy_ms, window->units));
    lp_md_cell_number(out, mean_of(window->idle_ms, window->units));
    lp_md_cell_count(out, window->kernel_count);
    lp_md_cell_count(out, window->memory_count);
    lp_text_puts(out, "\n");
}

static void add_kernel(const llmperf_window_kernel *kernel, const llmperf_window_stats *window,
                       struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_code(out, kernel->name);
    lp_md_cell_region(out, kernel->region);
    lp_md_cell_count(out, kernel->calls);
    lp_md_cell_number(out, kernel->total_ms);
    lp_md_cell_number(out, mean_of(1e3 * kernel->total_ms, window->units));
    lp_text_puts(out, "\n");
}

static void add_kernels(const llmperf_profile *profile, const llmperf_window_stats *window,
                        struct lp_text *out)
{
    llmperf_window_kernel kernel;
    size_t index = 0, rows = 0;

    lp_text_printf(out,
                   "\nWindow %llu, longest first:\n\n| Kernel | Region | Calls | Total ms | us an "
                   "instance |\n| --- | --- | ---: | ---: | ---: |\n",
                   (unsigned long long)window->number);
    while (rows++ < TOP_KERNELS && next_kernel(profile, window, &index, &kernel))
        add_kernel(&kernel, window, out);
}

void lp_windows_md(const llmperf_profile *profile, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_WINDOW);

    lp_text_puts(out,
                 "| Window | Rule | Was | Instances | Left out | Wall ms | Busy ms | Idle ms | "
                 "Kernels | Copies and sets |\n| ---: | --- | --- | ---: | ---: | ---: | "
                 "---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i++) {
        llmperf_window_stats window = window_at(profile, i);

        add_row(&window, out);
    }
    for (size_t i = count > WINDOWS_WITH_KERNELS ? count - WINDOWS_WITH_KERNELS : 0; i < count;
         i++) {
        llmperf_window_stats window = window_at(profile, i);

        add_kernels(profile, &window, out);
    }
    lp_text_puts(out, "\nInstances that were collected one and all because the rule held; times "
                      "are means of an instance. They are no random sample: no other device number "
                      "of this report holds them.\n");
}
