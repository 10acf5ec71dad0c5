/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU side that both profilers share: which chip, what it can count, and what may prevent
 * it. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/counters/run.h"

static void find(void *library, const char *name, void *slot)
{
    void *address = library ? dlsym(library, name) : NULL;

    memcpy(slot, &address, sizeof(address));
}

/* The driver's calls, once the program has loaded it. Concurrent look-ups find the same address. */
static int (*_Atomic get_current)(void **context);
static int (*_Atomic get_device)(int *device);
static int (*_Atomic synchronize)(void);

static __thread bool calling; /* this thread is in a call of the driver that is ours */

static bool find_driver(void)
{
    int (*current)(void **context), (*device)(int *device), (*wait)(void);
    void *library;

    if (atomic_load(&get_device))
        return true;
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    find(library, "cuCtxGetCurrent", &current);
    find(library, "cuCtxGetDevice", &device);
    find(library, "cuCtxSynchronize", &wait);
    atomic_store(&synchronize, wait);
    atomic_store(&get_current, current);
    if (current)
        atomic_store(&get_device, device);
    return current && device;
}

void *lp_counter_context(void)
{
    void *context = NULL;

    return find_driver() && atomic_load(&get_current)(&context) == 0 ? context : NULL;
}

void lp_counter_idle(void)
{
    int (*wait)(void) = atomic_load(&synchronize);

    calling = true;
    if (wait)
        wait();
    calling = false;
}

bool lp_counters_calling(void)
{
    return calling;
}

bool lp_counter_device_look(struct lp_counter_device *device)
{
    device->context = lp_counter_context();
    return device->context && atomic_load(&get_device)(&device->ordinal) == 0;
}

static int initialise(const struct lp_counters_calls *calls)
{
    /* Once per process, and never undone: a second DeInitialize crashes. */
    static bool done;
    struct lp_cupti_profiler params = { LP_CUPTI_SIZE(lp_cupti_profiler), NULL };
    int status = done ? 0 : LP_COUNTER_CALL(calls, ProfilerInitialize, &params);

    done = status == 0;
    return status;
}

static int refuse(const struct lp_cupti_device_supported *found)
{
    if (found->architecture != LP_CUPTI_LEVEL_SUPPORTED)
        return lp_error(LLMPERF_ENOTSUP,
                        "no hardware counters: this GPU is too old for CUPTI's profiling API");
    if (found->vgpu == LP_CUPTI_LEVEL_DISABLED)
        return lp_error(
            LLMPERF_ENOTSUP,
            "no hardware counters: profiling is disabled for this vGPU; enable it on the host");
    if (found->confidential != LP_CUPTI_LEVEL_SUPPORTED)
        return lp_error(
            LLMPERF_ENOTSUP,
            "no hardware counters: confidential computing is enabled, which disables them");
    if (found->wsl != LP_CUPTI_LEVEL_SUPPORTED)
        return lp_error(LLMPERF_ENOTSUP, "no hardware counters: they are not available under WSL");
    return lp_error(LLMPERF_ENOTSUP, "no hardware counters: this GPU does not support them");
}

static int check_support(const struct lp_counters_calls *calls, enum lp_counter_method method,
                         const struct lp_counter_device *device)
{
    struct lp_cupti_device_supported params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_device_supported),
        .device = device->ordinal,
        .api = method == LP_COUNTER_PM   ? LP_CUPTI_SUPPORT_PM
               : method == LP_COUNTER_PC ? LP_CUPTI_SUPPORT_PC
                                         : LP_CUPTI_SUPPORT_RANGE,
    };
    int status = LP_COUNTER_CALL(calls, ProfilerDeviceSupported, &params);

    if (status < 0)
        return status;
    return params.supported == LP_CUPTI_LEVEL_SUPPORTED ? 0 : refuse(&params);
}

static int read_chip(const struct lp_counters_calls *calls, struct lp_counter_device *device)
{
    struct lp_cupti_chip_name params = { LP_CUPTI_SIZE(lp_cupti_chip_name), NULL,
                                         (size_t)device->ordinal, NULL };
    int result = calls->DeviceGetChipName(&params);

    if (result != 0 || !params.name)
        return lp_counter_explain(calls, "cuptiDeviceGetChipName", result ? result : -1);
    snprintf(device->chip, sizeof(device->chip), "%s", params.name);
    return 0;
}

/* Called twice: for the size, then for the image. */
static int ask_availability(const struct lp_counters_calls *calls, enum lp_counter_method method,
                            const struct lp_counter_device *device, size_t *size, uint8_t *image)
{
    struct lp_cupti_pm_availability pm = { LP_CUPTI_SIZE(lp_cupti_pm_availability), NULL,
                                           (size_t)device->ordinal, *size, image };
    struct lp_cupti_availability range = { LP_CUPTI_SIZE(lp_cupti_availability), NULL,
                                           device->context, *size, image };
    int result = method == LP_COUNTER_PM ? calls->PmSamplingGetCounterAvailability(&pm)
                                         : calls->ProfilerGetCounterAvailability(&range);

    *size = method == LP_COUNTER_PM ? pm.size : range.size;
    return lp_counter_explain(calls, "GetCounterAvailability", result);
}

static int read_availability(const struct lp_counters_calls *calls, enum lp_counter_method method,
                             struct lp_counter_device *device)
{
    size_t size = 0;
    int status = ask_availability(calls, method, device, &size, NULL);

    if (status < 0)
        return status;
    if (!(device->availability = malloc(size ? size : 1)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return ask_availability(calls, method, device, &size, device->availability);
}

int lp_counter_device_open(const struct lp_counters_calls *calls, enum lp_counter_method method,
                           struct lp_counter_device *device)
{
    int status;

    if ((status = initialise(calls)) < 0 || (status = check_support(calls, method, device)) < 0 ||
        (status = read_chip(calls, device)) < 0 || method == LP_COUNTER_PC)
        return status;
    return read_availability(calls, method, device);
}
