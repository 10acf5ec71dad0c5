/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "lib/base/varint.h"
#include "lib/vendor/wire.h"
#include "llmperf/api.h"

static bool take_varint(struct lp_wire *wire, uint64_t *value_out)
{
    struct lp_varint_reader reader = { wire->at, wire->at + wire->size, false };

    *value_out = lp_varint_get(&reader);
    wire->size -= (size_t)(reader.at - wire->at);
    wire->at = reader.at;
    return !reader.failed;
}

static bool take_fixed(struct lp_wire *wire, size_t size, uint64_t *value_out)
{
    *value_out = 0;
    if (wire->size < size)
        return false;
    for (size_t i = 0; i < size; i++)
        *value_out |= (uint64_t)wire->at[i] << (8 * i);
    wire->at += size;
    wire->size -= size;
    return true;
}

static bool take_bytes(struct lp_wire *wire, struct lp_wire *bytes_out)
{
    uint64_t size;

    if (!take_varint(wire, &size) || size > wire->size)
        return false;
    *bytes_out = (struct lp_wire){ wire->at, (size_t)size };
    wire->at += size;
    wire->size -= (size_t)size;
    return true;
}

static bool take_value(struct lp_wire *wire, struct lp_wire_field *field)
{
    switch (field->type) {
    case LP_WIRE_VARINT:
        return take_varint(wire, &field->value);
    case LP_WIRE_FIXED64:
        return take_fixed(wire, 8, &field->value);
    case LP_WIRE_BYTES:
        return take_bytes(wire, &field->bytes);
    case LP_WIRE_FIXED32:
        return take_fixed(wire, 4, &field->value);
    default: /* groups (obsolete), and invalid data */
        return false;
    }
}

int lp_wire_next(struct lp_wire *wire, struct lp_wire_field *field)
{
    uint64_t key;

    *field = (struct lp_wire_field){ .number = 0 };
    if (wire->size == 0)
        return 0;
    if (!take_varint(wire, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3)
        return LLMPERF_EFORMAT;
    field->number = (uint32_t)(key >> 3);
    field->type = key & 7;
    return take_value(wire, field) ? 1 : LLMPERF_EFORMAT;
}

int lp_wire_find(struct lp_wire message, uint32_t number, uint32_t type,
                 struct lp_wire_field *field)
{
    int status;

    while ((status = lp_wire_next(&message, field)) > 0)
        if (field->number == number && field->type == type)
            return 1;
    return status;
}
