/* SPDX-License-Identifier: Apache-2.0 */
/* NVML with one GPU as the test says. It lacks functions that older versions lack too:
 * nvmlDeviceGetCurrentClocksEventReasons and nvmlDeviceGetMigMode. */
#include "tests/mock/nvml.h"

#include <pthread.h>
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mock_nvml state; /* may be set while a session reads it */
static _Atomic int reads, open_count;

static struct mock_nvml now(void)
{
    struct mock_nvml copy;

    pthread_mutex_lock(&lock);
    copy = state;
    pthread_mutex_unlock(&lock);
    return copy;
}

void mock_nvml_set(const struct mock_nvml *wanted)
{
    pthread_mutex_lock(&lock);
    state = *wanted;
    pthread_mutex_unlock(&lock);
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
    open_count += now().init_result == 0;
    return now().init_result;
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
    *handle = &reads;
    if (now().find_result != 0)
        return now().find_result;
    return !now().uuid || strcmp(uuid, now().uuid) == 0 ? 0 : 6;
}

int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj)
{
    struct timespec time;

    (void)handle;
    clock_gettime(CLOCK_MONOTONIC, &time);
    reads++;
    *mj =
        (unsigned long long)((long long)(now().still ? 1e6
                                                     : now().watts * ((double)time.tv_sec * 1e3 +
                                                                      (double)time.tv_nsec / 1e6)) +
                             now().offset_mj);
    return now().energy_result;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw)
{
    (void)handle;
    *mw = now().power_mw;
    return now().power_result;
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
    *mhz = type == 1 ? now().sm_mhz : now().memory_mhz;
    return now().clock_result;
}

int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz)
{
    (void)handle;
    *mhz = type == 1 ? 1980 : 2619;
    return now().clock_result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits)
{
    (void)handle;
    *bits = now().reasons;
    return now().clock_result;
}

int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius)
{
    (void)handle;
    *celsius = now().celsius;
    return sensor == 0 ? now().clock_result : 2;
}

int nvmlDeviceGetMemoryInfo(void *handle, struct memory *memory)
{
    (void)handle;
    *memory = (struct memory){ 80ull << 30, (80ull << 30) - now().used_bytes, now().used_bytes };
    return now().memory_result;
}

const char *nvmlErrorString(int result)
{
    return result == 3 ? "Not Supported" : "an error of the mock";
}
