/* SPDX-License-Identifier: Apache-2.0 */
/** CUPTI's PM sampling: the GPU writes its counters into a buffer at fixed intervals; the collector
 * reads it in small pieces. Sample times are on the clock of the activity records, ours. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/counters/run.h"

#define SAMPLES_A_PIECE 128u /* about 4 MB of counter data */
#define PIECES_A_ROUND  64u  /* limit, because the rings have precedence */
#define LOOK_SAMPLES                                                                               \
    24u /* read again after so many samples; about as many come meanwhile at 100 us */

/* A full buffer keeps its oldest samples and reports no error. On GH100 172 samples filled 32 MiB
 * (CUPTI 13.0, preset pm), and 512 MiB
 * held no more. So the buffer covers only a short delay of the collector. */
#define SAMPLE_BYTES   (UINT64_C(192) << 10)
#define BUFFER_NS      UINT64_C(80000000)
#define BUFFER_SAMPLES 256u
#define BUFFER_MOST    (UINT64_C(512) << 20)
#define PIECES_ALL     4096u /* more than the buffer holds */

struct lp_samples {
    lp_cupti_object object;
    uint8_t *data;
    size_t data_size;
    double *values;
    bool started, first_seen;
    uint64_t last_ns; /* end of the last sample; 0: none yet */
    uint64_t drained_ns, samples, overflows, lost;
};

static int enable(struct lp_counters *counters)
{
    struct lp_cupti_pm_enable params = { LP_CUPTI_SIZE(lp_cupti_pm_enable), NULL,
                                         (size_t)counters->device.ordinal, NULL };
    int status = LP_COUNTER_CALL(counters->calls, PmSamplingEnable, &params);

    counters->samples->object = status == 0 ? params.object : NULL;
    return status;
}

/* Turing and GA100 sample by their clock only. It runs at about 1.4 GHz there; the samples' times
 * are correct. */
static bool has_time_trigger(const char *chip)
{
    return strncmp(chip, "TU", 2) != 0 && strcmp(chip, "GA100") != 0;
}

static size_t buffer_bytes(uint64_t interval_ns)
{
    uint64_t samples = BUFFER_NS / interval_ns;
    uint64_t bytes = SAMPLE_BYTES * (samples > BUFFER_SAMPLES ? samples : BUFFER_SAMPLES);

    return (size_t)(bytes < BUFFER_MOST ? bytes : BUFFER_MOST);
}

static int configure(struct lp_counters *counters)
{
    bool by_time = has_time_trigger(counters->device.chip);
    uint64_t interval = counters->options.interval_ns;
    struct lp_cupti_pm_config params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_pm_config),
        .object = counters->samples->object,
        .config_size = counters->set->config_size,
        .config = counters->set->config,
        .buffer_size = buffer_bytes(interval),
        .interval = by_time ? interval : interval * 14 / 10,
        .trigger = by_time ? LP_CUPTI_PM_TIME : LP_CUPTI_PM_SYSCLK,
        .append = LP_CUPTI_PM_KEEP_OLDEST,
    };

    return LP_COUNTER_CALL(counters->calls, PmSamplingSetConfig, &params);
}

static int make_image(struct lp_counters *counters)
{
    struct lp_samples *samples = counters->samples;
    struct lp_cupti_pm_data_size params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_pm_data_size),
        .object = samples->object,
        .metrics = counters->set->metrics.items,
        .count = counters->set->metrics.count,
        .samples = SAMPLES_A_PIECE,
    };
    int status = LP_COUNTER_CALL(counters->calls, PmSamplingGetCounterDataSize, &params);

    if (status < 0)
        return status;
    samples->data_size = params.size;
    samples->data = malloc(params.size);
    samples->values = calloc(counters->set->columns.count, sizeof(*samples->values));
    return samples->data && samples->values
               ? 0
               : lp_error(LLMPERF_ENOMEM, "out of memory for %zu bytes of counter data",
                          params.size);
}

static int init_image(struct lp_counters *counters)
{
    struct lp_samples *samples = counters->samples;
    struct lp_cupti_data_init params = { LP_CUPTI_SIZE(lp_cupti_data_init), NULL, samples->object,
                                         samples->data_size, samples->data };

    return LP_COUNTER_CALL(counters->calls, PmSamplingCounterDataImageInitialize, &params);
}

static int start(struct lp_counters *counters)
{
    struct lp_cupti_pm params = { LP_CUPTI_SIZE(lp_cupti_pm), NULL, counters->samples->object };
    int status = LP_COUNTER_CALL(counters->calls, PmSamplingStart, &params);

    counters->samples->started = status == 0;
    counters->samples->first_seen = false;
    counters->samples->last_ns = 0;
    return status;
}

/* Read one piece of the buffer. *full_out: there may be more. */
static int decode(struct lp_counters *counters, size_t *count_out, bool *full_out)
{
    struct lp_samples *samples = counters->samples;
    struct lp_cupti_pm_decode params = { LP_CUPTI_SIZE(lp_cupti_pm_decode),
                                         NULL,
                                         samples->object,
                                         samples->data,
                                         samples->data_size,
                                         0,
                                         0 };
    struct lp_cupti_pm_count count = {
        LP_CUPTI_SIZE(lp_cupti_pm_count), NULL, samples->data, samples->data_size, 0, 0, 0
    };
    int result = counters->calls->PmSamplingDecodeData(&params);

    samples->overflows += params.overflow != 0;
    if (result == LP_CUPTI_ERROR_OUT_OF_MEMORY) /* Overflow: the remaining samples are valid. */
        result = 0;
    if (result == 0)
        result = counters->calls->PmSamplingGetCounterDataInfo(&count);
    *count_out = count.completed;
    *full_out = params.reason == LP_CUPTI_PM_STOP_FULL && count.completed > 0;
    return lp_counter_explain(counters->calls, "cuptiPmSamplingDecodeData", result);
}

/* Samples are contiguous. */
static void count_lost(struct lp_samples *samples, const struct lp_cupti_pm_info *info)
{
    uint64_t length = info->end - info->start;

    if (samples->last_ns != 0 && info->start > samples->last_ns + length / 2)
        samples->lost += (info->start - samples->last_ns + length / 2) / length;
    samples->last_ns = info->end;
}

static void pass_sample(struct lp_counters *counters, size_t index,
                        const struct lp_device_sink *sink)
{
    struct lp_samples *samples = counters->samples;
    struct lp_cupti_pm_info info = { LP_CUPTI_SIZE(lp_cupti_pm_info),
                                     NULL,
                                     samples->object,
                                     samples->data,
                                     samples->data_size,
                                     index,
                                     0,
                                     0 };
    struct lp_counter_fact fact = { .kind = LP_COUNTER_SAMPLE,
                                    .name = lp_names_intern(counters->options.names, ""),
                                    .device = (uint16_t)counters->device.ordinal };
    bool first = !samples->first_seen;

    samples->first_seen = true;
    if (counters->calls->PmSamplingCounterDataGetSampleInfo(&info) != 0 || info.end <= info.start)
        return;
    count_lost(samples, &info);
    if (first || /* it began before the counters did */
        lp_counter_set_evaluate(counters->set, samples->data, samples->data_size, index,
                                samples->values) < 0)
        return;
    fact.start_ns = info.start;
    fact.end_ns = info.end;
    samples->samples++;
    sink->counter(sink->context, &fact, samples->values);
}

static int drain_piece(struct lp_counters *counters, const struct lp_device_sink *sink,
                       bool *full_out)
{
    size_t count = 0;
    int status = init_image(counters);

    if (status < 0 || (status = decode(counters, &count, full_out)) < 0)
        return status;
    for (size_t i = 0; i < count; i++)
        pass_sample(counters, i, sink);
    return 0;
}

static void drain(struct lp_counters *counters, const struct lp_device_sink *sink, size_t pieces)
{
    bool full = true;

    counters->samples->drained_ns = lp_clock_now();
    while (full && pieces-- > 0)
        if (drain_piece(counters, sink, &full) < 0) {
            lp_counters_fail(counters);
            return;
        }
}

static bool is_due(const struct lp_counters *counters, uint64_t now_ns)
{
    return !counters->samples->started ||
           now_ns - counters->samples->drained_ns >= LOOK_SAMPLES * counters->options.interval_ns;
}

void lp_samples_deliver(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    uint64_t since_ns = lp_clock_now();

    if (!counters->samples->object || atomic_load(&counters->phase) == LP_COUNTERS_OVER ||
        !is_due(counters, since_ns))
        return;
    drain(counters, sink, PIECES_A_ROUND);
    atomic_fetch_add(&counters->cost_ns, lp_clock_now() - since_ns);
}

/* The other samples stay in the buffer until the last deliver. */
void lp_samples_stop(struct lp_counters *counters)
{
    struct lp_cupti_pm params = { LP_CUPTI_SIZE(lp_cupti_pm), NULL, counters->samples->object };

    if (counters->samples->started)
        counters->calls->PmSamplingStop(&params);
    counters->samples->started = false;
}

/* The first decode and the first evaluation take up to 50 ms (CUPTI 13.0), longer than the buffer
 * can hold: samples of 2 ms are read and discarded. */
static int warm_up(struct lp_counters *counters)
{
    const struct timespec pause = { 0, 2000000 };
    size_t count;
    bool full;
    int status = start(counters);

    if (status < 0)
        return status;
    nanosleep(&pause, NULL);
    if ((status = init_image(counters)) == 0 && (status = decode(counters, &count, &full)) == 0 &&
        count > 0)
        lp_counter_set_evaluate(counters->set, counters->samples->data,
                                counters->samples->data_size, 0, counters->samples->values);
    lp_samples_stop(counters);
    return status;
}

int lp_samples_open(struct lp_counters *counters)
{
    int status;

    if (!(counters->samples = calloc(1, sizeof(*counters->samples))))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if ((status = enable(counters)) < 0 || (status = configure(counters)) < 0 ||
        (status = make_image(counters)) < 0 || (status = warm_up(counters)) < 0)
        return status;
    return start(counters);
}

void lp_samples_go_on(struct lp_counters *counters)
{
    if (!counters->samples->started && start(counters) < 0)
        lp_counters_fail(counters);
}

int lp_samples_restart(struct lp_counters *counters, uint64_t interval_ns,
                       const struct lp_device_sink *sink)
{
    int status;

    lp_samples_stop(counters);
    drain(counters, sink, PIECES_ALL);
    counters->options.interval_ns = interval_ns;
    if ((status = configure(counters)) < 0)
        return status;
    return start(counters);
}

void lp_samples_state(const struct lp_counters *counters, struct lp_counters_state *state)
{
    state->samples = counters->samples->samples;
    state->overflows = counters->samples->overflows;
    state->samples_lost = counters->samples->lost;
}

void lp_samples_close(struct lp_counters *counters)
{
    struct lp_samples *samples = counters->samples;
    struct lp_cupti_pm params = { LP_CUPTI_SIZE(lp_cupti_pm), NULL, NULL };

    if (!samples)
        return;
    params.object = samples->object;
    if (samples->object && !counters->driver_gone)
        counters->calls->PmSamplingDisable(&params);
    free(samples->data);
    free(samples->values);
    free(samples);
}
