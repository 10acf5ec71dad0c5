/* SPDX-License-Identifier: Apache-2.0 */
/* Compares abi.h with the toolkit's headers. Compiled if the build finds them; contains no code.
 * Headers before 13.0 lack some names. */
#include <assert.h>

#include "lib/cupti/abi.h"
#include "lib/cupti/cbids.h"
#include "lib/record/shapes.h"

#include <cupti.h>

#if CUPTI_API_VERSION >= 130000

#define SAME_FIELD(ours, our_field, theirs, their_field)                                           \
    static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&             \
                      sizeof(((struct ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
                  #ours "." #our_field)
/* Members that all records of an operation share. */
#define SAME_ACTIVITY(ours, theirs)                                                                \
    SAME_FIELD(ours, start, theirs, start);                                                        \
    SAME_FIELD(ours, end, theirs, end);                                                            \
    SAME_FIELD(ours, device_id, theirs, deviceId);                                                 \
    SAME_FIELD(ours, context_id, theirs, contextId);                                               \
    SAME_FIELD(ours, stream_id, theirs, streamId);                                                 \
    SAME_FIELD(ours, correlation_id, theirs, correlationId);                                       \
    SAME_FIELD(ours, graph_node_id, theirs, graphNodeId);                                          \
    SAME_FIELD(ours, graph_id, theirs, graphId)
#define SAME_NUMBER(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

SAME_ACTIVITY(lp_cupti_kernel, CUpti_ActivityKernel10);
SAME_FIELD(lp_cupti_kernel, kind, CUpti_ActivityKernel10, kind);
SAME_FIELD(lp_cupti_kernel, name, CUpti_ActivityKernel10, name);
SAME_FIELD(lp_cupti_kernel, queued, CUpti_ActivityKernel10, queued);
SAME_FIELD(lp_cupti_kernel, submitted, CUpti_ActivityKernel10, submitted);
SAME_FIELD(lp_cupti_kernel, registers_per_thread, CUpti_ActivityKernel10, registersPerThread);
SAME_FIELD(lp_cupti_kernel, grid[0], CUpti_ActivityKernel10, gridX);
SAME_FIELD(lp_cupti_kernel, grid[1], CUpti_ActivityKernel10, gridY);
SAME_FIELD(lp_cupti_kernel, grid[2], CUpti_ActivityKernel10, gridZ);
SAME_FIELD(lp_cupti_kernel, block[0], CUpti_ActivityKernel10, blockX);
SAME_FIELD(lp_cupti_kernel, block[1], CUpti_ActivityKernel10, blockY);
SAME_FIELD(lp_cupti_kernel, block[2], CUpti_ActivityKernel10, blockZ);
SAME_FIELD(lp_cupti_kernel, static_shared_memory, CUpti_ActivityKernel10, staticSharedMemory);
SAME_FIELD(lp_cupti_kernel, dynamic_shared_memory, CUpti_ActivityKernel10, dynamicSharedMemory);

SAME_ACTIVITY(lp_cupti_memcpy, CUpti_ActivityMemcpy6);
SAME_FIELD(lp_cupti_memcpy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME_FIELD(lp_cupti_memcpy, source_kind, CUpti_ActivityMemcpy6, srcKind);
SAME_FIELD(lp_cupti_memcpy, destination_kind, CUpti_ActivityMemcpy6, dstKind);
SAME_FIELD(lp_cupti_memcpy, flags, CUpti_ActivityMemcpy6, flags);
SAME_FIELD(lp_cupti_memcpy, bytes, CUpti_ActivityMemcpy6, bytes);

SAME_ACTIVITY(lp_cupti_memcpy2, CUpti_ActivityMemcpyPtoP4);
SAME_FIELD(lp_cupti_memcpy2, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME_FIELD(lp_cupti_memcpy2, source_kind, CUpti_ActivityMemcpyPtoP4, srcKind);
SAME_FIELD(lp_cupti_memcpy2, destination_kind, CUpti_ActivityMemcpyPtoP4, dstKind);
SAME_FIELD(lp_cupti_memcpy2, flags, CUpti_ActivityMemcpyPtoP4, flags);
SAME_FIELD(lp_cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);

SAME_ACTIVITY(lp_cupti_memset, CUpti_ActivityMemset4);
SAME_FIELD(lp_cupti_memset, flags, CUpti_ActivityMemset4, flags);
SAME_FIELD(lp_cupti_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME_FIELD(lp_cupti_memset, bytes, CUpti_ActivityMemset4, bytes);

SAME_FIELD(lp_cupti_graph_trace, correlation_id, CUpti_ActivityGraphTrace2, correlationId);
SAME_FIELD(lp_cupti_graph_trace, start, CUpti_ActivityGraphTrace2, start);
SAME_FIELD(lp_cupti_graph_trace, end, CUpti_ActivityGraphTrace2, end);
SAME_FIELD(lp_cupti_graph_trace, device_id, CUpti_ActivityGraphTrace2, deviceId);
SAME_FIELD(lp_cupti_graph_trace, graph_id, CUpti_ActivityGraphTrace2, graphId);
SAME_FIELD(lp_cupti_graph_trace, context_id, CUpti_ActivityGraphTrace2, contextId);
SAME_FIELD(lp_cupti_graph_trace, stream_id, CUpti_ActivityGraphTrace2, streamId);

SAME_FIELD(lp_cupti_overhead, start, CUpti_ActivityOverhead3, start);
SAME_FIELD(lp_cupti_overhead, end, CUpti_ActivityOverhead3, end);

SAME_FIELD(lp_cupti_callback_data, site, CUpti_CallbackData, callbackSite);
SAME_FIELD(lp_cupti_callback_data, function_return_value, CUpti_CallbackData, functionReturnValue);
SAME_FIELD(lp_cupti_callback_data, correlation_data, CUpti_CallbackData, correlationData);
SAME_FIELD(lp_cupti_callback_data, correlation_id, CUpti_CallbackData, correlationId);

SAME_FIELD(lp_cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_FIELD(lp_cupti_module_data, size, CUpti_ModuleResourceData, cubinSize);
SAME_FIELD(lp_cupti_module_data, cubin, CUpti_ModuleResourceData, pCubin);
SAME_FIELD(lp_cupti_graph_data, graph, CUpti_GraphData, graph);
SAME_FIELD(lp_cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
SAME_FIELD(lp_cupti_graph_data, node, CUpti_GraphData, node);
SAME_FIELD(lp_cupti_graph_data, original_node, CUpti_GraphData, originalNode);
SAME_FIELD(lp_cupti_graph_data, exec, CUpti_GraphData, graphExec);

SAME_FIELD(lp_cupti_subscriber_parameters, name, CUpti_SubscriberParams, subscriberName);
SAME_FIELD(lp_cupti_subscriber_parameters, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME_FIELD(lp_cupti_subscriber_parameters, holder_size, CUpti_SubscriberParams, oldSubscriberSize);
#if CUPTI_API_VERSION >= 130300
SAME_FIELD(lp_cupti_subscriber_parameters, shared, CUpti_SubscriberParams,
           allowMultipleSubscribers);
SAME_FIELD(lp_cupti_field_layout, number, CUpti_ActivityFieldLayoutEntry, fieldId);
SAME_FIELD(lp_cupti_field_layout, offset, CUpti_ActivityFieldLayoutEntry, offset);
SAME_FIELD(lp_cupti_field_layout, size, CUpti_ActivityFieldLayoutEntry, size);
SAME_FIELD(lp_cupti_record_layout, fields, CUpti_ActivityRecordLayout, pEntries);
SAME_FIELD(lp_cupti_record_layout, field_count, CUpti_ActivityRecordLayout, numFields);
SAME_FIELD(lp_cupti_field_selection, count, CUpti_ActivityFieldSelection, numFields);
SAME_FIELD(lp_cupti_field_selection, numbers, CUpti_ActivityFieldSelection, pFieldIds);
SAME_FIELD(lp_cupti_activity_config, fields, CUpti_ActivityConfig, fieldSelection);
SAME_FIELD(lp_cupti_completed_info, layouts, CUpti_BufferCallbackCompleteInfo, ppRecordLayouts);
SAME_FIELD(lp_cupti_completed_info, layout_count, CUpti_BufferCallbackCompleteInfo,
           numRecordLayouts);
SAME_NUMBER(LP_CUPTI_ATTR_USER_DEFINED_RECORDS, CUPTI_ACTIVITY_ATTR_USER_DEFINED_RECORDS);
#define SAME_SLIM_FIELD(kind, field, number, name) SAME_NUMBER(number, name);
LP_CUPTI_SLIM_FIELDS(SAME_SLIM_FIELD)
#endif

#define SAME_NAMED(ours, number, theirs) SAME_NUMBER(ours, theirs);
LP_CUPTI_NUMBERS(SAME_NAMED)
SAME_NUMBER(LP_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
SAME_NUMBER(LP_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
SAME_NUMBER(LP_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
SAME_NUMBER(LP_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
SAME_NUMBER(LP_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
SAME_NUMBER(LP_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
SAME_NUMBER(LP_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);

#define SAME_CALL(kind, number, function) SAME_NUMBER(number, CUPTI_DRIVER_TRACE_CBID_##function);
LP_CUPTI_LAUNCH_CALLS(SAME_CALL)
LP_CUPTI_GRAPH_CALLS(SAME_CALL)
#define SAME_HOST_CALL(number, function) SAME_NUMBER(number, CUPTI_DRIVER_TRACE_CBID_##function);
LP_CUPTI_HOST_CALLS(SAME_HOST_CALL)

SAME_FIELD(lp_cupti_allocation, location_type, CUmemAllocationProp, location.type);
SAME_FIELD(lp_cupti_allocation, location, CUmemAllocationProp, location.id);
SAME_NUMBER(LP_CUPTI_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);

/* Parameters are read by their number. */
#define PARAMETER(function, number, name)                                                          \
    static_assert(offsetof(function##_params, name) == (number) * sizeof(uint64_t), #function)
PARAMETER(cuMemAlloc_v2, 0, dptr);
PARAMETER(cuMemAlloc_v2, 1, bytesize);
PARAMETER(cuMemAllocPitch_v2, 0, dptr);
PARAMETER(cuMemAllocPitch_v2, 1, pPitch);
PARAMETER(cuMemAllocPitch_v2, 3, Height);
PARAMETER(cuMemAllocAsync, 0, dptr);
PARAMETER(cuMemAllocAsync, 1, bytesize);
PARAMETER(cuMemAllocFromPoolAsync, 0, dptr);
PARAMETER(cuMemAllocFromPoolAsync, 1, bytesize);
PARAMETER(cuMemAllocFromPoolAsync, 2, pool);
PARAMETER(cuMemFree_v2, 0, dptr);
PARAMETER(cuMemFreeAsync, 0, dptr);
PARAMETER(cuMemCreate, 0, handle);
PARAMETER(cuMemCreate, 1, size);
PARAMETER(cuMemCreate, 2, prop);
PARAMETER(cuMemRelease, 0, handle);
PARAMETER(cuMemRetainAllocationHandle, 0, handle);

static_assert(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture == 495 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz == 496 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture == 497 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz == 498 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 == 539 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz == 540 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph == 720 &&
                  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz == 721,
              "LP_CUPTI_CAPTURE_BEGINS, LP_CUPTI_CAPTURE_ENDS");

#endif
