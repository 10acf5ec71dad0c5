/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds on the time of a step: its operators and the limits of a GPU. TFLOP/s x 1e9 =
 * FLOP/ms, GB/s x 1e6 = bytes/ms. */
#include "llmperf/roofline.h"

#include <math.h>
#include <string.h>

#include "lib/model/work.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/analysis.h"
#include "llmperf/sys/hardware.h"

/* Largest batch size, and context of a request, that are searched. */
#define BATCH_MOST   (UINT64_C(1) << 17)
#define CONTEXT_MOST LP_LIMIT_TOKENS

/* Limits of one GPU. */
struct limits {
    const llmperf_hardware *hardware;
    bool measured;
    double bandwidth_gbs, link_gbs;
    const char *bandwidth_reason, *link_reason;
};

static double peak_of(const struct limits *limits, uint32_t dtype, const char **reason)
{
    llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;
    const char *name = llmperf_name(LLMPERF_NAME_DTYPE, dtype);

    if (limits->measured) {
        if (llmperf_hardware_measured_peak(limits->hardware, name, &measured_peak) == 0) {
            *reason = measured_peak.reason;
            return measured_peak.best;
        }
    } else if (llmperf_hardware_peak(limits->hardware, name, &value) == 0) {
        *reason = isnan(value.value) && lp_peak_find(name) == LP_PEAK_FP4
                      ? "no FP4 peak of this GPU; without FP4 units engines compute such layers in "
                        "bf16 (Marlin): give bf16 as the activations' dtype"
                      : value.reason;
        return value.value;
    }
    *reason = "no unit computes in this format; name what it is computed in as the activations'";
    return NAN;
}

/* The faster of reading and copying: no kernel moves data faster. */
static void take_measured_bandwidth(struct limits *limits)
{
    llmperf_measured_peak read = LLMPERF_MEASURED_PEAK_INIT, copy = LLMPERF_MEASURED_PEAK_INIT;

    llmperf_hardware_measured_peak(limits->hardware, "read", &read);
    llmperf_hardware_measured_peak(limits->hardware, "copy", &copy);
    limits->bandwidth_gbs = fmax(read.best, copy.best);
    limits->bandwidth_reason = isnan(limits->bandwidth_gbs) ? read.reason : NULL;
}

static int take_limits(struct limits *limits, const llmperf_hardware *hardware, uint32_t which)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    if (!hardware || which > LLMPERF_LIMITS_MEASURED)
        return lp_error(LLMPERF_EINVAL, "hardware and one of LLMPERF_LIMITS_… are required");
    *limits = (struct limits){ .hardware = hardware, .measured = which == LLMPERF_LIMITS_MEASURED };
    /* Links are not measured. The published number counts both directions; one has half of it. */
    llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_LINK_GBS, &value);
    limits->link_gbs = value.value / 2;
    limits->link_reason = value.reason;
    if (limits->measured) {
        take_measured_bandwidth(limits);
        return 0;
    }
    llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS, &value);
    limits->bandwidth_gbs = value.value;
    limits->bandwidth_reason = value.reason;
    return 0;
}

static double bytes_of(const struct lp_operator *op)
{
    return (double)(op->weights + op->kv_read + op->kv_write);
}

/* NaN if work or limit is not known; 0 without work, whatever the limit. */
static double time_of(double work, double limit)
{
    return work > 0 ? work / limit : 0;
}

static double largest(double a, double b, double c)
{
    return isnan(a + b + c) ? NAN : fmax(fmax(a, b), c);
}

/* FLOPs that a kernel executes at least. */
static double flops_of(const struct lp_operator *op)
{
    return (double)(op->least > op->model ? op->least : op->model);
}

static void add_operator(const struct limits *limits, const struct lp_operator *op,
                         llmperf_step_floor *floor)
{
    const char *reason = NULL;
    double peak = op->model ? peak_of(limits, op->dtype, &reason) : NAN;
    double compute = time_of(flops_of(op), peak * 1e9);
    double memory = time_of(bytes_of(op), limits->bandwidth_gbs * 1e6);
    double link = time_of((double)op->communication, limits->link_gbs * 1e6);

    if (isnan(compute) && !floor->compute_reason) {
        floor->compute_reason = reason;
        floor->missing_dtype = op->dtype;
    }
    floor->compute_ms += compute;
    floor->mfu_limit += time_of((double)op->model, peak * 1e9);
    floor->memory_ms += memory;
    floor->link_ms += link;
    floor->serial_ms += largest(compute, memory, link);
}

static uint32_t bound_of(const llmperf_step_floor *floor, double flops, double bytes)
{
    llmperf_utilisation_input input = LLMPERF_UTILISATION_INPUT_INIT;
    llmperf_utilisation out = LLMPERF_UTILISATION_INIT;

    input.flops = flops;
    input.bytes = bytes;
    input.peak_tflops = floor->peak_tflops;
    input.bandwidth_gbs = floor->bandwidth_gbs;
    input.link_bytes = floor->link_ms * floor->link_gbs * 1e6;
    input.link_gbs = floor->link_gbs;
    return llmperf_utilisation_compute(&input, &out) == 0 ? out.bound : LLMPERF_BOUND_UNKNOWN;
}

/* Computed from the sums. */
static void finish(const struct limits *limits, llmperf_step_floor *floor, double flops,
                   double bytes, double tokens)
{
    floor->bandwidth_gbs = limits->bandwidth_gbs;
    floor->link_gbs = limits->link_gbs;
    floor->memory_reason = isnan(floor->memory_ms) ? limits->bandwidth_reason : NULL;
    floor->link_reason = isnan(floor->link_ms) ? limits->link_reason : NULL;
    floor->roofline_ms = largest(floor->compute_ms, floor->memory_ms, floor->link_ms);
    floor->peak_tflops = flops / (floor->compute_ms * 1e9);
    floor->intensity = flops / bytes;
    floor->ridge = 1e3 * floor->peak_tflops / floor->bandwidth_gbs;
    floor->mfu_limit /= floor->roofline_ms; /* from the model FLOPs' time */
    floor->mbu_limit = floor->memory_ms / floor->roofline_ms;
    floor->tokens_per_s = 1e3 * tokens / floor->roofline_ms;
    if (!isnan(floor->roofline_ms))
        floor->bound = bound_of(floor, flops, bytes);
    else
        floor->bound_reason = floor->compute_reason  ? floor->compute_reason
                              : floor->memory_reason ? floor->memory_reason
                                                     : floor->link_reason;
}

static void add_up(const struct limits *limits, const struct lp_operators *list, double tokens,
                   llmperf_step_floor *floor)
{
    double flops = 0, bytes = 0;

    for (size_t i = 0; i < list->count; i++) {
        add_operator(limits, &list->items[i], floor);
        flops += flops_of(&list->items[i]);
        bytes += bytes_of(&list->items[i]);
    }
    finish(limits, floor, flops, bytes, tokens);
}

int llmperf_model_floor(const llmperf_model *model, const llmperf_step *input,
                        const llmperf_hardware *hardware, uint32_t which, llmperf_step_floor *out)
{
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    struct lp_operators list;
    struct limits limits;
    struct lp_step step;
    int status;

    if ((status = lp_sized_check(out)) < 0 ||
        (status = take_limits(&limits, hardware, which)) < 0 ||
        (status = lp_model_operators(model, input, &step, &list)) < 0)
        return status;
    add_up(&limits, &list, step.input.draft_tokens ? step.useful_tokens : (double)list.tokens,
           &floor);
    return lp_sized_out(out, &floor, sizeof(floor));
}

/* Decode steps with different numbers of requests, all like the user's first one. */
struct search {
    const llmperf_model *model;
    struct limits limits;
    llmperf_step step;
};

static int floor_at(struct search *search, uint64_t requests, llmperf_step_floor *out)
{
    struct lp_operators list;
    struct lp_step step;
    int status;

    search->step.requests = requests;
    *out = (llmperf_step_floor)LLMPERF_STEP_FLOOR_INIT;
    if ((status = lp_model_operators(search->model, &search->step, &step, &list)) == 0)
        add_up(&search->limits, &list, (double)list.tokens, out);
    return status;
}

/* Compute bound minus memory bound. Small batches are bound by reading the weights, and the sign
 * changes only once. */
static int batch_surplus(struct search *search, uint64_t requests, double *surplus,
                         const char **reason)
{
    llmperf_step_floor floor;
    int status = floor_at(search, requests, &floor);

    if (status < 0)
        return status;
    *surplus = floor.compute_ms - floor.memory_ms;
    *reason = floor.compute_reason ? floor.compute_reason : floor.memory_reason;
    return 0;
}

/* As above for one request of a very large batch, where reading the weights costs nothing per
 * request. */
static int context_surplus(struct search *search, uint64_t context, double *surplus,
                           const char **reason)
{
    struct lp_operators list;
    struct lp_step step;
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    int status;

    search->step.cached_each = context - 1;
    search->step.requests = 1;
    if ((status = lp_model_operators(search->model, &search->step, &step, &list)) < 0)
        return status;
    for (size_t i = 0; i < list.count; i++) {
        list.items[i].weights = 0;
        list.items[i].kv_write = 0;
    }
    add_up(&search->limits, &list, 1, &floor);
    *surplus = floor.compute_ms - floor.memory_ms;
    *reason = floor.compute_reason ? floor.compute_reason : floor.memory_reason;
    return 0;
}

typedef int surplus_function(struct search *search, uint64_t at, double *surplus,
                             const char **reason);

/* The smallest number in [1, most] with surplus >= 0 (if `rising`) or < 0; infinite: none. */
static int find_turn(struct search *search, surplus_function *surplus_at, uint64_t most,
                     bool rising, double *turn, const char **reason)
{
    uint64_t low = 0, high = 1; /* the sign has changed at high, not at low */
    double surplus;
    int status;

    for (;;) {
        if ((status = surplus_at(search, high, &surplus, reason)) < 0)
            return status;
        if (isnan(surplus)) {
            *turn = NAN;
            return 0;
        }
        if (rising ? surplus >= 0 : surplus < 0)
            break;
        if (high == most) {
            *turn = INFINITY;
            return 0;
        }
        low = high;
        high = high > most / 2 ? most : 2 * high;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if ((status = surplus_at(search, middle, &surplus, reason)) < 0)
            return status;
        if (rising ? surplus >= 0 : surplus < 0)
            high = middle;
        else
            low = middle;
    }
    *turn = (double)high;
    return 0;
}

static int find_turns(struct search *search, uint64_t context, llmperf_decode_turn *turn)
{
    int status;

    search->step.cached_each = context;
    if ((status = find_turn(search, batch_surplus, BATCH_MOST, true, &turn->batch,
                            &turn->batch_reason)) < 0 ||
        (status = find_turn(search, context_surplus, CONTEXT_MOST, false, &turn->context,
                            &turn->context_reason)) < 0)
        return status;
    /* The search found the first context above it. */
    turn->context -= 1;
    return 0;
}

int llmperf_model_decode_turn(const llmperf_model *model, const llmperf_step *input,
                              const llmperf_hardware *hardware, uint32_t which,
                              llmperf_decode_turn *out)
{
    llmperf_decode_turn turn = LLMPERF_DECODE_TURN_INIT;
    struct search search = { .model = model };
    struct lp_operators list;
    struct lp_step step;
    int status;

    if ((status = lp_sized_check(out)) < 0 ||
        (status = take_limits(&search.limits, hardware, which)) < 0 ||
        (status = lp_model_operators(model, input, &step, &list)) < 0)
        return status;
    if (step.input.phase != LLMPERF_PHASE_DECODE)
        return lp_error(LLMPERF_EINVAL, "only a decode step turns; phase %u is given",
                        (unsigned)step.input.phase);
    search.step = step.input;
    search.step.new_tokens = search.step.cached_tokens = search.step.logits_rows = NULL;
    search.step.new_each = search.step.padded_tokens = 0;
    search.step.experts_touched = 0; /* a measured number holds for its batch size only */
    status = find_turns(
        &search, step.input.cached_tokens ? step.input.cached_tokens[0] : step.input.cached_each,
        &turn);
    return status < 0 ? status : lp_sized_out(out, &turn, sizeof(turn));
}
