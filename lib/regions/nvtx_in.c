/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX tool: each shared object that uses NVTX initialises it at its first call and gets these
 * functions. */
#include <string.h>

#include "lib/base/status.h"
#include "lib/regions/capture.h"
#include "lib/regions/nvtx_abi.h"
#include "lib/regions/nvtx_in.h"
#include "lib/regions/nvtx_payload.h"
#include "lib/regions/region_stack.h"

static void count(struct lp_thread *thread, uint32_t quantity, uint64_t amount)
{
    if (amount > 0 && thread->depth <= LLMPERF_REGION_DEPTH && lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_COUNT, (uint16_t)quantity, thread->node, amount);
}

/* A number has no unit, except in domain LLM: there it is the number of tokens. A payload with a
 * schema may be that of a message between GPUs. */
static void count_payload(struct lp_thread *thread, const struct lp_nvtx_domain *domain,
                          const struct lp_nvtx_attributes *attributes)
{
    int64_t amount = 0;

    switch (attributes->payload_type) {
    case LP_NVTX_PAYLOAD_UINT64:
    case LP_NVTX_PAYLOAD_INT64:
        amount = attributes->payload.i64;
        break;
    case LP_NVTX_PAYLOAD_UINT32:
        amount = attributes->payload.u32;
        break;
    case LP_NVTX_PAYLOAD_INT32:
        amount = attributes->payload.i32;
        break;
    case LP_NVTX_PAYLOAD_EXTENDED:
        count(thread, LLMPERF_QUANTITY_MESSAGE_BYTES, lp_nvtx_message_bytes(domain, attributes));
        return;
    }
    if (strcmp(domain->name, "LLM") == 0)
        count(thread, LLMPERF_QUANTITY_TOKENS, amount > 0 ? (uint64_t)amount : 0);
}

static struct lp_nvtx_string *string_of(const struct lp_nvtx_attributes *attributes)
{
    return attributes && attributes->message_type == LP_NVTX_MESSAGE_REGISTERED
               ? (struct lp_nvtx_string *)(uintptr_t)attributes->message.registered
               : NULL;
}

static void open_range(struct lp_thread *thread, const struct lp_nvtx_domain **domain,
                       const char *text, struct lp_nvtx_string *string, uint32_t owner)
{
    struct lp_range range;
    uint32_t node = lp_nvtx_node(thread, thread->node, domain, text, string, &range);

    if (node == LP_PATH_UNKNOWN) {
        lp_stack_open_hidden(thread, owner);
        return;
    }
    lp_stack_open(thread, node, owner);
    for (uint32_t i = 0; range.rule && i < range.work.count; i++)
        count(thread, range.work.quantities[i], range.work.amounts[i]);
}

/* The range's level in its domain, from 0, as NVTX returns it; negative: none. */
static int push_text(const struct lp_nvtx_domain *domain, const char *text,
                     const struct lp_nvtx_attributes *attributes)
{
    struct lp_thread *thread = lp_thread_get();
    const struct lp_nvtx_domain *object = domain;

    if (!thread || !domain)
        return -1;
    if (thread->depth < LLMPERF_REGION_DEPTH)
        /* The level belongs to the domain that the program will pop, even if the label names
         * another one. */
        open_range(thread, &domain, text, string_of(attributes), object->owner);
    else
        thread->depth++;
    if (attributes && attributes->payload_type != 0)
        count_payload(thread, domain, attributes);
    return (int)lp_stack_depth(thread, object->owner) - 1;
}

static int pop(const struct lp_nvtx_domain *domain)
{
    struct lp_thread *thread = lp_thread_get();

    if (!thread || !domain || !lp_stack_close(thread, domain->owner))
        return -1;
    return (int)lp_stack_depth(thread, domain->owner);
}

static uint64_t start_text(const struct lp_nvtx_domain *domain, const char *text)
{
    struct lp_thread *thread = lp_thread_get();
    struct lp_range range;

    if (!thread || !domain)
        return 0;
    return lp_nvtx_range_start(lp_nvtx_node(thread, LP_PATH_ROOT, &domain, text, NULL, &range));
}

/* Text of a range, maybe in `buffer`. */
static const char *read_message(const struct lp_nvtx_attributes *attributes, char *buffer,
                                size_t size)
{
    if (!attributes)
        return "";
    switch (attributes->message_type) {
    case LP_NVTX_MESSAGE_ASCII:
        return attributes->message.ascii;
    case LP_NVTX_MESSAGE_WIDE:
        return lp_nvtx_narrow(buffer, size, attributes->message.wide);
    case LP_NVTX_MESSAGE_REGISTERED:
        return string_of(attributes) ? string_of(attributes)->text : "";
    default:
        return "";
    }
}

/* Functions for the tables */

static int domain_range_push(const void *handle, const struct lp_nvtx_attributes *attributes)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return push_text(lp_nvtx_domain_of_handle(handle),
                     read_message(attributes, buffer, sizeof(buffer)), attributes);
}

static int domain_range_pop(const void *handle)
{
    return pop(lp_nvtx_domain_of_handle(handle));
}

static uint64_t domain_range_start(const void *handle, const struct lp_nvtx_attributes *attributes)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return start_text(lp_nvtx_domain_of_handle(handle),
                      read_message(attributes, buffer, sizeof(buffer)));
}

static void domain_range_end(const void *handle, uint64_t id)
{
    (void)handle;
    lp_nvtx_range_end(lp_thread_get(), id);
}

static int range_push_ex(const struct lp_nvtx_attributes *attributes)
{
    return domain_range_push(NULL, attributes);
}

static int range_push_a(const char *text)
{
    return push_text(lp_nvtx_domain_of_handle(NULL), text, NULL);
}

static int range_push_w(const wchar_t *text)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return range_push_a(lp_nvtx_narrow(buffer, sizeof(buffer), text));
}

static int range_pop(void)
{
    return domain_range_pop(NULL);
}

static uint64_t range_start_ex(const struct lp_nvtx_attributes *attributes)
{
    return domain_range_start(NULL, attributes);
}

static uint64_t range_start_a(const char *text)
{
    return start_text(lp_nvtx_domain_of_handle(NULL), text);
}

static uint64_t range_start_w(const wchar_t *text)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return range_start_a(lp_nvtx_narrow(buffer, sizeof(buffer), text));
}

static void range_end(uint64_t id)
{
    domain_range_end(NULL, id);
}

static const void *register_string_a(const void *handle, const char *text)
{
    return lp_nvtx_string_of(lp_nvtx_domain_of_handle(handle), text ? text : "");
}

static const void *register_string_w(const void *handle, const wchar_t *text)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return register_string_a(handle, lp_nvtx_narrow(buffer, sizeof(buffer), text));
}

static const void *domain_create_a(const char *name)
{
    return lp_nvtx_domain_of(name);
}

static const void *domain_create_w(const wchar_t *name)
{
    char buffer[LLMPERF_LABEL_BYTES];

    return lp_nvtx_domain_of(lp_nvtx_narrow(buffer, sizeof(buffer), name));
}

struct place {
    unsigned index;
    lp_nvtx_function function;
};

#define PLACE(index, function)                                                                     \
    {                                                                                              \
        index, (lp_nvtx_function)(function)                                                        \
    }

static const struct place core[] = {
    PLACE(LP_NVTX_RANGE_START_EX, range_start_ex), PLACE(LP_NVTX_RANGE_START_A, range_start_a),
    PLACE(LP_NVTX_RANGE_START_W, range_start_w),   PLACE(LP_NVTX_RANGE_END, range_end),
    PLACE(LP_NVTX_RANGE_PUSH_EX, range_push_ex),   PLACE(LP_NVTX_RANGE_PUSH_A, range_push_a),
    PLACE(LP_NVTX_RANGE_PUSH_W, range_push_w),     PLACE(LP_NVTX_RANGE_POP, range_pop),
};

static const struct place core2[] = {
    PLACE(LP_NVTX_DOMAIN_RANGE_START_EX, domain_range_start),
    PLACE(LP_NVTX_DOMAIN_RANGE_END, domain_range_end),
    PLACE(LP_NVTX_DOMAIN_RANGE_PUSH_EX, domain_range_push),
    PLACE(LP_NVTX_DOMAIN_RANGE_POP, domain_range_pop),
    PLACE(LP_NVTX_DOMAIN_REGISTER_STRING_A, register_string_a),
    PLACE(LP_NVTX_DOMAIN_REGISTER_STRING_W, register_string_w),
    PLACE(LP_NVTX_DOMAIN_CREATE_A, domain_create_a),
    PLACE(LP_NVTX_DOMAIN_CREATE_W, domain_create_w),
};

/* Tables of older NVTX versions are shorter: their programs cannot call the missing functions. */
static bool fill_module(const struct lp_nvtx_callbacks *callbacks, int module,
                        const struct place *places, size_t count)
{
    lp_nvtx_function **table = NULL;
    unsigned size = 0;

    if (!callbacks->module_table(module, &table, &size) || !table)
        return false;
    for (size_t i = 0; i < count; i++)
        if (places[i].index < size && table[places[i].index])
            *table[places[i].index] = places[i].function;
    return true;
}

/* Functions of the payload extension. A range whose name is only in the payload has no name. */

static int range_push_payload(const void *handle, const void *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    return domain_range_push(handle, NULL);
}

static int range_pop_payload(const void *handle, const void *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    return domain_range_pop(handle);
}

static uint64_t range_start_payload(const void *handle, const void *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    return domain_range_start(handle, NULL);
}

static void range_end_payload(const void *handle, uint64_t id, const void *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    domain_range_end(handle, id);
}

static const struct place payload[] = {
    PLACE(LP_NVTX_SCHEMA_REGISTER, lp_nvtx_schema_register),
    PLACE(LP_NVTX_RANGE_PUSH_PAYLOAD, range_push_payload),
    PLACE(LP_NVTX_RANGE_POP_PAYLOAD, range_pop_payload),
    PLACE(LP_NVTX_RANGE_START_PAYLOAD, range_start_payload),
    PLACE(LP_NVTX_RANGE_END_PAYLOAD, range_end_payload),
};

bool lp_nvtx_extend(const void *extension)
{
    const struct lp_nvtx_extension *object = extension;

    if (!object || object->struct_size < sizeof(*object) ||
        object->module != LP_NVTX_EXTENSION_PAYLOAD || object->segment_count < 1 ||
        !object->segments[0].slots)
        return false;
    for (size_t i = 0; i < LP_LENGTH(payload); i++)
        if (payload[i].index < object->segments[0].slot_count)
            object->segments[0].slots[payload[i].index] = (intptr_t)payload[i].function;
    return true;
}

int lp_nvtx_listen(const void *(*export_table)(uint32_t id))
{
    const struct lp_nvtx_callbacks *callbacks =
        export_table ? export_table(LP_NVTX_TABLE_CALLBACKS) : NULL;

    if (!callbacks || callbacks->struct_size < sizeof(*callbacks) || !callbacks->module_table)
        return lp_error(LLMPERF_ENOTSUP, "this NVTX shows no callbacks; NVTX 3 is needed");
    if (!lp_nvtx_domain_of_handle(NULL))
        return lp_out_of_memory();
    if (!fill_module(callbacks, LP_NVTX_MODULE_CORE, core, LP_LENGTH(core)))
        return lp_error(LLMPERF_ENOTSUP, "this NVTX has no ranges");
    fill_module(callbacks, LP_NVTX_MODULE_CORE2, core2, LP_LENGTH(core2));
    return 0;
}
