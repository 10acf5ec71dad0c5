/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/windows.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"

struct lp_window_total *lp_windows_find(const struct lp_windows *windows, uint32_t number)
{
    for (size_t i = windows->count; i-- > 0;) /* mostly the newest is wanted */
        if (windows->items[i].number == number)
            return &windows->items[i];
    return NULL;
}

struct lp_window_total *lp_windows_make(struct lp_windows *windows, uint32_t number)
{
    struct lp_window_total *window = lp_windows_find(windows, number);
    struct lp_window_total fresh = { .number = number, .begin_ns = UINT64_MAX };

    if (window)
        return window;
    return lp_vector_push(windows, fresh) < 0 ? NULL : &windows->items[windows->count - 1];
}

void lp_windows_clear(struct lp_windows *windows)
{
    for (size_t i = 0; i < windows->count; i++)
        lp_vector_clear(&windows->items[i].rows);
    lp_vector_clear(windows);
}

static bool is_row_of(const struct lp_window_kernel_total *row, const struct lp_activity *activity)
{
    return !row->other && row->name == activity->name && row->node == activity->node &&
           row->captured == activity->captured && row->kind == activity->kind;
}

/* Iterations repeat the same sequence, so try the row after the last one first. */
struct lp_window_kernel_total *lp_window_find(struct lp_window_total *window,
                                              const struct lp_activity *activity)
{
    size_t count = window->rows.count;

    for (size_t i = 0; i < count; i++) {
        size_t at = (window->last + 1 + i) % count;

        if (!is_row_of(&window->rows.items[at], activity))
            continue;
        window->last = (uint32_t)at;
        return &window->rows.items[at];
    }
    return count > LP_WINDOW_KERNELS ? &window->rows.items[LP_WINDOW_KERNELS] : NULL;
}

struct lp_window_kernel_total *lp_window_add(struct lp_window_total *window,
                                             const struct lp_activity *activity)
{
    struct lp_window_kernel_total row = { .node = activity->node,
                                          .captured = activity->captured,
                                          .name = activity->name,
                                          .kind = activity->kind,
                                          .other = window->rows.count >= LP_WINDOW_KERNELS };

    if (lp_vector_push(&window->rows, row) < 0)
        return NULL;
    window->last = (uint32_t)window->rows.count - 1;
    return &window->rows.items[window->last];
}

void lp_window_count(struct lp_window_total *window, struct lp_window_kernel_total *row,
                     const struct lp_activity *activity)
{
    uint64_t duration = activity->end_ns - activity->start_ns;

    row->calls++;
    row->total_ns += duration;
    if (activity->kind == LLMPERF_ACTIVITY_MEMCPY || activity->kind == LLMPERF_ACTIVITY_MEMSET) {
        window->memory++;
        window->memory_ns += duration;
    } else {
        window->kernels += activity->kind == LLMPERF_ACTIVITY_KERNEL;
        window->kernel_ns += duration;
    }
}

void lp_window_unit(struct lp_window_total *window, const struct lp_window_unit *unit)
{
    if (!window)
        return;
    if (!unit->collected) {
        window->left_out++;
        return;
    }
    window->units++;
    window->wall_ns += unit->end_ns - unit->begin_ns;
    window->busy_ns += unit->busy_ns;
    window->idle_ns += unit->idle_ns;
    window->begin_ns = unit->begin_ns < window->begin_ns ? unit->begin_ns : window->begin_ns;
    window->end_ns = unit->end_ns > window->end_ns ? unit->end_ns : window->end_ns;
}

uint64_t lp_windows_kernels(const struct lp_windows *windows)
{
    uint64_t kernels = 0;

    for (size_t i = 0; i < windows->count; i++)
        kernels += windows->items[i].kernels;
    return kernels;
}

/* Profile rows */

static int add_kernel(const struct lp_window_total *window,
                      const struct lp_window_kernel_total *total, const struct lp_names *names,
                      uint32_t process_id, llmperf_profile *profile)
{
    llmperf_window_kernel row = LLMPERF_WINDOW_KERNEL_INIT;

    row.window = window->number;
    row.process_id = process_id;
    row.kind = total->kind;
    row.calls = total->calls;
    row.total_ms = lp_to_ms(total->total_ns);
    row.name =
        lp_profile_text(profile, total->other ? "[others]" : lp_names_text(names, total->name));
    row.region = total->other ? NULL : lp_profile_path(profile, total->node);
    row.captured_in = total->other ? NULL : lp_profile_path(profile, total->captured);
    if (!row.name)
        return lp_out_of_memory();
    return lp_vector_push(&profile->window_kernels, row);
}

static int add_window(const struct lp_window_total *window, uint32_t process_id,
                      llmperf_profile *profile)
{
    llmperf_window_stats row = LLMPERF_WINDOW_STATS_INIT;

    row.number = window->number;
    row.process_id = process_id;
    row.value = row.threshold = NAN;
    row.value_units = row.units_asked = row.triggered_ns = LLMPERF_UNKNOWN;
    row.begin_ns = window->units > 0 ? window->begin_ns : LLMPERF_UNKNOWN;
    row.end_ns = window->units > 0 ? window->end_ns : LLMPERF_UNKNOWN;
    row.units = window->units;
    row.units_left_out = window->left_out;
    row.kernel_count = window->kernels;
    row.memory_count = window->memory;
    row.wall_ms = lp_to_ms(window->wall_ns);
    row.busy_ms = lp_to_ms(window->busy_ns);
    row.idle_ms = lp_to_ms(window->idle_ns);
    row.kernel_ms = lp_to_ms(window->kernel_ns);
    row.memory_ms = lp_to_ms(window->memory_ns);
    return lp_vector_push(&profile->windows, row);
}

int lp_profile_set_trigger(llmperf_profile *profile, const llmperf_window_stats *trigger)
{
    llmperf_window_stats fresh = LLMPERF_WINDOW_STATS_INIT, *row;
    size_t at = 0;

    while (at < profile->windows.count && profile->windows.items[at].number < trigger->number)
        at++;
    if (at == profile->windows.count || profile->windows.items[at].number != trigger->number) {
        fresh.begin_ns = fresh.end_ns = LLMPERF_UNKNOWN;
        if (lp_vector_push(&profile->windows, fresh) < 0)
            return lp_out_of_memory();
        for (size_t i = profile->windows.count - 1; i > at; i--)
            profile->windows.items[i] = profile->windows.items[i - 1];
        profile->windows.items[at] = fresh;
    }
    row = &profile->windows.items[at];
    row->number = trigger->number;
    row->process_id = trigger->process_id;
    row->rule = lp_profile_text(profile, trigger->rule);
    row->region = lp_profile_text(profile, trigger->region);
    row->quantity = lp_profile_text(profile, trigger->quantity);
    row->unit = lp_profile_text(profile, trigger->unit);
    row->value = trigger->value;
    row->threshold = trigger->threshold;
    row->value_units = trigger->value_units;
    row->triggered_ns = trigger->triggered_ns;
    row->units_asked = trigger->units_asked;
    return row->rule && row->region && row->quantity && row->unit ? 0 : lp_out_of_memory();
}

int lp_windows_freeze(const struct lp_windows *windows, const struct lp_names *names,
                      uint32_t process_id, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < windows->count && status == 0; i++) {
        const struct lp_window_total *window = &windows->items[i];

        status = add_window(window, process_id, profile);
        for (size_t k = 0; k < window->rows.count && status == 0; k++)
            status = add_kernel(window, &window->rows.items[k], names, process_id, profile);
    }
    return status;
}
