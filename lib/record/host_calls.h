/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of the CUDA driver whose length is recorded in tier deep: they block the host, or cost it
 * much. Launches of kernels and graphs are not among them.
 * @threads any thread */
#ifndef LP_RECORD_HOST_CALLS_H
#define LP_RECORD_HOST_CALLS_H

#include <stdint.h>

enum lp_host_purpose {
    LP_HOST_NOTHING,
    LP_HOST_WAIT,     /* for the device */
    LP_HOST_ALLOCATE, /* device memory, of which LP_RECORD_MEMORY has the size */
    LP_HOST_FREE,     /* it */
    LP_HOST_MEMORY,   /* other allocations, mapping and pinning */
    LP_HOST_COPY,
    LP_HOST_LOAD, /* code of kernels */
    LP_HOST_GRAPH /* makes or changes executable graphs */
};

/** X(number, purpose, function without _v2, _ptsz and the like). The numbers are stored in
 * recordings. */
#define LP_HOST_CALLS(X)                                                                           \
    X(1, WAIT, cuCtxSynchronize)                                                                   \
    X(2, WAIT, cuStreamSynchronize)                                                                \
    X(3, WAIT, cuEventSynchronize)                                                                 \
    X(4, ALLOCATE, cuMemAlloc)                                                                     \
    X(5, ALLOCATE, cuMemAllocPitch)                                                                \
    X(6, MEMORY, cuMemAllocManaged)                                                                \
    X(7, ALLOCATE, cuMemAllocAsync)                                                                \
    X(8, ALLOCATE, cuMemAllocFromPoolAsync)                                                        \
    X(9, FREE, cuMemFree)                                                                          \
    X(10, FREE, cuMemFreeAsync)                                                                    \
    X(11, ALLOCATE, cuMemCreate)                                                                   \
    X(12, FREE, cuMemRelease)                                                                      \
    X(13, MEMORY, cuMemMap)                                                                        \
    X(14, MEMORY, cuMemUnmap)                                                                      \
    X(15, MEMORY, cuMemSetAccess)                                                                  \
    X(16, MEMORY, cuMemPoolTrimTo)                                                                 \
    X(17, MEMORY, cuMemAllocHost)                                                                  \
    X(18, MEMORY, cuMemHostAlloc)                                                                  \
    X(19, MEMORY, cuMemFreeHost)                                                                   \
    X(20, MEMORY, cuMemHostRegister)                                                               \
    X(21, MEMORY, cuMemHostUnregister)                                                             \
    X(22, LOAD, cuModuleLoad)                                                                      \
    X(23, LOAD, cuModuleLoadData)                                                                  \
    X(24, LOAD, cuModuleLoadDataEx)                                                                \
    X(25, LOAD, cuModuleLoadFatBinary)                                                             \
    X(26, LOAD, cuModuleUnload)                                                                    \
    X(27, LOAD, cuLibraryLoadData)                                                                 \
    X(28, LOAD, cuLibraryLoadFromFile)                                                             \
    X(29, LOAD, cuLibraryUnload)                                                                   \
    X(30, GRAPH, cuGraphInstantiate)                                                               \
    X(31, GRAPH, cuGraphInstantiateWithFlags)                                                      \
    X(32, GRAPH, cuGraphInstantiateWithParams)                                                     \
    X(33, GRAPH, cuGraphExecUpdate)                                                                \
    X(34, GRAPH, cuGraphExecDestroy)                                                               \
    X(35, COPY, cuMemcpy)                                                                          \
    X(36, COPY, cuMemcpyAsync)                                                                     \
    X(37, COPY, cuMemcpyHtoD)                                                                      \
    X(38, COPY, cuMemcpyHtoDAsync)                                                                 \
    X(39, COPY, cuMemcpyDtoH)                                                                      \
    X(40, COPY, cuMemcpyDtoHAsync)                                                                 \
    X(41, COPY, cuMemcpyDtoD)                                                                      \
    X(42, COPY, cuMemcpyDtoDAsync)                                                                 \
    X(43, COPY, cuMemcpyPeer)                                                                      \
    X(44, COPY, cuMemcpyPeerAsync)                                                                 \
    X(45, COPY, cuMemcpy2D)                                                                        \
    X(46, COPY, cuMemcpy2DUnaligned)                                                               \
    X(47, COPY, cuMemcpy2DAsync)                                                                   \
    X(48, COPY, cuMemcpy3D)                                                                        \
    X(49, COPY, cuMemcpy3DAsync)                                                                   \
    X(50, COPY, cuMemcpyBatchAsync)                                                                \
    X(51, COPY, cuMemcpy3DBatchAsync)                                                              \
    X(52, MEMORY, cuMemRetainAllocationHandle)

#define LP_HOST_NUMBER(number, purpose, function) LP_CALL_##function = (number),
enum { LP_HOST_CALLS(LP_HOST_NUMBER) };
#undef LP_HOST_NUMBER

/** Number of a function of the driver, with or without _v2, _ptsz and the like; 0: none of these.
 */
uint8_t lp_host_call_find(const char *function);

/** NULL: no call has this number. Static text. */
const char *lp_host_call_name(uint32_t number);

enum lp_host_purpose lp_host_call_purpose(uint32_t number);

#endif
