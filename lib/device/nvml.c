/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations follow NVIDIA's NVML API reference: nvmlReturn_t is an int, 0 for success, and
 * nvmlDevice_t a pointer. A function that this version of NVML lacks is NULL. */
#include "lib/device/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/device/symbol.h"
#include "llmperf/profile.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 }; /* nvmlClockType_t */
enum { SENSOR_GPU = 0 };                 /* nvmlTemperatureSensors_t */

struct memory {
    unsigned long long total, free, used;
};

struct lp_nvml {
    void *library;
    int (*init)(void);
    int (*shut_down)(void);
    int (*by_uuid)(const char *uuid, void **handle);
    int (*energy)(void *handle, unsigned long long *mj);
    int (*power)(void *handle, unsigned *mw);
    int (*power_limit)(void *handle, unsigned *mw);
    int (*clock)(void *handle, int type, unsigned *mhz);
    int (*most_clock)(void *handle, int type, unsigned *mhz);
    int (*reasons)(void *handle, unsigned long long *bits);
    int (*temperature)(void *handle, int sensor, unsigned *celsius);
    int (*memory)(void *handle, struct memory *memory);
    int (*mig_mode)(void *handle, unsigned *current, unsigned *pending);
    int (*driver_version)(char *text, unsigned size);
    const char *(*error_string)(int result);
};

static void find_all(struct lp_nvml *nvml)
{
    void *library = nvml->library;

    lp_symbol_find(library, "nvmlInit_v2", &nvml->init);
    lp_symbol_find(library, "nvmlShutdown", &nvml->shut_down);
    lp_symbol_find(library, "nvmlDeviceGetHandleByUUID", &nvml->by_uuid);
    lp_symbol_find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml->energy);
    lp_symbol_find(library, "nvmlDeviceGetPowerUsage", &nvml->power);
    lp_symbol_find(library, "nvmlDeviceGetEnforcedPowerLimit", &nvml->power_limit);
    lp_symbol_find(library, "nvmlDeviceGetClockInfo", &nvml->clock);
    lp_symbol_find(library, "nvmlDeviceGetMaxClockInfo", &nvml->most_clock);
    lp_symbol_find(library, "nvmlDeviceGetCurrentClocksEventReasons", &nvml->reasons);
    if (!nvml->reasons) /* its name before driver 535 */
        lp_symbol_find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->reasons);
    lp_symbol_find(library, "nvmlDeviceGetTemperature", &nvml->temperature);
    lp_symbol_find(library, "nvmlDeviceGetMemoryInfo", &nvml->memory);
    lp_symbol_find(library, "nvmlDeviceGetMigMode", &nvml->mig_mode);
    lp_symbol_find(library, "nvmlSystemGetDriverVersion", &nvml->driver_version);
    lp_symbol_find(library, "nvmlErrorString", &nvml->error_string);
}

static const char *words_of(const struct lp_nvml *nvml, int result)
{
    const char *text = nvml->error_string ? nvml->error_string(result) : NULL;

    return text ? text : "unknown error";
}

static int start(struct lp_nvml *nvml, char *reason, size_t size)
{
    int result;

    if (!nvml->init || !nvml->shut_down || !nvml->by_uuid) {
        snprintf(reason, size,
                 "libnvidia-ml.so.1 lacks functions of NVML; install a newer NVIDIA driver");
        return LLMPERF_ENOTSUP;
    }
    if ((result = nvml->init()) == 0)
        return 0;
    snprintf(reason, size, "NVML does not start: nvmlInit failed with %d (%s)", result,
             words_of(nvml, result));
    return LLMPERF_ENODEVICE;
}

struct lp_nvml *lp_nvml_open(char *reason, size_t size)
{
    struct lp_nvml *nvml = calloc(1, sizeof(*nvml));

    if (!nvml || !(nvml->library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL))) {
        snprintf(reason, size, "%s",
                 nvml ? "libnvidia-ml.so.1 (NVML) not found; in a container, add the driver "
                        "capability utility (NVIDIA_DRIVER_CAPABILITIES)"
                      : "out of memory");
        free(nvml);
        return NULL;
    }
    find_all(nvml);
    if (start(nvml, reason, size) == 0)
        return nvml;
    dlclose(nvml->library);
    free(nvml);
    return NULL;
}

void lp_nvml_close(struct lp_nvml *nvml)
{
    if (!nvml)
        return;
    nvml->shut_down();
    dlclose(nvml->library);
    free(nvml);
}

bool lp_nvml_driver_version(const struct lp_nvml *nvml, char *text, size_t size)
{
    return nvml->driver_version && nvml->driver_version(text, (unsigned)size) == 0;
}

/* CUDA gives the UUID of a MIG instance without the prefix that NVML wants. */
static int find_handle(const struct lp_nvml *nvml, const char *uuid, void **handle, bool *mig)
{
    char name[64];
    int result = nvml->by_uuid(uuid, handle);

    *mig = false;
    if (result == 0 || strncmp(uuid, "GPU-", 4) != 0)
        return result;
    snprintf(name, sizeof(name), "MIG-%s", uuid + 4);
    *mig = nvml->by_uuid(name, handle) == 0;
    return *mig ? 0 : result;
}

static uint64_t fixed_clock(const struct lp_nvml *nvml, void *handle, int type)
{
    unsigned mhz = 0;

    return nvml->most_clock && nvml->most_clock(handle, type, &mhz) == 0 && mhz > 0
               ? mhz
               : LLMPERF_UNKNOWN;
}

static bool is_divided(const struct lp_nvml *nvml, void *handle)
{
    unsigned current = 0, pending;

    return nvml->mig_mode && nvml->mig_mode(handle, &current, &pending) == 0 && current == 1;
}

int lp_nvml_find(const struct lp_nvml *nvml, const char *uuid, uint16_t device,
                 struct lp_nvml_gpu *gpu_out, char *reason, size_t size)
{
    struct lp_nvml_gpu gpu = { .device = device };
    unsigned limit = 0;
    bool mig;
    int result = find_handle(nvml, uuid, &gpu.handle, &mig);

    if (result != 0) {
        snprintf(reason, size, "NVML does not find %s: %d (%s)", uuid, result,
                 words_of(nvml, result));
        return LLMPERF_ENODEVICE;
    }
    for (int i = 0; i < LP_GPU_VALUES; i++)
        gpu.fixed[i] = LLMPERF_UNKNOWN;
    gpu.fixed[LP_GPU_MIG] = mig || is_divided(nvml, gpu.handle);
    gpu.fixed[LP_GPU_SM_MOST_MHZ] = fixed_clock(nvml, gpu.handle, CLOCK_SM);
    gpu.fixed[LP_GPU_MEMORY_MOST] = fixed_clock(nvml, gpu.handle, CLOCK_MEMORY);
    if (nvml->power_limit && nvml->power_limit(gpu.handle, &limit) == 0 && limit > 0)
        gpu.fixed[LP_GPU_POWER_LIMIT] = limit;
    *gpu_out = gpu;
    return 0;
}

/* Energy and clocks of a MIG instance are those of the whole GPU, which others use too. */
static void read_counters(const struct lp_nvml *nvml, void *handle, uint64_t *values)
{
    unsigned long long wide;
    unsigned number;

    if (nvml->power && nvml->power(handle, &number) == 0)
        values[LP_GPU_POWER_MW] = number;
    if (nvml->clock && nvml->clock(handle, CLOCK_SM, &number) == 0)
        values[LP_GPU_SM_MHZ] = number;
    if (nvml->clock && nvml->clock(handle, CLOCK_MEMORY, &number) == 0)
        values[LP_GPU_MEMORY_MHZ] = number;
    if (nvml->reasons && nvml->reasons(handle, &wide) == 0)
        values[LP_GPU_REASONS] = wide;
    if (nvml->temperature && nvml->temperature(handle, SENSOR_GPU, &number) == 0)
        values[LP_GPU_CELSIUS] = number;
}

void lp_nvml_read(const struct lp_nvml *nvml, const struct lp_nvml_gpu *gpu,
                  struct lp_gpu_sample *sample_out)
{
    struct lp_gpu_sample sample = { .device = gpu->device };
    uint64_t begin_ns = lp_clock_now();
    struct memory memory = { 0, 0, 0 };
    bool whole = gpu->fixed[LP_GPU_MIG] == 0;
    unsigned long long energy;

    memcpy(sample.values, gpu->fixed, sizeof(sample.values));
    if (whole && nvml->energy && nvml->energy(gpu->handle, &energy) == 0)
        sample.values[LP_GPU_ENERGY_MJ] = energy;
    /* The counter was read somewhere in between. */
    sample.time_ns = begin_ns + (lp_clock_now() - begin_ns) / 2;
    if (whole)
        read_counters(nvml, gpu->handle, sample.values);
    if (nvml->memory && nvml->memory(gpu->handle, &memory) == 0) {
        sample.values[LP_GPU_USED_BYTES] = memory.used;
        sample.values[LP_GPU_MEMORY_BYTES] = memory.total;
    }
    sample.values[LP_GPU_READ_NS] = lp_clock_now() - begin_ns;
    *sample_out = sample;
}
