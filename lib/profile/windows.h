/* SPDX-License-Identifier: Apache-2.0 */
/** Device work of triggered windows: calls that were collected because a rule triggered. They are
 * no random sample and are in no other total. For lib/profile only. */
#ifndef LP_PROFILE_WINDOWS_H
#define LP_PROFILE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/record/record.h"
#include "llmperf/profile.h"

#define LP_WINDOW_KERNELS 512u /* rows of a window; the last is shared by all further kernels */

struct lp_window_kernel_total {
    uint32_t node, captured, name;
    uint8_t kind, kernel_class;
    bool other; /* the shared row */
    uint64_t calls, total_ns;
};

struct lp_window_total {
    uint32_t number;
    uint64_t units, left_out;
    uint64_t begin_ns, end_ns; /* of its calls; begin_ns UINT64_MAX: none has ended */
    uint64_t wall_ns, busy_ns, idle_ns;
    uint64_t kernels, memory, kernel_ns, memory_ns;
    LP_VECTOR(struct lp_window_kernel_total) rows;
    uint32_t last; /* row of the previous activity */
};

struct lp_windows {
    struct lp_window_total *items; /* by number */
    size_t count, capacity;
};

/** A complete call. */
struct lp_window_unit {
    uint64_t begin_ns, end_ns, busy_ns, idle_ns;
    bool collected;
};

/** The window with this number, added if new; NULL: out of memory. */
struct lp_window_total *lp_windows_make(struct lp_windows *windows, uint32_t number);
struct lp_window_total *lp_windows_find(const struct lp_windows *windows, uint32_t number);
void lp_windows_clear(struct lp_windows *windows);

/** Row of an activity; NULL: none yet. A new row; NULL: out of memory. */
struct lp_window_kernel_total *lp_window_find(struct lp_window_total *window,
                                              const struct lp_activity *activity);
struct lp_window_kernel_total *lp_window_add(struct lp_window_total *window,
                                             const struct lp_activity *activity);

void lp_window_count(struct lp_window_total *window, struct lp_window_kernel_total *row,
                     const struct lp_activity *activity);
void lp_window_unit(struct lp_window_total *window, const struct lp_window_unit *unit);

/** Kernels of all windows. */
uint64_t lp_windows_kernels(const struct lp_windows *windows);

/** Add the rows to a profile, without what only the session knows of a window. 0 or LLMPERF_ENOMEM.
 * @param names  Of kernels. */
int lp_windows_freeze(const struct lp_windows *windows, const struct lp_names *names,
                      uint32_t process_id, llmperf_profile *profile);

#endif
