/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "lib/measure/bench.h"

#define CLOCK_SM 1 /* NVML_CLOCK_SM */

void lp_gpu_clock_open(struct lp_gpu_clock *clock, const char *uuid)
{
    int (*init)(void), (*find)(const char *uuid, void **device);
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);

    memset(clock, 0, sizeof(*clock));
    if (!library)
        return;
    if (!lp_symbol_find(library, "nvmlInit_v2", &init) ||
        !lp_symbol_find(library, "nvmlShutdown", &clock->shut_down) ||
        !lp_symbol_find(library, "nvmlDeviceGetHandleByUUID", &find) ||
        !lp_symbol_find(library, "nvmlDeviceGetClockInfo", &clock->clock) || init() != 0) {
        dlclose(library);
        return;
    }
    clock->library = library;
    if (find(uuid, &clock->device) != 0)
        clock->device = NULL;
}

double lp_gpu_clock_read(const struct lp_gpu_clock *clock)
{
    unsigned mhz = 0;

    if (!clock->device || clock->clock(clock->device, CLOCK_SM, &mhz) != 0 || mhz == 0)
        return NAN;
    return mhz;
}

void lp_gpu_clock_close(struct lp_gpu_clock *clock)
{
    if (!clock->library)
        return;
    clock->shut_down();
    dlclose(clock->library);
    memset(clock, 0, sizeof(*clock));
}
