/* SPDX-License-Identifier: Apache-2.0 */
/** The part of CUPTI's binary interface that we use, in our own words: so that the library builds
 * without CUDA headers and serves every CUPTI from 11.8 on. Records only ever grow at their tail,
 * so a prefix fits all versions. cupti_check.c holds each offset and number against the toolkit's
 * headers where the build finds them. Facts: CUPTI 13.0. */
#ifndef LP_CAPTURE_CUPTI_ABI_H
#define LP_CAPTURE_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
    LP_CUPTI_SUCCESS = 0,
    LP_CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    LP_CUPTI_ERROR_INVALID_KIND = 21,
    LP_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39,
};

enum {
    LP_CUPTI_KIND_MEMCPY = 1,
    LP_CUPTI_KIND_MEMSET = 2,
    LP_CUPTI_KIND_CONCURRENT_KERNEL = 10,
    LP_CUPTI_KIND_OVERHEAD = 17,
    LP_CUPTI_KIND_MEMCPY2 = 22,     /* copies between devices */
    LP_CUPTI_KIND_GRAPH_TRACE = 51, /* a launch of a graph as one record, instead of its nodes */
};

enum { LP_CUPTI_ATTR_ZEROED_OUT_ACTIVITY_BUFFER = 5 };
enum { LP_CUPTI_FLAG_FLUSH_FORCED = 1 };
enum { LP_CUPTI_DOMAIN_DRIVER_API = 1, LP_CUPTI_DOMAIN_RESOURCE = 3 };
enum { LP_CUPTI_SITE_ENTER = 0, LP_CUPTI_SITE_EXIT = 1 };
enum {
    LP_CUPTI_RESOURCE_CONTEXT_CREATED = 1,
    LP_CUPTI_RESOURCE_GRAPH_DESTROY_STARTING = 10,
    LP_CUPTI_RESOURCE_GRAPHNODE_CREATED = 13,
    LP_CUPTI_RESOURCE_GRAPHEXEC_CREATE_STARTING = 17,
    LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED = 18,
    LP_CUPTI_RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
    LP_CUPTI_RESOURCE_GRAPHNODE_CLONED = 20,
    LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED = 22, /* "node" says what "original_node" does from now */
};
enum { LP_CUPTI_INSTANTIATE_DEVICE_LAUNCH = 4 }; /* flag of the driver's instantiate calls */
enum { LP_CUPTI_HOLDER_NAME_BYTES = 64 };
enum {
    LP_CUPTI_VERSION_12_9 = 27
}; /* from here on a NULL buffer makes CUPTI drop and count; before, it crashes */

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
    void *descriptor; /* of a graph: struct lp_cupti_graph_data */
};

/* Handles, good for the getters of ids during the callback. Only those that the event is about are
 * set. Node types read 0 whatever the node is (CUPTI 13.0). */
struct lp_cupti_graph_data {
    void *graph, *original_graph;
    void *node, *original_node;
    uint32_t node_type;
    void *dependency;
    void *exec;
};

struct lp_cupti_subscriber_parameters {
    size_t struct_size;
    const char *name;
    char *holder; /* out: who holds CUPTI */
    size_t holder_size;
};

typedef struct lp_cupti_subscriber *lp_cupti_subscriber; /* opaque */
typedef void (*lp_cupti_callback)(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void (*lp_cupti_buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*lp_cupti_buffer_completed)(void *context, uint32_t stream, uint8_t *buffer,
                                          size_t size, size_t valid);
typedef uint64_t (*lp_cupti_timestamp)(void);

#endif
