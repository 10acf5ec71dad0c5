/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/memory.h"

const char *const phase_names[PHASES] = { "prefill", "decode", "vision" };

#define MEMBER(name) offsetof(llmperf_step_floor, name)

/* All doubles are NaN. */
static llmperf_step_floor unknown_floor(void)
{
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    const double unknown = NAN;

    for (size_t at = MEMBER(compute_ms); at <= MEMBER(tokens_per_s); at += sizeof(unknown))
        memcpy((char *)&floor + at, &unknown, sizeof(unknown));
    return floor;
}

int find_gpu(const char *name, llmperf_hardware **hardware)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    if (strcmp(name, "local") == 0)
        return llmperf_hardware_local(0, NULL, hardware);
    query.name = name;
    return llmperf_hardware_find(&query, NULL, hardware);
}

/* Without a GPU its values are null; an unknown GPU is a usage error. */
int take_gpu(const struct command *command, const char *name, struct model_answer *answer)
{
    struct gpu_answer *gpu = &answer->gpu;
    int status;

    for (size_t i = 0; i < LIMITS; i++)
        for (size_t k = 0; k < PHASES; k++)
            gpu->floors[i][k] = unknown_floor();
    gpu->turn = (llmperf_decode_turn){ sizeof(gpu->turn), NAN, NAN, NULL, NULL };
    gpu->name = name;
    snprintf(gpu->reason, sizeof(gpu->reason), "no GPU was given; see --gpu");
    if (!name)
        return EXIT_FINE;
    if (!*name)
        return fail_usage(command, "--gpu needs a name from llmperf hardware --list, or local");
    status = find_gpu(name, &gpu->hardware);
    gpu->reason[0] = '\0';
    return status == 0 ? EXIT_FINE : fail_status(status);
}

void free_gpu(struct model_answer *answer)
{
    llmperf_hardware_free(answer->gpu.hardware);
}

const llmperf_step *model_step(const struct model_answer *answer, enum model_phase phase)
{
    return phase == PREFILL       ? &answer->prefill_step
           : phase == DECODE_STEP ? &answer->decode_step
                                  : &answer->vision_step;
}

int work_out_gpu(struct model_answer *answer)
{
    struct gpu_answer *gpu = &answer->gpu;
    int status = 0;

    gpu->has[PREFILL] = gpu->has[DECODE_STEP] = answer->info.has_decoder;
    gpu->has[VISION] = answer->info.has_vision;
    for (uint32_t which = 0; gpu->hardware && which < LIMITS; which++)
        for (enum model_phase phase = 0; status == 0 && phase < PHASES; phase++)
            if (gpu->has[phase])
                status = llmperf_model_floor(answer->model, model_step(answer, phase),
                                             gpu->hardware, which, &gpu->floors[which][phase]);
    if (status == 0 && gpu->hardware && answer->info.has_decoder)
        status = llmperf_model_decode_turn(answer->model, &answer->decode_step, gpu->hardware,
                                           LLMPERF_LIMITS_IN_USE, &gpu->turn);
    return status;
}

static double bandwidth_of(const struct gpu_answer *gpu, llmperf_hardware_value *value)
{
    *value = (llmperf_hardware_value)LLMPERF_HARDWARE_VALUE_INIT;
    value->value = NAN;
    if (gpu->hardware)
        llmperf_hardware_quantity(gpu->hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS, value);
    return value->value;
}

/* Formats in which the operators of all steps compute; true for the first index of each format. */
static bool computes_in(const struct model_answer *answer, uint32_t dtype)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;

    for (enum model_phase phase = 0; phase < PHASES; phase++)
        for (size_t i = 0;
             answer->gpu.has[phase] &&
             llmperf_model_operator(answer->model, model_step(answer, phase), i, &op) == 0;
             i++)
            if (op.model_flops && op.compute_dtype == dtype)
                return true;
    return false;
}

/* Peak of a format; NaN with a reason. */
static llmperf_hardware_value peak_of(const struct gpu_answer *gpu, const char *dtype)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    value.value = NAN;
    if (llmperf_hardware_peak(gpu->hardware, dtype, &value) < 0)
        value.reason = llmperf_last_error();
    return value;
}

static void print_value(const char *name, const char *unit, const llmperf_hardware_value *value)
{
    if (isnan(value->value))
        print("  %-12s -  %s\n", name, value->reason);
    else
        print("  %-12s %.5g %s  %s, confidence %s: %s\n", name, value->value, unit,
              llmperf_name(LLMPERF_NAME_ORIGIN, value->origin),
              llmperf_name(LLMPERF_NAME_CONFIDENCE, value->confidence), value->source);
}

static void print_limits(const struct model_answer *answer)
{
    const struct gpu_answer *gpu = &answer->gpu;
    llmperf_hardware_value value;
    const char *text;

    print("\nlimits of %s\n", llmperf_hardware_name(gpu->hardware));
    bandwidth_of(gpu, &value);
    print_value("bandwidth", "GB/s", &value);
    for (uint32_t i = 1; strcmp(llmperf_name(LLMPERF_NAME_DTYPE, i), "unknown") != 0; i++) {
        if (!computes_in(answer, i))
            continue;
        value = peak_of(gpu, llmperf_name(LLMPERF_NAME_DTYPE, i));
        print_value(llmperf_name(LLMPERF_NAME_DTYPE, i), "TFLOP/s", &value);
    }
    print_memory_text(answer);
    if ((text = llmperf_hardware_measured(gpu->hardware)))
        print("  measured     %s\n", text);
    for (size_t i = 0; (text = llmperf_hardware_warning(gpu->hardware, i)); i++)
        print("  note: %s\n", text);
}

int model_decimals(double value, int digits)
{
    int places = value > 0 ? digits - 1 - (int)floor(log10(value)) : 0;

    return places > 0 ? places : 0;
}

/* One line of the table of lower bounds: one member of llmperf_step_floor for each step. */
static void print_row(const struct gpu_answer *gpu, const char *words, size_t which, size_t member,
                      double factor, const char *comment)
{
    print("  %-22s", words);
    for (enum model_phase phase = 0; phase < PHASES; phase++) {
        double value;

        if (!gpu->has[phase])
            continue;
        memcpy(&value, (const char *)&gpu->floors[which][phase] + member, sizeof(value));
        if (isnan(value))
            print(" %13s", "-");
        else
            print(" %13.*f", model_decimals(factor * value, 5), factor * value);
    }
    print("  %s\n", comment);
}

static void print_bounds(const struct gpu_answer *gpu)
{
    print("  %-22s", "bound");
    for (enum model_phase phase = 0; phase < PHASES; phase++)
        if (gpu->has[phase])
            print(" %13s", llmperf_name(LLMPERF_NAME_BOUND, gpu->floors[IN_USE][phase].bound));
    print("\n");
}

static void print_reasons(const struct gpu_answer *gpu)
{
    for (enum model_phase phase = 0; phase < PHASES; phase++)
        if (gpu->has[phase] && gpu->floors[IN_USE][phase].bound_reason)
            print("  %s: %s\n", phase_names[phase], gpu->floors[IN_USE][phase].bound_reason);
}

static void print_turn(const struct model_answer *answer)
{
    const llmperf_decode_turn *turn = &answer->gpu.turn;

    if (isinf(turn->batch))
        print("\ndecoding at this context length is memory-bound at any batch size\n");
    else if (!isnan(turn->batch))
        print("\ndecoding at this context length becomes compute-bound at a batch of %.0f\n",
              turn->batch);
    if (isinf(turn->context))
        print("at any context length, a large enough batch makes it compute-bound\n");
    else if (!isnan(turn->context))
        print("above a context length of %.0f it is memory-bound at any batch size\n",
              turn->context);
}

void print_gpu_text(const struct model_answer *answer)
{
    const struct gpu_answer *gpu = &answer->gpu;

    if (!gpu->name)
        return;
    if (!gpu->hardware) {
        print("\nno lower bounds: %s\n", gpu->reason);
        return;
    }
    print_limits(answer);
    print("\n%-24s", "lower bounds, ms");
    for (enum model_phase phase = 0; phase < PHASES; phase++)
        if (gpu->has[phase])
            print(" %13s", phase_names[phase]);
    print("\n");
    print_row(gpu, "roofline", IN_USE, MEMBER(roofline_ms), 1, "all resources overlap");
    print_row(gpu, "serial", IN_USE, MEMBER(serial_ms), 1, "operators one after another");
    print_row(gpu, "compute", IN_USE, MEMBER(compute_ms), 1, "");
    print_row(gpu, "memory", IN_USE, MEMBER(memory_ms), 1, "");
    if (answer->prefill.communication_bytes || answer->decode.communication_bytes)
        print_row(gpu, "link", IN_USE, MEMBER(link_ms), 1, "one direction");
    if (llmperf_hardware_measured(gpu->hardware)) {
        print_row(gpu, "roofline, measured", MEASURED, MEMBER(roofline_ms), 1,
                  "with measured peaks");
        print_row(gpu, "serial, measured", MEASURED, MEMBER(serial_ms), 1, "");
    }
    print_bounds(gpu);
    print_row(gpu, "intensity", IN_USE, MEMBER(intensity), 1, "FLOPs per byte");
    print_row(gpu, "ridge", IN_USE, MEMBER(ridge), 1,
              "FLOPs per byte; above it the step is compute-bound");
    print_row(gpu, "MFU limit, %", IN_USE, MEMBER(mfu_limit), 100, "");
    print_row(gpu, "MBU limit, %", IN_USE, MEMBER(mbu_limit), 100, "");
    print_row(gpu, "tokens/s limit", IN_USE, MEMBER(tokens_per_s), 1, "");
    print_reasons(gpu);
    print_turn(answer);
}
