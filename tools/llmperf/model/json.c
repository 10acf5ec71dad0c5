/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "command.h"
#include "json.h"
#include "model/gpu.h"
#include "model/memory.h"

/* The next line holds another member of the same object. */
static void member(const char *indent, const char *key, uint64_t value)
{
    print("%s\"%s\": %" PRIu64 ",\n", indent, key, value);
}

static void member_text(const char *indent, const char *key, const char *text)
{
    print("%s\"%s\": ", indent, key);
    json_string(text);
    print(",\n");
}

/* A sum that overflowed 64 bits is unknown. */
static void print_known(uint64_t value)
{
    if (value == LLMPERF_UNKNOWN)
        print("null");
    else
        print("%" PRIu64, value);
}

static void print_operators(const llmperf_model *model, const llmperf_step *step)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;

    print("    \"operators\": [");
    for (size_t i = 0; llmperf_model_operator(model, step, i, &op) == 0; i++) {
        print("%s\n      {\"name\": \"%s\", \"layer_kind\": \"%s\", \"layers\": %" PRIu64
              ", \"model_flops\": %" PRIu64 ", \"vector_flops\": %" PRIu64
              ", \"hardware_flops\": %" PRIu64 ", \"weight_bytes\": %" PRIu64
              ", \"kv_read_bytes\": %" PRIu64 ", \"kv_write_bytes\": %" PRIu64
              ", \"activation_bytes\": %" PRIu64 ", \"communication_bytes\": %" PRIu64
              ", \"compute_dtype\": \"%s\"}",
              i ? "," : "", op.name, op.layer_kind, op.layers, op.model_flops, op.vector_flops,
              op.hardware_flops, op.weight_bytes, op.kv_read_bytes, op.kv_write_bytes,
              op.activation_bytes, op.communication_bytes,
              llmperf_name(LLMPERF_NAME_DTYPE, op.compute_dtype));
    }
    print("\n    ]\n");
}

static void print_work(const llmperf_work *work)
{
    member("    ", "model_flops", work->model_flops);
    member("    ", "hardware_flops", work->hardware_flops);
    member("    ", "vector_flops", work->vector_flops);
    member("    ", "bytes", work->bytes);
    member("    ", "weight_bytes", work->weight_bytes);
    member("    ", "kv_read_bytes", work->kv_read_bytes);
    member("    ", "kv_write_bytes", work->kv_write_bytes);
    member("    ", "activation_bytes", work->activation_bytes);
    member("    ", "communication_bytes", work->communication_bytes);
    print("    \"experts_touched\": ");
    json_real(work->experts_touched);
    print(",\n");
}

/* Of the whole step: null where the step is a share of it. */
static void print_conventions(const struct model_answer *answer)
{
    const char *name;
    uint64_t flops;

    print("    \"conventions\": {");
    for (size_t i = 0; (name = llmperf_convention_name(i)); i++)
        if (llmperf_model_flops(answer->model, &answer->prefill_step, name, &flops) == 0)
            print("%s\"%s\": %" PRIu64, i ? ", " : "", name, flops);
        else
            print("%s\"%s\": null", i ? ", " : "", name);
    print("},\n");
}

static void print_prefill(const struct model_answer *answer)
{
    print("  \"prefill\": {\n");
    member("    ", "tokens", answer->prompt);
    member("    ", "prefix", answer->prefix);
    member("    ", "batch", answer->batch);
    member("    ", "flops", answer->prefill.model_flops);
    member("    ", "flops_all_logits", answer->prefill_all.model_flops);
    print_work(&answer->prefill);
    print_conventions(answer);
    print_floor_json(&answer->gpu, PREFILL);
    print_operators(answer->model, &answer->prefill_step);
    print("  },\n");
}

static void print_decode(const struct model_answer *answer)
{
    print("  \"decode\": {\n");
    member("    ", "context", answer->context);
    member("    ", "batch", answer->batch);
    member("    ", "flops", answer->decode.model_flops);
    print("    \"tokens_expected\": ");
    json_real(answer->decode.tokens_expected);
    print(",\n");
    print_work(&answer->decode);
    print_floor_json(&answer->gpu, DECODE_STEP);
    print_turn_json(&answer->gpu);
    print_operators(answer->model, &answer->decode_step);
    print("  },\n  \"generation\": ");
    if (!answer->generated) {
        print("null,\n");
        return;
    }
    print("{\"tokens\": %" PRIu64 ", \"batch\": %" PRIu64 ", \"flops\": ", answer->generated,
          answer->batch);
    print_known(answer->generation_flops);
    print(", \"bytes\": ");
    print_known(answer->generation_bytes);
    print("},\n");
}

static void print_vision(const struct model_answer *answer)
{
    print("  \"vision\": {\n");
    member("    ", "tokens", answer->vision.tokens);
    member("    ", "positions", answer->vision.positions);
    /* Executed ones, as the published figures of these encoders count. */
    member("    ", "flops", answer->vision.hardware_flops);
    member("    ", "model_flops", answer->vision.model_flops);
    member("    ", "hardware_flops", answer->vision.hardware_flops);
    member("    ", "vector_flops", answer->vision.vector_flops);
    member("    ", "bytes", answer->vision.bytes);
    member("    ", "activation_bytes", answer->vision.activation_bytes);
    print_floor_json(&answer->gpu, VISION);
    print_operators(answer->model, &answer->vision_step);
    print("  },\n");
}

static void print_lines(const char *key, const char *(*line)(const llmperf_model *, size_t),
                        const llmperf_model *model)
{
    const char *text;

    print("  \"%s\": [", key);
    for (size_t i = 0; (text = line(model, i)); i++) {
        print("%s", i ? ", " : "");
        json_string(text);
    }
    print("],\n");
}

static void print_head(const struct model_answer *answer)
{
    const llmperf_model_info *info = &answer->info;

    member_text("  ", "model", info->name);
    member_text("  ", "family", info->family);
    member_text("  ", "source", info->source);
    member_text("  ", "convention", info->convention);
    print("  \"parameters\": {\"total\": %" PRIu64 ", \"active\": %" PRIu64
          ", \"embedding\": %" PRIu64 ", \"lm_head\": %" PRIu64 ", \"norm\": %" PRIu64
          ", \"attention_in\": %" PRIu64 ", \"attention_out\": %" PRIu64 ", \"mlp\": %" PRIu64
          ", \"router\": %" PRIu64 ", \"shared_experts\": %" PRIu64 ", \"experts\": %" PRIu64
          ", \"vision\": %" PRIu64 ", \"other\": %" PRIu64 "},\n",
          info->parameters_total, info->parameters_active, info->parameters_embedding,
          info->parameters_lm_head, info->parameters_norm, info->parameters_attention_in,
          info->parameters_attention_out, info->parameters_mlp, info->parameters_router,
          info->parameters_shared_experts, info->parameters_experts, info->parameters_vision,
          info->parameters_other);
    member_text("  ", "weight_dtype", llmperf_name(LLMPERF_NAME_DTYPE, answer->weight_dtype));
    member("  ", "weights_bytes", answer->weight_bytes);
    member_text("  ", "kv_dtype", llmperf_name(LLMPERF_NAME_DTYPE, answer->kv_dtype));
    member("  ", "kv_bytes_per_token", answer->kv_bytes_per_token);
}

void print_model_json(const struct model_answer *answer)
{
    print("{\n");
    print_head(answer);
    if (answer->info.has_decoder) {
        print_prefill(answer);
        print_decode(answer);
    } else {
        print("  \"prefill\": null,\n  \"decode\": null,\n  \"generation\": null,\n");
    }
    if (answer->info.has_vision)
        print_vision(answer);
    else
        print("  \"vision\": null,\n");
    print_gpu_json(answer);
    print_memory_json(answer);
    print_lines("assumptions", llmperf_model_assumption, answer->model);
    print_lines("warnings", llmperf_model_warning, answer->model);
    print("  \"notes\": [");
    print_gpu_notes(answer);
    print("]\n}\n");
}
