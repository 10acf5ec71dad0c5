/* SPDX-License-Identifier: Apache-2.0 */
/** NVML, found at run time: energy, power, clocks, temperature and memory of GPUs. It needs neither
 * the CUDA driver nor a context.
 * @threads one at a time per object */
#ifndef LP_DEVICE_NVML_H
#define LP_DEVICE_NVML_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/record/gpu_sample.h"

struct lp_nvml;

/** A GPU that NVML knows. */
struct lp_nvml_gpu {
    void *handle;
    uint64_t fixed[LP_GPU_VALUES]; /* values that do not change; LLMPERF_UNKNOWN: the others */
    uint16_t device;
};

/** Load and start NVML. NULL: it is not there or does not start; `reason` says why. */
struct lp_nvml *lp_nvml_open(char *reason, size_t size);
void lp_nvml_close(struct lp_nvml *nvml);

/** Version of the driver, "580.95.05"; false: not known. */
bool lp_nvml_driver_version(const struct lp_nvml *nvml, char *text, size_t size);

/** Find a GPU.
 * @param uuid  As lp_driver_gpu() gives it: "GPU-…", also for a MIG instance.
 * @return 0; a negative error if NVML has no such GPU, with the reason. */
int lp_nvml_find(const struct lp_nvml *nvml, const char *uuid, uint16_t device,
                 struct lp_nvml_gpu *gpu_out, char *reason, size_t size);

/** Read its state now. */
void lp_nvml_read(const struct lp_nvml *nvml, const struct lp_nvml_gpu *gpu,
                  struct lp_gpu_sample *sample_out);

#endif
