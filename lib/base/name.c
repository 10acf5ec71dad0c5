/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the values of public enumerations. */
#include "lib/base/dtype.h"
#include "llmperf/hardware.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/roofline.h"
#include "llmperf/session.h"
#include "llmperf/sys/vendor.h"

static const char *const verdicts[] = {
    [LLMPERF_VERDICT_COMPLETE] = "complete",
    [LLMPERF_VERDICT_SAMPLED] = "sampled",
    [LLMPERF_VERDICT_INCOMPLETE] = "incomplete",
    [LLMPERF_VERDICT_NO_DEVICE] = "no_device",
    [LLMPERF_VERDICT_DEAD] = "dead",
};
static const char *const activities[] = {
    [LLMPERF_ACTIVITY_KERNEL] = "kernel",
    [LLMPERF_ACTIVITY_MEMCPY] = "memcpy",
    [LLMPERF_ACTIVITY_MEMSET] = "memset",
    [LLMPERF_ACTIVITY_GRAPH] = "graph",
};
static const char *const regions[] = {
    [LLMPERF_REGION_AUTO] = "auto",
    [LLMPERF_REGION_STAGE] = "stage",
    [LLMPERF_REGION_OPERATOR] = "operator",
};
static const char *const tiers[] = {
    [LLMPERF_TIER_DEFAULT] = "default",   [LLMPERF_TIER_REGIONS] = "regions",
    [LLMPERF_TIER_LIGHT] = "light",       [LLMPERF_TIER_DEEP] = "deep",
    [LLMPERF_TIER_COUNTERS] = "counters",
};
static const char *const states[] = {
    [LLMPERF_STATE_RUNNING] = "running",
    [LLMPERF_STATE_PAUSED] = "paused",
    [LLMPERF_STATE_STOPPED] = "stopped",
};
static const char *const bounds[] = {
    [LLMPERF_BOUND_UNKNOWN] = "unknown",
    [LLMPERF_BOUND_COMPUTE] = "compute",
    [LLMPERF_BOUND_MEMORY] = "memory",
    [LLMPERF_BOUND_BALANCED] = "balanced",
    [LLMPERF_BOUND_COMMUNICATION] = "communication",
    [LLMPERF_BOUND_LAUNCH] = "launch",
    [LLMPERF_BOUND_GAPS] = "gaps",
    [LLMPERF_BOUND_RANK] = "rank",
    [LLMPERF_BOUND_HOST] = "host",
    [LLMPERF_BOUND_COPY] = "copy",
};
static const char *const origins[] = {
    [LLMPERF_ORIGIN_NONE] = "none",         [LLMPERF_ORIGIN_TABLE] = "table",
    [LLMPERF_ORIGIN_COMPUTED] = "computed", [LLMPERF_ORIGIN_USER] = "user",
    [LLMPERF_ORIGIN_DEVICE] = "device",
};
static const char *const confidences[] = {
    [LLMPERF_CONFIDENCE_NONE] = "none",
    [LLMPERF_CONFIDENCE_LOW] = "low",
    [LLMPERF_CONFIDENCE_MEDIUM] = "medium",
    [LLMPERF_CONFIDENCE_HIGH] = "high",
};
static const char *const formats[] = {
    [LLMPERF_FORMAT_UNKNOWN] = "unknown",
    [LLMPERF_FORMAT_RUN] = "run",
    [LLMPERF_FORMAT_RECORDING] = "recording",
    [LLMPERF_FORMAT_NSYS_SQLITE] = "nsys sqlite",
    [LLMPERF_FORMAT_NSYS_CSV] = "nsys csv",
    [LLMPERF_FORMAT_NCU_CSV] = "ncu csv",
    [LLMPERF_FORMAT_NSYS_REPORT] = "nsys report",
    [LLMPERF_FORMAT_NCU_REPORT] = "ncu report",
    [LLMPERF_FORMAT_TRACE] = "trace",
};

#define NAMES(array)                                                                               \
    {                                                                                              \
        array, sizeof(array) / sizeof((array)[0])                                                  \
    }
static const struct {
    const char *const *names;
    size_t count;
} enumerations[] = {
    [LLMPERF_NAME_VERDICT] = NAMES(verdicts), [LLMPERF_NAME_ACTIVITY] = NAMES(activities),
    [LLMPERF_NAME_REGION] = NAMES(regions),   [LLMPERF_NAME_TIER] = NAMES(tiers),
    [LLMPERF_NAME_STATE] = NAMES(states),     [LLMPERF_NAME_BOUND] = NAMES(bounds),
    [LLMPERF_NAME_ORIGIN] = NAMES(origins),   [LLMPERF_NAME_CONFIDENCE] = NAMES(confidences),
    [LLMPERF_NAME_FORMAT] = NAMES(formats),
};

const char *llmperf_name(uint32_t enumeration, uint32_t value)
{
    if (enumeration == LLMPERF_NAME_DTYPE)
        return lp_dtype_name(value);
    if (enumeration >= sizeof(enumerations) / sizeof(enumerations[0]) ||
        value >= enumerations[enumeration].count || !enumerations[enumeration].names[value])
        return "unknown";
    return enumerations[enumeration].names[value];
}
