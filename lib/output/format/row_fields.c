/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/format/row_fields.h"

#include <string.h>

const void *lp_shown_row(const llmperf_profile *profile, enum lp_row_id id, size_t index,
                         llmperf_ledger *ledger)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    const struct lp_findings *findings;

    if (id == LP_ROW_KERNEL_SHAPE && lp_findings_of(profile, &findings) == 0)
        return &findings->kernel_shapes.rows.items[index];
    if (id != LP_ROW_LEDGER)
        return lp_row_at(profile, id, index);
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    llmperf_profile_ledger(profile, ledger);
    for (size_t i = 0; ledger->verdict == LLMPERF_VERDICT_NO_DEVICE && i < kind->count; i++)
        if (kind->fields[i].unknown == LP_UNKNOWN_NO_SOURCE)
            lp_field_forget(&kind->fields[i], ledger);
    return ledger;
}

void lp_field_json(struct lp_json *json, const struct lp_row_field *field, const char *key,
                   const void *row)
{
    const void *at = (const char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_NAME:
    case LP_FIELD_TEXT:
        lp_json_string(json, key, *(const char *const *)at);
        break;
    case LP_FIELD_WORD:
        lp_json_count(json, key, *(const uint32_t *)at);
        break;
    case LP_FIELD_DEVICE:
        lp_json_count(json, key,
                      *(const int32_t *)at < 0 ? LLMPERF_UNKNOWN : *(const uint32_t *)at);
        break;
    case LP_FIELD_COUNT:
        lp_json_count(json, key, *(const uint64_t *)at);
        break;
    case LP_FIELD_NUMBER:
        lp_json_number(json, key, *(const double *)at);
        break;
    case LP_FIELD_BLOB:
        break;
    }
}

/* Name of a field in `object`; NULL: it is not a member. */
static const char *member_of(const struct lp_row_field *field, const char *object)
{
    size_t length = object ? strlen(object) : 0;

    if (!field->json)
        return NULL;
    if (!object)
        return strchr(field->json, '.') ? NULL : field->json;
    return strncmp(field->json, object, length) == 0 && field->json[length] == '.'
               ? field->json + length + 1
               : NULL;
}

void lp_row_json(struct lp_json *json, enum lp_row_id id, const void *row)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];

    for (size_t i = 0; i < kind->count; i++)
        if (kind->fields[i].json)
            lp_field_json(json, &kind->fields[i], kind->fields[i].json, row);
}

/* LP_REASON_COUNT: the value is known, or has its own reason. */
static enum lp_reason reason_of(const struct lp_metrics *metrics, enum lp_unknown unknown,
                                uint64_t instances)
{
    bool device = metrics->findings->device_known;

    switch (unknown) {
    case LP_UNKNOWN_NO_SOURCE:
    case LP_UNKNOWN_NOT_COLLECTED:
        return LP_REASON_NOT_COLLECTED;
    case LP_UNKNOWN_NO_DEVICE:
        return LP_REASON_NO_DEVICE;
    case LP_UNKNOWN_NO_INSTANCE:
        return LP_REASON_NO_INSTANCE;
    case LP_UNKNOWN_NO_IDLE:
        return !device          ? LP_REASON_NO_DEVICE
               : instances == 0 ? LP_REASON_NO_INSTANCE
                                : LP_REASON_NO_ACTIVITY;
    case LP_UNKNOWN_NOT_COUNTED:
        return LP_REASON_NOT_COUNTED;
    case LP_UNKNOWN_NO_SPAN:
        return LP_REASON_NO_SPAN;
    case LP_UNKNOWN_NO_ENERGY:
        return LP_REASON_NO_ENERGY;
    case LP_UNKNOWN_UNLIKE_RANKS:
        return LP_REASON_UNLIKE_RANKS;
    case LP_UNKNOWN_FEW:
        return LP_REASON_FEW;
    case LP_UNKNOWN_NOT_STAGE:
        return LP_REASON_NOT_STAGE;
    case LP_UNKNOWN_NEVER:
    case LP_UNKNOWN_OTHER:
        break;
    }
    return LP_REASON_COUNT;
}

/* Is a field of this kind unknown in this profile, whatever its row contains? */
static bool is_absent(const struct lp_metrics *metrics, enum lp_unknown unknown, uint64_t instances)
{
    bool of_device = unknown == LP_UNKNOWN_NO_DEVICE || unknown == LP_UNKNOWN_NO_IDLE;
    bool of_instances = unknown == LP_UNKNOWN_NO_INSTANCE || unknown == LP_UNKNOWN_NO_IDLE;

    return (of_device && !metrics->findings->device_known) || (of_instances && instances == 0);
}

static void put_field(struct lp_metrics *metrics, const struct lp_row_field *field, const char *key,
                      const void *row, uint64_t instances)
{
    enum lp_reason reason = reason_of(metrics, field->unknown, instances);

    if (field->type == LP_FIELD_DEVICE && field->unknown == LP_UNKNOWN_NO_DEVICE)
        lp_put_device(metrics, *(const int32_t *)(const void *)((const char *)row + field->offset));
    else if (is_absent(metrics, field->unknown, instances))
        lp_put_null(metrics, key, reason);
    else {
        lp_field_json(&metrics->json, field, key, row);
        if (reason != LP_REASON_COUNT && !lp_field_known(field, row))
            metrics->used[reason] = true;
    }
}

void lp_put_row(struct lp_metrics *metrics, enum lp_row_id id, const char *object, const void *row,
                uint64_t instances)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];

    for (size_t i = 0; i < kind->count; i++) {
        const char *key = member_of(&kind->fields[i], object);

        if (key)
            put_field(metrics, &kind->fields[i], key, row, instances);
    }
}
