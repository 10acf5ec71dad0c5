/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf model --format json`. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "model/gpu.h"

#define WORK(name)      JSON_U64(llmperf_work, #name, name)
#define OPERATOR(name)  JSON_U64(llmperf_operator_work, #name, name)
#define PARAMETER(name) JSON_U64(llmperf_model_info, #name, parameters_##name)
#define FLOOR(name)     JSON_F64(llmperf_step_floor, #name, name)
#define END                                                                                        \
    {                                                                                              \
        .key = NULL                                                                                \
    }

static json_t *object_of(const struct json_member *members, const void *row)
{
    json_t *object = json_object();

    json_members(object, members, row);
    return object;
}

static json_t *parameters_of(const llmperf_model_info *info)
{
    static const struct json_member members[] = {
        PARAMETER(total),         PARAMETER(active),
        PARAMETER(embedding),     PARAMETER(lm_head),
        PARAMETER(norm),          PARAMETER(attention_in),
        PARAMETER(attention_out), PARAMETER(mlp),
        PARAMETER(router),        PARAMETER(shared_experts),
        PARAMETER(experts),       PARAMETER(vision),
        PARAMETER(other),         END
    };

    return object_of(members, info);
}

static json_t *operators_of(const llmperf_model *model, const llmperf_step *step)
{
    static const struct json_member members[] = { OPERATOR(layers),
                                                  OPERATOR(model_flops),
                                                  OPERATOR(vector_flops),
                                                  OPERATOR(hardware_flops),
                                                  OPERATOR(weight_bytes),
                                                  OPERATOR(kv_read_bytes),
                                                  OPERATOR(kv_write_bytes),
                                                  OPERATOR(activation_bytes),
                                                  OPERATOR(communication_bytes),
                                                  END };
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    json_t *operators = json_array();

    for (size_t i = 0; llmperf_model_operator(model, step, i, &op) == 0; i++) {
        json_t *row = json_pack("{s:s, s:s}", "name", op.name, "layer_kind", op.layer_kind);

        json_members(row, members, &op);
        json_object_set_new(row, "compute_dtype",
                            json_text(llmperf_name(LLMPERF_NAME_DTYPE, op.compute_dtype)));
        json_array_append_new(operators, row);
    }
    return operators;
}

/* Of the whole step: null where the step is a share of it. */
static json_t *conventions_of(const struct model_answer *answer)
{
    json_t *object = json_object();
    const char *name;

    for (size_t i = 0; (name = llmperf_convention_name(i)); i++) {
        uint64_t flops = LLMPERF_UNKNOWN;

        if (llmperf_model_flops(answer->model, &answer->prefill_step, name, &flops) < 0)
            flops = LLMPERF_UNKNOWN;
        json_object_set_new(object, name, json_count(flops));
    }
    return object;
}

static json_t *floor_of(const struct gpu_answer *gpu, int which, enum model_phase phase)
{
    static const struct json_member members[] = { FLOOR(compute_ms),    FLOOR(memory_ms),
                                                  FLOOR(link_ms),       FLOOR(roofline_ms),
                                                  FLOOR(serial_ms),     FLOOR(peak_tflops),
                                                  FLOOR(bandwidth_gbs), FLOOR(link_gbs),
                                                  FLOOR(intensity),     FLOOR(ridge),
                                                  FLOOR(mfu_limit),     FLOOR(mbu_limit),
                                                  FLOOR(tokens_per_s),  END };
    bool known =
        gpu->hardware && (which == IN_USE || llmperf_hardware_measured(gpu->hardware) != NULL);

    return known ? object_of(members, &gpu->floors[which][phase]) : json_null();
}

/* Work, lower bounds and operators of a step, after the members that only it has. */
static json_t *step_of(const struct model_answer *answer, json_t *step, const llmperf_work *work,
                       enum model_phase phase)
{
    static const struct json_member members[] = { WORK(model_flops),
                                                  WORK(hardware_flops),
                                                  WORK(vector_flops),
                                                  WORK(bytes),
                                                  WORK(weight_bytes),
                                                  WORK(kv_read_bytes),
                                                  WORK(kv_write_bytes),
                                                  WORK(activation_bytes),
                                                  WORK(communication_bytes),
                                                  JSON_F64(llmperf_work, "experts_touched",
                                                           experts_touched),
                                                  END };
    const llmperf_step *of = phase == PREFILL       ? &answer->prefill_step
                             : phase == DECODE_STEP ? &answer->decode_step
                                                    : &answer->vision_step;

    json_members(step, members, work);
    json_object_set_new(step, "floor", floor_of(&answer->gpu, IN_USE, phase));
    json_object_set_new(step, "floor_measured", floor_of(&answer->gpu, MEASURED, phase));
    json_object_set_new(step, "operators", operators_of(answer->model, of));
    return step;
}

static json_t *prefill_of(const struct model_answer *answer)
{
    json_t *step = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "tokens", json_count(answer->prompt), "prefix",
        json_count(answer->prefix), "batch", json_count(answer->batch), "flops",
        json_count(answer->prefill.model_flops), "flops_all_logits",
        json_count(answer->prefill_all.model_flops), "conventions", conventions_of(answer));

    return step_of(answer, step, &answer->prefill, PREFILL);
}

static json_t *decode_of(const struct model_answer *answer)
{
    const llmperf_decode_turn *turn = &answer->gpu.turn;
    json_t *step = json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "context",
                             json_count(answer->context), "batch", json_count(answer->batch),
                             "flops", json_count(answer->decode.model_flops), "tokens_expected",
                             json_double(answer->decode.tokens_expected), "turn", "batch",
                             json_double(turn->batch), "context", json_double(turn->context));

    return step_of(answer, step, &answer->decode, DECODE_STEP);
}

/* FLOPs: executed ones, as the published figures of these encoders count. */
static json_t *vision_of(const struct model_answer *answer)
{
    const llmperf_work *work = &answer->vision;
    json_t *step =
        json_pack("{s:o, s:o, s:o}", "tokens", json_count(work->tokens), "positions",
                  json_count(work->positions), "flops", json_count(work->hardware_flops));

    return step_of(answer, step, work, VISION);
}

static json_t *generation_of(const struct model_answer *answer)
{
    if (!answer->generated || !answer->info.has_decoder)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "tokens", json_count(answer->generated), "batch",
                     json_count(answer->batch), "flops", json_count(answer->generation_flops),
                     "bytes", json_count(answer->generation_bytes));
}

/* The GPU */

static json_t *peaks_of(const llmperf_hardware *hardware, const char **source)
{
    json_t *peaks = json_object();
    const char *dtype;

    for (size_t i = 0; (dtype = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

        llmperf_hardware_peak(hardware, dtype, &value);
        json_object_set_new(peaks, dtype, json_double(value.value));
        if (value.source && (!*source || strcmp(dtype, "fp16") == 0))
            *source = value.source;
    }
    return peaks;
}

static json_t *measured_of(const llmperf_hardware *hardware)
{
    json_t *peaks = json_object();
    const char *name;

    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++) {
        llmperf_measured_peak peak = LLMPERF_MEASURED_PEAK_INIT;

        llmperf_hardware_measured_peak(hardware, name, &peak);
        if (!isnan(peak.best))
            json_object_set_new(peaks, name, json_double(peak.best));
    }
    return peaks;
}

static json_t *hardware_of(const llmperf_hardware *hardware)
{
    llmperf_hardware_value sms = LLMPERF_HARDWARE_VALUE_INIT,
                           bandwidth = LLMPERF_HARDWARE_VALUE_INIT;
    const char *source = NULL;
    json_t *peaks;

    if (!hardware)
        return json_null();
    llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_SMS, &sms);
    llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS, &bandwidth);
    peaks = peaks_of(hardware, &source);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     json_text(llmperf_hardware_name(hardware)), "compute_capability",
                     json_capability(llmperf_hardware_capability(hardware)), "sm_count",
                     json_double(sms.value), "peak", peaks, "peak_source", json_text(source),
                     "bandwidth_gbs", json_double(bandwidth.value), "bandwidth_source",
                     json_text(bandwidth.source), "measured", measured_of(hardware),
                     "measured_source", json_text(llmperf_hardware_measured(hardware)));
}

static void add_bounds(json_t *root, const struct gpu_answer *gpu)
{
    json_t *floors = json_object(), *bounds = json_object();

    for (enum model_phase phase = 0; phase < PHASES; phase++) {
        const llmperf_step_floor *floor = &gpu->floors[IN_USE][phase];
        const char *name = phase_names[phase];
        const struct {
            const char *word;
            double ms;
        } times[] = { { "", floor->roofline_ms },
                      { "_serial", floor->serial_ms },
                      { "_measured", gpu->floors[MEASURED][phase].roofline_ms } };
        char key[64];

        for (size_t i = 0; i < 3; i++) {
            snprintf(key, sizeof(key), "%s%s_ms", name, times[i].word);
            json_object_set_new(floors, key, json_double(times[i].ms));
        }
        json_object_set_new(bounds, name,
                            json_text(floor->bound == LLMPERF_BOUND_UNKNOWN
                                          ? NULL
                                          : llmperf_name(LLMPERF_NAME_BOUND, floor->bound)));
    }
    json_object_set_new(root, "floors", floors);
    json_object_set_new(root, "bound", bounds);
}

static json_t *memory_of(const struct memory_answer *memory)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "gpu_bytes", json_double(memory->gpu_bytes),
                     "held_weights_bytes", json_double(memory->weights_bytes), "held_kv_bytes",
                     json_double(memory->kv_bytes), "requests_at_most",
                     json_double(memory->requests));
}

/* Why values are null */

static void add_note(json_t *notes, const char *what, const char *reason)
{
    if (reason)
        json_array_append_new(notes, json_sprintf("%s: %s", what, reason));
}

static json_t *notes_of(const struct gpu_answer *gpu)
{
    json_t *notes = json_array();

    add_note(notes, "hardware, floors and bound are null", gpu->reason[0] ? gpu->reason : NULL);
    for (enum model_phase phase = 0; phase < PHASES; phase++)
        add_note(notes, phase_names[phase], gpu->floors[IN_USE][phase].bound_reason);
    add_note(notes, "turn.batch is null",
             isinf(gpu->turn.batch)
                 ? "decoding at this context length is memory-bound at any batch size"
                 : gpu->turn.batch_reason);
    add_note(notes, "turn.context is null",
             isinf(gpu->turn.context)
                 ? "at any context length, a large enough batch makes decoding compute-bound"
                 : gpu->turn.context_reason);
    if (gpu->hardware && !llmperf_hardware_measured(gpu->hardware))
        add_note(notes, "measured floors are null",
                 "no peaks were measured on this GPU; see llmperf hardware --measure");
    return notes;
}

static json_t *lines_of(const char *(*line)(const llmperf_model *, size_t),
                        const llmperf_model *model)
{
    json_t *lines = json_array();
    const char *text;

    for (size_t i = 0; (text = line(model, i)); i++)
        json_add_text(lines, text);
    return lines;
}

static const char *dtype_name(uint32_t dtype)
{
    return llmperf_name(LLMPERF_NAME_DTYPE, dtype);
}

int print_model_json(const struct model_answer *answer)
{
    const llmperf_model_info *info = &answer->info;
    json_t *root =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:o}", "model", json_text(info->name),
                  "family", json_text(info->family), "source", json_text(info->source),
                  "convention", json_text(info->convention), "parameters", parameters_of(info),
                  "weight_dtype", dtype_name(answer->weight_dtype), "weights_bytes",
                  json_count(answer->weight_bytes), "kv_dtype", dtype_name(answer->kv_dtype),
                  "kv_bytes_per_token", json_count(answer->kv_bytes_per_token));

    json_object_set_new(root, "prefill", info->has_decoder ? prefill_of(answer) : json_null());
    json_object_set_new(root, "decode", info->has_decoder ? decode_of(answer) : json_null());
    json_object_set_new(root, "generation", generation_of(answer));
    json_object_set_new(root, "vision", info->has_vision ? vision_of(answer) : json_null());
    json_object_set_new(root, "hardware", hardware_of(answer->gpu.hardware));
    add_bounds(root, &answer->gpu);
    json_object_set_new(root, "memory", memory_of(&answer->memory));
    json_object_set_new(root, "assumptions", lines_of(llmperf_model_assumption, answer->model));
    json_object_set_new(root, "warnings", lines_of(llmperf_model_warning, answer->model));
    json_object_set_new(root, "notes", notes_of(&answer->gpu));
    return json_output(root);
}
