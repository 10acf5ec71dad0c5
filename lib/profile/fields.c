/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of fields.h, and functions that work on any row through them. */
#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "lib/statistics/histogram.h"

/* Fails to compile if a member's type differs from its line. */
#define OFFSET(row, member, type)                                                                  \
    (offsetof(row, member) + 0 * sizeof(char[_Generic(((row *)0)->member, type : 1)]))
#define RULES(unit, merge, unknown, json, series, text, ...)                                       \
    unit, LP_MERGE_##merge, LP_UNKNOWN_##unknown, json, series, text
#define FIELD(kind, name, offset, ...)                                                             \
    { name, LP_FIELD_##kind, offset, RULES(__VA_ARGS__, NULL, NULL, ) },
#define PLAIN(kind, row, member, ...)                                                              \
    FIELD(kind, #member, OFFSET(row, member, LP_TYPE_##kind), __VA_ARGS__)
#define FIELD_NAME(...)              PLAIN(NAME, __VA_ARGS__)
#define FIELD_TEXT(...)              PLAIN(TEXT, __VA_ARGS__)
#define FIELD_WORD(...)              PLAIN(WORD, __VA_ARGS__)
#define FIELD_DEVICE(...)            PLAIN(DEVICE, __VA_ARGS__)
#define FIELD_COUNT(...)             PLAIN(COUNT, __VA_ARGS__)
#define FIELD_NUMBER(...)            PLAIN(NUMBER, __VA_ARGS__)
#define FIELD_BLOB(row, member, ...) FIELD(BLOB, #member, sizeof(row), __VA_ARGS__)
#define FIELD_RESERVED(row, ...)
#define CLASS(row, i, ...)                                                                         \
    FIELD(NUMBER, "class_" #i "_ms", offsetof(row, class_ms) + (i) * sizeof(double), __VA_ARGS__)
#define FIELD_CLASSES(row, member, ...)                                                            \
    CLASS(row, 0, __VA_ARGS__)                                                                     \
    CLASS(row, 1, __VA_ARGS__)                                                                     \
    CLASS(row, 2, __VA_ARGS__)                                                                     \
    CLASS(row, 3, __VA_ARGS__)                                                                     \
    CLASS(row, 4, __VA_ARGS__)                                                                     \
    CLASS(row, 5, __VA_ARGS__)                                                                     \
    CLASS(row, 6, __VA_ARGS__)                                                                     \
    CLASS(row, 7, __VA_ARGS__)                                                                     \
    CLASS(row, 8, __VA_ARGS__)                                                                     \
    CLASS(row, 9, __VA_ARGS__)                                                                     \
    CLASS(row, 10, __VA_ARGS__)                                                                    \
    CLASS(row, 11, __VA_ARGS__)                                                                    \
    CLASS(row, 12, __VA_ARGS__)                                                                    \
    CLASS(row, 13, __VA_ARGS__)                                                                    \
    CLASS(row, 14, __VA_ARGS__)                                                                    \
    CLASS(row, 15, __VA_ARGS__)

_Static_assert(LLMPERF_ITERATION_CLASSES == 16, "each class has a column");
_Static_assert(offsetof(struct lp_region_row, wall) == sizeof(llmperf_region_stats) &&
                   offsetof(struct lp_kernel_row, durations) == sizeof(llmperf_kernel_stats) &&
                   offsetof(struct lp_iteration_stats_row, histogram) ==
                       sizeof(llmperf_iteration_stats) &&
                   offsetof(struct lp_collective_row, calls) ==
                       sizeof(struct lp_collective_calls) &&
                   offsetof(struct lp_latency_row, histogram) == sizeof(llmperf_latency),
               "a histogram follows the public struct of its row");

#define LEDGER(type, ...)           FIELD_##type(llmperf_ledger, __VA_ARGS__)
#define REGION(type, ...)           FIELD_##type(llmperf_region_stats, __VA_ARGS__)
#define KERNEL(type, ...)           FIELD_##type(llmperf_kernel_stats, __VA_ARGS__)
#define KERNEL_SHAPE(type, ...)     FIELD_##type(llmperf_kernel_shape, __VA_ARGS__)
#define OPERATOR(type, ...)         FIELD_##type(llmperf_operator_stats, __VA_ARGS__)
#define SPREAD(type, ...)           FIELD_##type(llmperf_iteration_stats, __VA_ARGS__)
#define METRIC(type, ...)           FIELD_##type(llmperf_metric_stats, __VA_ARGS__)
#define ITERATION(type, ...)        FIELD_##type(llmperf_iteration, __VA_ARGS__)
#define WINDOW(type, ...)           FIELD_##type(llmperf_window_stats, __VA_ARGS__)
#define WINDOW_KERNEL(type, ...)    FIELD_##type(llmperf_window_kernel, __VA_ARGS__)
#define CAPTURE(type, ...)          FIELD_##type(llmperf_capture_stats, __VA_ARGS__)
#define ADVICE(type, ...)           FIELD_##type(llmperf_advice, __VA_ARGS__)
#define RANK(type, ...)             FIELD_##type(struct lp_rank, __VA_ARGS__)
#define KERNEL_CLASS(type, ...)     FIELD_##type(struct lp_class_total, __VA_ARGS__)
#define KERNEL_WORK(type, ...)      FIELD_##type(struct lp_kernel_work, __VA_ARGS__)
#define NCU_KERNEL(type, ...)       FIELD_##type(struct lp_ncu_kernel, __VA_ARGS__)
#define STAGE_OPERATOR(type, ...)   FIELD_##type(struct lp_stage_operator, __VA_ARGS__)
#define MEMORY_USE(type, ...)       FIELD_##type(llmperf_memory, __VA_ARGS__)
#define MEMORY_POINT(type, ...)     FIELD_##type(struct lp_memory_point, __VA_ARGS__)
#define STALL(type, ...)            FIELD_##type(struct lp_stall, __VA_ARGS__)
#define HOT_INSTRUCTION(type, ...)  FIELD_##type(struct lp_hot_instruction, __VA_ARGS__)
#define DEVICE_TIME(type, ...)      FIELD_##type(struct lp_device_time, __VA_ARGS__)
#define REQUESTS(type, ...)         FIELD_##type(llmperf_requests, __VA_ARGS__)
#define LATENCY(type, ...)          FIELD_##type(llmperf_latency, __VA_ARGS__)
#define SLOW_REQUEST(type, ...)     FIELD_##type(llmperf_slow_request, __VA_ARGS__)
#define LOAD(type, ...)             FIELD_##type(llmperf_load, __VA_ARGS__)
#define HOST_CALL(type, ...)        FIELD_##type(llmperf_host_call, __VA_ARGS__)
#define COLLECTIVE(type, ...)       FIELD_##type(struct lp_collective, __VA_ARGS__)
#define COLLECTIVE_CALLS(type, ...) FIELD_##type(struct lp_collective_calls, __VA_ARGS__)
#define ENERGY(type, ...)           FIELD_##type(llmperf_energy, __VA_ARGS__)

static const struct lp_row_field ledger_fields[] = { LP_LEDGER_FIELDS(LEDGER) };
static const struct lp_row_field region_fields[] = { LP_REGION_FIELDS(REGION) };
static const struct lp_row_field kernel_fields[] = { LP_KERNEL_FIELDS(KERNEL) };
static const struct lp_row_field kernel_shape_fields[] = { LP_KERNEL_SHAPE_FIELDS(KERNEL_SHAPE) };
static const struct lp_row_field operator_fields[] = { LP_OPERATOR_FIELDS(OPERATOR) };
static const struct lp_row_field spread_fields[] = { LP_SPREAD_FIELDS(SPREAD) };
static const struct lp_row_field metric_fields[] = { LP_METRIC_FIELDS(METRIC) };
static const struct lp_row_field iteration_fields[] = { LP_ITERATION_FIELDS(ITERATION) };
static const struct lp_row_field window_fields[] = { LP_WINDOW_FIELDS(WINDOW) };
static const struct lp_row_field window_kernel_fields[] = { LP_WINDOW_KERNEL_FIELDS(
    WINDOW_KERNEL) };
static const struct lp_row_field capture_fields[] = { LP_CAPTURE_FIELDS(CAPTURE) };
static const struct lp_row_field advice_fields[] = { LP_ADVICE_FIELDS(ADVICE) };
static const struct lp_row_field stage_operator_fields[] = { LP_STAGE_OPERATOR_FIELDS(
    STAGE_OPERATOR) };
static const struct lp_row_field device_fields[] = { LP_DEVICE_FIELDS(DEVICE_TIME) };
static const struct lp_row_field collective_calls_fields[] = { LP_COLLECTIVE_CALLS_FIELDS(
    COLLECTIVE_CALLS) };
static const struct lp_row_field rank_fields[] = { LP_RANK_FIELDS(RANK) };
static const struct lp_row_field collective_fields[] = { LP_COLLECTIVE_FIELDS(COLLECTIVE) };
static const struct lp_row_field class_fields[] = { LP_CLASS_FIELDS(KERNEL_CLASS) };
static const struct lp_row_field work_fields[] = { LP_KERNEL_WORK_FIELDS(KERNEL_WORK) };
static const struct lp_row_field ncu_fields[] = { LP_NCU_KERNEL_FIELDS(NCU_KERNEL) };
static const struct lp_row_field requests_fields[] = { LP_REQUESTS_FIELDS(REQUESTS) };
static const struct lp_row_field latency_fields[] = { LP_LATENCY_FIELDS(LATENCY) };
static const struct lp_row_field slow_request_fields[] = { LP_SLOW_REQUEST_FIELDS(SLOW_REQUEST) };
static const struct lp_row_field load_fields[] = { LP_LOAD_FIELDS(LOAD) };
static const struct lp_row_field memory_fields[] = { LP_MEMORY_FIELDS(MEMORY_USE) };
static const struct lp_row_field memory_point_fields[] = { LP_MEMORY_POINT_FIELDS(MEMORY_POINT) };
static const struct lp_row_field stall_fields[] = { LP_STALL_FIELDS(STALL) };
static const struct lp_row_field hot_instruction_fields[] = { LP_STALL_FIELDS(
    HOT_INSTRUCTION) LP_HOT_INSTRUCTION_FIELDS(HOT_INSTRUCTION) };
static const struct lp_row_field host_call_fields[] = { LP_HOST_CALL_FIELDS(HOST_CALL) };
static const struct lp_row_field energy_fields[] = { LP_ENERGY_FIELDS(ENERGY) };
static const struct lp_row_field fact_fields[] = {
    { .name = "key", .type = LP_FIELD_NAME, .offset = offsetof(struct lp_fact, key) },
    { .name = "value",
      .type = LP_FIELD_TEXT,
      .offset = offsetof(struct lp_fact, value),
      .merge = LP_MERGE_FIRST },
};
static const struct lp_row_field line_fields[] = {
    { .name = "line", .type = LP_FIELD_NAME, .merge = LP_MERGE_APART }
};

/* Size of a member. */
#define SIZE_NAME     sizeof(LP_TYPE_NAME)
#define SIZE_TEXT     sizeof(LP_TYPE_TEXT)
#define SIZE_WORD     sizeof(LP_TYPE_WORD)
#define SIZE_RESERVED sizeof(uint32_t)
#define SIZE_DEVICE   sizeof(LP_TYPE_DEVICE)
#define SIZE_COUNT    sizeof(LP_TYPE_COUNT)
#define SIZE_NUMBER   sizeof(LP_TYPE_NUMBER)
#define SIZE_CLASSES  (LLMPERF_ITERATION_CLASSES * sizeof(double))
#define SIZE_BLOB     0

#define SIZE(type, ...) +SIZE_##type
#define COMPLETE(row, lines)                                                                       \
    _Static_assert(sizeof(size_t) lines(SIZE) == sizeof(row), "each member of " #row " has a "     \
                                                              "line")
COMPLETE(llmperf_ledger, LP_LEDGER_FIELDS);
COMPLETE(llmperf_region_stats, LP_REGION_FIELDS);
COMPLETE(llmperf_kernel_stats, LP_KERNEL_FIELDS);
COMPLETE(llmperf_kernel_shape, LP_KERNEL_SHAPE_FIELDS);
COMPLETE(llmperf_operator_stats, LP_OPERATOR_FIELDS);
COMPLETE(llmperf_iteration_stats, LP_SPREAD_FIELDS);
COMPLETE(llmperf_metric_stats, LP_METRIC_FIELDS);
COMPLETE(llmperf_iteration, LP_ITERATION_FIELDS);
COMPLETE(llmperf_window_stats, LP_WINDOW_FIELDS);
COMPLETE(llmperf_window_kernel, LP_WINDOW_KERNEL_FIELDS);
COMPLETE(llmperf_capture_stats, LP_CAPTURE_FIELDS);
COMPLETE(llmperf_advice, LP_ADVICE_FIELDS);
COMPLETE(llmperf_requests, LP_REQUESTS_FIELDS);
COMPLETE(llmperf_latency, LP_LATENCY_FIELDS);
COMPLETE(llmperf_slow_request, LP_SLOW_REQUEST_FIELDS);
COMPLETE(llmperf_load, LP_LOAD_FIELDS);
COMPLETE(llmperf_host_call, LP_HOST_CALL_FIELDS);
COMPLETE(llmperf_energy, LP_ENERGY_FIELDS);
COMPLETE(llmperf_memory, LP_MEMORY_FIELDS);

#define TIME(constant, name, level, heading) { #name, #name "_ms", level, heading },
const struct lp_time_name lp_time_names[LP_TIMES] = { LP_ITERATION_TIMES(TIME) };

#define LIST(fields, size, row, list)                                                              \
    fields, LP_LENGTH(fields), size, sizeof(row), offsetof(llmperf_profile, list)
#define FOUND(fields, row)                                                                         \
    {                                                                                              \
        NULL, NULL, fields, LP_LENGTH(fields), 0, sizeof(row), 0                                   \
    }
#define ROWS(fields, public, row, list) LIST(fields, sizeof(public), row, list)

const struct lp_row_kind lp_row_kinds[] = {
    [LP_ROW_LEDGER] = { "ledger", "ledger",
                        ROWS(ledger_fields, llmperf_ledger, llmperf_ledger, ledger) },
    [LP_ROW_REGION] = { "region", "region",
                        ROWS(region_fields, llmperf_region_stats, struct lp_region_row, regions) },
    [LP_ROW_KERNEL] = { "kernel", "kernel",
                        ROWS(kernel_fields, llmperf_kernel_stats, struct lp_kernel_row, kernels) },
    [LP_ROW_OPERATOR] = { NULL, "operator",
                          ROWS(operator_fields, llmperf_operator_stats, llmperf_operator_stats,
                               operators) },
    [LP_ROW_SPREAD] = { "iteration_stats", "iterations",
                        ROWS(spread_fields, llmperf_iteration_stats, struct lp_iteration_stats_row,
                             iteration_stats) },
    [LP_ROW_METRIC] = { "metric", "metric",
                        ROWS(metric_fields, llmperf_metric_stats, llmperf_metric_stats, metrics) },
    [LP_ROW_ITERATION] = { "iteration", NULL,
                           ROWS(iteration_fields, llmperf_iteration, llmperf_iteration,
                                iterations) },
    [LP_ROW_WINDOW] = { "deep_window", NULL,
                        ROWS(window_fields, llmperf_window_stats, llmperf_window_stats, windows) },
    [LP_ROW_WINDOW_KERNEL] = { "deep_window_kernel", NULL,
                               ROWS(window_kernel_fields, llmperf_window_kernel,
                                    llmperf_window_kernel, window_kernels) },
    [LP_ROW_CAPTURE] = { NULL, NULL,
                         ROWS(capture_fields, llmperf_capture_stats, llmperf_capture_stats,
                              captures) },
    [LP_ROW_FACT] = { "fact", NULL, LIST(fact_fields, 0, struct lp_fact, facts) },
    [LP_ROW_PROBLEM] = { "problem", NULL, LIST(line_fields, 0, const char *, problems) },
    [LP_ROW_NOTE] = { "note", NULL, LIST(line_fields, 0, const char *, notes) },
    [LP_ROW_KERNEL_SHAPE] = { "kernel_shape", "kernel_shape",
                              ROWS(kernel_shape_fields, llmperf_kernel_shape, llmperf_kernel_shape,
                                   kernel_shapes) },
    [LP_ROW_REQUESTS] = { "requests", "requests",
                          ROWS(requests_fields, llmperf_requests, llmperf_requests, requests) },
    [LP_ROW_LATENCY] = { "latency", "latency",
                         ROWS(latency_fields, llmperf_latency, struct lp_latency_row, latencies) },
    [LP_ROW_SLOW_REQUEST] = { "slow_request", NULL,
                              ROWS(slow_request_fields, llmperf_slow_request, llmperf_slow_request,
                                   slow_requests) },
    [LP_ROW_LOAD] = { "load", NULL, ROWS(load_fields, llmperf_load, llmperf_load, load) },
    [LP_ROW_MEMORY] = { "memory", "memory",
                        ROWS(memory_fields, llmperf_memory, llmperf_memory, memory) },
    [LP_ROW_MEMORY_POINT] = { "memory_point", NULL,
                              LIST(memory_point_fields, 0, struct lp_memory_point, memory_points) },
    [LP_ROW_STALL] = { "stall", "stall", LIST(stall_fields, 0, struct lp_stall, stalls) },
    [LP_ROW_HOT_INSTRUCTION] = { "hot_instruction", "hot_instruction",
                                 LIST(hot_instruction_fields, 0, struct lp_hot_instruction,
                                      hot_instructions) },
    [LP_ROW_HOST_CALL] = { "host_call", "host_call",
                           ROWS(host_call_fields, llmperf_host_call, llmperf_host_call,
                                host_calls) },
    [LP_ROW_ENERGY] = { "energy", "energy",
                        ROWS(energy_fields, llmperf_energy, llmperf_energy, energy) },
    [LP_ROW_ADVICE] = FOUND(advice_fields, llmperf_advice),
    [LP_ROW_STAGE_OPERATOR] = { "stage_operator", NULL,
                                LIST(stage_operator_fields, 0, struct lp_stage_operator,
                                     stage_operators) },
    [LP_ROW_DEVICE] = { "device_time", NULL,
                        LIST(device_fields, 0, struct lp_device_time, devices) },
    [LP_ROW_COLLECTIVE_CALLS] = { "collective_calls", NULL,
                                  LIST(collective_calls_fields, 0, struct lp_collective_row,
                                       collectives) },
    [LP_ROW_RANK] = FOUND(rank_fields, struct lp_rank),
    [LP_ROW_COLLECTIVE] = FOUND(collective_fields, struct lp_collective),
    [LP_ROW_CLASS] = FOUND(class_fields, struct lp_class_total),
    [LP_ROW_KERNEL_WORK] = FOUND(work_fields, struct lp_kernel_work),
    [LP_ROW_NCU_KERNEL] = FOUND(ncu_fields, struct lp_ncu_kernel),
};

/* Common layout of the row vectors: only the type of `items` differs. */
struct list {
    void *items;
    size_t count, capacity;
};

static struct list list_of(const llmperf_profile *profile, enum lp_row_id id)
{
    struct list list;

    memcpy(&list, (const char *)profile + lp_row_kinds[id].list, sizeof(list));
    return list;
}

size_t lp_row_count(const llmperf_profile *profile, enum lp_row_id id)
{
    return id == LP_ROW_LEDGER ? 1 : list_of(profile, id).count;
}

const void *lp_row_at(const llmperf_profile *profile, enum lp_row_id id, size_t index)
{
    struct list list;

    if (id == LP_ROW_LEDGER)
        return &profile->ledger;
    list = list_of(profile, id);
    return index < list.count ? (char *)list.items + index * lp_row_kinds[id].row_size : NULL;
}

int lp_row_push(llmperf_profile *profile, enum lp_row_id id, const void *row)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    struct list list;
    int status = 0;

    if (id == LP_ROW_LEDGER) {
        memcpy(&profile->ledger, row, kind->row_size);
        return 0;
    }
    list = list_of(profile, id);
    if (list.count == list.capacity)
        status = lp_vector_grow(&list.items, list.count, &list.capacity, 1, kind->row_size);
    if (status == 0)
        memcpy((char *)list.items + list.count++ * kind->row_size, row, kind->row_size);
    memcpy((char *)profile + kind->list, &list, sizeof(list));
    return status;
}

static bool keep_blob(llmperf_profile *profile, struct lp_blob *blob)
{
    if (!blob->bytes)
        return true;
    blob->bytes = lp_strings_add_bytes(&profile->pool, blob->bytes, blob->size);
    return blob->bytes != NULL;
}

static bool keep_text(llmperf_profile *profile, const char **text)
{
    const char *copy = lp_profile_text(profile, *text);
    bool fine = copy || !*text;

    *text = copy;
    return fine;
}

int lp_row_keep(llmperf_profile *profile, enum lp_row_id id, void *row)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    bool fine = true;

    for (size_t i = 0; i < kind->count && fine; i++) {
        void *at = (char *)row + kind->fields[i].offset;

        if (kind->fields[i].merge == LP_MERGE_DERIVED && kind->fields[i].type == LP_FIELD_TEXT)
            lp_field_forget(&kind->fields[i], row);
        else if (kind->fields[i].type == LP_FIELD_BLOB)
            fine = keep_blob(profile, at);
        else if (kind->fields[i].type == LP_FIELD_NAME || kind->fields[i].type == LP_FIELD_TEXT)
            fine = keep_text(profile, at);
    }
    return fine ? 0 : lp_out_of_memory();
}

static uint64_t word_of(const struct lp_row_field *field, const void *at)
{
    const struct lp_blob *blob = at;
    const char *text;
    uint64_t word = 0;

    switch (field->type) {
    case LP_FIELD_NAME:
    case LP_FIELD_TEXT:
        text = *(const char *const *)at;
        return text ? lp_hash_text(text, strlen(text)) : 1;
    case LP_FIELD_WORD:
    case LP_FIELD_DEVICE:
        return *(const uint32_t *)at;
    case LP_FIELD_COUNT:
    case LP_FIELD_NUMBER:
        memcpy(&word, at, sizeof(word));
        return word;
    case LP_FIELD_BLOB:
        return blob->bytes ? lp_hash_text(blob->bytes, blob->size) : 0;
    }
    return word;
}

static bool is_key(const struct lp_row_field *field)
{
    return field->merge == LP_MERGE_KEY;
}

uint64_t lp_row_hash(enum lp_row_id id, const void *row,
                     bool (*wanted)(const struct lp_row_field *))
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    uint64_t hash = 1;

    for (size_t i = 0; i < kind->count; i++) {
        const struct lp_row_field *field = &kind->fields[i];

        if (!(wanted ? wanted : is_key)(field))
            continue;
        hash = (hash ^ word_of(field, (const char *)row + field->offset)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static int compare_values(const struct lp_row_field *field, const void *a, const void *b)
{
    uint64_t left, right;

    if (field->type == LP_FIELD_NAME || field->type == LP_FIELD_TEXT)
        return lp_compare_text(*(const char *const *)a, *(const char *const *)b);
    if (field->type == LP_FIELD_DEVICE)
        return *(const int32_t *)a - *(const int32_t *)b;
    left = word_of(field, a);
    right = word_of(field, b);
    return LP_ORDER(left, right);
}

int lp_row_compare(enum lp_row_id id, const void *a, const void *b)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    int order = 0;

    for (size_t i = 0; i < kind->count && order == 0; i++) {
        size_t offset = kind->fields[i].offset;

        if (is_key(&kind->fields[i]))
            order = compare_values(&kind->fields[i], (const char *)a + offset,
                                   (const char *)b + offset);
    }
    return order;
}

static void add_count(uint64_t *into, uint64_t more)
{
    if (*into == LLMPERF_UNKNOWN || more == LLMPERF_UNKNOWN)
        *into = LLMPERF_UNKNOWN;
    else
        *into = *into + more < more ? LLMPERF_UNKNOWN - 1 : *into + more;
}

static void limit_count(enum lp_merge merge, uint64_t *into, uint64_t more)
{
    bool wanted = merge == LP_MERGE_MIN || merge == LP_MERGE_MAX;

    if (wanted && more != LLMPERF_UNKNOWN &&
        (*into == LLMPERF_UNKNOWN || (merge == LP_MERGE_MAX) == (more > *into)))
        *into = more;
}

static double mean_of(double a, double b, double weight_a, double weight_b)
{
    if (isnan(a))
        return b;
    return isnan(b) || weight_a + weight_b <= 0
               ? a
               : (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

static double added(enum lp_merge merge, double a, double b, double weight_a, double weight_b)
{
    switch (merge) {
    case LP_MERGE_SUM:
        return a + b;
    case LP_MERGE_SUM_KNOWN:
        return isnan(a) ? b : isnan(b) ? a : a + b;
    case LP_MERGE_MIN:
        return fmin(a, b);
    case LP_MERGE_MAX:
        return fmax(a, b);
    case LP_MERGE_WEIGHTED:
        return mean_of(a, b, weight_a, weight_b);
    default:
        return a;
    }
}

void lp_row_add(enum lp_row_id id, void *into, const void *more, double weight_into,
                double weight_more)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];

    for (size_t i = 0; i < kind->count; i++) {
        const struct lp_row_field *field = &kind->fields[i];
        void *to = (char *)into + field->offset;
        const void *from = (const char *)more + field->offset;

        if (field->type == LP_FIELD_COUNT && field->merge == LP_MERGE_SUM)
            add_count(to, *(const uint64_t *)from);
        else if (field->type == LP_FIELD_COUNT)
            limit_count(field->merge, to, *(const uint64_t *)from);
        else if (field->type == LP_FIELD_NUMBER)
            *(double *)to =
                added(field->merge, *(double *)to, *(const double *)from, weight_into, weight_more);
    }
}

bool lp_field_known(const struct lp_row_field *field, const void *row)
{
    const void *at = (const char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_NAME:
    case LP_FIELD_TEXT:
        return *(const char *const *)at != NULL;
    case LP_FIELD_DEVICE:
        return *(const int32_t *)at >= 0;
    case LP_FIELD_COUNT:
        return *(const uint64_t *)at != LLMPERF_UNKNOWN;
    case LP_FIELD_NUMBER:
        return isfinite(*(const double *)at);
    case LP_FIELD_BLOB:
        return ((const struct lp_blob *)at)->bytes != NULL;
    case LP_FIELD_WORD:
        break;
    }
    return true;
}

void lp_field_forget(const struct lp_row_field *field, void *row)
{
    void *at = (char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_TEXT:
        *(const char **)at = NULL;
        break;
    case LP_FIELD_DEVICE:
        *(int32_t *)at = -1;
        break;
    case LP_FIELD_COUNT:
        *(uint64_t *)at = LLMPERF_UNKNOWN;
        break;
    case LP_FIELD_NUMBER:
        *(double *)at = NAN;
        break;
    case LP_FIELD_BLOB:
        *(struct lp_blob *)at = (struct lp_blob){ NULL, 0 };
        break;
    case LP_FIELD_NAME:
    case LP_FIELD_WORD:
        break;
    }
}

void lp_row_forget(enum lp_row_id id, void *row)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];

    for (size_t i = 0; i < kind->count; i++)
        if (kind->fields[i].unknown != LP_UNKNOWN_NEVER && kind->fields[i].type != LP_FIELD_BLOB)
            lp_field_forget(&kind->fields[i], row);
}

double lp_field_value(const struct lp_row_field *field, const void *row)
{
    const void *at = (const char *)row + field->offset;

    if (field->type == LP_FIELD_NUMBER)
        return *(const double *)at;
    if (field->type == LP_FIELD_WORD)
        return *(const uint32_t *)at;
    return field->type == LP_FIELD_COUNT && lp_field_known(field, row)
               ? (double)*(const uint64_t *)at
               : (double)NAN;
}

#define PERCENTILE(F, p, fraction, text, series)                                                   \
    { #p,                                                                                          \
      "wall_" #p "_ms",                                                                            \
      fraction,                                                                                    \
      offsetof(llmperf_region_stats, wall_##p##_ms),                                               \
      offsetof(llmperf_kernel_stats, p##_ms),                                                      \
      offsetof(llmperf_iteration_stats, p##_ms) },
const struct lp_percentile lp_percentiles[] = { LP_PERCENTILES(PERCENTILE, ) };

static size_t percentile_offset(enum lp_row_id id, size_t number)
{
    const struct lp_percentile *percentile = &lp_percentiles[number];

    return id == LP_ROW_REGION   ? percentile->region
           : id == LP_ROW_KERNEL ? percentile->kernel
                                 : percentile->spread;
}

enum lp_iteration_time lp_time_named(const char *name)
{
    enum lp_iteration_time time = 0;

    while (time < LP_TIMES && strcmp(lp_time_names[time].name, name) != 0)
        time++;
    return time;
}

double lp_percentile(enum lp_row_id id, const void *row, size_t number)
{
    return *(const double *)(const void *)((const char *)row + percentile_offset(id, number));
}

void lp_set_percentiles(enum lp_row_id id, void *row, const struct lp_histogram *histogram,
                        double min_ms, double max_ms)
{
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++) {
        double *at = (double *)(void *)((char *)row + percentile_offset(id, i));

        *at = histogram
                  ? lp_histogram_percentile(histogram, lp_percentiles[i].fraction, min_ms, max_ms)
                  : (double)NAN;
    }
}
