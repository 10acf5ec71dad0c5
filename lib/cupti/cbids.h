/* SPDX-License-Identifier: Apache-2.0 */
/** Driver calls that launch device work: X(launch kind, callback id, driver function). CUPTI only
 * adds callback ids, so one list fits all versions, and an older CUPTI refuses the ids that it does
 * not know. check.c compares them with the toolkit's headers. */
#ifndef LP_CUPTI_CBIDS_H
#define LP_CUPTI_CBIDS_H

/* clang-format off */
#define LP_CUPTI_LAUNCH_CALLS(X) \
    X(MEMORY, 43, cuMemcpyHtoD) \
    X(MEMORY, 45, cuMemcpyDtoH) \
    X(MEMORY, 47, cuMemcpyDtoD) \
    X(MEMORY, 49, cuMemcpyDtoA) \
    X(MEMORY, 51, cuMemcpyAtoD) \
    X(MEMORY, 53, cuMemcpyHtoA) \
    X(MEMORY, 54, cuMemcpyAtoH) \
    X(MEMORY, 55, cuMemcpyAtoA) \
    X(MEMORY, 56, cuMemcpy2D) \
    X(MEMORY, 57, cuMemcpy2DUnaligned) \
    X(MEMORY, 58, cuMemcpy3D) \
    X(MEMORY, 60, cuMemcpyHtoDAsync) \
    X(MEMORY, 62, cuMemcpyDtoHAsync) \
    X(MEMORY, 64, cuMemcpyDtoDAsync) \
    X(MEMORY, 66, cuMemcpyHtoAAsync) \
    X(MEMORY, 67, cuMemcpyAtoHAsync) \
    X(MEMORY, 68, cuMemcpy2DAsync) \
    X(MEMORY, 69, cuMemcpy3DAsync) \
    X(MEMORY, 71, cuMemsetD8) \
    X(MEMORY, 73, cuMemsetD16) \
    X(MEMORY, 75, cuMemsetD32) \
    X(MEMORY, 77, cuMemsetD2D8) \
    X(MEMORY, 79, cuMemsetD2D16) \
    X(MEMORY, 81, cuMemsetD2D32) \
    X(KERNEL, 115, cuLaunch) \
    X(KERNEL, 116, cuLaunchGrid) \
    X(KERNEL, 117, cuLaunchGridAsync) \
    X(MEMORY, 216, cuMemsetD8Async) \
    X(MEMORY, 218, cuMemsetD16Async) \
    X(MEMORY, 220, cuMemsetD32Async) \
    X(MEMORY, 222, cuMemsetD2D8Async) \
    X(MEMORY, 224, cuMemsetD2D16Async) \
    X(MEMORY, 226, cuMemsetD2D32Async) \
    X(MEMORY, 249, cuMemsetD8_v2) \
    X(MEMORY, 250, cuMemsetD16_v2) \
    X(MEMORY, 251, cuMemsetD32_v2) \
    X(MEMORY, 252, cuMemsetD2D8_v2) \
    X(MEMORY, 253, cuMemsetD2D16_v2) \
    X(MEMORY, 254, cuMemsetD2D32_v2) \
    X(MEMORY, 276, cuMemcpyHtoD_v2) \
    X(MEMORY, 277, cuMemcpyHtoDAsync_v2) \
    X(MEMORY, 278, cuMemcpyDtoH_v2) \
    X(MEMORY, 279, cuMemcpyDtoHAsync_v2) \
    X(MEMORY, 280, cuMemcpyDtoD_v2) \
    X(MEMORY, 281, cuMemcpyDtoDAsync_v2) \
    X(MEMORY, 282, cuMemcpyAtoH_v2) \
    X(MEMORY, 283, cuMemcpyAtoHAsync_v2) \
    X(MEMORY, 284, cuMemcpyAtoD_v2) \
    X(MEMORY, 285, cuMemcpyDtoA_v2) \
    X(MEMORY, 286, cuMemcpyAtoA_v2) \
    X(MEMORY, 287, cuMemcpy2D_v2) \
    X(MEMORY, 288, cuMemcpy2DUnaligned_v2) \
    X(MEMORY, 289, cuMemcpy2DAsync_v2) \
    X(MEMORY, 290, cuMemcpy3D_v2) \
    X(MEMORY, 291, cuMemcpy3DAsync_v2) \
    X(MEMORY, 292, cuMemcpyHtoA_v2) \
    X(MEMORY, 293, cuMemcpyHtoAAsync_v2) \
    X(MEMORY, 305, cuMemcpy) \
    X(MEMORY, 306, cuMemcpyAsync) \
    X(KERNEL, 307, cuLaunchKernel) \
    X(MEMORY, 318, cuMemcpyPeer) \
    X(MEMORY, 319, cuMemcpyPeerAsync) \
    X(MEMORY, 320, cuMemcpy3DPeer) \
    X(MEMORY, 321, cuMemcpy3DPeerAsync) \
    X(MEMORY, 397, cuMemcpyHtoD_v2_ptds) \
    X(MEMORY, 398, cuMemcpyDtoH_v2_ptds) \
    X(MEMORY, 399, cuMemcpyDtoD_v2_ptds) \
    X(MEMORY, 400, cuMemcpyDtoA_v2_ptds) \
    X(MEMORY, 401, cuMemcpyAtoD_v2_ptds) \
    X(MEMORY, 402, cuMemcpyHtoA_v2_ptds) \
    X(MEMORY, 403, cuMemcpyAtoH_v2_ptds) \
    X(MEMORY, 404, cuMemcpyAtoA_v2_ptds) \
    X(MEMORY, 405, cuMemcpy2D_v2_ptds) \
    X(MEMORY, 406, cuMemcpy2DUnaligned_v2_ptds) \
    X(MEMORY, 407, cuMemcpy3D_v2_ptds) \
    X(MEMORY, 408, cuMemcpy_ptds) \
    X(MEMORY, 409, cuMemcpyPeer_ptds) \
    X(MEMORY, 410, cuMemcpy3DPeer_ptds) \
    X(MEMORY, 411, cuMemsetD8_v2_ptds) \
    X(MEMORY, 412, cuMemsetD16_v2_ptds) \
    X(MEMORY, 413, cuMemsetD32_v2_ptds) \
    X(MEMORY, 414, cuMemsetD2D8_v2_ptds) \
    X(MEMORY, 415, cuMemsetD2D16_v2_ptds) \
    X(MEMORY, 416, cuMemsetD2D32_v2_ptds) \
    X(MEMORY, 418, cuMemcpyAsync_ptsz) \
    X(MEMORY, 419, cuMemcpyHtoAAsync_v2_ptsz) \
    X(MEMORY, 420, cuMemcpyAtoHAsync_v2_ptsz) \
    X(MEMORY, 421, cuMemcpyHtoDAsync_v2_ptsz) \
    X(MEMORY, 422, cuMemcpyDtoHAsync_v2_ptsz) \
    X(MEMORY, 423, cuMemcpyDtoDAsync_v2_ptsz) \
    X(MEMORY, 424, cuMemcpy2DAsync_v2_ptsz) \
    X(MEMORY, 425, cuMemcpy3DAsync_v2_ptsz) \
    X(MEMORY, 426, cuMemcpyPeerAsync_ptsz) \
    X(MEMORY, 427, cuMemcpy3DPeerAsync_ptsz) \
    X(MEMORY, 428, cuMemsetD8Async_ptsz) \
    X(MEMORY, 429, cuMemsetD16Async_ptsz) \
    X(MEMORY, 430, cuMemsetD32Async_ptsz) \
    X(MEMORY, 431, cuMemsetD2D8Async_ptsz) \
    X(MEMORY, 432, cuMemsetD2D16Async_ptsz) \
    X(MEMORY, 433, cuMemsetD2D32Async_ptsz) \
    X(KERNEL, 442, cuLaunchKernel_ptsz) \
    X(KERNEL, 477, cuLaunchCooperativeKernel) \
    X(KERNEL, 478, cuLaunchCooperativeKernel_ptsz) \
    X(KERNEL_MULTI, 480, cuLaunchCooperativeKernelMultiDevice) \
    X(GRAPH, 514, cuGraphLaunch) \
    X(GRAPH, 515, cuGraphLaunch_ptsz) \
    X(MEMORY, 580, cuGraphUpload) \
    X(MEMORY, 581, cuGraphUpload_ptsz) \
    X(KERNEL, 652, cuLaunchKernelEx) \
    X(KERNEL, 653, cuLaunchKernelEx_ptsz) \
    X(MEMORY, 776, cuMemcpyBatchAsync) \
    X(MEMORY, 777, cuMemcpyBatchAsync_ptsz) \
    X(MEMORY, 778, cuMemcpy3DBatchAsync) \
    X(MEMORY, 779, cuMemcpy3DBatchAsync_ptsz) \
    X(MEMORY, 796, cuMemcpyBatchAsync_v2) \
    X(MEMORY, 797, cuMemcpyBatchAsync_v2_ptsz) \
    X(MEMORY, 798, cuMemcpy3DBatchAsync_v2) \
    X(MEMORY, 799, cuMemcpy3DBatchAsync_v2_ptsz)

/* Driver calls whose begin and end matter for graphs: X(enum lp_graph_call, callback id, driver
 * function). */
#define LP_CUPTI_GRAPH_CALLS(X) \
    X(REMOVE, 522, cuGraphDestroyNode) \
    X(UPDATE, 561, cuGraphExecUpdate) \
    X(SET_CHILD, 586, cuGraphExecChildGraphNodeSetParams) \
    X(INSTANTIATE, 643, cuGraphInstantiateWithFlags) \
    X(INSTANTIATE_WITH, 656, cuGraphInstantiateWithParams) \
    X(INSTANTIATE_WITH, 657, cuGraphInstantiateWithParams_ptsz) \
    X(UPDATE, 696, cuGraphExecUpdate_v2) \
    X(SET_CHILD, 714, cuGraphExecNodeSetParams)

/* Further driver calls whose length is recorded (lib/record/host_calls.h): X(callback id, driver
 * function). Copies and graph calls with the same purpose are in the lists above. */
#define LP_CUPTI_HOST_CALLS(X) \
    X(17, cuCtxSynchronize) \
    X(18, cuModuleLoad) \
    X(19, cuModuleLoadData) \
    X(20, cuModuleLoadDataEx) \
    X(21, cuModuleLoadFatBinary) \
    X(22, cuModuleUnload) \
    X(29, cuMemAlloc) \
    X(31, cuMemAllocPitch) \
    X(33, cuMemFree) \
    X(37, cuMemAllocHost) \
    X(38, cuMemFreeHost) \
    X(39, cuMemHostAlloc) \
    X(121, cuEventSynchronize) \
    X(126, cuStreamSynchronize) \
    X(243, cuMemAlloc_v2) \
    X(244, cuMemAllocPitch_v2) \
    X(245, cuMemFree_v2) \
    X(271, cuMemHostAlloc_v2) \
    X(294, cuMemAllocHost_v2) \
    X(301, cuMemHostRegister) \
    X(302, cuMemHostUnregister) \
    X(371, cuMemAllocManaged) \
    X(379, cuMemHostRegister_v2) \
    X(440, cuStreamSynchronize_ptsz) \
    X(513, cuGraphInstantiate) \
    X(516, cuGraphExecDestroy) \
    X(549, cuMemCreate) \
    X(550, cuMemRelease) \
    X(551, cuMemMap) \
    X(552, cuMemUnmap) \
    X(553, cuMemSetAccess) \
    X(565, cuMemRetainAllocationHandle) \
    X(578, cuGraphInstantiate_v2) \
    X(598, cuMemAllocAsync) \
    X(599, cuMemAllocAsync_ptsz) \
    X(600, cuMemFreeAsync) \
    X(601, cuMemFreeAsync_ptsz) \
    X(602, cuMemPoolTrimTo) \
    X(611, cuMemAllocFromPoolAsync) \
    X(612, cuMemAllocFromPoolAsync_ptsz) \
    X(678, cuLibraryLoadData) \
    X(679, cuLibraryLoadFromFile) \
    X(680, cuLibraryUnload) \
    X(800, cuCtxSynchronize_v2)
/* clang-format on */

/** Driver calls that begin and end the capture of a stream. */
#define LP_CUPTI_CAPTURE_BEGINS 495, 496, 539, 540, 720, 721
#define LP_CUPTI_CAPTURE_ENDS   497, 498

#endif
