/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/kineto/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/status.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

#define WORD(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define NAME_BYTES    16384u   /* longer names are cut */
#define NUMBERS_MOST  65536u   /* threads, groups */
#define RANGES_THREAD 1000000u /* and up: threads of llmperf's traces for ranges on no stack */
#define MODULE_NAME   "nn.Module: "

/* What becomes of an event. */
enum role { NOTHING, KERNEL, MEMCPY, MEMSET, CALL, REGION, MODULE, COLLECTIVE, OVERHEAD };

struct event {
    enum role role;
    struct lp_json_text phase, name, process, thread, time, length, args;
};

/* Most texts differ in their lengths or first bytes. */
static bool is_same(struct lp_json_text text, struct lp_json_text word)
{
    return text.length == word.length && *text.at == *word.at &&
           memcmp(text.at, word.at, word.length) == 0;
}

/* By category, with the names of 2021 last. */
static enum role role_of(struct lp_json_text category)
{
    static const struct {
        struct lp_json_text category;
        enum role role;
    } roles[] = { { WORD("kernel"), KERNEL },     { WORD("gpu_memcpy"), MEMCPY },
                  { WORD("gpu_memset"), MEMSET }, { WORD("cuda_runtime"), CALL },
                  { WORD("cuda_driver"), CALL },  { WORD("user_annotation"), REGION },
                  { WORD("overhead"), OVERHEAD }, { WORD("python_function"), MODULE },
                  { WORD("cpu_op"), COLLECTIVE }, { WORD("Operator"), COLLECTIVE },
                  { WORD("Kernel"), KERNEL },     { WORD("Memcpy"), MEMCPY },
                  { WORD("Memset"), MEMSET },     { WORD("Runtime"), CALL } };

    for (size_t i = 0; i < LP_LENGTH(roles); i++)
        if (is_same(category, roles[i].category))
            return roles[i].role;
    return NOTHING;
}

static bool begins(struct lp_json_text text, const char *with)
{
    return text.length >= strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

/* Members that are kept as they are. */
static void keep_member(struct event *event, const struct lp_json_member *member)
{
    static const struct {
        struct lp_json_text key;
        size_t place;
    } places[] = { { WORD("ph"), offsetof(struct event, phase) },
                   { WORD("name"), offsetof(struct event, name) },
                   { WORD("pid"), offsetof(struct event, process) },
                   { WORD("tid"), offsetof(struct event, thread) },
                   { WORD("ts"), offsetof(struct event, time) },
                   { WORD("dur"), offsetof(struct event, length) },
                   { WORD("args"), offsetof(struct event, args) } };

    for (size_t i = 0; i < LP_LENGTH(places); i++)
        if (is_same(member->key, places[i].key))
            memcpy((char *)event + places[i].place, &member->value, sizeof(member->value));
}

/* Most events are skipped as soon as their kind is known. An annotation of a collective is inside
 * its operator, which says more. */
static bool is_skipped(const struct event *event)
{
    if (!lp_json_is(event->phase, "X") || (event->role != NOTHING && event->name.length == 0))
        return false;
    return event->role == NOTHING || (event->role == MODULE && !begins(event->name, MODULE_NAME)) ||
           (event->role == COLLECTIVE && !lp_json_is(event->name, "record_param_comms")) ||
           (event->role == REGION && begins(event->name, "nccl:"));
}

/* false: it is damaged. */
static bool read_event(struct lp_json_text text, struct event *event)
{
    struct lp_json_text rest = lp_json_inside(text);
    struct lp_json_member member;
    bool has_category = false;

    *event = (struct event){ .role = NOTHING };
    while (lp_json_next(&rest, &member)) {
        keep_member(event, &member);
        if (lp_json_is(member.key, "cat"))
            event->role = role_of(member.value), has_category = true;
        if (has_category && is_skipped(event))
            return true;
    }
    return rest.length == 0;
}

/* Texts */

static uint32_t intern(struct lp_names *names, const char *domain, struct lp_json_text text)
{
    char name[NAME_BYTES];
    size_t length = (size_t)snprintf(name, sizeof(name), "%s", domain);

    lp_json_unescape(text, name + length, sizeof(name) - length);
    return lp_names_intern(names, name);
}

/* Id of a text after `domain`. A text is converted once. LP_HASHMAP_NONE: out of memory. */
static uint32_t find_text(struct lp_hashmap *known, struct lp_names *names, const char *domain,
                          struct lp_json_text text)
{
    uint64_t hash = lp_hash_text(text.at, text.length);
    uint64_t kind = (uint64_t)text.length << 8 | (unsigned char)*domain;
    uint32_t id = lp_hashmap_get(known, hash, kind);

    if (id == LP_HASHMAP_NONE && (id = intern(names, domain, text)) != LP_HASHMAP_NONE &&
        known->count < LP_NAMES_LIMIT && lp_hashmap_put(known, hash, kind, id) < 0)
        return LP_HASHMAP_NONE;
    return id;
}

/* Number of a key, from `first` on. Beyond a limit all have the same. LP_HASHMAP_NONE: out of
 * memory. */
static uint32_t number_of(struct lp_hashmap *map, uint64_t key0, uint64_t key1, uint32_t first)
{
    uint32_t number = lp_hashmap_get(map, key0, key1);

    if (number != LP_HASHMAP_NONE)
        return number;
    number = (uint32_t)map->count + first;
    if (map->count >= NUMBERS_MOST)
        return number - 1;
    return lp_hashmap_put(map, key0, key1, number) < 0 ? LP_HASHMAP_NONE : number;
}

static uint32_t thread_of(struct lp_kineto_events *events, const struct event *event)
{
    return number_of(&events->threads, lp_hash_text(event->process.at, event->process.length),
                     lp_hash_text(event->thread.at, event->thread.length), 0);
}

/* Traces that were joined have process ids such as "[TP00] 1234", and correlation ids of each. */
static uint64_t group_of(struct lp_kineto_events *events, const struct event *event)
{
    const char *blank =
        event->process.length > 0 ? memrchr(event->process.at, ' ', event->process.length) : NULL;

    return blank ? (uint64_t)number_of(
                       &events->groups,
                       lp_hash_text(event->process.at, (size_t)(blank - event->process.at)), 0, 1)
                       << 40
                 : 0;
}

static void take_correlation(struct lp_kineto_events *events, const struct event *event,
                             uint64_t number, struct lp_kineto_fact *fact)
{
    if (number != UINT64_MAX)
        fact->correlation = number == 0 ? 0 : number | group_of(events, event);
    events->wide |= fact->correlation > UINT32_MAX;
}

/* Facts */

static int add(struct lp_kineto_events *events, struct lp_kineto_fact *fact)
{
    bool lasts = fact->kind == LP_KINETO_ACTIVITY && (int64_t)fact->length_ns > 0;
    int64_t end_ns = fact->time_ns + (lasts ? (int64_t)fact->length_ns : 0);

    fact->event = fact->event ? fact->event : events->count;
    events->first_ns = fact->time_ns < events->first_ns ? fact->time_ns : events->first_ns;
    events->last_ns = end_ns > events->last_ns ? end_ns : events->last_ns;
    return fact->name == LP_HASHMAP_NONE || fact->thread == LP_HASHMAP_NONE ||
                   fact->shape == LP_HASHMAP_NONE
               ? lp_out_of_memory()
               : lp_kineto_facts_add(&events->facts, fact);
}

static bool read_times(const struct event *event, struct lp_kineto_fact *fact)
{
    int64_t length;

    if (!lp_json_time(event->time, &fact->time_ns) || !lp_json_time(event->length, &length))
        return false;
    fact->length_ns = (uint64_t)length;
    return true;
}

static int count_incomplete(struct lp_kineto_events *events)
{
    events->stats.records_incomplete++;
    return 0;
}

/* Device work */

/* Numbers among the arguments. Those of a region have the names of quantities. */
enum {
    DEVICE,
    STREAM,
    CONTEXT,
    CORRELATION,
    BYTES,
    REGISTERS,
    SHARED,
    GRAPH,
    NODE,
    IN_ELEMENTS,
    OUT_ELEMENTS,
    TOKENS,
    SEQUENCES,
    FLOPS,
    MESSAGE_BYTES,
    NUMBERS
};

struct args {
    uint64_t numbers[NUMBERS]; /* UINT64_MAX: not given */
    struct lp_shape shape;
    struct lp_json_text captured, collective, dtype;
    bool own, truncated; /* of a region in a trace of llmperf */
};

static bool read_number(const struct lp_json_member *member, uint64_t *numbers)
{
    static const struct {
        struct lp_json_text key;
        uint32_t number;
    } keys[] = { { WORD("device"), DEVICE },
                 { WORD("stream"), STREAM },
                 { WORD("context"), CONTEXT },
                 { WORD("correlation"), CORRELATION },
                 { WORD("bytes"), BYTES },
                 { WORD("registers per thread"), REGISTERS },
                 { WORD("shared memory"), SHARED },
                 { WORD("graph id"), GRAPH },
                 { WORD("graph"), GRAPH },
                 { WORD("graph node id"), NODE },
                 { WORD("graph node"), NODE },
                 { WORD("In msg nelems"), IN_ELEMENTS },
                 { WORD("Out msg nelems"), OUT_ELEMENTS },
                 { WORD("tokens"), TOKENS },
                 { WORD("sequences"), SEQUENCES },
                 { WORD("flops"), FLOPS },
                 { WORD("message_bytes"), MESSAGE_BYTES } };

    for (size_t i = 0; i < LP_LENGTH(keys); i++)
        if (is_same(member->key, keys[i].key)) {
            numbers[keys[i].number] = lp_json_whole(member->value, UINT64_MAX);
            return true;
        }
    return false;
}

/* "[128, 1, 1]" */
static void read_extents(struct lp_json_text text, uint32_t *extents)
{
    const char *at = text.at + 1, *end = text.at + text.length;

    for (size_t i = 0; i < 3 && at < end; i++) {
        size_t length;

        while (at < end && (*at == ' ' || *at == ',' || *at == '\n'))
            at++;
        for (length = 0; at + length < end && !strchr(" ,]\n", at[length]);)
            length++;
        extents[i] = (uint32_t)lp_json_whole((struct lp_json_text){ at, length }, 0);
        at += length;
    }
}

/* "Device Static" and "device_static" */
static uint8_t memory_kind(struct lp_json_text text)
{
    for (uint8_t kind = 1; kind < LP_MEMORY_KINDS; kind++) {
        const char *name = lp_memory_kind_name(kind);
        const char *blank = strchr(name, '_');
        size_t first = blank ? (size_t)(blank - name) : strlen(name);

        if (text.length == strlen(name) && strncasecmp(text.at, name, first) == 0 &&
            (!blank || strncasecmp(text.at + first + 1, blank + 1, strlen(blank + 1)) == 0))
            return kind;
    }
    return LP_MEMORY_UNKNOWN;
}

/* "Memcpy HtoD (Pinned -> Device)", "Memset (Device)" */
static void read_kinds(struct lp_json_text name, struct lp_shape *shape)
{
    const char *open = memchr(name.at, '(', name.length), *end = name.at + name.length - 1;
    const char *arrow;

    if (!open || *end != ')')
        return;
    arrow = memmem(open, (size_t)(end - open), " -> ", 4);
    shape->source =
        memory_kind((struct lp_json_text){ open + 1, (size_t)((arrow ? arrow : end) - open) - 1 });
    if (arrow)
        shape->destination =
            memory_kind((struct lp_json_text){ arrow + 4, (size_t)(end - arrow) - 4 });
    else
        shape->destination = shape->source, shape->source = LP_MEMORY_UNKNOWN;
}

static void read_args(struct lp_json_text text, struct args *args)
{
    struct lp_json_text rest = lp_json_inside(text);
    struct lp_shape *shape = &args->shape;
    struct lp_json_member member;

    for (size_t i = 0; i < NUMBERS; i++)
        args->numbers[i] = UINT64_MAX;
    while (lp_json_next(&rest, &member)) {
        if (read_number(&member, args->numbers))
            continue;
        if (lp_json_is(member.key, "grid"))
            read_extents(member.value, shape->grid);
        else if (lp_json_is(member.key, "block"))
            read_extents(member.value, shape->block);
        else if (lp_json_is(member.key, "source"))
            shape->source = memory_kind(member.value);
        else if (lp_json_is(member.key, "destination"))
            shape->destination = memory_kind(member.value);
        else if (lp_json_is(member.key, "call"))
            shape->call = lp_json_is(member.value, "sync") ? LP_COPY_CALL_SYNC : LP_COPY_CALL_ASYNC;
        else if (lp_json_is(member.key, "captured in"))
            args->captured = member.value;
        else if (lp_json_is(member.key, "Collective name"))
            args->collective = member.value;
        else if (lp_json_is(member.key, "dtype"))
            args->dtype = member.value;
        else if (lp_json_is(member.key, "region"))
            args->own = true;
        else if (lp_json_is(member.key, "truncated"))
            args->truncated = true;
    }
}

static uint32_t word_or(uint64_t number, uint32_t otherwise)
{
    return number < UINT32_MAX ? (uint32_t)number : otherwise;
}

/* Kineto adds up static and dynamic shared memory. */
static uint32_t find_shape(struct lp_kineto_events *events, const uint64_t *numbers,
                           struct lp_shape *shape)
{
    static const struct lp_shape none = { .registers = 0 };

    if (shape->grid[0] > 0) {
        shape->registers = word_or(numbers[REGISTERS], LP_SHAPE_UNKNOWN);
        shape->static_shared = word_or(numbers[SHARED], LP_SHAPE_UNKNOWN);
        shape->dynamic_shared = shape->static_shared == LP_SHAPE_UNKNOWN ? LP_SHAPE_UNKNOWN : 0;
    }
    return memcmp(shape, &none, sizeof(none)) == 0
               ? LP_SHAPE_NONE
               : lp_shapes_intern(&events->names->shapes, shape);
}

/* The names of live sessions: "[memcpy HtoD]" for "Memcpy HtoD (Pinned -> Device)". */
static uint32_t activity_name(struct lp_kineto_events *events, const struct event *event)
{
    struct lp_json_text word = event->name;
    char name[32];

    if (event->role == MEMSET)
        return lp_names_intern(events->names, "[memset]");
    if (event->role == KERNEL || !begins(word, "Memcpy "))
        return find_text(&events->known_names, events->names, "", word);
    word.at += strlen("Memcpy ");
    word.length -= strlen("Memcpy ");
    for (size_t i = 0; i < word.length; i++)
        if (word.at[i] == ' ')
            word.length = i;
    snprintf(name, sizeof(name), "[memcpy %.*s]", (int)(word.length < 16 ? word.length : 16),
             word.at);
    return lp_names_intern(events->names, name);
}

static void take_graph(struct lp_kineto_events *events, const struct args *args,
                       struct lp_kineto_fact *fact)
{
    fact->graph = word_or(args->numbers[GRAPH], 0);
    fact->graph_node = fact->graph ? args->numbers[NODE] : 0;
    if (args->captured.at)
        fact->captured = find_text(&events->known_words, &events->words, "", args->captured);
}

static int add_activity(struct lp_kineto_events *events, const struct event *event)
{
    struct lp_kineto_fact fact = { .kind = LP_KINETO_ACTIVITY };
    struct args args = { .own = false };

    if (event->role != KERNEL && event->name.length > 0)
        read_kinds(event->name, &args.shape);
    read_args(event->args, &args);
    if (args.numbers[DEVICE] > UINT16_MAX)
        args.numbers[DEVICE] = lp_json_whole(event->process, UINT64_MAX);
    if (!read_times(event, &fact) || args.numbers[DEVICE] > UINT16_MAX)
        return count_incomplete(events);
    fact.device = (uint16_t)args.numbers[DEVICE];
    fact.stream = word_or(args.numbers[STREAM], 0);
    fact.context = word_or(args.numbers[CONTEXT], 0);
    fact.value = args.numbers[BYTES] == UINT64_MAX ? 0 : args.numbers[BYTES];
    take_graph(events, &args, &fact);
    fact.activity = event->role == KERNEL   ? LLMPERF_ACTIVITY_KERNEL
                    : event->role == MEMCPY ? LLMPERF_ACTIVITY_MEMCPY
                                            : LLMPERF_ACTIVITY_MEMSET;
    fact.name = activity_name(events, event);
    fact.shape = find_shape(events, args.numbers, &args.shape);
    take_correlation(events, event, args.numbers[CORRELATION], &fact);
    events->stats.no_device = false;
    return add(events, &fact);
}

/* Calls of the CUDA API, and of HIP */

/* NULL: out of memory. */
static const struct lp_kineto_call *find_call(struct lp_kineto_events *events,
                                              struct lp_json_text name)
{
    uint32_t word = find_text(&events->known_words, &events->words, "", name);

    if (word == LP_HASHMAP_NONE)
        return NULL;
    while (events->calls.count <= word) {
        const char *text = lp_names_text(&events->words, (uint32_t)events->calls.count);
        const struct lp_kineto_call call = lp_kineto_call_of(text);

        if (lp_vector_push(&events->calls, call) < 0)
            return NULL;
    }
    return &events->calls.items[word];
}

static int add_call(struct lp_kineto_events *events, const struct event *event)
{
    const struct lp_kineto_call *call = find_call(events, event->name);
    struct args args = { .own = false };
    struct lp_kineto_fact fact = { .thread = thread_of(events, event) };
    int status = 0;

    if (!call)
        return lp_out_of_memory();
    if (!read_times(event, &fact) || (int64_t)fact.length_ns < 0)
        return count_incomplete(events);
    read_args(event->args, &args);
    take_correlation(events, event, args.numbers[CORRELATION], &fact);
    if (call->launch && fact.correlation > 0) {
        fact.kind = LP_KINETO_LAUNCH;
        fact.value = call->launch;
        events->stats.no_device = false;
        status = add(events, &fact);
    }
    if (call->ending || call->begin) {
        fact.kind = LP_KINETO_CAPTURE;
        fact.value = call->begin;
        status = add(events, &fact);
    }
    if (status == 0 && call->host_call) {
        fact.kind = LP_KINETO_CALL;
        fact.name = call->host_call;
        fact.time_ns += (int64_t)fact.length_ns;
        status = add(events, &fact);
    }
    return status;
}

/* Regions */

static uint32_t label_of(struct lp_kineto_events *events, const struct event *event,
                         const struct args *args)
{
    if (event->role == COLLECTIVE)
        return find_text(&events->known_words, &events->words, "NCCL@", args->collective);
    return find_text(&events->known_words, &events->words,
                     args->own || begins(event->name, "LLM@") ? "" : "default@", event->name);
}

/* Bytes of an element, by PyTorch's name of the dtype; 0: not known. */
static uint64_t element_bytes(struct lp_json_text dtype)
{
    static const struct {
        const char *start;
        uint64_t bytes;
    } sizes[] = { { "Float8", 1 }, { "Float", 4 }, { "Half", 2 }, { "BFloat16", 2 },
                  { "Double", 8 }, { "Long", 8 },  { "Int", 4 },  { "Short", 2 },
                  { "Char", 1 },   { "Byte", 1 },  { "Bool", 1 } };

    for (size_t i = 0; i < LP_LENGTH(sizes); i++)
        if (begins(dtype, sizes[i].start))
            return sizes[i].bytes;
    return 0;
}

/* As NCCL names it: what a rank gives, or gets from a reduce-scatter. */
static void take_message(struct args *args)
{
    bool scatter = args->collective.length > 0 &&
                   memmem(args->collective.at, args->collective.length, "scatter", 7);
    uint64_t elements = args->numbers[scatter ? OUT_ELEMENTS : IN_ELEMENTS];
    uint64_t bytes = element_bytes(args->dtype);

    if (bytes > 0 && elements < UINT64_MAX / 8)
        args->numbers[MESSAGE_BYTES] = elements * bytes;
}

static int add_end(struct lp_kineto_events *events, const struct lp_kineto_fact *begin)
{
    struct lp_kineto_fact end = *begin;

    end.kind = LP_KINETO_END;
    end.time_ns += (int64_t)begin->length_ns;
    end.rank = ~((uint64_t)begin->time_ns ^ UINT64_C(1) << 63); /* the inner one first */
    return begin->length_ns == 0 ? 0 : add(events, &end);
}

static int add_counts(struct lp_kineto_events *events, const struct lp_kineto_fact *begin,
                      const struct args *args)
{
    static const uint8_t numbers[] = {
        [LLMPERF_QUANTITY_TOKENS] = TOKENS,   [LLMPERF_QUANTITY_SEQUENCES] = SEQUENCES,
        [LLMPERF_QUANTITY_CONTEXT] = CONTEXT, [LLMPERF_QUANTITY_FLOPS] = FLOPS,
        [LLMPERF_QUANTITY_BYTES] = BYTES,     [LLMPERF_QUANTITY_MESSAGE_BYTES] = MESSAGE_BYTES
    };
    struct lp_kineto_fact fact = *begin;
    int status = 0;

    fact.kind = LP_KINETO_COUNT;
    for (fact.name = 1; fact.name < LP_LENGTH(numbers) && status == 0; fact.name++)
        if ((fact.value = args->numbers[numbers[fact.name]]) != UINT64_MAX)
            status = add(events, &fact);
    return status;
}

static int add_region(struct lp_kineto_events *events, const struct event *event)
{
    struct args args = { .own = false };
    struct lp_kineto_fact fact = { .thread = thread_of(events, event) };
    int status;

    read_args(event->args, &args);
    if (!read_times(event, &fact) || (int64_t)fact.length_ns < 0)
        return count_incomplete(events);
    if (event->role == COLLECTIVE)
        take_message(&args);
    fact.name = label_of(events, event, &args);
    fact.rank = UINT64_MAX - fact.length_ns;
    if (args.own && lp_json_whole(event->thread, 0) >= RANGES_THREAD) {
        fact.kind = LP_KINETO_RANGE;
        fact.time_ns += (int64_t)fact.length_ns;
        return add(events, &fact);
    }
    fact.kind = LP_KINETO_BEGIN;
    if (!args.truncated && (status = add_end(events, &fact)) < 0)
        return status;
    if (args.truncated)
        fact.length_ns = UINT64_MAX;
    status = add(events, &fact);
    return status < 0 || (!args.own && event->role != COLLECTIVE)
               ? status
               : add_counts(events, &fact, &args);
}

/* Phases B and E. An end belongs to the innermost begin, also of a kind that is skipped. */
static int add_edge(struct lp_kineto_events *events, const struct event *event)
{
    struct lp_kineto_fact fact = { .thread = thread_of(events, event),
                                   .length_ns = UINT64_MAX,
                                   .rank = UINT64_MAX - 1 };

    if (!lp_json_time(event->time, &fact.time_ns))
        return count_incomplete(events);
    fact.kind = lp_json_is(event->phase, "B") ? LP_KINETO_BEGIN : LP_KINETO_END;
    fact.name = event->role == REGION && fact.kind == LP_KINETO_BEGIN
                    ? label_of(events, event, &(struct args){ .own = false })
                    : LP_KINETO_NO_REGION;
    return add(events, &fact);
}

static int add_overhead(struct lp_kineto_events *events, const struct event *event)
{
    struct lp_kineto_fact times;

    if (!read_times(event, &times) || (int64_t)times.length_ns < 0)
        return count_incomplete(events);
    events->stats.overhead_ns += times.length_ns;
    events->stats.has_overhead = true;
    return 0;
}

static void take_program(struct lp_kineto_events *events, const struct event *event)
{
    struct lp_json_text rest = lp_json_inside(event->args);
    struct lp_json_member member;

    if (!*events->program && lp_json_is(event->name, "process_name") &&
        lp_json_next(&rest, &member) && lp_json_is(member.key, "name"))
        lp_json_unescape(member.value, events->program, sizeof(events->program));
}

static int add_complete(struct lp_kineto_events *events, const struct event *event)
{
    uint64_t process = lp_json_whole(event->process, 0);

    if ((event->role == CALL || event->role == REGION) && events->stats.process_id == 0 &&
        process <= UINT32_MAX)
        events->stats.process_id = (uint32_t)process;
    switch (event->role) {
    case KERNEL:
    case MEMCPY:
    case MEMSET:
        return add_activity(events, event);
    case CALL:
        return add_call(events, event);
    case OVERHEAD:
        return add_overhead(events, event);
    case REGION:
    case MODULE:
    case COLLECTIVE:
        return is_skipped(event) ? 0 : add_region(events, event);
    default:
        return 0;
    }
}

int lp_kineto_event(struct lp_kineto_events *events, struct lp_json_text text)
{
    struct event event;

    if (events->count++ == 0) {
        events->first_ns = INT64_MAX;
        events->last_ns = INT64_MIN;
        events->stats.no_device = true;
        if (lp_names_intern(&events->words, "LLM@(capture not recorded)") != 0)
            return lp_out_of_memory();
    }
    if (!read_event(text, &event))
        return count_incomplete(events);
    if (lp_json_is(event.phase, "X"))
        return add_complete(events, &event);
    if (lp_json_is(event.phase, "B") || lp_json_is(event.phase, "E"))
        return add_edge(events, &event);
    if (lp_json_is(event.phase, "M"))
        take_program(events, &event);
    return 0;
}

void lp_kineto_events_clear(struct lp_kineto_events *events)
{
    lp_names_clear(&events->words);
    lp_hashmap_clear(&events->known_words);
    lp_hashmap_clear(&events->known_names);
    lp_vector_clear(&events->calls);
    lp_hashmap_clear(&events->threads);
    lp_hashmap_clear(&events->groups);
    lp_kineto_facts_clear(&events->facts);
}
