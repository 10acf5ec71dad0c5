/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/pattern.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/counters/host.h"

int lp_counter_chips(const char *const **names_out, size_t *count_out)
{
    struct lp_cupti_host_chips chips = { LP_CUPTI_SIZE(lp_cupti_host_chips), NULL, 0, NULL };
    const struct lp_counters_calls *calls;
    int status = lp_counters_load(&calls), result;

    if (status < 0)
        return status;
    if ((result = calls->ProfilerHostGetSupportedChips(&chips)) != 0)
        return lp_error(LLMPERF_ENOENT, "%s cannot list chips: %s", calls->path,
                        lp_counters_text(calls, result));
    *names_out = chips.names;
    *count_out = chips.count;
    return 0;
}

static bool is_chip(const char *name)
{
    const char *const *names;
    size_t count;

    if (lp_counter_chips(&names, &count) < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static lp_cupti_object open_host(const struct lp_counter_set *set, const uint8_t *availability)
{
    struct lp_cupti_host_open params = { .struct_size = LP_CUPTI_SIZE(lp_cupti_host_open),
                                         .type = set->method == LP_COUNTER_PM
                                                     ? LP_CUPTI_PROFILER_PM
                                                     : LP_CUPTI_PROFILER_RANGE,
                                         .chip = set->chip,
                                         .availability = availability };

    return set->calls->ProfilerHostInitialize(&params) == 0 ? params.host : NULL;
}

static void close_host(const struct lp_counters_calls *calls, lp_cupti_object host)
{
    struct lp_cupti_host_close params = { LP_CUPTI_SIZE(lp_cupti_host_close), NULL, host };

    if (host)
        calls->ProfilerHostDeinitialize(&params);
}

/* A set for a chip, with nothing in it yet. */
static int make_set(const char *chip, enum lp_counter_method method, const uint8_t *availability,
                    struct lp_counter_set **set_out)
{
    const struct lp_counters_calls *calls;
    struct lp_counter_set *set;
    int status = lp_counters_load(&calls);

    if (status < 0)
        return status;
    if (!is_chip(chip))
        return lp_error(LLMPERF_EINVAL,
                        "chip %s is unknown to %s; a chip is a GPU die such as GH100 for H100 and "
                        "H200; llmperf counters lists them",
                        chip, calls->path);
    if (!(set = calloc(1, sizeof(*set))))
        return lp_out_of_memory();
    set->calls = calls;
    set->method = method;
    set->chip = lp_strings_add(&set->pool, chip);
    set->host = open_host(set, availability);
    if (set->chip && set->host) {
        *set_out = set;
        return 0;
    }
    lp_counter_set_free(set);
    return lp_error(LLMPERF_ENOTSUP, "%s cannot be combined with %s counters", chip,
                    method == LP_COUNTER_PM ? "sampled (pm)" : "range");
}

/* Metric names are "base", "base.rollup" or "base.rollup.submetric". For full names CUPTI reports
 * only whether all that were added fit; its properties report whether one base exists. */
static int read_properties(const struct lp_counter_set *set, const char *metric,
                           struct lp_cupti_host_properties *params)
{
    *params = (struct lp_cupti_host_properties){
        .struct_size = LP_CUPTI_SIZE(lp_cupti_host_properties),
        .host = set->host,
        .metric = metric,
    };
    return set->calls->ProfilerHostGetMetricProperties(params);
}

/* Whether a metric can be collected is only known from an object that it was added to. */
static bool is_collectable(const struct lp_counter_set *set, const uint8_t *availability,
                           const char *metric)
{
    struct lp_cupti_host_add params = { .struct_size = LP_CUPTI_SIZE(lp_cupti_host_add),
                                        .metrics = &metric,
                                        .count = 1 };
    struct lp_cupti_host_properties properties;
    bool fits;

    if (read_properties(set, metric, &properties) != 0)
        return false;
    if (!(params.host = open_host(set, availability)))
        return false;
    fits = set->calls->ProfilerHostConfigAddMetrics(&params) == 0;
    close_host(set->calls, params.host);
    return fits;
}

/* The next term of a candidate: "2 * metric.sum". Copied without blanks. Returns the text after it,
 * NULL at the end. */
static const char *next_term(const char *at, char *metric, size_t size, double *factor)
{
    size_t length;

    *factor = 1;
    at += strspn(at, " +");
    if (strchr("0123456789", *at) && strchr(at, '*')) {
        *factor = 0;
        for (; strchr("0123456789", *at) && *at; at++)
            *factor = *factor * 10 + (*at - '0');
        at += strspn(at, " *");
    }
    length = strcspn(at, " +");
    metric[0] = '\0';
    if (length > 0 && length < size) {
        memcpy(metric, at, length);
        metric[length] = '\0';
    }
    at += length;
    at += strspn(at, " ");
    return *at ? at : NULL;
}

static bool fits(const struct lp_counter_set *set, const uint8_t *availability,
                 const char *candidate)
{
    char metric[256];
    double factor;

    for (const char *at = candidate; at;) {
        at = next_term(at, metric, sizeof(metric), &factor);
        if (!*metric || !is_collectable(set, availability, metric))
            return false;
    }
    return true;
}

/* All metrics in one call: those that are added together share passes. */
static int configure(const struct lp_counter_set *set, lp_cupti_object host, uint8_t **config_out,
                     size_t *size_out)
{
    struct lp_cupti_host_add add = { LP_CUPTI_SIZE(lp_cupti_host_add), NULL, host,
                                     set->metrics.items, set->metrics.count };
    struct lp_cupti_host_config_size size = { LP_CUPTI_SIZE(lp_cupti_host_config_size), NULL, host,
                                              0 };
    struct lp_cupti_host_config config = { LP_CUPTI_SIZE(lp_cupti_host_config), NULL, host, 0,
                                           NULL };
    int result;

    if ((result = set->calls->ProfilerHostConfigAddMetrics(&add)) != 0 ||
        (result = set->calls->ProfilerHostGetConfigImageSize(&size)) != 0)
        return lp_error(LLMPERF_EINVAL, "these metrics cannot be collected together on %s: %s",
                        set->chip, lp_counters_text(set->calls, result));
    if (!(config.image = malloc(size.size)))
        return lp_out_of_memory();
    config.size = size.size;
    if ((result = set->calls->ProfilerHostGetConfigImage(&config)) != 0) {
        free(config.image);
        return lp_error(LLMPERF_EINVAL, "CUPTI gives no configuration for %s: %s", set->chip,
                        lp_counters_text(set->calls, result));
    }
    *config_out = config.image;
    *size_out = config.size;
    return 0;
}

static int read_passes(const struct lp_counter_set *set, uint8_t *config, size_t size,
                       size_t *passes_out)
{
    struct lp_cupti_host_passes params = { LP_CUPTI_SIZE(lp_cupti_host_passes), NULL, size, config,
                                           0 };
    int result = set->calls->ProfilerHostGetNumOfPasses(&params);

    *passes_out = params.passes;
    return result == 0 && params.passes > 0
               ? 0
               : lp_error(LLMPERF_ENOTSUP, "CUPTI cannot plan the passes for %s: %s", set->chip,
                          lp_counters_text(set->calls, result));
}

static int find_metric(struct lp_counter_set *set, const char *metric, uint32_t *index_out)
{
    const char *text;

    for (uint32_t i = 0; i < set->metrics.count; i++)
        if (strcmp(set->metrics.items[i], metric) == 0) {
            *index_out = i;
            return 0;
        }
    *index_out = (uint32_t)set->metrics.count;
    text = lp_strings_add(&set->pool, metric);
    return text ? lp_vector_push(&set->metrics, text) : lp_out_of_memory();
}

static int add_terms(struct lp_counter_set *set, struct lp_counter_column *column)
{
    char metric[256];
    int status = 0;

    column->first = (uint32_t)set->terms.count;
    for (const char *at = column->metric; at && status == 0;) {
        struct lp_counter_term term;

        at = next_term(at, metric, sizeof(metric), &term.factor);
        if ((status = find_metric(set, metric, &term.metric)) == 0)
            status = lp_vector_push(&set->terms, term);
    }
    column->count = (uint32_t)set->terms.count - column->first;
    return status;
}

/* Sums or means, by the rollup: "base.sum" is a sum; "base.avg.…", percentages and ratios are
 * not. */
static enum lp_counter_combine combine_of(const char *metric)
{
    const char *dot = strchr(metric, '.');

    if (!dot || strstr(dot, "pct") || strstr(dot, "per_") || strstr(dot, "ratio"))
        return LP_COUNTER_MEAN;
    if (strncmp(dot, ".sum", 4) == 0)
        return LP_COUNTER_SUM;
    if (strncmp(dot, ".max", 4) == 0)
        return LP_COUNTER_MAX;
    return strncmp(dot, ".min", 4) == 0 ? LP_COUNTER_MIN : LP_COUNTER_MEAN;
}

static const char *unit_of(const char *metric, const struct lp_cupti_host_properties *properties)
{
    const char *dot = strchr(metric, '.');

    return dot && strstr(dot, "pct") ? "%" : properties->unit ? properties->unit : "";
}

static int add_column(struct lp_counter_set *set, const struct lp_counter_quantity *wanted,
                      const char *candidate)
{
    struct lp_cupti_host_properties properties;
    struct lp_counter_column column = { .metric = lp_strings_add(&set->pool, candidate),
                                        .combine = combine_of(candidate) };
    char first[256];
    double factor;

    next_term(candidate, first, sizeof(first), &factor);
    if (read_properties(set, first, &properties) != 0)
        properties.unit = properties.description = NULL;
    column.quantity = lp_strings_add(&set->pool, wanted->quantity);
    column.unit =
        lp_strings_add(&set->pool, wanted->unit ? wanted->unit : unit_of(first, &properties));
    column.about = lp_strings_add(&set->pool, wanted->about            ? wanted->about
                                              : properties.description ? properties.description
                                                                       : "");
    if (!column.metric || !column.quantity || !column.unit || !column.about)
        return lp_out_of_memory();
    if (add_terms(set, &column) < 0 || lp_vector_push(&set->columns, column) < 0)
        return lp_out_of_memory();
    return 0;
}

static int add_missing(struct lp_counter_set *set, const char *quantity, const char *reason)
{
    struct lp_counter_missing missing = { lp_strings_add(&set->pool, quantity),
                                          lp_strings_add(&set->pool, reason) };

    return missing.quantity && missing.reason ? lp_vector_push(&set->missing, missing)
                                              : lp_out_of_memory();
}

/* Passes that the set needs now. */
static int count_passes(const struct lp_counter_set *set, const uint8_t *availability,
                        size_t *passes_out)
{
    lp_cupti_object host = open_host(set, availability);
    uint8_t *config;
    size_t size;
    int status;

    if (!host)
        return lp_out_of_memory();
    if ((status = configure(set, host, &config, &size)) == 0) {
        status = read_passes(set, config, size, passes_out);
        free(config);
    }
    close_host(set->calls, host);
    return status;
}

/* Remove the last column if the set needs more than `most` passes with it. 1: kept; 0: removed. */
static int keep_within(struct lp_counter_set *set, const uint8_t *availability, uint32_t most,
                       size_t metrics_before, size_t *passes_out)
{
    int status = count_passes(set, availability, passes_out);

    if (status < 0 || *passes_out <= most)
        return status < 0 ? status : 1;
    set->columns.count--;
    set->terms.count = set->columns.items[set->columns.count].first;
    set->metrics.count = metrics_before;
    return 0;
}

static int resolve(struct lp_counter_set *set, const uint8_t *availability,
                   const struct lp_counter_quantity *wanted, uint32_t most, bool ranges)
{
    struct lp_text reason = { NULL, 0, 0, false };
    bool instrumented = false;
    size_t passes = 0;
    int status;

    for (size_t i = 0; i < wanted->candidates.count; i++) {
        size_t metrics_before = set->metrics.count;

        if (ranges && strstr(wanted->candidates.items[i], LP_COUNTER_INSTRUMENTED)) {
            instrumented = true;
            continue;
        }
        if (!fits(set, availability, wanted->candidates.items[i]))
            continue;
        if ((status = add_column(set, wanted, wanted->candidates.items[i])) < 0 || most == 0 ||
            (status = keep_within(set, availability, most, metrics_before, &passes)) != 0)
            return status < 0 ? status : 0;
    }
    if (passes > most)
        lp_text_printf(&reason,
                       "together with the quantities before it, it needs %zu passes on %s; the "
                       "preset allows %u",
                       passes, set->chip, most);
    else if (instrumented)
        lp_text_puts(&reason, "CUPTI can count it only with kernel replay: set replay=kernel");
    else
        lp_text_printf(&reason, "%s has no metric %s%s", set->chip, wanted->candidates.items[0],
                       wanted->candidates.count > 1 ? " and none of its alternatives" : "");
    status = reason.failed ? lp_out_of_memory() : add_missing(set, wanted->quantity, reason.bytes);
    lp_text_clear(&reason);
    return status;
}

static int fill_set(struct lp_counter_set *set, const uint8_t *availability,
                    const struct lp_counter_preset *preset)
{
    int status = 0;

    for (size_t i = 0; i < preset->quantities.count && status == 0; i++)
        status = resolve(set, availability, &preset->quantities.items[i], preset->most_passes,
                         preset->ranges);
    if (status < 0)
        return status;
    if (set->columns.count == 0)
        return lp_error(LLMPERF_EINVAL, "%s; see llmperf counters --chip %s --list",
                        set->missing.items[0].reason, set->chip);
    if ((status = configure(set, set->host, &set->config, &set->config_size)) < 0)
        return status;
    return read_passes(set, set->config, set->config_size, &set->passes);
}

int lp_counter_set_open(const char *chip, const uint8_t *availability,
                        const struct lp_counter_preset *preset, struct lp_counter_set **set_out)
{
    struct lp_counter_set *set;
    int status;

    if (preset->method == LP_COUNTER_PC)
        return lp_error(LLMPERF_EINVAL, "preset %s has no metrics: it samples instructions",
                        preset->name);
    status = make_set(chip, preset->method, availability, &set);

    if (status < 0)
        return status;
    if ((status = fill_set(set, availability, preset)) < 0)
        lp_counter_set_free(set);
    else
        *set_out = set;
    return status;
}

static int list_kind(struct lp_counter_set *set, const struct lp_patterns *patterns, uint32_t kind)
{
    struct lp_cupti_host_metrics params = { .struct_size = LP_CUPTI_SIZE(lp_cupti_host_metrics),
                                            .host = set->host,
                                            .kind = kind };
    int status = 0;

    if (set->calls->ProfilerHostGetBaseMetrics(&params) != 0)
        return 0; /* it has no metrics of this kind */
    for (size_t i = 0; i < params.count && status == 0; i++) {
        struct lp_cupti_host_properties properties;
        struct lp_counter_column column = { .quantity = params.names[i] };

        if (!lp_patterns_match(patterns, params.names[i]))
            continue;
        if (read_properties(set, params.names[i], &properties) != 0)
            properties.unit = properties.description = NULL;
        column.quantity = column.metric = lp_strings_add(&set->pool, params.names[i]);
        column.unit = lp_strings_add(&set->pool, properties.unit ? properties.unit : "");
        column.about =
            lp_strings_add(&set->pool, properties.description ? properties.description : "");
        status = column.quantity && column.unit && column.about
                     ? lp_vector_push(&set->columns, column)
                     : lp_out_of_memory();
    }
    return status;
}

static int compare_columns(const void *a, const void *b)
{
    return strcmp(((const struct lp_counter_column *)a)->metric,
                  ((const struct lp_counter_column *)b)->metric);
}

int lp_counter_set_list(const char *chip, const char *pattern, enum lp_counter_method method,
                        struct lp_counter_set **set_out)
{
    struct lp_patterns *patterns;
    struct lp_counter_set *set;
    int status = lp_patterns_open(&pattern, 1, &patterns);

    if (status < 0)
        return status;
    if ((status = make_set(chip, method, NULL, &set)) == 0) {
        for (uint32_t kind = LP_CUPTI_METRIC_COUNTER;
             kind <= LP_CUPTI_METRIC_THROUGHPUT && status == 0; kind++)
            status = list_kind(set, patterns, kind);
        if (status < 0) {
            lp_counter_set_free(set);
        } else {
            if (set->columns.count > 0)
                qsort(set->columns.items, set->columns.count, sizeof(*set->columns.items),
                      compare_columns);
            *set_out = set;
        }
    }
    lp_patterns_free(patterns);
    return status;
}

int lp_counter_set_evaluate(struct lp_counter_set *set, const uint8_t *data, size_t size,
                            size_t range, double *values)
{
    struct lp_cupti_host_evaluate params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_host_evaluate),
        .host = set->host,
        .data = data,
        .data_size = size,
        .range = range,
        .metrics = set->metrics.items,
        .count = set->metrics.count,
    };
    int result;

    if (set->values.count < set->metrics.count &&
        lp_vector_reserve(&set->values, set->metrics.count) < 0)
        return lp_out_of_memory();
    params.values = set->values.items;
    if ((result = set->calls->ProfilerHostEvaluateToGpuValues(&params)) != 0)
        return lp_error(LLMPERF_EIO, "CUPTI cannot compute counter values: %s",
                        lp_counters_text(set->calls, result));
    for (size_t i = 0; i < set->columns.count; i++) {
        const struct lp_counter_column *column = &set->columns.items[i];

        values[i] = 0;
        for (uint32_t k = column->first; k < column->first + column->count; k++)
            values[i] += set->terms.items[k].factor * set->values.items[set->terms.items[k].metric];
    }
    return 0;
}

void lp_counter_set_free(struct lp_counter_set *set)
{
    if (!set)
        return;
    close_host(set->calls, set->host);
    lp_vector_clear(&set->metrics);
    lp_vector_clear(&set->columns);
    lp_vector_clear(&set->terms);
    lp_vector_clear(&set->missing);
    lp_vector_clear(&set->values);
    lp_strings_clear(&set->pool);
    free(set->config);
    free(set);
}
