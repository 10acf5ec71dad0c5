/* SPDX-License-Identifier: Apache-2.0 */
/** Metrics of a chip: names, the metrics and passes of a preset, and values from collected data.
 * Needs no GPU.
 * @threads one at a time per object */
#ifndef LP_COUNTERS_HOST_H
#define LP_COUNTERS_HOST_H

#include "lib/counters/preset.h"
#include "lib/counters/symbols.h"
#include "lib/record/counter.h"

/** A quantity that the chip provides, as a sum of its metrics. */
struct lp_counter_column {
    const char *quantity, *unit, *about;
    const char *metric; /* the chosen candidate */
    enum lp_counter_combine combine;
    uint32_t first, count; /* its terms in `terms` */
};

/** A quantity that the chip does not provide. */
struct lp_counter_missing {
    const char *quantity, *reason;
};

struct lp_counter_term {
    uint32_t metric; /* index in lp_counter_set.metrics */
    double factor;
};

struct lp_counter_set {
    const struct lp_counters_calls *calls;
    lp_cupti_object host;
    const char *chip;
    enum lp_counter_method method;
    LP_VECTOR(const char *) metrics; /* without duplicates */
    LP_VECTOR(struct lp_counter_column) columns;
    LP_VECTOR(struct lp_counter_term) terms;
    LP_VECTOR(struct lp_counter_missing) missing;
    LP_VECTOR(double) values; /* of the metrics, while evaluating */
    uint8_t *config;          /* configuration image for the device */
    size_t config_size, passes;
    struct lp_strings pool;
};

/** Names of all chips that this CUPTI knows. 0 and a list that is never freed, or an error of
 * lp_counters_load(). */
int lp_counter_chips(const char *const **names_out, size_t *count_out);

/** The set of metrics of `preset` on a chip.
 * @param availability  What lp_counters reports as countable on the device; NULL: no limit.
 * @return 0 and *set_out (lp_counter_set_free()); LLMPERF_EINVAL: no such chip, or none of its
 * quantities; LLMPERF_ENOTSUP: the chip cannot be sampled; LLMPERF_ENOENT, LLMPERF_ENOMEM. */
int lp_counter_set_open(const char *chip, const uint8_t *availability,
                        const struct lp_counter_preset *preset, struct lp_counter_set **set_out);

/** All metrics of a chip whose name matches `pattern` (pattern.h), as a set without a
 * configuration. */
int lp_counter_set_list(const char *chip, const char *pattern, enum lp_counter_method method,
                        struct lp_counter_set **set_out);

/** Values of a range or sample in a data image, by column; NaN: none. 0 or LLMPERF_EIO. */
int lp_counter_set_evaluate(struct lp_counter_set *set, const uint8_t *data, size_t size,
                            size_t range, double *values);

/** NULL is allowed. */
void lp_counter_set_free(struct lp_counter_set *set);

#endif
