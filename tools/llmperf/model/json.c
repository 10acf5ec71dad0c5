/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf model --format json`. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "model/gpu.h"

static const char *dtype_name(uint32_t dtype)
{
    return llmperf_name(LLMPERF_NAME_DTYPE, dtype);
}

static json_t *parameters_of(const llmperf_model_info *info)
{
    return json_object_of(
        "total:u active:u embedding:u lm_head:u norm:u attention_in:u attention_out:u mlp:u "
        "router:u shared_experts:u experts:u vision:u other:u",
        info->parameters_total, info->parameters_active, info->parameters_embedding,
        info->parameters_lm_head, info->parameters_norm, info->parameters_attention_in,
        info->parameters_attention_out, info->parameters_mlp, info->parameters_router,
        info->parameters_shared_experts, info->parameters_experts, info->parameters_vision,
        info->parameters_other);
}

static json_t *operators_of(const llmperf_model *model, const llmperf_step *step)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    json_t *operators = json_array();

    for (size_t i = 0; llmperf_model_operator(model, step, i, &op) == 0; i++)
        json_array_append_new(
            operators,
            json_object_of("name:t layer_kind:t layers:u model_flops:u vector_flops:u "
                           "hardware_flops:u weight_bytes:u kv_read_bytes:u kv_write_bytes:u "
                           "activation_bytes:u communication_bytes:u compute_dtype:t",
                           op.name, op.layer_kind, op.layers, op.model_flops, op.vector_flops,
                           op.hardware_flops, op.weight_bytes, op.kv_read_bytes, op.kv_write_bytes,
                           op.activation_bytes, op.communication_bytes,
                           dtype_name(op.compute_dtype)));
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
    const llmperf_step_floor *floor = &gpu->floors[which][phase];

    if (!gpu->hardware || (which == MEASURED && !llmperf_hardware_measured(gpu->hardware)))
        return json_null();
    return json_object_of("compute_ms:d memory_ms:d link_ms:d roofline_ms:d serial_ms:d "
                          "peak_tflops:d bandwidth_gbs:d link_gbs:d intensity:d ridge:d "
                          "mfu_limit:d mbu_limit:d tokens_per_s:d",
                          floor->compute_ms, floor->memory_ms, floor->link_ms, floor->roofline_ms,
                          floor->serial_ms, floor->peak_tflops, floor->bandwidth_gbs,
                          floor->link_gbs, floor->intensity, floor->ridge, floor->mfu_limit,
                          floor->mbu_limit, floor->tokens_per_s);
}

/* Work, lower bounds and operators of a step, after the members that only it has. */
static json_t *step_of(const struct model_answer *answer, json_t *step, const llmperf_work *work,
                       enum model_phase phase)
{
    json_add(step,
             "model_flops:u hardware_flops:u vector_flops:u bytes:u weight_bytes:u kv_read_bytes:u "
             "kv_write_bytes:u activation_bytes:u communication_bytes:u experts_touched:d floor:o "
             "floor_measured:o operators:o",
             work->model_flops, work->hardware_flops, work->vector_flops, work->bytes,
             work->weight_bytes, work->kv_read_bytes, work->kv_write_bytes, work->activation_bytes,
             work->communication_bytes, work->experts_touched,
             floor_of(&answer->gpu, IN_USE, phase), floor_of(&answer->gpu, MEASURED, phase),
             operators_of(answer->model, model_step(answer, phase)));
    return step;
}

static json_t *prefill_of(const struct model_answer *answer)
{
    json_t *step =
        json_object_of("tokens:u prefix:u batch:u flops:u flops_all_logits:u conventions:o",
                       answer->prompt, answer->prefix, answer->batch, answer->prefill.model_flops,
                       answer->prefill_all.model_flops, conventions_of(answer));

    return step_of(answer, step, &answer->prefill, PREFILL);
}

static json_t *decode_of(const struct model_answer *answer)
{
    const llmperf_decode_turn *turn = &answer->gpu.turn;
    json_t *step =
        json_object_of("context:u batch:u flops:u tokens_expected:d turn:o", answer->context,
                       answer->batch, answer->decode.model_flops, answer->decode.tokens_expected,
                       json_object_of("batch:d context:d", turn->batch, turn->context));

    return step_of(answer, step, &answer->decode, DECODE_STEP);
}

/* FLOPs: executed ones, as the published figures of these encoders count. */
static json_t *vision_of(const struct model_answer *answer)
{
    const llmperf_work *work = &answer->vision;
    json_t *step = json_object_of("tokens:u positions:u flops:u", work->tokens, work->positions,
                                  work->hardware_flops);

    return step_of(answer, step, work, VISION);
}

static json_t *generation_of(const struct model_answer *answer)
{
    if (!answer->generated || !answer->info.has_decoder)
        return json_null();
    return json_object_of("tokens:u batch:u flops:u bytes:u", answer->generated, answer->batch,
                          answer->generation_flops, answer->generation_bytes);
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
    return json_object_of("name:t compute_capability:o sm_count:d peak:o peak_source:t "
                          "bandwidth_gbs:d bandwidth_source:t measured:o measured_source:t",
                          llmperf_hardware_name(hardware),
                          json_capability(llmperf_hardware_capability(hardware)), sms.value, peaks,
                          source, bandwidth.value, bandwidth.source, measured_of(hardware),
                          llmperf_hardware_measured(hardware));
}

static void add_bounds(json_t *root, const struct gpu_answer *gpu)
{
    json_t *floors = json_object(), *bounds = json_object();

    for (enum model_phase phase = 0; phase < PHASES; phase++) {
        const llmperf_step_floor *floor = &gpu->floors[IN_USE][phase];
        const char *name = phase_names[phase];
        bool known = floor->bound != LLMPERF_BOUND_UNKNOWN;
        char keys[128];

        snprintf(keys, sizeof(keys), "%s_ms:d %s_serial_ms:d %s_measured_ms:d", name, name, name);
        json_add(floors, keys, floor->roofline_ms, floor->serial_ms,
                 gpu->floors[MEASURED][phase].roofline_ms);
        json_object_set_new(
            bounds, name, json_text(known ? llmperf_name(LLMPERF_NAME_BOUND, floor->bound) : NULL));
    }
    json_add(root, "floors:o bound:o", floors, bounds);
}

static json_t *memory_of(const struct memory_answer *memory)
{
    return json_object_of("gpu_bytes:d held_weights_bytes:d held_kv_bytes:d requests_at_most:d",
                          memory->gpu_bytes, memory->weights_bytes, memory->kv_bytes,
                          memory->requests);
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

int print_model_json(const struct model_answer *answer)
{
    const llmperf_model_info *info = &answer->info;
    const llmperf_model *model = answer->model;
    json_t *root = json_object_of(
        "model:t family:t source:t convention:t parameters:o weight_dtype:t weights_bytes:u "
        "kv_dtype:t kv_bytes_per_token:u prefill:o decode:o generation:o vision:o hardware:o",
        info->name, info->family, info->source, info->convention, parameters_of(info),
        dtype_name(answer->weight_dtype), answer->weight_bytes, dtype_name(answer->kv_dtype),
        answer->kv_bytes_per_token, info->has_decoder ? prefill_of(answer) : json_null(),
        info->has_decoder ? decode_of(answer) : json_null(), generation_of(answer),
        info->has_vision ? vision_of(answer) : json_null(), hardware_of(answer->gpu.hardware));

    add_bounds(root, &answer->gpu);
    json_add(root, "memory:o assumptions:o warnings:o notes:o", memory_of(&answer->memory),
             lines_of(llmperf_model_assumption, model), lines_of(llmperf_model_warning, model),
             notes_of(&answer->gpu));
    return json_output(root);
}
