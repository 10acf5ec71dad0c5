/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/gpu_watch.h"

#include <stdatomic.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/device/driver.h"
#include "lib/session/session.h"

#define PERIOD_NS UINT64_C(100000000)
/* The first samples are read in each round, so that the update period of the counter shows. */
#define QUICK 40u
/* At most this share of the time is spent in NVML: 1 / COST. */
#define COST 20u

static bool is_live(const struct llmperf_session *session)
{
    return session->source && session->source->ops->live && session->source->cupti_version != 0;
}

static void go_without(struct lp_gpu_watch *watch)
{
    lp_log(LLMPERF_LOG_INFO, "energy and clocks are not read: %s", watch->reason);
}

/* CUDA_VISIBLE_DEVICES changes the ordinals of CUDA, not those of NVML: GPUs are found by UUID. */
static void find_gpu(struct lp_gpu_watch *watch, uint16_t device)
{
    struct lp_gpu gpu;

    watch->tried |= UINT64_C(1) << device;
    if (lp_driver_gpu(device, &gpu) < 0 || !gpu.uuid[0])
        snprintf(watch->reason, sizeof(watch->reason),
                 "the CUDA driver does not give the UUID of GPU %u", device);
    else if (lp_nvml_find(watch->nvml, gpu.uuid, device, &watch->gpus[watch->count], watch->reason,
                          sizeof(watch->reason)) == 0) {
        watch->count++;
        return;
    }
    go_without(watch);
}

/* Only GPUs that the program uses: a process often sees all GPUs of the machine. */
static void find_gpus(struct lp_gpu_watch *watch)
{
    watch->seen |= lp_driver_active_gpus();
    if ((watch->seen & ~watch->tried) == 0)
        return;
    if (!watch->nvml && !(watch->nvml = lp_nvml_open(watch->reason, sizeof(watch->reason)))) {
        watch->failed = true;
        go_without(watch);
        return;
    }
    for (uint16_t i = 0; i < LP_GPU_WATCH_MOST; i++)
        if ((watch->seen & ~watch->tried) >> i & 1)
            find_gpu(watch, i);
}

static void read_gpus(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_gpu_watch *watch = &session->gpu_watch;
    uint64_t cost_ns = 0;

    for (size_t i = 0; i < watch->count; i++) {
        struct lp_gpu_sample sample;

        lp_nvml_read(watch->nvml, &watch->gpus[i], &sample);
        cost_ns += sample.values[LP_GPU_READ_NS];
        session->sink.gpu(session->sink.context, &sample);
    }
    watch->quick += watch->count > 0 && watch->quick < QUICK;
    watch->period_ns = watch->quick > 0 && watch->quick < QUICK ? 0 : PERIOD_NS;
    if (watch->period_ns < COST * cost_ns)
        watch->period_ns = COST * cost_ns;
    watch->looked_ns = now_ns;
}

void lp_gpu_watch_look(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_gpu_watch *watch = &session->gpu_watch;

    if (watch->failed || now_ns - watch->looked_ns < watch->period_ns || !is_live(session) ||
        !lp_options_number(&session->options, "session.energy") ||
        atomic_load(&session->driver_gone))
        return;
    find_gpus(watch);
    read_gpus(session, now_ns);
}

void lp_gpu_watch_end(struct llmperf_session *session)
{
    session->gpu_watch.period_ns = 0;
    lp_gpu_watch_look(session, lp_clock_now());
    lp_gpu_watch_close(&session->gpu_watch);
}

const char *lp_gpu_watch_reason(const struct llmperf_session *session)
{
    const struct lp_gpu_watch *watch = &session->gpu_watch;

    if (watch->count > 0 || !is_live(session))
        return NULL;
    if (!lp_options_number(&session->options, "session.energy"))
        return "switched off (session.energy)";
    return watch->reason[0] ? watch->reason : "no GPU was in use when NVML was read";
}

void lp_gpu_watch_close(struct lp_gpu_watch *watch)
{
    lp_nvml_close(watch->nvml);
    watch->nvml = NULL;
    watch->failed = true;
}
