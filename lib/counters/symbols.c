/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/counters/symbols.h"
#include "lib/cupti/symbols.h"

/* Filled once, under the lock; never changed after. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lp_counters_calls calls;
static bool loaded;

/* libcupti opens libnvperf_host by its bare name, which the loader finds only on its own paths.
 * Opened here first from libcupti's directory, it is the matching version. */
static int open_host_library(void)
{
    const char *slash = strrchr(calls.path, '/');
    char path[560];

    snprintf(path, sizeof(path), "%.*s/libnvperf_host.so", slash ? (int)(slash - calls.path) : 0,
             calls.path);
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) || dlopen("libnvperf_host.so", RTLD_NOW | RTLD_LOCAL))
        return 0;
    return lp_error(LLMPERF_ENOENT,
                    "libnvperf_host.so not found next to %s; hardware counters need it: install "
                    "the complete CUPTI (CUDA toolkit, or the nvidia-cuda-cupti wheel)",
                    calls.path);
}

static int find_calls(void *library)
{
    const struct {
        const char *name;
        void *slot;
    } symbols[] = { { "cuptiGetResultString", &calls.GetResultString },
#define CALL(name, params) { "cupti" #name, &calls.name },
                    LP_COUNTERS_CALLS(CALL)
#undef CALL
    };
    Dl_info info;

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *address = dlsym(library, symbols[i].name);

        if (!address)
            return lp_error(LLMPERF_ENOENT,
                            "this libcupti has no %s; hardware counters need CUPTI 12.6 or newer",
                            symbols[i].name);
        memcpy(symbols[i].slot, &address, sizeof(address));
        if (i == 0 && dladdr(address, &info) && info.dli_fname)
            snprintf(calls.path, sizeof(calls.path), "%s", info.dli_fname);
    }
    return 0;
}

static int load(void)
{
    void *library = lp_cupti_library();
    int status;

    if (!library)
        return lp_error(LLMPERF_ENOENT,
                        "libcupti not found; set LLMPERF_CUPTI_PATH or install the CUDA toolkit");
    if ((status = find_calls(library)) < 0)
        return status;
    return open_host_library();
}

int lp_counters_load(const struct lp_counters_calls **calls_out)
{
    int status = 0;

    pthread_mutex_lock(&lock);
    if (!loaded && (status = load()) == 0)
        loaded = true;
    pthread_mutex_unlock(&lock);
    if (status == 0)
        *calls_out = &calls;
    return status;
}

const char *lp_counters_text(const struct lp_counters_calls *symbols, int result)
{
    const char *text = NULL;

    return symbols->GetResultString(result, &text) == 0 && text ? text : "unknown result";
}
