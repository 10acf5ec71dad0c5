/* SPDX-License-Identifier: Apache-2.0 */
/* The range profiler's calls, each with its error text. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/counters/range.h"

int lp_range_image_clear(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_data_init params = { LP_CUPTI_SIZE(lp_cupti_data_init), NULL, ranges->object,
                                         ranges->data_size, ranges->data };

    return LP_COUNTER_CALL(counters->calls, RangeProfilerCounterDataImageInitialize, &params);
}

int lp_range_image_make(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range_data_size params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_range_data_size),
        .object = ranges->object,
        .metrics = counters->set->metrics.items,
        .count = counters->set->metrics.count,
        .ranges = LP_RANGES_MOST,
        .nodes = LP_RANGES_MOST,
    };
    int status = LP_COUNTER_CALL(counters->calls, RangeProfilerGetCounterDataSize, &params);

    if (status < 0)
        return status;
    ranges->data_size = params.size;
    if (!(ranges->data = malloc(params.size)))
        return lp_error(LLMPERF_ENOMEM, "out of memory for %zu bytes of counter data", params.size);
    return lp_range_image_clear(counters);
}

int lp_range_configure(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    bool kernels = counters->options.replay == LP_REPLAY_KERNEL;
    struct lp_cupti_range_config params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_range_config),
        .object = ranges->object,
        .config_size = counters->set->config_size,
        .config = counters->set->config,
        .data_size = ranges->data_size,
        .data = ranges->data,
        .range = kernels ? LP_CUPTI_RANGE_AUTO : LP_CUPTI_RANGE_USER,
        .replay = kernels ? LP_CUPTI_REPLAY_KERNEL : LP_CUPTI_REPLAY_USER,
        .ranges_per_pass = LP_RANGES_MOST,
        .levels = 1,
        .first_level = 1,
        .level = 1,
    };

    return LP_COUNTER_CALL(counters->calls, RangeProfilerSetConfig, &params);
}

int lp_range_start(struct lp_counters *counters)
{
    struct lp_cupti_range params = { LP_CUPTI_SIZE(lp_cupti_range), NULL,
                                     counters->ranges->object };
    int status = LP_COUNTER_CALL(counters->calls, RangeProfilerStart, &params);

    counters->ranges->started = status == 0;
    return status;
}

int lp_range_stop(struct lp_counters *counters, bool *all_out)
{
    struct lp_cupti_range_stop params = { .struct_size = LP_CUPTI_SIZE(lp_cupti_range_stop),
                                          .object = counters->ranges->object };
    int status = LP_COUNTER_CALL(counters->calls, RangeProfilerStop, &params);

    counters->ranges->started = false;
    *all_out = params.all_passes != 0;
    return status;
}

int lp_range_decode(struct lp_counters *counters, size_t *ranges_out)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range_decode params = { LP_CUPTI_SIZE(lp_cupti_range_decode), NULL,
                                            ranges->object, 0 };
    struct lp_cupti_range_count count = { LP_CUPTI_SIZE(lp_cupti_range_count), NULL, ranges->data,
                                          ranges->data_size, 0 };
    int status = LP_COUNTER_CALL(counters->calls, RangeProfilerDecodeData, &params);

    if (status == 0)
        status = LP_COUNTER_CALL(counters->calls, RangeProfilerGetCounterDataInfo, &count);
    *ranges_out = count.ranges;
    return status;
}

/* Number of a range; LP_RANGE_NO_PART: CUPTI does not report it. */
uint32_t lp_range_part(struct lp_counters *counters, size_t range)
{
    struct lp_cupti_range_info params = { LP_CUPTI_SIZE(lp_cupti_range_info),
                                          NULL,
                                          counters->ranges->data,
                                          counters->ranges->data_size,
                                          range,
                                          "/",
                                          NULL };
    unsigned part;

    if (counters->calls->RangeProfilerCounterDataGetRangeInfo(&params) != 0 || !params.name ||
        sscanf(params.name, "%u", &part) != 1)
        return LP_RANGE_NO_PART;
    return part;
}

int lp_range_enable(struct lp_counters *counters)
{
    struct lp_cupti_range_enable params = { LP_CUPTI_SIZE(lp_cupti_range_enable), NULL,
                                            counters->device.context, NULL };
    int status = LP_COUNTER_CALL(counters->calls, RangeProfilerEnable, &params);

    counters->ranges->object = params.object;
    return status;
}

void lp_range_disable(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range params = { LP_CUPTI_SIZE(lp_cupti_range), NULL, ranges->object };

    counters->calls->RangeProfilerDisable(&params);
    ranges->object = NULL;
}

int lp_range_push(struct lp_counters *counters, uint32_t part)
{
    char name[16];
    struct lp_cupti_range_push params = { LP_CUPTI_SIZE(lp_cupti_range_push), NULL,
                                          counters->ranges->object, name };

    snprintf(name, sizeof(name), "%u", part);
    return LP_COUNTER_CALL(counters->calls, RangeProfilerPushRange, &params);
}

int lp_range_pop(struct lp_counters *counters)
{
    struct lp_cupti_range params = { LP_CUPTI_SIZE(lp_cupti_range), NULL,
                                     counters->ranges->object };

    return LP_COUNTER_CALL(counters->calls, RangeProfilerPopRange, &params);
}
