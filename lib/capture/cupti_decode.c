/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/capture/cupti_decode.h"
#include "llmperf/activity.h"

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

/* The range profiler launches a kernel of its own for each range: it is no work of the program. */
static bool is_of_profiler(const struct lp_cupti_decoder *decoder,
                           const struct lp_cupti_kernel *kernel)
{
    return decoder->counters && kernel->name && strcmp(kernel->name, "WaitNs") == 0;
}

static void add_kernel(struct lp_cupti_decoder *decoder, const struct lp_cupti_kernel *kernel,
                       const struct lp_device_sink *sink)
{
    struct lp_activity *activity = lp_activity_batch_next(&decoder->batch, sink);

    activity->start_ns = kernel->start;
    activity->end_ns = kernel->end;
    activity->graph_node = kernel->graph_node_id;
    activity->graph = kernel->graph_id;
    activity->correlation = kernel->correlation_id;
    activity->name = find_name(decoder, kernel->name);
    activity->context = kernel->context_id;
    activity->stream = kernel->stream_id;
    activity->device = (uint16_t)kernel->device_id;
    activity->kind = LLMPERF_ACTIVITY_KERNEL;
}

/* Copies and sets have the same fields under three layouts. */
#define FILL_MEMORY(activity, record)                                                              \
    do {                                                                                           \
        (activity)->start_ns = (record)->start;                                                    \
        (activity)->end_ns = (record)->end;                                                        \
        (activity)->bytes = (record)->bytes;                                                       \
        (activity)->graph_node = (record)->graph_node_id;                                          \
        (activity)->graph = (record)->graph_id;                                                    \
        (activity)->correlation = (record)->correlation_id;                                        \
        (activity)->context = (record)->context_id;                                                \
        (activity)->stream = (record)->stream_id;                                                  \
        (activity)->device = (uint16_t)(record)->device_id;                                        \
    } while (0)

static void add_memory(struct lp_cupti_decoder *decoder, const void *record, uint32_t kind,
                       const struct lp_device_sink *sink)
{
    struct lp_activity *activity = lp_activity_batch_next(&decoder->batch, sink);

    activity->kind = LLMPERF_ACTIVITY_MEMCPY;
    if (kind == LP_CUPTI_KIND_MEMCPY) {
        FILL_MEMORY(activity, (const struct lp_cupti_memcpy *)record);
        activity->name =
            find_name(decoder, copy_name(((const struct lp_cupti_memcpy *)record)->copy_kind));
    } else if (kind == LP_CUPTI_KIND_MEMCPY2) {
        FILL_MEMORY(activity, (const struct lp_cupti_memcpy2 *)record);
        activity->name =
            find_name(decoder, copy_name(((const struct lp_cupti_memcpy2 *)record)->copy_kind));
    } else {
        FILL_MEMORY(activity, (const struct lp_cupti_memset *)record);
        activity->name = find_name(decoder, "[memset]");
        activity->kind = LLMPERF_ACTIVITY_MEMSET;
    }
}

static void add_graph(struct lp_cupti_decoder *decoder, const struct lp_cupti_graph_trace *graph,
                      const struct lp_device_sink *sink)
{
    struct lp_activity *activity = lp_activity_batch_next(&decoder->batch, sink);

    activity->start_ns = graph->start;
    activity->end_ns = graph->end;
    activity->graph = graph->graph_id;
    activity->graph_node = LP_GRAPH_NODE(graph->graph_id, 0);
    activity->correlation = graph->correlation_id;
    activity->name = find_name(decoder, "[graph]");
    activity->context = graph->context_id;
    activity->stream = graph->stream_id;
    activity->device = (uint16_t)graph->device_id;
    activity->kind = LLMPERF_ACTIVITY_GRAPH;
}

static void add_record(struct lp_cupti_decoder *decoder, const struct lp_cupti_record *record,
                       const struct lp_device_sink *sink)
{
    const struct lp_cupti_overhead *overhead = (const void *)record;

    switch (record->kind) {
    case LP_CUPTI_KIND_CONCURRENT_KERNEL:
        if (!is_of_profiler(decoder, (const void *)record))
            add_kernel(decoder, (const void *)record, sink);
        break;
    case LP_CUPTI_KIND_MEMCPY:
    case LP_CUPTI_KIND_MEMCPY2:
    case LP_CUPTI_KIND_MEMSET:
        add_memory(decoder, record, record->kind, sink);
        break;
    case LP_CUPTI_KIND_GRAPH_TRACE:
        add_graph(decoder, (const void *)record, sink);
        break;
    case LP_CUPTI_KIND_OVERHEAD:
        if (overhead->end > overhead->start)
            decoder->overhead_ns += overhead->end - overhead->start;
        break;
    default: /* Somebody else in the process has enabled more kinds. */
        decoder->foreign++;
        break;
    }
}

void lp_cupti_decode(struct lp_cupti_decoder *decoder, const struct lp_cupti *cupti,
                     struct lp_buffer *buffer, const struct lp_device_sink *sink)
{
    struct lp_cupti_record *record = NULL;
    int result = LP_CUPTI_SUCCESS;

    decoder->generation++;
    while (buffer->valid > 0 && (result = cupti->ActivityGetNextRecord(
                                     buffer->bytes, buffer->valid, &record)) == LP_CUPTI_SUCCESS)
        add_record(decoder, record, sink);
    if (result != LP_CUPTI_SUCCESS && result != LP_CUPTI_ERROR_MAX_LIMIT_REACHED)
        decoder->incomplete++;
    lp_activity_batch_send(&decoder->batch, sink);
}
