/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/nvtx_payload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/regions/nvtx_in.h"

#define SCHEMAS_MOST  256u
#define PAYLOADS_MOST 16
#define MESSAGE_SIZE  "Message size" /* how NCCL begins the name of the entry */

/* Schemas that have a message size. */
struct schema {
    const struct lp_nvtx_domain *domain;
    _Atomic(uint64_t) id; /* set last; 0: not complete */
    size_t offset, width;
};

static struct schema schemas[SCHEMAS_MOST];
static _Atomic(uint32_t) schema_count;
static _Atomic(uint64_t) next_id = LP_NVTX_SCHEMA_DYNAMIC;

/* 0: not known. Types follow each other in the order of C's integers. */
static size_t size_of(uint64_t type)
{
    static const uint8_t sizes[] = {
        [1] = 1,
        1,
        sizeof(short),
        sizeof(short),
        sizeof(int),
        sizeof(int),
        sizeof(long),
        sizeof(long),
        sizeof(long long),
        sizeof(long long),
        1,
        1,
        2,
        2,
        4,
        4,
        8,
        8,
        sizeof(float),
        sizeof(double),
        sizeof(long double),
        sizeof(size_t),
        sizeof(void *),
    };

    return type < sizeof(sizes) ? sizes[type] : 0;
}

static bool is_message(const struct lp_nvtx_schema_entry *entry, size_t width)
{
    return entry->name && strncmp(entry->name, MESSAGE_SIZE, strlen(MESSAGE_SIZE)) == 0 &&
           entry->flags == 0 && (width == sizeof(uint32_t) || width == sizeof(uint64_t));
}

/* An offset that is not given follows from the entries before it. */
static bool find_message(const struct lp_nvtx_schema *attributes, size_t *offset_out,
                         size_t *width_out)
{
    size_t end = 0;

    for (size_t i = 0; attributes->entries && i < attributes->entry_count; i++) {
        const struct lp_nvtx_schema_entry *entry = &attributes->entries[i];
        size_t width = size_of(entry->type);
        size_t offset = entry->offset ? (size_t)entry->offset
                        : width       ? (end + width - 1) / width * width
                                      : end;

        if (is_message(entry, width)) {
            *offset_out = offset;
            *width_out = width;
            return true;
        }
        if (width == 0 && i + 1 < attributes->entry_count && attributes->entries[i + 1].offset == 0)
            return false;
        end = offset + width;
    }
    return false;
}

uint64_t lp_nvtx_schema_register(const void *domain, const struct lp_nvtx_schema *attributes)
{
    const struct lp_nvtx_domain *of = lp_nvtx_domain_of_handle(domain);
    bool has_id = attributes && attributes->fields & LP_NVTX_SCHEMA_HAS_ID;
    size_t offset, width;
    uint32_t at;
    uint64_t id;

    if (!attributes || !of)
        return 0;
    id = has_id ? attributes->id : atomic_fetch_add(&next_id, 1);
    if (!find_message(attributes, &offset, &width) || atomic_load(&schema_count) >= SCHEMAS_MOST ||
        (at = atomic_fetch_add(&schema_count, 1)) >= SCHEMAS_MOST)
        return id;
    schemas[at].domain = of;
    schemas[at].offset = offset;
    schemas[at].width = width;
    atomic_store(&schemas[at].id, id);
    return id;
}

static uint64_t read_message(const struct schema *schema, const struct lp_nvtx_payload *payload)
{
    const char *at = payload->bytes;
    uint32_t word = 0;
    uint64_t value = 0;

    if (!at || payload->size < schema->offset + schema->width)
        return 0;
    if (schema->width == sizeof(word))
        memcpy(&word, at + schema->offset, sizeof(word));
    else
        memcpy(&value, at + schema->offset, sizeof(value));
    return value + word;
}

uint64_t lp_nvtx_message_bytes(const void *domain, const struct lp_nvtx_attributes *attributes)
{
    const struct lp_nvtx_domain *of = lp_nvtx_domain_of_handle(domain);
    const struct lp_nvtx_payload *payloads = attributes->payload.pointer;
    uint32_t count = atomic_load(&schema_count);

    count = count < SCHEMAS_MOST ? count : SCHEMAS_MOST;
    if (attributes->payload_type != LP_NVTX_PAYLOAD_EXTENDED || !payloads ||
        attributes->reserved > PAYLOADS_MOST)
        return 0;
    for (int32_t i = 0; i < attributes->reserved; i++)
        for (uint32_t k = count; k-- > 0;)
            if (atomic_load(&schemas[k].id) == payloads[i].schema && schemas[k].domain == of)
                return read_message(&schemas[k], &payloads[i]);
    return 0;
}
