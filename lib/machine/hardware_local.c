/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of this machine: capture queries the driver, analysis has the peaks of GPUs. */
#include "lib/base/status.h"
#include "llmperf/hardware.h"
#include "lib/device/driver.h"

int llmperf_hardware_local(int32_t device, const llmperf_config *config,
                           llmperf_hardware **hardware_out)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    char driver[64];
    struct lp_gpu gpu;
    int32_t count;
    int status;

    if (!hardware_out)
        return lp_error(LLMPERF_EINVAL, "hardware_out is required");
    if ((status = lp_driver_gpu_count(&count)) < 0)
        return status;
    if (count == 0)
        return lp_error(LLMPERF_ENODEVICE,
                        "no GPU is visible to this process; is CUDA_VISIBLE_DEVICES set?");
    if (device < 0 || device >= count)
        return lp_error(LLMPERF_ENOENT, "device %d does not exist; this process sees %d", device,
                        count);
    if ((status = lp_driver_gpu(device, &gpu)) < 0)
        return status;
    query.name = gpu.name;
    query.memory_bytes = gpu.memory_bytes;
    query.cc_major = gpu.cc_major;
    query.cc_minor = gpu.cc_minor;
    query.sm_count = gpu.sm_count;
    query.clock_khz = gpu.clock_khz;
    query.memory_clock_khz = gpu.memory_clock_khz;
    query.bus_width_bits = gpu.bus_width_bits;
    query.l2_bytes = gpu.l2_bytes;
    query.uuid = gpu.uuid;
    query.driver = lp_driver_module_version(driver, sizeof(driver)) ? driver : NULL;
    return llmperf_hardware_find(&query, config, hardware_out);
}
