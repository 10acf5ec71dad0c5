/* SPDX-License-Identifier: Apache-2.0 */
/** Counters to collect: a preset (a YAML file of quantities, each with alternative metrics, best
 * first), or metrics by name.
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LP_COUNTERS_PRESET_H
#define LP_COUNTERS_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"

enum lp_counter_method {
    LP_COUNTER_RANGE, /* counted from begin to end of a region */
    LP_COUNTER_PM,    /* sampled at fixed intervals */
    LP_COUNTER_PC     /* instructions and stall reasons, sampled in some calls of a region */
};

/** A quantity. Each candidate is a sum of metrics: "a.sum", "a.sum + 2 * b.sum". */
struct lp_counter_quantity {
    const char *quantity, *unit, *about; /* unit, about NULL: those of the metric */
    LP_VECTOR(const char *) candidates;  /* best first */
};

struct lp_counter_preset {
    const char *name, *about;
    enum lp_counter_method method;
    uint32_t most_passes; /* quantities above the limit are left out, in order; 0: no limit */
    bool ranges;          /* only metrics that ranges can count, not LP_COUNTER_INSTRUMENTED */
    LP_VECTOR(struct lp_counter_quantity) quantities;
    struct lp_strings pool;
};

/** Part of the name of metrics that CUPTI counts by instrumenting kernels during kernel replay. In
 * ranges they are always 0 (CUPTI 13.0, H200). */
#define LP_COUNTER_INSTRUMENTED "__sass_"

/** Read a preset file. `name` is the preset's name. 0 and *preset_out (lp_counter_preset_free());
 * LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file and line), LLMPERF_ENOMEM. */
int lp_counter_preset_read(const char *path, const char *name,
                           struct lp_counter_preset **preset_out);

/** As above, from a text; `name` is used in errors, too. */
int lp_counter_preset_parse(const char *text, const char *name,
                            struct lp_counter_preset **preset_out);

/** A preset of `count` metrics by name. 0 or LLMPERF_ENOMEM. */
int lp_counter_preset_raw(const char *const *metrics, size_t count, enum lp_counter_method method,
                          struct lp_counter_preset **preset_out);

void lp_counter_preset_free(struct lp_counter_preset *preset);

#endif
