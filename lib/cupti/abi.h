/* SPDX-License-Identifier: Apache-2.0 */
/** The part of CUPTI's binary interface that we use, in our own words, so that the library builds
 * without CUDA headers and works with every CUPTI from 11.8 on. Records only grow at their end, so
 * a prefix fits all versions. check.c compares offsets and numbers with the toolkit's headers if
 * the build finds them. Facts: CUPTI 13.0. */
#ifndef LP_CUPTI_ABI_H
#define LP_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Our name, the number, CUPTI's name. */
#define LP_CUPTI_NUMBERS(NUMBER)                                                                   \
    NUMBER(LP_CUPTI_SUCCESS, 0, CUPTI_SUCCESS)                                                     \
    NUMBER(LP_CUPTI_ERROR_MAX_LIMIT_REACHED, 12, CUPTI_ERROR_MAX_LIMIT_REACHED)                    \
    NUMBER(LP_CUPTI_ERROR_INVALID_KIND, 21, CUPTI_ERROR_INVALID_KIND)                              \
    NUMBER(LP_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS, 39,                                                \
           CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)                                         \
    NUMBER(LP_CUPTI_KIND_MEMCPY, 1, CUPTI_ACTIVITY_KIND_MEMCPY)                                    \
    NUMBER(LP_CUPTI_KIND_MEMSET, 2, CUPTI_ACTIVITY_KIND_MEMSET)                                    \
    NUMBER(LP_CUPTI_KIND_CONCURRENT_KERNEL, 10, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)             \
    /* a launch of a graph as one record, instead of its nodes */                                  \
    NUMBER(LP_CUPTI_KIND_GRAPH_TRACE, 51, CUPTI_ACTIVITY_KIND_GRAPH_TRACE)                         \
    NUMBER(LP_CUPTI_KIND_OVERHEAD, 17, CUPTI_ACTIVITY_KIND_OVERHEAD)                               \
    /* memcpy between devices */                                                                   \
    NUMBER(LP_CUPTI_KIND_MEMCPY2, 22, CUPTI_ACTIVITY_KIND_MEMCPY2)                                 \
    NUMBER(LP_CUPTI_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 5,                                            \
           CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)                                         \
    NUMBER(LP_CUPTI_ATTR_PER_THREAD_ACTIVITY_BUFFER, 9,                                            \
           CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)                                         \
    NUMBER(LP_CUPTI_FLAG_FLUSH_FORCED, 1, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)                        \
    NUMBER(LP_CUPTI_FLAG_COPY_ASYNC, 1, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)                          \
    NUMBER(LP_CUPTI_FLAG_SET_ASYNC, 1, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC)                           \
    NUMBER(LP_CUPTI_DOMAIN_DRIVER_API, 1, CUPTI_CB_DOMAIN_DRIVER_API)                              \
    NUMBER(LP_CUPTI_DOMAIN_RESOURCE, 3, CUPTI_CB_DOMAIN_RESOURCE)                                  \
    NUMBER(LP_CUPTI_SITE_ENTER, 0, CUPTI_API_ENTER)                                                \
    NUMBER(LP_CUPTI_SITE_EXIT, 1, CUPTI_API_EXIT)                                                  \
    NUMBER(LP_CUPTI_RESOURCE_GRAPH_DESTROY_STARTING, 10,                                           \
           CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING)                                             \
    NUMBER(LP_CUPTI_RESOURCE_CONTEXT_CREATED, 1, CUPTI_CBID_RESOURCE_CONTEXT_CREATED)              \
    NUMBER(LP_CUPTI_RESOURCE_MODULE_LOADED, 6, CUPTI_CBID_RESOURCE_MODULE_LOADED)                  \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHNODE_CREATED, 13, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)         \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHEXEC_CREATE_STARTING, 17,                                        \
           CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING)                                          \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED, 18, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)         \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHEXEC_DESTROY_STARTING, 19,                                       \
           CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING)                                         \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHNODE_CLONED, 20, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)           \
    /* "node" gets the parameters of "original_node" */                                            \
    NUMBER(LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED, 22, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED)        \
    NUMBER(LP_CUPTI_INSTANTIATE_DEVICE_LAUNCH, 4, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)       \
    NUMBER(LP_CUPTI_HOLDER_NAME_BYTES, 64, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)

#define LP_CUPTI_ENUMERATOR(name, number, theirs) name = number,
enum { LP_CUPTI_NUMBERS(LP_CUPTI_ENUMERATOR) };
#undef LP_CUPTI_ENUMERATOR

enum { LP_CUPTI_ATTR_USER_DEFINED_RECORDS = 11 }; /* 13.3 */
/* From this version on, a NULL buffer makes CUPTI drop and count records; before, it crashes. */
enum { LP_CUPTI_VERSION_12_9 = 27 };

struct lp_cupti_record { /* head of every activity record */
    uint32_t kind;
};

struct lp_cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers_per_thread;
    uint32_t global_cache_requested, global_cache_executed;
    uint64_t start, end, completed;
    uint32_t device_id, context_id, stream_id;
    int32_t grid[3], block[3];
    int32_t static_shared_memory, dynamic_shared_memory;
    uint32_t local_memory_per_thread, local_memory_total;
    uint32_t correlation_id;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_memory_executed;
    uint64_t graph_node_id;
    uint32_t shared_memory_limit_config;
    uint32_t graph_id;
};

struct lp_cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, source_kind, destination_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device_id, context_id, stream_id, correlation_id, runtime_correlation_id, padding;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct lp_cupti_memcpy2 {
    uint32_t kind;
    uint8_t copy_kind, source_kind, destination_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device_id, context_id, stream_id;
    uint32_t source_device_id, source_context_id, destination_device_id, destination_context_id,
        correlation_id;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct lp_cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device_id, context_id, stream_id, correlation_id;
    uint16_t flags, memory_kind;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct lp_cupti_graph_trace {
    uint32_t kind, correlation_id;
    uint64_t start, end;
    uint32_t device_id, graph_id, context_id, stream_id;
};

struct lp_cupti_overhead {
    uint32_t kind, overhead_kind, object_kind;
    uint32_t object_id[3];
    uint64_t start, end;
};

struct lp_cupti_callback_data {
    uint32_t site;
    const char *function_name;
    const void *function_parameters;
    void *function_return_value;
    const char *symbol_name;
    void *context;
    uint32_t context_uid;
    uint64_t *correlation_data;
    uint32_t correlation_id;
};

struct lp_cupti_resource_data {
    void *context;
    void *handle;
    void
        *descriptor; /* of a graph: struct lp_cupti_graph_data; of a module: lp_cupti_module_data */
};

struct lp_cupti_module_data {
    uint32_t id;
    size_t size;
    const char *cubin;
};

/* Handles from which ids can be read during the callback. Only those of the event are set. Node
 * types are always 0 (CUPTI 13.0). */
struct lp_cupti_graph_data {
    void *graph, *original_graph;
    void *node, *original_node;
    uint32_t node_type;
    void *dependency;
    void *exec;
};

/* Beginning of what cuMemCreate() takes. */
struct lp_cupti_allocation {
    int type, handle_types;
    int location_type, location; /* device ordinal */
};
enum { LP_CUPTI_LOCATION_DEVICE = 1 };

struct lp_cupti_subscriber_parameters {
    size_t struct_size;
    const char *name;
    char *holder; /* out: the profiler that is subscribed to CUPTI */
    size_t holder_size;
    uint8_t shared; /* 13.3: allow other profilers to subscribe */
    uint8_t padding[7];
};
#define LP_CUPTI_SLIM_DRIVER             13030u /* cuDriverGetVersion() of CUDA 13.3 */
#define LP_CUPTI_PARAMETERS_BYTES        offsetof(struct lp_cupti_subscriber_parameters, shared)
#define LP_CUPTI_SHARED_PARAMETERS_BYTES sizeof(struct lp_cupti_subscriber_parameters)

/* Fields of slim records, from CUPTI 13.3 on: kind, our field, CUPTI's number and name. Number 0 is
 * the kind. */
#define LP_CUPTI_SLIM_FIELDS(FIELD)                                                                \
    FIELD(CONCURRENT_KERNEL, START, 7, KERNEL_FIELD_START)                                         \
    FIELD(CONCURRENT_KERNEL, END, 8, KERNEL_FIELD_END)                                             \
    FIELD(CONCURRENT_KERNEL, DEVICE, 10, KERNEL_FIELD_DEVICE_ID)                                   \
    FIELD(CONCURRENT_KERNEL, CONTEXT, 11, KERNEL_FIELD_CONTEXT_ID)                                 \
    FIELD(CONCURRENT_KERNEL, STREAM, 12, KERNEL_FIELD_STREAM_ID)                                   \
    FIELD(CONCURRENT_KERNEL, CORRELATION, 22, KERNEL_FIELD_CORRELATION_ID)                         \
    FIELD(CONCURRENT_KERNEL, NAME, 24, KERNEL_FIELD_NAME)                                          \
    FIELD(CONCURRENT_KERNEL, GRAPH_NODE, 31, KERNEL_FIELD_GRAPH_NODE_ID)                           \
    FIELD(CONCURRENT_KERNEL, GRAPH, 33, KERNEL_FIELD_GRAPH_ID)                                     \
    FIELD(CONCURRENT_KERNEL, REGISTERS, 4, KERNEL_FIELD_REGISTERS_PER_THREAD)                      \
    FIELD(CONCURRENT_KERNEL, GRID_X, 13, KERNEL_FIELD_GRID_X)                                      \
    FIELD(CONCURRENT_KERNEL, GRID_Y, 14, KERNEL_FIELD_GRID_Y)                                      \
    FIELD(CONCURRENT_KERNEL, GRID_Z, 15, KERNEL_FIELD_GRID_Z)                                      \
    FIELD(CONCURRENT_KERNEL, BLOCK_X, 16, KERNEL_FIELD_BLOCK_X)                                    \
    FIELD(CONCURRENT_KERNEL, BLOCK_Y, 17, KERNEL_FIELD_BLOCK_Y)                                    \
    FIELD(CONCURRENT_KERNEL, BLOCK_Z, 18, KERNEL_FIELD_BLOCK_Z)                                    \
    FIELD(CONCURRENT_KERNEL, STATIC_SHARED, 19, KERNEL_FIELD_STATIC_SHARED_MEMORY)                 \
    FIELD(CONCURRENT_KERNEL, DYNAMIC_SHARED, 20, KERNEL_FIELD_DYNAMIC_SHARED_MEMORY)               \
    FIELD(MEMCPY, COPY_KIND, 1, MEMCPY_FIELD_COPY_KIND)                                            \
    FIELD(MEMCPY, SOURCE, 2, MEMCPY_FIELD_SRC_KIND)                                                \
    FIELD(MEMCPY, DESTINATION, 3, MEMCPY_FIELD_DST_KIND)                                           \
    FIELD(MEMCPY, FLAGS, 4, MEMCPY_FIELD_FLAGS)                                                    \
    FIELD(MEMCPY, BYTES, 5, MEMCPY_FIELD_BYTES)                                                    \
    FIELD(MEMCPY, START, 6, MEMCPY_FIELD_START)                                                    \
    FIELD(MEMCPY, END, 7, MEMCPY_FIELD_END)                                                        \
    FIELD(MEMCPY, DEVICE, 8, MEMCPY_FIELD_DEVICE_ID)                                               \
    FIELD(MEMCPY, CONTEXT, 9, MEMCPY_FIELD_CONTEXT_ID)                                             \
    FIELD(MEMCPY, STREAM, 10, MEMCPY_FIELD_STREAM_ID)                                              \
    FIELD(MEMCPY, CORRELATION, 11, MEMCPY_FIELD_CORRELATION_ID)                                    \
    FIELD(MEMCPY, GRAPH_NODE, 12, MEMCPY_FIELD_GRAPH_NODE_ID)                                      \
    FIELD(MEMCPY, GRAPH, 13, MEMCPY_FIELD_GRAPH_ID)                                                \
    FIELD(MEMCPY2, COPY_KIND, 1, MEMCPY2_FIELD_COPY_KIND)                                          \
    FIELD(MEMCPY2, SOURCE, 2, MEMCPY2_FIELD_SRC_KIND)                                              \
    FIELD(MEMCPY2, DESTINATION, 3, MEMCPY2_FIELD_DST_KIND)                                         \
    FIELD(MEMCPY2, FLAGS, 4, MEMCPY2_FIELD_FLAGS)                                                  \
    FIELD(MEMCPY2, BYTES, 5, MEMCPY2_FIELD_BYTES)                                                  \
    FIELD(MEMCPY2, START, 6, MEMCPY2_FIELD_START)                                                  \
    FIELD(MEMCPY2, END, 7, MEMCPY2_FIELD_END)                                                      \
    FIELD(MEMCPY2, DEVICE, 8, MEMCPY2_FIELD_DEVICE_ID)                                             \
    FIELD(MEMCPY2, CONTEXT, 9, MEMCPY2_FIELD_CONTEXT_ID)                                           \
    FIELD(MEMCPY2, STREAM, 10, MEMCPY2_FIELD_STREAM_ID)                                            \
    FIELD(MEMCPY2, CORRELATION, 15, MEMCPY2_FIELD_CORRELATION_ID)                                  \
    FIELD(MEMCPY2, GRAPH_NODE, 16, MEMCPY2_FIELD_GRAPH_NODE_ID)                                    \
    FIELD(MEMCPY2, GRAPH, 17, MEMCPY2_FIELD_GRAPH_ID)                                              \
    FIELD(MEMSET, BYTES, 2, MEMSET_FIELD_BYTES)                                                    \
    FIELD(MEMSET, START, 3, MEMSET_FIELD_START)                                                    \
    FIELD(MEMSET, END, 4, MEMSET_FIELD_END)                                                        \
    FIELD(MEMSET, DEVICE, 5, MEMSET_FIELD_DEVICE_ID)                                               \
    FIELD(MEMSET, CONTEXT, 6, MEMSET_FIELD_CONTEXT_ID)                                             \
    FIELD(MEMSET, STREAM, 7, MEMSET_FIELD_STREAM_ID)                                               \
    FIELD(MEMSET, CORRELATION, 8, MEMSET_FIELD_CORRELATION_ID)                                     \
    FIELD(MEMSET, FLAGS, 9, MEMSET_FIELD_FLAGS)                                                    \
    FIELD(MEMSET, DESTINATION, 10, MEMSET_FIELD_MEMORY_KIND)                                       \
    FIELD(MEMSET, GRAPH_NODE, 11, MEMSET_FIELD_GRAPH_NODE_ID)                                      \
    FIELD(MEMSET, GRAPH, 12, MEMSET_FIELD_GRAPH_ID)                                                \
    FIELD(GRAPH_TRACE, CORRELATION, 1, GRAPH_TRACE_FIELD_CORRELATION_ID)                           \
    FIELD(GRAPH_TRACE, START, 2, GRAPH_TRACE_FIELD_START)                                          \
    FIELD(GRAPH_TRACE, END, 3, GRAPH_TRACE_FIELD_END)                                              \
    FIELD(GRAPH_TRACE, DEVICE, 4, GRAPH_TRACE_FIELD_DEVICE_ID)                                     \
    FIELD(GRAPH_TRACE, GRAPH, 5, GRAPH_TRACE_FIELD_GRAPH_ID)                                       \
    FIELD(GRAPH_TRACE, CONTEXT, 6, GRAPH_TRACE_FIELD_CONTEXT_ID)                                   \
    FIELD(GRAPH_TRACE, STREAM, 7, GRAPH_TRACE_FIELD_STREAM_ID)                                     \
    FIELD(OVERHEAD, START, 4, OVERHEAD_FIELD_START)                                                \
    FIELD(OVERHEAD, END, 5, OVERHEAD_FIELD_END)

struct lp_cupti_field_layout {
    size_t struct_size;
    int number;
    size_t offset, size, alignment;
};

struct lp_cupti_record_layout {
    size_t struct_size;
    struct lp_cupti_field_layout *fields;
    size_t field_count, record_bytes;
};

struct lp_cupti_field_selection {
    size_t struct_size, count;
    int *numbers;
};

struct lp_cupti_activity_config {
    size_t struct_size;
    struct lp_cupti_field_selection fields;
    void *options;
};

struct lp_cupti_completed_info {
    size_t struct_size;
    uint64_t thread;
    struct lp_cupti_record_layout **layouts; /* by kind; NULL: none in this buffer */
    size_t layout_count;
};

typedef struct lp_cupti_subscriber *lp_cupti_subscriber; /* opaque */
typedef void (*lp_cupti_callback)(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void (*lp_cupti_buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*lp_cupti_buffer_completed)(void *context, uint32_t stream, uint8_t *buffer,
                                          size_t size, size_t valid);
typedef uint64_t (*lp_cupti_timestamp)(void);
typedef void (*lp_cupti_buffer_requested_v2)(uint8_t **buffer, size_t *size, size_t *max_records,
                                             void *info);
typedef void (*lp_cupti_buffer_completed_v2)(uint8_t *buffer, size_t size, size_t valid,
                                             const struct lp_cupti_completed_info *info);

#endif
