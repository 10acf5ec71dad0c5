/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/device/symbol.h"
#include "lib/device/driver.h"
#include "lib/device/nvml.h"
#include "llmperf/api.h"

/* Values of CUdevice_attribute; part of the driver's ABI since CUDA 4. */
enum {
    ATTRIBUTE_CLOCK_RATE = 13,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    ATTRIBUTE_L2_CACHE_SIZE = 38,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};

/* Of CUmemPool_attribute. */
enum { POOL_RESERVED = 5, POOL_USED = 7 };
enum { CAPTURE_RELAXED = 2 }; /* CUstreamCaptureMode */

/* CUresult and CUdevice are ints. */
static struct driver {
    char reason[256]; /* why it cannot be used; "" if it can */
    int (*init)(unsigned flags);
    int (*get_version)(int *version);
    int (*device_count)(int *count);
    int (*device)(int *device, int ordinal);
    int (*device_name)(char *name, int length, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*device_uuid)(unsigned char uuid[16], int device);         /* NULL before CUDA 9.2 */
    int (*primary_state)(int device, unsigned *flags, int *active); /* NULL before CUDA 7 */
    int (*current)(void **context);
    int (*current_device)(int *device);
    int (*set_current)(void *context);
    int (*synchronize)(void);
    int (*exchange_capture_mode)(int *mode);        /* NULL before CUDA 10.1 */
    int (*device_pool)(uint64_t *pool, int device); /* NULL before CUDA 11.2, as the next one */
    int (*pool_attribute)(uint64_t pool, int attribute, uint64_t *value);
    int (*error_string)(int result, const char **text); /* NULL before CUDA 6 */
} driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *library, const char *name, bool needed, void *function)
{
    if (!lp_symbol_find(library, name, function) && needed && !driver.reason[0])
        snprintf(driver.reason, sizeof(driver.reason),
                 "libcuda.so.1 has no %s; install a newer NVIDIA driver", name);
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!library) {
        const char *detail = dlerror();

        snprintf(driver.reason, sizeof(driver.reason), "NVIDIA driver not available: %s",
                 detail ? detail : "libcuda.so.1 not found");
        return;
    }
    find(library, "cuInit", true, &driver.init);
    find(library, "cuDriverGetVersion", true, &driver.get_version);
    find(library, "cuDeviceGetCount", true, &driver.device_count);
    find(library, "cuDeviceGet", true, &driver.device);
    find(library, "cuDeviceGetName", true, &driver.device_name);
    find(library, "cuDeviceGetAttribute", true, &driver.device_attribute);
    find(library, "cuDeviceTotalMem_v2", true, &driver.device_memory);
    find(library, "cuGetErrorString", false, &driver.error_string);
    find(library, "cuDevicePrimaryCtxGetState", false, &driver.primary_state);
    find(library, "cuThreadExchangeStreamCaptureMode", false, &driver.exchange_capture_mode);
    find(library, "cuDeviceGetMemPool", false, &driver.device_pool);
    find(library, "cuMemPoolGetAttribute", false, &driver.pool_attribute);
    find(library, "cuCtxGetCurrent", false, &driver.current);
    find(library, "cuCtxGetDevice", false, &driver.current_device);
    find(library, "cuCtxSetCurrent", false, &driver.set_current);
    find(library, "cuCtxSynchronize", false, &driver.synchronize);
    /* The first version does not know MIG instances. */
    find(library, "cuDeviceGetUuid_v2", false, &driver.device_uuid);
    if (!driver.device_uuid)
        find(library, "cuDeviceGetUuid", false, &driver.device_uuid);
}

static bool is_usable(void)
{
    pthread_once(&once, open_driver);
    return !driver.reason[0];
}

bool lp_driver_available(char *reason, size_t size)
{
    bool usable = is_usable();

    snprintf(reason, size, "%s", driver.reason);
    return usable;
}

int32_t lp_driver_version(void)
{
    int version = 0;

    return is_usable() && driver.get_version(&version) == 0 ? version : 0;
}

static int driver_error(const char *what, int result)
{
    const char *text = NULL;

    if (!driver.error_string || driver.error_string(result, &text) != 0 || !text)
        text = "unknown error";
    return lp_error(LLMPERF_ENODEVICE, "no usable GPU: %s failed with %d (%s)", what, result, text);
}

int lp_driver_gpu_count(int32_t *count_out)
{
    int count = 0, result;

    if (!is_usable())
        return lp_error(LLMPERF_ENODEVICE, "%s", driver.reason);
    if ((result = driver.init(0)) != 0)
        return driver_error("cuInit", result);
    if ((result = driver.device_count(&count)) != 0)
        return driver_error("cuDeviceGetCount", result);
    *count_out = count;
    return 0;
}

/* Number of devices with an active primary context, not counting `except`. */
static int count_active(int count, int except)
{
    int handle, active, sum = 0;
    unsigned flags;

    for (int i = 0; i < count; i++)
        sum += driver.device(&handle, i) == 0 && handle != except &&
               driver.primary_state(handle, &flags, &active) == 0 && active;
    return sum;
}

uint64_t lp_driver_active_gpus(void)
{
    uint64_t active_gpus = 0;
    int count = 0, handle, active;
    unsigned flags;

    if (!is_usable() || !driver.primary_state || driver.device_count(&count) != 0)
        return 0;
    for (int i = 0; i < count && i < 64; i++)
        if (driver.device(&handle, i) == 0 && driver.primary_state(handle, &flags, &active) == 0 &&
            active)
            active_gpus |= UINT64_C(1) << i;
    return active_gpus;
}

/* Before cuInit these calls fail with CUDA_ERROR_NOT_INITIALIZED. */
bool lp_driver_has_context(void)
{
    void *context = NULL;
    int count = 0;

    if (!is_usable() || !driver.primary_state || !driver.current ||
        driver.device_count(&count) != 0)
        return false;
    return (driver.current(&context) == 0 && context) || count_active(count, -1) > 0;
}

bool lp_driver_only_context(void **context_out)
{
    int count = 0, device;

    return is_usable() && driver.primary_state && driver.current && driver.current_device &&
           driver.device_count(&count) == 0 && driver.current(context_out) == 0 && *context_out &&
           driver.current_device(&device) == 0 && count_active(count, device) == 0;
}

/* A capture of another thread must not be invalidated: relaxed mode allows every call. */
bool lp_driver_pool(uint32_t device, uint64_t *pool, uint64_t *reserved_out, uint64_t *used_out)
{
    int handle, mode = CAPTURE_RELAXED;
    bool known;

    if (!is_usable() || !driver.device_pool || !driver.pool_attribute ||
        !driver.exchange_capture_mode || driver.exchange_capture_mode(&mode) != 0)
        return false;
    known = (*pool != 0 ||
             (driver.device(&handle, (int)device) == 0 && driver.device_pool(pool, handle) == 0)) &&
            driver.pool_attribute(*pool, POOL_RESERVED, reserved_out) == 0 &&
            driver.pool_attribute(*pool, POOL_USED, used_out) == 0;
    driver.exchange_capture_mode(&mode);
    return known;
}

bool lp_driver_idle(void *context)
{
    bool idle;

    if (!is_usable() || !driver.set_current || !driver.synchronize ||
        driver.set_current(context) != 0)
        return false;
    idle = driver.synchronize() == 0;
    driver.set_current(NULL);
    return idle;
}

static int32_t attribute(int device, int which)
{
    int value = 0;

    return driver.device_attribute(&value, which, device) == 0 ? value : 0;
}

static void print_uuid(char *text, size_t size, const unsigned char uuid[16])
{
    size_t length = (size_t)snprintf(text, size, "GPU-");

    for (int i = 0; i < 16; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%02x",
                                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

int lp_driver_gpu(int32_t device, struct lp_gpu *gpu_out)
{
    struct lp_gpu gpu = { .device = device };
    unsigned char uuid[16];
    size_t bytes = 0;
    int handle, result;

    if (!is_usable())
        return lp_error(LLMPERF_ENODEVICE, "%s", driver.reason);
    if ((result = driver.device(&handle, device)) != 0)
        return driver_error("cuDeviceGet", result);
    if (driver.device_name(gpu.name, sizeof(gpu.name), handle) != 0)
        gpu.name[0] = '\0';
    if (driver.device_memory(&bytes, handle) == 0)
        gpu.memory_bytes = bytes;
    if (driver.device_uuid && driver.device_uuid(uuid, handle) == 0)
        print_uuid(gpu.uuid, sizeof(gpu.uuid), uuid);
    gpu.cc_major = attribute(handle, ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    gpu.cc_minor = attribute(handle, ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    gpu.sm_count = attribute(handle, ATTRIBUTE_MULTIPROCESSOR_COUNT);
    gpu.clock_khz = attribute(handle, ATTRIBUTE_CLOCK_RATE);
    gpu.memory_clock_khz = attribute(handle, ATTRIBUTE_MEMORY_CLOCK_RATE);
    gpu.bus_width_bits = attribute(handle, ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    gpu.l2_bytes = attribute(handle, ATTRIBUTE_L2_CACHE_SIZE);
    *gpu_out = gpu;
    return 0;
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build …": the first
 * word that starts with a digit and has a dot is the version. */
static bool version_of_line(char *line, char *text, size_t size)
{
    char *rest = NULL;

    for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.'))
            return snprintf(text, size, "%s", word) > 0;
    return false;
}

static bool version_of_proc(char *text, size_t size)
{
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    char line[512];
    bool found = false;

    if (!file)
        return false;
    if (fgets(line, sizeof(line), file))
        found = version_of_line(line, text, size);
    fclose(file);
    return found;
}

/* In containers /proc/driver/nvidia may be hidden. */
static bool version_of_nvml(char *text, size_t size)
{
    char reason[160];
    struct lp_nvml *nvml = lp_nvml_open(reason, sizeof(reason));
    bool found = nvml && lp_nvml_driver_version(nvml, text, size);

    lp_nvml_close(nvml);
    return found;
}

bool lp_driver_module_version(char *text, size_t size)
{
    return version_of_proc(text, size) || version_of_nvml(text, size);
}
