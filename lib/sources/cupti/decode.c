/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/sources/cupti/decode.h"
#include "lib/device/launch_ids.h"
#include "llmperf/profile.h"

static uint32_t find_name(struct lp_cupti_decoder *decoder, const char *pointer)
{
    uint64_t mix = (uint64_t)(uintptr_t)pointer * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(mix >> 54);

    if (decoder->cache[i].pointer != pointer ||
        decoder->cache[i].generation != decoder->generation) {
        decoder->cache[i].name =
            lp_names_intern(decoder->names, pointer ? pointer : "[kernel without a name]");
        decoder->cache[i].pointer = pointer;
        decoder->cache[i].generation = decoder->generation;
    }
    return decoder->cache[i].name;
}

static const char *copy_name(uint8_t copy_kind)
{
    static const char *const names[] = { "[memcpy]",      "[memcpy HtoD]", "[memcpy DtoH]",
                                         "[memcpy HtoA]", "[memcpy AtoH]", "[memcpy AtoA]",
                                         "[memcpy AtoD]", "[memcpy DtoA]", "[memcpy DtoD]",
                                         "[memcpy HtoH]", "[memcpy PtoP]" };

    return names[copy_kind < sizeof(names) / sizeof(names[0]) ? copy_kind : 0];
}

/* A field of a record. CUPTI aligns each to its size. */
#define FIELD(type, record, layout, field)                                                         \
    (*(const type *)(const void *)((const uint8_t *)(record) +                                     \
                                   (layout)->at[LP_CUPTI_FIELD_##field]))

/* Zero means that the time is not known, and stays zero. */
static uint64_t our_time(const struct lp_cupti_decoder *decoder, uint64_t time_ns)
{
    return time_ns ? time_ns + decoder->clock_shift : 0;
}

/* Members common to all activities. */
static struct lp_activity *add_activity(struct lp_cupti_decoder *decoder,
                                        const struct lp_cupti_record *record,
                                        const struct lp_cupti_layout *layout,
                                        const struct lp_device_sink *sink)
{
    struct lp_activity *activity = lp_activity_batch_next(&decoder->batch, sink);

    activity->start_ns = our_time(decoder, FIELD(uint64_t, record, layout, START));
    activity->end_ns = our_time(decoder, FIELD(uint64_t, record, layout, END));
    activity->graph = FIELD(uint32_t, record, layout, GRAPH);
    activity->correlation = lp_launch_id(FIELD(uint32_t, record, layout, CORRELATION));
    activity->context = FIELD(uint32_t, record, layout, CONTEXT);
    activity->stream = FIELD(uint32_t, record, layout, STREAM);
    activity->device = (uint16_t)FIELD(uint32_t, record, layout, DEVICE);
    return activity;
}

/* Without memory the shape is not known. */
static uint32_t find_shape(struct lp_cupti_decoder *decoder, const struct lp_shape *shape)
{
    uint32_t id = lp_shapes_intern(&decoder->names->shapes, shape);

    return id == LP_HASHMAP_NONE ? LP_SHAPE_NONE : id;
}

static uint32_t kernel_shape(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                             const struct lp_cupti_layout *layout)
{
    const struct lp_shape shape = {
        .grid = { FIELD(uint32_t, record, layout, GRID_X), FIELD(uint32_t, record, layout, GRID_Y),
                  FIELD(uint32_t, record, layout, GRID_Z) },
        .block = { FIELD(uint32_t, record, layout, BLOCK_X),
                   FIELD(uint32_t, record, layout, BLOCK_Y),
                   FIELD(uint32_t, record, layout, BLOCK_Z) },
        .registers = FIELD(uint16_t, record, layout, REGISTERS),
        .static_shared = FIELD(uint32_t, record, layout, STATIC_SHARED),
        .dynamic_shared = FIELD(uint32_t, record, layout, DYNAMIC_SHARED),
    };

    return find_shape(decoder, &shape);
}

static uint8_t memory_kind(uint8_t kind)
{
    return kind < LP_MEMORY_KINDS ? kind : LP_MEMORY_UNKNOWN;
}

/* A node of a graph was made by no call that could wait for it. */
static uint32_t copy_shape(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                           const struct lp_cupti_layout *layout, bool set, bool node)
{
    bool async = (FIELD(uint8_t, record, layout, FLAGS) &
                  (set ? LP_CUPTI_FLAG_SET_ASYNC : LP_CUPTI_FLAG_COPY_ASYNC)) != 0;
    const struct lp_shape shape = {
        .source = set ? LP_MEMORY_UNKNOWN : memory_kind(FIELD(uint8_t, record, layout, SOURCE)),
        .destination = memory_kind(FIELD(uint8_t, record, layout, DESTINATION)),
        .call = node    ? LP_COPY_CALL_UNKNOWN
                : async ? LP_COPY_CALL_ASYNC
                        : LP_COPY_CALL_SYNC,
    };

    return find_shape(decoder, &shape);
}

/* The range profiler launches its own kernel for each range, which is not the program's work. */
static void add_kernel(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                       const struct lp_cupti_layout *layout, const struct lp_device_sink *sink)
{
    const char *name = FIELD(char *const, record, layout, NAME);
    struct lp_activity *activity;

    if (decoder->counters && name && strcmp(name, "WaitNs") == 0)
        return;
    activity = add_activity(decoder, record, layout, sink);
    activity->graph_node = FIELD(uint64_t, record, layout, GRAPH_NODE);
    activity->name = find_name(decoder, name);
    activity->shape = kernel_shape(decoder, record, layout);
    activity->kind = LLMPERF_ACTIVITY_KERNEL;
}

static void add_memory(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                       const struct lp_cupti_layout *layout, const struct lp_device_sink *sink)
{
    struct lp_activity *activity = add_activity(decoder, record, layout, sink);
    bool set = record->kind == LP_CUPTI_KIND_MEMSET;

    activity->graph_node = FIELD(uint64_t, record, layout, GRAPH_NODE);
    activity->bytes = FIELD(uint64_t, record, layout, BYTES);
    activity->name =
        find_name(decoder, set ? "[memset]" : copy_name(FIELD(uint8_t, record, layout, COPY_KIND)));
    activity->shape = copy_shape(decoder, record, layout, set, activity->graph_node != 0);
    activity->kind = set ? LLMPERF_ACTIVITY_MEMSET : LLMPERF_ACTIVITY_MEMCPY;
}

static void add_graph(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                      const struct lp_cupti_layout *layout, const struct lp_device_sink *sink)
{
    struct lp_activity *activity = add_activity(decoder, record, layout, sink);

    activity->graph_node = LP_GRAPH_NODE(activity->graph, 0);
    activity->name = find_name(decoder, "[graph]");
    activity->kind = LLMPERF_ACTIVITY_GRAPH;
}

static void add_overhead(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                         const struct lp_cupti_layout *layout)
{
    uint64_t start = FIELD(uint64_t, record, layout, START);
    uint64_t end = FIELD(uint64_t, record, layout, END);

    decoder->overhead_ns += end > start ? end - start : 0;
}

static void add_record(struct lp_cupti_decoder *decoder, const struct lp_cupti_client *client,
                       const struct lp_cupti_record *record, const struct lp_device_sink *sink)
{
    const struct lp_cupti_layout *layout = lp_cupti_layout_of(client, record->kind);

    switch (record->kind) {
    case LP_CUPTI_KIND_CONCURRENT_KERNEL:
    case LP_CUPTI_KIND_MEMCPY:
    case LP_CUPTI_KIND_MEMCPY2:
    case LP_CUPTI_KIND_MEMSET:
    case LP_CUPTI_KIND_GRAPH_TRACE:
    case LP_CUPTI_KIND_OVERHEAD:
        break;
    default: /* another component of the process has enabled more kinds */
        decoder->foreign++;
        return;
    }
    if (!layout)
        decoder->incomplete++;
    else if (record->kind == LP_CUPTI_KIND_CONCURRENT_KERNEL)
        add_kernel(decoder, record, layout, sink);
    else if (record->kind == LP_CUPTI_KIND_GRAPH_TRACE)
        add_graph(decoder, record, layout, sink);
    else if (record->kind == LP_CUPTI_KIND_OVERHEAD)
        add_overhead(decoder, record, layout);
    else
        add_memory(decoder, record, layout, sink);
}

void lp_cupti_decode(struct lp_cupti_decoder *decoder, const struct lp_cupti_client *client,
                     struct lp_buffer *buffer, const struct lp_device_sink *sink)
{
    struct lp_cupti_record *record = NULL;
    int result = LP_CUPTI_SUCCESS;

    decoder->generation++;
    decoder->clock_shift = lp_cupti_clock_shift(client);
    while (buffer->valid > 0 && (result = lp_cupti_next_record(client, buffer->bytes, buffer->valid,
                                                               &record)) == LP_CUPTI_SUCCESS)
        add_record(decoder, client, record, sink);
    if (result != LP_CUPTI_SUCCESS && result != LP_CUPTI_ERROR_MAX_LIMIT_REACHED)
        decoder->incomplete++;
    lp_activity_batch_send(&decoder->batch, sink);
}
