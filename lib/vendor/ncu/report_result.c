/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a report: a kernel, a range, a list of commands or a graph, and its metrics. */
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/vendor/ncu/report.h"

/* Field numbers that differ between messages of results; shared fields have the same number in
 * all. */
static const struct {
    uint32_t metrics, state, created;
} fields[LP_NCU_KINDS] = {
    [LP_NCU_KERNEL] = { 13, 21, 14 },
    [LP_NCU_RANGE] = { 4, 10, 5 },
    [LP_NCU_COMMANDS] = { 4, 10, 5 },
    [LP_NCU_GRAPH] = { 4, 10, 5 },
};
enum {
    FIELD_THREAD = 1,
    FIELD_DEMANGLED = 7, /* of a kernel */
    FIELD_DISPLAY = 18   /* of a command list */
};
enum { METRIC_NAME = 1, METRIC_VALUE = 2 };
enum { VALUE_TEXT = 1, VALUE_FLOAT = 2, VALUE_DOUBLE = 3, VALUE_UINT32 = 4, VALUE_UINT64 = 5 };

/* A metric during reading. */
struct sample {
    uint64_t name; /* index in the table of names */
    bool known, is_text;
    double number;
    struct lp_wire text;
};

/* Contents of a result without its metrics. */
struct result {
    struct lp_wire message;
    uint32_t node;
    struct lp_wire name; /* of the kernel */
    int32_t device;
    int major, minor;
};

static double float_of(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float number;

    memcpy(&number, &half, sizeof(number));
    return (double)number;
}

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static int read_value(struct lp_wire value, struct sample *sample)
{
    struct lp_wire_field field;
    int status;

    while ((status = lp_wire_next(&value, &field)) > 0) {
        sample->known = true;
        sample->is_text = field.number == VALUE_TEXT && field.type == LP_WIRE_BYTES;
        if (sample->is_text)
            sample->text = field.bytes;
        else if (field.number == VALUE_FLOAT && field.type == LP_WIRE_FIXED32)
            sample->number = float_of(field.value);
        else if (field.number == VALUE_DOUBLE && field.type == LP_WIRE_FIXED64)
            sample->number = double_of(field.value);
        else if ((field.number == VALUE_UINT32 || field.number == VALUE_UINT64) &&
                 field.type == LP_WIRE_VARINT)
            sample->number = (double)field.value;
        else
            sample->known = false;
    }
    return status;
}

static int read_sample(struct lp_wire metric, struct sample *sample)
{
    struct lp_wire_field field;
    int status;

    *sample = (struct sample){ .name = UINT64_MAX };
    while ((status = lp_wire_next(&metric, &field)) > 0) {
        if (field.number == METRIC_NAME && field.type == LP_WIRE_VARINT)
            sample->name = field.value;
        else if (field.number == METRIC_VALUE && field.type == LP_WIRE_BYTES &&
                 (status = read_value(field.bytes, sample)) < 0)
            break;
    }
    return status;
}

/* Call `take` with each metric that has a value. 0, or its first negative result. */
static int each_sample(struct lp_ncu_report *report, enum lp_ncu_kind kind, struct result *result,
                       int (*take)(struct lp_ncu_report *report, struct result *result,
                                   const struct sample *sample, void *user),
                       void *user)
{
    struct lp_wire message = result->message;
    struct lp_wire_field field;
    struct sample sample;
    int status;

    while ((status = lp_wire_next(&message, &field)) > 0) {
        if (field.number != fields[kind].metrics || field.type != LP_WIRE_BYTES)
            continue;
        if ((status = read_sample(field.bytes, &sample)) < 0)
            return status;
        if (sample.name >= report->names.count)
            return LLMPERF_EFORMAT;
        if (sample.known && (status = take(report, result, &sample, user)) < 0)
            return status;
    }
    return status;
}

static const char *name_of(const struct lp_ncu_report *report, const struct sample *sample)
{
    return report->text.items + report->names.items[sample->name];
}

/* Before metrics are added: GPU, kernel, region */

static int look_for_device(struct lp_ncu_report *report, struct result *result,
                           const struct sample *sample, void *user)
{
    const char *name = name_of(report, sample);
    bool small = !sample->is_text && sample->number >= 0 && sample->number <= 65535;

    (void)user;
    if (small && strcmp(name, "launch__device_id") == 0)
        result->device = (int32_t)sample->number;
    else if (small && result->device < 0 && strcmp(name, "device__attribute_device_index") == 0)
        result->device = (int32_t)sample->number;
    else if (small && strcmp(name, "device__attribute_compute_capability_major") == 0)
        result->major = (int)sample->number;
    else if (small && strcmp(name, "device__attribute_compute_capability_minor") == 0)
        result->minor = (int)sample->number;
    return 0;
}

static int find_region(const struct lp_ncu_report *report, enum lp_ncu_kind kind,
                       struct result *result)
{
    struct lp_wire_field thread, state;
    int status = lp_wire_find(result->message, fields[kind].state, LP_WIRE_BYTES, &state);

    result->node = LP_PATH_UNKNOWN; /* ncu did not record ranges */
    if (status <= 0)
        return status;
    if (lp_wire_find(result->message, FIELD_THREAD, LP_WIRE_VARINT, &thread) <= 0)
        return LLMPERF_EFORMAT;
    return lp_ncu_state_path(state.bytes, thread.value,
                             kind == LP_NCU_RANGE && report->app_range ? 1 : SIZE_MAX,
                             report->ncu->flags, &result->node);
}

static int find_name(enum lp_ncu_kind kind, struct result *result)
{
    static const char *const usual[] = { NULL, "range", "cmdlist", "graph" };
    uint32_t number = kind == LP_NCU_KERNEL ? FIELD_DEMANGLED : FIELD_DISPLAY;
    struct lp_wire_field field;
    int status = 0;

    if (kind == LP_NCU_KERNEL || kind == LP_NCU_COMMANDS)
        status = lp_wire_find(result->message, number, LP_WIRE_BYTES, &field);
    if (status > 0)
        result->name = field.bytes;
    else if (status == 0 && kind == LP_NCU_KERNEL)
        status = LLMPERF_EFORMAT;
    else if (status == 0)
        result->name = (struct lp_wire){ (const uint8_t *)usual[kind], strlen(usual[kind]) };
    return status < 0 ? status : 0;
}

/* Bytes of a message as a NUL-terminated text; NULL: out of memory. */
static const char *text_of(struct lp_ncu_report *report, struct lp_wire bytes)
{
    report->word.count = 0;
    if (lp_vector_reserve(&report->word, bytes.size + 1) < 0)
        return NULL;
    if (bytes.size > 0)
        memcpy(report->word.items, bytes.at, bytes.size);
    report->word.items[bytes.size] = '\0';
    return report->word.items;
}

/* Metrics */

/* Row of the metric; LP_HASHMAP_NONE: out of memory. */
static uint32_t metric_of(struct lp_ncu_report *report, const struct sample *sample)
{
    uint32_t *row = &report->metrics.items[sample->name];
    const char *name = name_of(report, sample), *unit;

    if (*row != LP_HASHMAP_NONE)
        return *row;
    unit = lp_ncu_unit(name);
    report->units_missing += unit == NULL && !sample->is_text;
    *row = lp_ncu_metric(report->ncu, name, unit ? unit : "", NULL);
    return *row;
}

/* 1: the result had this metric already, and only the first counts; 0; or LLMPERF_ENOMEM. */
static int is_first(struct lp_ncu_report *report, uint32_t metric)
{
    while (report->seen.count <= metric)
        if (lp_vector_push(&report->seen, (uint64_t)0) < 0)
            return lp_out_of_memory();
    if (report->seen.items[metric] == report->results)
        return 0;
    report->seen.items[metric] = report->results;
    return 1;
}

/* Inputs of other metrics or of tables, which ncu does not print either. */
static bool is_list(const char *name)
{
    return strncmp(name, "breakdown:", 10) == 0 || strncmp(name, "group:", 6) == 0;
}

struct place {
    uint32_t target;
    bool again;
};

static int put_sample(struct lp_ncu_report *report, struct result *result,
                      const struct sample *sample, void *user)
{
    const struct place *place = user;
    struct lp_ncu_value *value;
    uint32_t metric;
    const char *text;
    int first;

    (void)result;
    if (is_list(name_of(report, sample)))
        return 0;
    metric = metric_of(report, sample);
    if (metric == LP_HASHMAP_NONE)
        return lp_out_of_memory();
    if ((first = is_first(report, metric)) <= 0)
        return first;
    if (!(value = lp_ncu_value(report->ncu, place->target, metric)))
        return report->ncu->left_out > 0 ? 0 : lp_out_of_memory();
    if (!sample->is_text)
        return lp_ncu_put_number(report->ncu, value, sample->number, place->again);
    if (!(text = text_of(report, sample->text)))
        return lp_out_of_memory();
    return lp_ncu_put_text(report->ncu, value, text, place->again);
}

static int begin_result(struct lp_ncu_report *report, enum lp_ncu_kind kind,
                        const struct result *result, struct place *place)
{
    bool range = kind == LP_NCU_RANGE && result->node != LP_PATH_UNKNOWN;
    const char *name = text_of(report, result->name);
    char id[32];
    int length = snprintf(id, sizeof(id), "%llu", (unsigned long long)report->results);

    if (!name)
        return lp_out_of_memory();
    place->target = lp_ncu_target(report->ncu, result->node, range ? NULL : name, result->device,
                                  report->process_id);
    if (place->target == LP_HASHMAP_NONE)
        return lp_out_of_memory();
    report->results++;
    return lp_ncu_result(report->ncu, place->target, lp_hash_text(id, (size_t)length), 1,
                         &place->again);
}

static void note_time(struct lp_ncu *ncu, enum lp_ncu_kind kind, struct lp_wire message)
{
    struct lp_wire_field created;

    if (lp_wire_find(message, fields[kind].created, LP_WIRE_VARINT, &created) > 0 &&
        (ncu->created_s == 0 || created.value < ncu->created_s))
        ncu->created_s = created.value;
}

int lp_ncu_report_result(struct lp_ncu_report *report, enum lp_ncu_kind kind,
                         struct lp_wire message)
{
    struct result result = { .message = message, .device = -1 };
    struct lp_ncu_target *target;
    struct place place;
    int status;

    /* Check the whole result first: a damaged one adds nothing. */
    if ((status = each_sample(report, kind, &result, look_for_device, NULL)) < 0 ||
        (status = find_region(report, kind, &result)) < 0 ||
        (status = find_name(kind, &result)) < 0 ||
        (status = lp_ncu_note_gpu(report->ncu, result.device, result.major, result.minor)) < 0 ||
        (status = begin_result(report, kind, &result, &place)) < 0)
        return status;
    note_time(report->ncu, kind, message);
    target = &report->ncu->targets.items[place.target];
    if (target->raw_file == 0)
        target->raw_file = report->ncu->file;
    if (place.again && target->raw_file != report->ncu->file) /* the same report again */
        return 0;
    return each_sample(report, kind, &result, put_sample, &place);
}
