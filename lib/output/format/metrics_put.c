/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/output/format/metrics_put.h"

static const char *const reasons[LP_REASON_COUNT] = {
    [LP_REASON_NO_MODEL] = "model is null: no model was given.",
    [LP_REASON_NO_DEVICE] = "Device times and counts are null: no device was observed, or none of "
                            "its kernels was recorded (see the ledger).",
    [LP_REASON_NO_ACTIVITY] =
        "device and idle_ms are null where a region started no device activity; idle_ms also where "
        "a call was cut by the start or the end of the session.",
    [LP_REASON_NO_INSTANCE] =
        "wall_ms and idle_ms are null where no call of a region was complete; std needs two calls.",
    [LP_REASON_NOT_COUNTED] =
        "tokens, sequences, context, flops and bytes are null where the program did not count "
        "them; tokens_per_s needs tokens, and the time in which calls were in progress.",
    [LP_REASON_NOT_COLLECTED] =
        "Values of the ledger and of kernels that are null were not collected.",
    [LP_REASON_NO_ITERATIONS] = "iterations is null: no stage was recorded iteration by iteration, "
                                "or the run is of an older version.",
    [LP_REASON_NO_SPAN] = "Times of iterations are null where no device work was seen; "
                          "idle_launch_ms and idle_wait_ms also where no launch was seen.",
    [LP_REASON_NO_CLASSES] = "kernel_class and kernel_classes are null: kernel_classes.yaml could "
                             "not be read (set LLMPERF_CONFIG_DIR to its folder).",
    [LP_REASON_NO_GPU] = "hardware is unknown: no GPU was seen (env.json lists none).",
    [LP_REASON_NO_LIMITS] = "Peaks or bandwidth of the GPU are unknown: see llmperf hardware.",
    [LP_REASON_NO_MEASURED_PEAKS] =
        "hardware.measured is empty: no peaks were measured on this GPU with "
        "this driver; see llmperf hardware --measure.",
    [LP_REASON_NO_FACT] = "Facts of the run that are null, and duration_ms, were not recorded.",
    [LP_REASON_NO_DTYPE] = "hardware.dtype is null where it was not given (LLMPERF_DTYPE, "
                           "run.dtype or a model); ridge "
                           "needs a peak of that dtype and a bandwidth.",
    [LP_REASON_NO_ROOFLINE] =
        "wall_ratio, intensity, achieved_tflops, achieved_gbs, attainable_tflops and mfu_limit are "
        "null where FLOPs, bytes, device time or a limit are unknown.",
    [LP_REASON_UNLIKE_RANKS] = "ranks[].waiting_ms is null where the GPUs of a stage do not have "
                               "the same calls and collectives.",
    [LP_REASON_PART_OF_CALLS] =
        "collected_instances is null where only part of each call was collected, where calls of "
        "several processes are combined, and without a device.",
    [LP_REASON_NO_REQUESTS] =
        "requests is null: the program reported none (llmperf_request_begin()).",
    [LP_REASON_NO_LATENCY] =
        "Latencies of requests are null where no value was reported: queue needs arrival times, "
        "itl needs llmperf_request_tokens(), step and step_prefill need LLM@decode_step.",
    [LP_REASON_NO_SLO] = "requests.good, good_share and goodput_per_s are null: no SLO was given "
                         "(session.slo_ttft_ms, session.slo_tpot_ms).",
    [LP_REASON_NO_COST] = "requests.cost is null: no price was given (session.gpu_hour_cents), no "
                          "GPU was observed, or no tokens were reported.",
    [LP_REASON_FEW] = "Percentiles are null below the number of values that they need: 10 for p90, "
                      "20 for p95, 100 for p99; also where the source does not report them.",
    [LP_REASON_NOT_STAGE] = "active_ms and collected_wall_ms are null for regions that are not "
                            "stages, and where the source reports no single calls.",
    [LP_REASON_NO_WARM_UP] = "warm_up_ms is null where the first calls of a region took no longer "
                             "than the others, or where that is not certain.",
    [LP_REASON_NO_ENERGY] =
        "Energy, clocks and memory of GPUs are null where NVML was not read or does not report "
        "them (energy[].reason). The energy of a region is null if it is not a stage, if calls of "
        "stages ran at the same time, and if it was not read during all of its calls.",
};

void lp_put_null(struct lp_metrics *metrics, const char *key, enum lp_reason reason)
{
    metrics->used[reason] = true;
    lp_json_null(&metrics->json, key);
}

void lp_put_number(struct lp_metrics *metrics, const char *key, double value, enum lp_reason reason)
{
    if (!isfinite(value))
        metrics->used[reason] = true;
    lp_json_number(&metrics->json, key, value);
}

/* A number of llmperf_utilisation; null has the given reason. */
void lp_put_utilisation(struct lp_metrics *metrics, const char *key, double value,
                        const char *reason)
{
    size_t i = 0;

    lp_json_number(&metrics->json, key, value);
    if (isfinite(value) || !reason)
        return;
    while (i < metrics->why_count &&
           (metrics->why[i].reason != reason || strcmp(metrics->why[i].key, key) != 0))
        i++;
    if (i < LP_WHY_MOST && i == metrics->why_count) {
        metrics->why[i].key = key;
        metrics->why[i].reason = reason;
        metrics->why_count++;
    }
}

void lp_put_count(struct lp_metrics *metrics, const char *key, uint64_t value,
                  enum lp_reason reason)
{
    if (value == LLMPERF_UNKNOWN)
        metrics->used[reason] = true;
    lp_json_count(&metrics->json, key, value);
}

void lp_put_string(struct lp_metrics *metrics, const char *key, const char *value,
                   enum lp_reason reason)
{
    if (!value)
        metrics->used[reason] = true;
    lp_json_string(&metrics->json, key, value);
}

void lp_put_fact(struct lp_metrics *metrics, const char *key, const char *fact)
{
    lp_put_string(metrics, key, llmperf_profile_fact(metrics->findings->profile, fact),
                  LP_REASON_NO_FACT);
}

/* A value that needs a device: null if none was observed. */
void lp_put_device_number(struct lp_metrics *metrics, const char *key, double value)
{
    lp_put_number(metrics, key, metrics->findings->device_known ? value : NAN, LP_REASON_NO_DEVICE);
}

void lp_put_device_count(struct lp_metrics *metrics, const char *key, uint64_t value)
{
    lp_put_count(metrics, key, metrics->findings->device_known ? value : LLMPERF_UNKNOWN,
                 LP_REASON_NO_DEVICE);
}

/* -1: no device. */
void lp_put_device(struct lp_metrics *metrics, int32_t device)
{
    if (device < 0)
        lp_put_null(metrics, "device",
                    metrics->findings->device_known ? LP_REASON_NO_ACTIVITY : LP_REASON_NO_DEVICE);
    else
        lp_json_integer(&metrics->json, "device", device);
}

void lp_put_reasons(struct lp_metrics *metrics)
{
    for (size_t i = 0; i < LP_REASON_COUNT; i++)
        if (metrics->used[i])
            lp_json_string(&metrics->json, NULL, reasons[i]);
}
