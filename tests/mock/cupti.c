/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's profiling calls without a GPU: ranges hold the work that the test does in them, samples
 * what it says. Any call can be told to fail. */
#include "tests/mock/cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/counters/symbols.h"
#include "tests/mock/called.h"

#define RANGES  512u
#define SAMPLES 4096u
#define PIECE   128u

struct range {
    char name[16];
    double work;
};

/* A counter data image, of either profiler. */
struct image {
    size_t count;
    struct range ranges[RANGES];
    struct {
        uint64_t start, end;
        double value;
    } samples[SAMPLES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
    const char *failing;
    int result;
    enum mock_obstacle obstacle;
    uint32_t passes, pass, delay_us;
    struct {
        const char *name;
        unsigned count;
    } calls[96];
    struct image ranges, samples; /* not decoded yet */
    struct image *image;          /* of the range profiler's configuration */
    bool open;
    uint64_t now, interval;
    bool sampling;
} state;

/* Counts a call; what it shall answer. */
int called(const char *name)
{
    size_t i = 0;
    int result;

    pthread_mutex_lock(&lock);
    while (state.calls[i].name && strcmp(state.calls[i].name, name) != 0)
        i++;
    state.calls[i].name = name;
    state.calls[i].count++;
    result = state.failing && strcmp(state.failing, name) == 0 ? state.result : 0;
    pthread_mutex_unlock(&lock);
    return result;
}

#define DEFINE(name, params)                                                                       \
    int cupti##name(struct lp_cupti_##params *params_);                                            \
    int cupti##name(struct lp_cupti_##params *params_)
#define NOTHING(name, params)                                                                      \
    DEFINE(name, params)                                                                           \
    {                                                                                              \
        (void)params_;                                                                             \
        return called(#name);                                                                      \
    }

int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
    (void)result;
    *text = "the mock's text";
    return 0;
}

NOTHING(ProfilerInitialize, profiler)
NOTHING(ProfilerDeInitialize, profiler)
NOTHING(ProfilerHostDeinitialize, host_close)
NOTHING(ProfilerHostConfigAddMetrics, host_add)
NOTHING(ProfilerHostGetConfigImage, host_config)
NOTHING(RangeProfilerDisable, range)
NOTHING(PmSamplingDisable, pm)

DEFINE(ProfilerDeviceSupported, device_supported)
{
    enum mock_obstacle in_way = state.obstacle;

    params_->supported = in_way ? LP_CUPTI_LEVEL_UNSUPPORTED : LP_CUPTI_LEVEL_SUPPORTED;
    params_->architecture =
        in_way == MOCK_OLD ? LP_CUPTI_LEVEL_UNSUPPORTED : LP_CUPTI_LEVEL_SUPPORTED;
    params_->vgpu = in_way == MOCK_VGPU ? LP_CUPTI_LEVEL_DISABLED : LP_CUPTI_LEVEL_SUPPORTED;
    params_->confidential =
        in_way == MOCK_CONFIDENTIAL ? LP_CUPTI_LEVEL_UNSUPPORTED : LP_CUPTI_LEVEL_SUPPORTED;
    params_->wsl = in_way == MOCK_WSL ? LP_CUPTI_LEVEL_UNSUPPORTED : LP_CUPTI_LEVEL_SUPPORTED;
    return called("ProfilerDeviceSupported");
}

DEFINE(DeviceGetChipName, chip_name)
{
    params_->name = "GH100";
    return called("DeviceGetChipName");
}

DEFINE(ProfilerGetCounterAvailability, availability)
{
    params_->size = 8;
    return called("ProfilerGetCounterAvailability");
}

DEFINE(PmSamplingGetCounterAvailability, pm_availability)
{
    params_->size = 8;
    return called("PmSamplingGetCounterAvailability");
}

DEFINE(ProfilerHostGetSupportedChips, host_chips)
{
    static const char *const chips[] = { "GH100" };

    params_->count = 1;
    params_->names = chips;
    return called("ProfilerHostGetSupportedChips");
}

DEFINE(ProfilerHostInitialize, host_open)
{
    params_->host = &state;
    return called("ProfilerHostInitialize");
}

DEFINE(ProfilerHostGetBaseMetrics, host_metrics)
{
    params_->count = 0;
    return called("ProfilerHostGetBaseMetrics");
}

DEFINE(ProfilerHostGetMetricProperties, host_properties)
{
    params_->description = "";
    params_->unit = "";
    if (strncmp(params_->metric, "no__", 4) == 0)
        return LP_CUPTI_ERROR_INVALID_PARAMETER;
    return called("ProfilerHostGetMetricProperties");
}

DEFINE(ProfilerHostGetConfigImageSize, host_config_size)
{
    params_->size = 16;
    return called("ProfilerHostGetConfigImageSize");
}

DEFINE(ProfilerHostGetNumOfPasses, host_passes)
{
    params_->passes = state.passes;
    return called("ProfilerHostGetNumOfPasses");
}

DEFINE(ProfilerHostEvaluateToGpuValues, host_evaluate)
{
    const struct image *image = (const struct image *)(const void *)params_->data;

    for (size_t i = 0; i < params_->count; i++)
        params_->values[i] = strcmp(params_->metrics[i], "gpu__time_duration.sum") == 0 ? 1000
                             : state.sampling || state.interval > 0
                                 ? image->samples[params_->range].value
                                 : image->ranges[params_->range].work;
    return called("ProfilerHostEvaluateToGpuValues");
}

DEFINE(RangeProfilerEnable, range_enable)
{
    params_->object = &state;
    return called("RangeProfilerEnable");
}

DEFINE(RangeProfilerGetCounterDataSize, range_data_size)
{
    params_->size = sizeof(struct image);
    return called("RangeProfilerGetCounterDataSize");
}

DEFINE(RangeProfilerCounterDataImageInitialize, data_init)
{
    ((struct image *)(void *)params_->data)->count = 0;
    return called("RangeProfilerCounterDataImageInitialize");
}

DEFINE(RangeProfilerSetConfig, range_config)
{
    state.image = (struct image *)(void *)params_->data;
    state.pass = 0;
    return called("RangeProfilerSetConfig");
}

DEFINE(RangeProfilerStart, range)
{
    (void)params_;
    state.ranges.count = 0;
    return called("RangeProfilerStart");
}

DEFINE(RangeProfilerStop, range_stop)
{
    params_->all_passes = ++state.pass >= state.passes;
    return called("RangeProfilerStop");
}

DEFINE(RangeProfilerPushRange, range_push)
{
    int result = called("RangeProfilerPushRange");
    struct range *range = &state.ranges.ranges[state.ranges.count % RANGES];

    if (state.delay_us > 0)
        usleep(state.delay_us);
    if (result == 0) {
        snprintf(range->name, sizeof(range->name), "%s", params_->name);
        range->work = 0;
        state.open = true;
    }
    return result;
}

DEFINE(RangeProfilerPopRange, range)
{
    (void)params_;
    state.open = false;
    state.ranges.count++;
    return called("RangeProfilerPopRange");
}

DEFINE(RangeProfilerDecodeData, range_decode)
{
    params_->dropped = 0;
    memcpy(state.image, &state.ranges, sizeof(state.ranges));
    return called("RangeProfilerDecodeData");
}

DEFINE(RangeProfilerGetCounterDataInfo, range_count)
{
    params_->ranges = ((const struct image *)(const void *)params_->data)->count;
    return called("RangeProfilerGetCounterDataInfo");
}

DEFINE(RangeProfilerCounterDataGetRangeInfo, range_info)
{
    const struct image *image = (const struct image *)(const void *)params_->data;

    params_->name = image->ranges[params_->range].name;
    return called("RangeProfilerCounterDataGetRangeInfo");
}

DEFINE(PmSamplingEnable, pm_enable)
{
    params_->object = &state;
    return called("PmSamplingEnable");
}

DEFINE(PmSamplingSetConfig, pm_config)
{
    state.interval = params_->interval;
    return called("PmSamplingSetConfig");
}

DEFINE(PmSamplingStart, pm)
{
    (void)params_;
    state.sampling = true;
    return called("PmSamplingStart");
}

DEFINE(PmSamplingStop, pm)
{
    (void)params_;
    state.sampling = false;
    return called("PmSamplingStop");
}

DEFINE(PmSamplingGetCounterDataSize, pm_data_size)
{
    params_->size = sizeof(struct image);
    return called("PmSamplingGetCounterDataSize");
}

DEFINE(PmSamplingCounterDataImageInitialize, data_init)
{
    ((struct image *)(void *)params_->data)->count = 0;
    return called("PmSamplingCounterDataImageInitialize");
}

/* As CUPTI does: what the image does not hold waits for the next one. */
DEFINE(PmSamplingDecodeData, pm_decode)
{
    int result = called("PmSamplingDecodeData");
    struct image *image = (struct image *)(void *)params_->data;
    size_t taken = 0;

    while (taken < state.samples.count && image->count < PIECE)
        image->samples[image->count++] = state.samples.samples[taken++];
    state.samples.count -= taken;
    memmove(state.samples.samples, state.samples.samples + taken,
            state.samples.count * sizeof(state.samples.samples[0]));
    params_->reason = state.samples.count > 0 ? LP_CUPTI_PM_STOP_FULL : 0;
    params_->overflow = result == LP_CUPTI_ERROR_OUT_OF_MEMORY;
    return result;
}

DEFINE(PmSamplingGetCounterDataInfo, pm_count)
{
    params_->completed = ((const struct image *)(const void *)params_->data)->count;
    params_->total = params_->populated = params_->completed;
    return called("PmSamplingGetCounterDataInfo");
}

DEFINE(PmSamplingCounterDataGetSampleInfo, pm_info)
{
    const struct image *image = (const struct image *)(const void *)params_->data;

    params_->start = image->samples[params_->sample].start;
    params_->end = image->samples[params_->sample].end;
    return called("PmSamplingCounterDataGetSampleInfo");
}

/* What tests tell. */

static void reset(void)
{
    memset(&state, 0, sizeof(state));
    state.passes = 1;
    state.now = 1000000000;
    reset_activity();
    reset_stalls();
}

static void fail(const char *call, int result)
{
    pthread_mutex_lock(&lock);
    state.failing = call;
    state.result = result;
    pthread_mutex_unlock(&lock);
}

static void obstruct(enum mock_obstacle obstacle)
{
    state.obstacle = obstacle;
}

static void set_delay(uint32_t us)
{
    state.delay_us = us;
}

static void set_passes(uint32_t passes)
{
    state.passes = passes;
}

static unsigned count(const char *call)
{
    unsigned calls = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; state.calls[i].name; i++)
        if (strcmp(state.calls[i].name, call) == 0)
            calls = state.calls[i].count;
    pthread_mutex_unlock(&lock);
    return calls;
}

static void work(double amount)
{
    if (state.open)
        state.ranges.ranges[state.ranges.count % RANGES].work += amount;
}

static void sample(unsigned number, double value)
{
    for (unsigned i = 0; i < number && state.sampling && state.samples.count < SAMPLES; i++) {
        size_t at = state.samples.count++;

        state.samples.samples[at].start = state.now;
        state.samples.samples[at].end = state.now += state.interval;
        state.samples.samples[at].value = value;
    }
}

static void lose(unsigned number)
{
    state.now += number * state.interval;
}

static uint64_t now(void)
{
    return state.now;
}

static uint64_t interval(void)
{
    return state.interval;
}

mock_cupti_get mock_cupti;

const struct mock_cupti *mock_cupti(void)
{
    static const struct mock_cupti mock = { reset,    fail,  obstruct, set_passes, set_delay,
                                            count,    work,  sample,   lose,       now,
                                            interval, stall, period };

    return &mock;
}
