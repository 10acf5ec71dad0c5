/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/cupti/symbols.h"

/* CUDA major versions whose CUPTI is supported, newest first. */
static const struct {
    uint32_t major;
    const char *file;
} sonames[] = { { 13, "libcupti.so.13" }, { 12, "libcupti.so.12" }, { 11, "libcupti.so.11.8" } };
#define SONAMES (sizeof(sonames) / sizeof(sonames[0]))

static struct lp_cupti cupti; /* filled once, never changed after */
static void *handle;

/* CUDA version that the driver supports, 13000 for 13.0; 0: no driver. Without cuInit(), because a
 * parent that forks must not initialise CUDA. */
static uint32_t driver_version(void)
{
    int (*version_of)(int *version);
    int version = 0;
    void *address, *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!driver)
        return 0;
    address = dlsym(driver, "cuDriverGetVersion");
    memcpy(&version_of, &address, sizeof(version_of));
    if (!version_of || version_of(&version) != 0)
        version = 0;
    return (uint32_t)version;
}

static uint32_t driver_major(void)
{
    return driver_version() / 1000;
}

static bool device_present(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           access("/dev/nvhost-gpu", F_OK) == 0 || access("/dev/nvgpu", F_OK) == 0;
}

static void *open_library(const char *path, int flags)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);

    if (!library && !(flags & RTLD_NOLOAD))
        lp_log(LLMPERF_LOG_DEBUG, "unsuitable CUPTI: %s", dlerror());
    return library;
}

/* 1. Set by the user: a file, or a folder with the file. */
static void *open_from_environment(void)
{
    const char *place = lp_variable("LLMPERF_CUPTI_PATH");
    char path[1024];
    void *library;

    if (!place || !*place)
        return NULL;
    library = open_library(place, 0);
    for (size_t i = 0; !library && i < SONAMES; i++) {
        snprintf(path, sizeof(path), "%s/%s", place, sonames[i].file);
        library = open_library(path, 0);
    }
    return library;
}

/* 2. A copy in the process (PyTorch loads one): two copies would be two profilers. 3. The
 * system's. */
static void *open_by_name(uint32_t major, int flags)
{
    void *library = NULL;

    for (size_t i = 0; !library && i < SONAMES; i++)
        if (sonames[i].major <= major)
            library = open_library(sonames[i].file, flags);
    return library;
}

struct wheel_search {
    uint32_t major;
    void *library;
};

/* 4. Beside the CUDA libraries of a Python environment: NVIDIA's wheels have a folder for CUPTI. */
static int look_beside(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char *const places[] = { ".", "../../cuda_cupti/lib",
                                          "../../nvidia/cuda_cupti/lib", "../../nvidia/cu13/lib" };
    struct wheel_search *search = context;
    const char *name = info->dlpi_name, *slash = strrchr(name, '/');
    char path[2048];

    (void)size;
    if (!slash || (!strstr(slash, "libcudart") && !strstr(slash, "libtorch_cuda") &&
                   !strstr(slash, "libcublas")))
        return 0;
    for (size_t i = 0; i < SONAMES; i++)
        for (size_t k = 0; !search->library && k < sizeof(places) / sizeof(places[0]); k++) {
            snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(slash - name), name, places[k],
                     sonames[i].file);
            if (sonames[i].major <= search->major && access(path, R_OK) == 0)
                search->library = open_library(path, 0);
        }
    return search->library != NULL;
}

/* 5. Toolkits. */
static void *open_from_toolkit(uint32_t major)
{
    const char *roots[] = { lp_variable("CUDA_HOME"), lp_variable("CUDA_PATH"), "/usr/local/cuda",
                            "/opt/cuda" };
    static const char *const places[] = { "extras/CUPTI/lib64", "lib64", "lib" };
    char path[1024];
    void *library = NULL;

    for (size_t r = 0; r < sizeof(roots) / sizeof(roots[0]); r++)
        for (size_t p = 0; roots[r] && p < sizeof(places) / sizeof(places[0]); p++)
            for (size_t i = 0; !library && i < SONAMES; i++) {
                snprintf(path, sizeof(path), "%s/%s/%s", roots[r], places[p], sonames[i].file);
                if (sonames[i].major <= major && access(path, R_OK) == 0)
                    library = open_library(path, 0);
            }
    return library;
}

static void *find_library(uint32_t major)
{
    struct wheel_search wheels = { major, NULL };
    void *library = open_from_environment();

    if (!library)
        library = open_by_name(major, RTLD_NOLOAD);
    if (!library)
        library = open_by_name(major, 0);
    if (!library) {
        dl_iterate_phdr(look_beside, &wheels);
        library = wheels.library;
    }
    return library ? library : open_from_toolkit(major);
}

static bool find_symbols(void)
{
    const struct {
        const char *name;
        void *slot;
        bool needed;
    } symbols[] = {
        { "cuptiGetVersion", &cupti.GetVersion, true },
        { "cuptiGetResultString", &cupti.GetResultString, true },
        { "cuptiGetTimestamp", &cupti.GetTimestamp, true },
        { "cuptiSubscribe", &cupti.Subscribe, true },
        { "cuptiSubscribe_v2", &cupti.Subscribe_v2, false },
        { "cuptiUnsubscribe", &cupti.Unsubscribe, true },
        { "cuptiFinalize", &cupti.Finalize, true },
        { "cuptiEnableCallback", &cupti.EnableCallback, true },
        { "cuptiActivitySetAttribute", &cupti.ActivitySetAttribute, true },
        { "cuptiActivityRegisterCallbacks", &cupti.ActivityRegisterCallbacks, true },
        { "cuptiActivityRegisterTimestampCallback", &cupti.ActivityRegisterTimestampCallback,
          false },
        { "cuptiActivityEnable", &cupti.ActivityEnable, true },
        { "cuptiActivityDisable", &cupti.ActivityDisable, true },
        { "cuptiActivityFlushAll", &cupti.ActivityFlushAll, true },
        { "cuptiActivityGetNextRecord", &cupti.ActivityGetNextRecord, true },
        { "cuptiActivityGetNumDroppedRecords", &cupti.ActivityGetNumDroppedRecords, true },
        { "cuptiActivitySetAttribute_v2", &cupti.ActivitySetAttribute_v2, false },
        { "cuptiActivityRegisterCallbacks_v2", &cupti.ActivityRegisterCallbacks_v2, false },
        { "cuptiActivityEnable_v2", &cupti.ActivityEnable_v2, false },
        { "cuptiActivityDisable_v2", &cupti.ActivityDisable_v2, false },
        { "cuptiActivityGetNextRecord_v2", &cupti.ActivityGetNextRecord_v2, false },
        { "cuptiActivityGetNumDroppedRecords_v2", &cupti.ActivityGetNumDroppedRecords_v2, false },
        { "cuptiGetDeviceId", &cupti.GetDeviceId, false },
        { "cuptiGetGraphId", &cupti.GetGraphId, false },
        { "cuptiGetGraphExecId", &cupti.GetGraphExecId, false },
        { "cuptiGetGraphNodeId", &cupti.GetGraphNodeId, false },
    };

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *address = dlsym(handle, symbols[i].name);

        if (!address && symbols[i].needed)
            return false;
        /* A data pointer from dlsym(), copied to a function pointer of the same size. */
        memcpy(symbols[i].slot, &address, sizeof(address));
    }
    return true;
}

static uint32_t cupti_major(uint32_t version)
{
    return version >= 10000 ? version / 10000
           : version >= 19  ? 12
                            : 11; /* 11.8 is 18, 12.0 is 19, 13.0 is 130000 */
}

static int describe_library(uint32_t major)
{
    Dl_info info;
    void *address;

    memcpy(&address, &cupti.GetVersion, sizeof(address));
    cupti.path[0] = '\0';
    if (dladdr(address, &info) && info.dli_fname)
        snprintf(cupti.path, sizeof(cupti.path), "%s", info.dli_fname);
    if (cupti.GetVersion(&cupti.version) != LP_CUPTI_SUCCESS)
        cupti.version = 0;
    if (cupti_major(cupti.version) > major)
        return lp_error(LLMPERF_ENOENT,
                        "%s is for CUDA %u, but the driver supports CUDA %u; set "
                        "LLMPERF_CUPTI_PATH to a CUPTI of CUDA %u",
                        cupti.path, cupti_major(cupti.version), major, major);
    return 0;
}

int lp_cupti_load(const struct lp_cupti **cupti_out)
{
    uint32_t major = (cupti.driver = driver_version()) / 1000;

    if (major == 0)
        return lp_error(LLMPERF_ENODEVICE,
                        "NVIDIA driver not found (libcuda.so.1); kernels cannot be profiled here");
    if (!device_present())
        return lp_error(LLMPERF_ENODEVICE,
                        "no GPU: the driver is installed but /dev/nvidiactl is missing; if this is "
                        "a container, start it with GPU access");
    if (!handle && !(handle = find_library(major)))
        return lp_error(
            LLMPERF_ENOENT,
            "libcupti.so.%u not found; set LLMPERF_CUPTI_PATH or install the CUDA toolkit", major);
    if (!cupti.GetVersion && !find_symbols()) {
        cupti.GetVersion = NULL;
        return lp_error(LLMPERF_ENOENT,
                        "this libcupti lacks required functions; use CUPTI 11.8 or newer");
    }
    *cupti_out = &cupti;
    return describe_library(major);
}

/* Newest first if no driver sets a limit: functions that need no device work with any version. */
void *lp_cupti_library(void)
{
    uint32_t major = driver_major();

    if (!handle)
        handle = find_library(major ? major : sonames[0].major);
    return handle;
}

const char *lp_cupti_text(const struct lp_cupti *symbols, int result)
{
    const char *text = NULL;

    return symbols->GetResultString(result, &text) == LP_CUPTI_SUCCESS && text ? text
                                                                               : "unknown result";
}
