/* SPDX-License-Identifier: Apache-2.0 */
/** The NVIDIA driver, found at run time: versions and attributes of its GPUs. Never makes a
 * context.
 * @threads any thread */
#ifndef LP_DEVICE_DRIVER_H
#define LP_DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A GPU. 0: not reported by the driver. */
struct lp_gpu {
    char name[256];
    int32_t device; /* ordinal in this process, after CUDA_VISIBLE_DEVICES */
    int32_t cc_major, cc_minor;
    int32_t sm_count;
    int32_t clock_khz, memory_clock_khz;
    int32_t bus_width_bits;
    int32_t l2_bytes;
    uint64_t memory_bytes;
    char uuid[48]; /* "GPU-…"; "" if the driver did not report it */
};

/** Is there a libcuda with the functions that we need? If not, `reason` names what is missing. Does
 * not start the driver. */
bool lp_driver_available(char *reason, size_t size);

/** CUDA version of the driver, 13000 for 13.0; 0: not known. Does not start the driver. */
int32_t lp_driver_version(void);

/** Start the driver (cuInit) and count the GPUs. A process that does so and then forks has no
 * working CUDA in the child. 0; LLMPERF_ENODEVICE with the error text. */
int lp_driver_gpu_count(int32_t *count_out);

/** Attributes of GPU `device`, after lp_driver_gpu_count(). 0 or LLMPERF_ENODEVICE. */
int lp_driver_gpu(int32_t device, struct lp_gpu *gpu_out);

/** GPUs with an active primary context in this process, bit i: ordinal i, the first 64. 0 before
 * the program has started the driver. @threads any thread */
uint64_t lp_driver_active_gpus(void);

/** Version of the kernel module, "580.95.05", from /proc or from libnvidia-ml. False: not known. */
bool lp_driver_module_version(char *text, size_t size);

/** Has this process made a CUDA context: a primary one of any device, or this thread's? Does not
 * initialise the driver. @threads any thread */
bool lp_driver_has_context(void);

/** The context of this thread, if its device is the only one in use. @threads any thread */
bool lp_driver_only_context(void **context_out);

/** Bytes that a memory pool holds, and those of them that are in use.
 * @param pool  CUmemoryPool; 0: the current pool of the device.
 * @return false: not known. @threads any thread */
bool lp_driver_pool(uint32_t device, uint64_t *pool, uint64_t *reserved_out, uint64_t *used_out);

/** Wait until the context has no work left on its device; false: failed. Not during stream capture.
 * @threads any thread; it has no context afterwards */
bool lp_driver_idle(void *context);

#endif
