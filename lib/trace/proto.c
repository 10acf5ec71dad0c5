/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/proto.h"

#include <string.h>

#include "lib/base/varint.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static uint8_t *put_key(uint8_t *at, uint32_t field, enum wire wire)
{
    return lp_varint_put(at, (uint64_t)field << 3 | (uint64_t)wire);
}

void lp_proto_number(struct lp_text *message, uint32_t field, uint64_t value)
{
    uint8_t bytes[2 * LP_VARINT_BYTES];
    const uint8_t *end = lp_varint_put(put_key(bytes, field, WIRE_VARINT), value);

    lp_text_add(message, (const char *)bytes, (size_t)(end - bytes));
}

void lp_proto_fixed64(struct lp_text *message, uint32_t field, uint64_t value)
{
    uint8_t bytes[2 * LP_VARINT_BYTES];
    uint8_t *end = put_key(bytes, field, WIRE_FIXED64);

    for (int i = 0; i < 8; i++)
        *end++ = (uint8_t)(value >> 8 * i);
    lp_text_add(message, (const char *)bytes, (size_t)(end - bytes));
}

void lp_proto_double(struct lp_text *message, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    lp_proto_fixed64(message, field, bits);
}

static void put_bytes(struct lp_text *message, uint32_t field, const char *content, size_t length)
{
    uint8_t bytes[2 * LP_VARINT_BYTES];
    const uint8_t *end = lp_varint_put(put_key(bytes, field, WIRE_BYTES), length);

    lp_text_add(message, (const char *)bytes, (size_t)(end - bytes));
    if (length > 0)
        lp_text_add(message, content, length);
}

void lp_proto_string(struct lp_text *message, uint32_t field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

void lp_proto_message(struct lp_text *message, uint32_t field, struct lp_text *inner)
{
    message->failed = message->failed || inner->failed;
    put_bytes(message, field, inner->bytes, inner->length);
    inner->length = 0;
}
