/* SPDX-License-Identifier: Apache-2.0 */
/* NVML with one GPU as the test says. It lacks functions that older versions lack too:
 * nvmlDeviceGetCurrentClocksEventReasons and nvmlDeviceGetMigMode. */
#include "tests/mock/nvml.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

struct memory {
    unsigned long long total, free, used;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle);
int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj);
int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *mw);
int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits);
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius);
int nvmlDeviceGetMemoryInfo(void *handle, struct memory *memory);
const char *nvmlErrorString(int result);

static struct mock_nvml state; /* set while no session runs */
static _Atomic int reads, open_count;

void mock_nvml_set(const struct mock_nvml *wanted)
{
    state = *wanted;
    reads = 0;
    open_count = 0;
}

int mock_nvml_reads(void)
{
    return reads;
}

int mock_nvml_open(void)
{
    return open_count;
}

int nvmlInit_v2(void)
{
    open_count += state.init_result == 0;
    return state.init_result;
}

int nvmlShutdown(void)
{
    open_count--;
    return 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    (void)text;
    (void)size;
    return 3;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle)
{
    *handle = &state;
    if (state.find_result != 0)
        return state.find_result;
    return !state.uuid || strcmp(uuid, state.uuid) == 0 ? 0 : 6;
}

int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj)
{
    struct timespec now;

    (void)handle;
    clock_gettime(CLOCK_MONOTONIC, &now);
    reads++;
    *mj =
        (unsigned long long)((long long)(state.still ? 1e6
                                                     : state.watts * ((double)now.tv_sec * 1e3 +
                                                                      (double)now.tv_nsec / 1e6)) +
                             state.offset_mj);
    return state.energy_result;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw)
{
    (void)handle;
    *mw = state.power_mw;
    return state.power_result;
}

int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *mw)
{
    (void)handle;
    *mw = 700000;
    return 0;
}

int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz)
{
    (void)handle;
    *mhz = type == 1 ? state.sm_mhz : state.memory_mhz;
    return state.clock_result;
}

int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz)
{
    (void)handle;
    *mhz = type == 1 ? 1980 : 2619;
    return state.clock_result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits)
{
    (void)handle;
    *bits = state.reasons;
    return state.clock_result;
}

int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius)
{
    (void)handle;
    *celsius = state.celsius;
    return sensor == 0 ? state.clock_result : 2;
}

int nvmlDeviceGetMemoryInfo(void *handle, struct memory *memory)
{
    (void)handle;
    *memory = (struct memory){ 80ull << 30, (80ull << 30) - state.used_bytes, state.used_bytes };
    return state.memory_result;
}

const char *nvmlErrorString(int result)
{
    return result == 3 ? "Not Supported" : "an error of the mock";
}
