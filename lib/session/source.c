/* SPDX-License-Identifier: Apache-2.0 */
/** Chooses, opens and attaches the device source of a session. */
#include <stdatomic.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/machine/other_tool.h"
#include "lib/session/session.h"
#include "lib/counters/counters.h"
#include "lib/device/device.h"
#include "lib/sources/kineto/input.h"

static int open_source(struct llmperf_session *session, uint32_t kind,
                       struct lp_device_source **source_out)
{
    const struct lp_counter_preset *preset = session->counter_request.preset;
    const struct lp_device_options options = {
        .path = session->options.device_path,
        .pool_bytes = session->options.pool_bytes,
        .memory_activities = session->options.tier != LLMPERF_TIER_LIGHT,
        .watch_captures = session->options.tier == LLMPERF_TIER_COUNTERS,
        .keep_cubins = preset && preset->method == LP_COUNTER_PC,
        .sampled = lp_options_sample(&session->options),
        .detached = (session->options.flags & LLMPERF_SESSION_DETACH) != 0,
        .graph_level = (session->options.flags & LLMPERF_SESSION_GRAPH_LEVEL) != 0,
        .release = (session->options.flags & LLMPERF_SESSION_RELEASE) != 0,
        .names = &session->names,
    };
    struct lp_device_source *source;
    char tool[512];
    int status;

    if (kind == LLMPERF_SOURCE_AUTO && lp_other_tool(tool, sizeof(tool)))
        return lp_error(LLMPERF_EBUSY,
                        "%s is profiling this process: llmperf does not collect device data; "
                        "regions are passed to that tool as NVTX ranges",
                        tool);
    if (kind == LLMPERF_SOURCE_REPLAY && lp_kineto_is_trace(options.path))
        status = lp_device_open_kineto(&options, &source);
    else if (kind == LLMPERF_SOURCE_REPLAY)
        status = lp_device_open_replay(&options, &source);
    else if (kind == LLMPERF_SOURCE_FAKE)
        status = lp_device_open_fake(&options, &source);
    else
        status = lp_device_open_cupti(&options, &source);
    if (status < 0)
        return status;
    if ((status = source->ops->start(source)) < 0)
        source->ops->close(source);
    else
        *source_out = source;
    return status;
}

static void take_source(struct llmperf_session *session, struct lp_device_source *source)
{
    session->source = source;
    session->playing = !source->ops->live;
    if (source->ops->live)
        lp_attribution_live(session->attribution, lp_clock_now());
    session->source_reason[0] = '\0';
    snprintf(session->source_name, sizeof(session->source_name), "%s", source->ops->name);
}

static void go_without(struct llmperf_session *session, const char *reason)
{
    snprintf(session->source_reason, sizeof(session->source_reason), "%s", reason);
    snprintf(session->source_name, sizeof(session->source_name), "none");
}

static bool without_device(const struct llmperf_session *session)
{
    uint32_t kind = session->options.source;

    return session->options.tier == LLMPERF_TIER_REGIONS &&
           (kind == LLMPERF_SOURCE_AUTO || kind == LLMPERF_SOURCE_CUPTI);
}

int lp_session_choose_source(struct llmperf_session *session)
{
    uint32_t kind = session->options.source;
    struct lp_device_source *source;
    int status;

    if (without_device(session)) {
        go_without(session, "tier regions: device activity was not collected");
    } else if (kind == LLMPERF_SOURCE_NONE) {
        go_without(session, "source none: device activity was not collected");
    } else if (session->injected) {
        go_without(session, LP_REASON_NO_CUDA);
    } else if ((status = open_source(session, kind, &source)) == 0) {
        take_source(session, source);
    } else {
        char reason[512];

        if (kind != LLMPERF_SOURCE_AUTO)
            return status;
        snprintf(reason, sizeof(reason), "no device activity: %s", llmperf_last_error());
        lp_log(LLMPERF_LOG_WARN, "%s", reason);
        go_without(session, reason);
    }
    return 0;
}

void lp_session_attach(struct llmperf_session *session)
{
    struct lp_device_source *source;

    if (without_device(session) || atomic_load(&session->attach_failed))
        return;
    if (open_source(session, session->options.source, &source) == 0) {
        atomic_store(&session->attached, source);
        lp_counters_attach();
        return;
    }
    snprintf(session->attach_failure, sizeof(session->attach_failure), "no device activity: %s",
             llmperf_last_error());
    lp_log(LLMPERF_LOG_WARN, "%s", session->attach_failure);
    atomic_store(&session->attach_failed, true);
}

bool lp_session_take_attached(struct llmperf_session *session)
{
    struct lp_device_source *source = atomic_exchange(&session->attached, NULL);

    if (source)
        take_source(session, source);
    else if (!session->source && atomic_load(&session->attach_failed))
        go_without(session, session->attach_failure);
    return source != NULL;
}

void lp_session_drop_attached(struct llmperf_session *session)
{
    struct lp_device_source *source = atomic_exchange(&session->attached, NULL);

    if (!source)
        return;
    source->ops->pause(source);
    source->ops->close(source);
}
