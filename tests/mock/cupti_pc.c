/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's PC sampling without a GPU: while it is started, instructions are sampled as the test
 * says. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/counters/symbols.h"
#include "tests/mock/called.h"
#include "tests/mock/cupti.h"

#define SAMPLED 1024u

static const char *const reasons[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_wait",
    "smsp__pcsamp_warps_issue_stalled_selected",
};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
    bool enabled, started, full;
    size_t count;
    struct {
        const char *kernel;
        uint64_t offset;
        struct lp_cupti_pc_reason reason;
    } sampled[SAMPLED];
    uint64_t dropped, of_others;
    uint32_t period;
} state;

#define DEFINE(name, params)                                                                       \
    int cupti##name(struct lp_cupti_##params *params_);                                            \
    int cupti##name(struct lp_cupti_##params *params_)

static int start(const char *name, bool started)
{
    int result = called(name);

    pthread_mutex_lock(&lock);
    if (result == 0)
        state.started = started;
    pthread_mutex_unlock(&lock);
    return result;
}

DEFINE(PCSamplingEnable, pc)
{
    int result = params_->context ? called("PCSamplingEnable") : LP_CUPTI_ERROR_INVALID_PARAMETER;

    pthread_mutex_lock(&lock);
    state.enabled = state.enabled || result == 0;
    pthread_mutex_unlock(&lock);
    return result;
}

DEFINE(PCSamplingDisable, pc)
{
    (void)params_;
    pthread_mutex_lock(&lock);
    state.enabled = state.started = state.full = false;
    pthread_mutex_unlock(&lock);
    return called("PCSamplingDisable");
}

bool sampling_enabled(void)
{
    bool enabled;

    pthread_mutex_lock(&lock);
    enabled = state.enabled;
    pthread_mutex_unlock(&lock);
    return enabled;
}

DEFINE(PCSamplingStart, pc)
{
    (void)params_;
    return start("PCSamplingStart", true);
}

DEFINE(PCSamplingStop, pc)
{
    (void)params_;
    return start("PCSamplingStop", false);
}

DEFINE(PCSamplingGetNumStallReasons, pc_count)
{
    *params_->count = REASONS;
    return called("PCSamplingGetNumStallReasons");
}

/* CUPTI's numbers are not those of the list. */
DEFINE(PCSamplingGetStallReasons, pc_reasons)
{
    for (size_t i = 0; i < params_->count; i++) {
        params_->indices[i] = (uint32_t)(10 + i);
        snprintf(params_->names[i], LP_CUPTI_PC_REASON_BYTES, "%s", reasons[i]);
    }
    return called("PCSamplingGetStallReasons");
}

DEFINE(PCSamplingSetConfigurationAttribute, pc_config)
{
    for (size_t i = 0; i < params_->count; i++)
        if (params_->attributes[i].type == LP_CUPTI_PC_PERIOD)
            state.period = params_->attributes[i].value.number;
    return called("PCSamplingSetConfigurationAttribute");
}

/* Three instructions at a time; nothing once the buffer was full. */
DEFINE(PCSamplingGetData, pc_get)
{
    struct lp_cupti_pc_data *data = params_->data;
    int result = called("PCSamplingGetData");

    pthread_mutex_lock(&lock);
    state.full = state.full || result == LP_CUPTI_ERROR_OUT_OF_MEMORY;
    if (state.full) {
        result = LP_CUPTI_ERROR_OUT_OF_MEMORY;
        state.count = 0;
    }
    for (data->count = 0; data->count < 3 && state.count > 0; data->count++) {
        struct lp_cupti_pc_record *record = &data->records[data->count];

        state.count--;
        record->name = (char *)(uintptr_t)state.sampled[state.count].kernel;
        record->offset = state.sampled[state.count].offset;
        record->cubin_crc = 77;
        record->reason_count = 1;
        record->reasons[0] = state.sampled[state.count].reason;
    }
    data->remaining = state.count;
    data->dropped = state.dropped;
    data->other_samples = state.of_others;
    state.dropped = state.of_others = 0;
    data->buffer_full = result == LP_CUPTI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&lock);
    return result;
}

DEFINE(GetCubinCrc, cubin_crc)
{
    params_->crc = 77;
    return called("GetCubinCrc");
}

/* Line 5 is the one at offset 0x50. */
DEFINE(GetSassToSourceCorrelation, source_line)
{
    params_->file = strdup("kernel.cu");
    params_->folder = strdup("/src");
    params_->line = (uint32_t)(params_->offset / 16);
    return called("GetSassToSourceCorrelation");
}

void stall(const char *kernel, uint64_t offset, uint32_t reason, uint32_t samples)
{
    pthread_mutex_lock(&lock);
    if (state.started && !kernel) {
        state.of_others += samples;
    } else if (state.started && state.count < SAMPLED) {
        state.sampled[state.count].kernel = kernel;
        state.sampled[state.count].offset = offset;
        state.sampled[state.count++].reason = (struct lp_cupti_pc_reason){ 10 + reason, samples };
    }
    pthread_mutex_unlock(&lock);
}

uint32_t period(void)
{
    return state.period;
}

void reset_stalls(void)
{
    pthread_mutex_lock(&lock);
    memset(&state, 0, sizeof(state));
    pthread_mutex_unlock(&lock);
}
