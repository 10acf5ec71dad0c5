/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "model/gpu.h"

/* "16.06 G": four significant digits and a decimal prefix. */
static const char *scaled(uint64_t value, char text[32])
{
    static const char prefixes[] = " kMGTPE";
    double number = (double)value;
    size_t at = 0;

    while (number >= 999.95 && at + 2 < sizeof(prefixes)) {
        number /= 1000;
        at++;
    }
    if (at == 0)
        snprintf(text, 32, "%" PRIu64 " ", value);
    else
        snprintf(text, 32, "%.4g %c", number, prefixes[at]);
    return text;
}

/* Format that most FLOPs of a decode step are computed in. */
static uint32_t computed_in(const struct model_answer *answer)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    uint64_t most = 0;
    uint32_t dtype = answer->weight_dtype;

    for (size_t i = 0; llmperf_model_operator(answer->model, &answer->decode_step, i, &op) == 0;
         i++)
        if (op.model_flops > most) {
            most = op.model_flops;
            dtype = op.compute_dtype;
        }
    return dtype;
}

/* Says that the numbers below are per GPU, if several GPUs share the work. */
static void print_share(const llmperf_step *step)
{
    static const struct {
        const char *name;
        size_t offset;
    } ways[] = {
        { "tp", offsetof(llmperf_step, tensor_parallel) },
        { "pp", offsetof(llmperf_step, pipeline_parallel) },
        { "ep", offsetof(llmperf_step, expert_parallel) },
        { "dp", offsetof(llmperf_step, data_parallel) },
    };
    int shown = 0;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        uint32_t value;

        memcpy(&value, (const char *)step + ways[i].offset, sizeof(value));
        if (value > 1)
            print("%s%s %u", shown++ ? ", " : "share       of one GPU: ", ways[i].name,
                  (unsigned)value);
    }
    if (shown)
        print("; FLOPs, bytes and lower bounds below are per GPU, tokens/s per replica\n");
}

static void print_parameters(const struct model_answer *answer)
{
    const llmperf_model_info *info = &answer->info;
    char text[32];

    print("%s (%s), FLOPs and bytes counted as %s\n%s\n\n", info->name, info->family,
          info->convention, info->source);
    print("parameters  %" PRIu64 " total", info->parameters_total);
    if (info->has_decoder)
        print(", %" PRIu64 " active per token", info->parameters_active);
    if (info->has_decoder && info->has_vision)
        print(", %" PRIu64 " in vision", info->parameters_vision);
    print("\nweights     %sB as %s", scaled(answer->weight_bytes, text),
          llmperf_name(LLMPERF_NAME_DTYPE, answer->weight_dtype));
    if (!info->has_decoder) {
        print("\n");
        return;
    }
    print(", computed in %s\n", llmperf_name(LLMPERF_NAME_DTYPE, computed_in(answer)));
    print("KV cache    %" PRIu64 " bytes per token as %s\n", answer->kv_bytes_per_token,
          llmperf_name(LLMPERF_NAME_DTYPE, answer->kv_dtype));
    print("layers      %" PRIu64, info->layers);
    if (info->experts)
        print(", %" PRIu64 " with %" PRIu64 " of %" PRIu64 " experts active per token",
              info->moe_layers, info->experts_per_token, info->experts);
    if (info->window_layers)
        print(", %" PRIu64 " with a sliding window of %" PRIu64, info->window_layers, info->window);
    print("\n");
    print_share(&answer->prefill_step);
}

static void print_bytes(const char *words, uint64_t bytes)
{
    char text[32];

    if (bytes)
        print(", %s %sB", words, scaled(bytes, text));
}

static void print_work(const llmperf_work *work)
{
    char text[32];

    print("  model FLOPs     %20" PRIu64 "  %sFLOP\n", work->model_flops,
          scaled(work->model_flops, text));
    if (work->hardware_flops != work->model_flops)
        print("  hardware FLOPs  %20" PRIu64 "  %sFLOP\n", work->hardware_flops,
              scaled(work->hardware_flops, text));
    print("  vector FLOPs    %20" PRIu64 "  %sFLOP, estimate\n", work->vector_flops,
          scaled(work->vector_flops, text));
    print("  bytes           %20" PRIu64 "  %sB", work->bytes, scaled(work->bytes, text));
    print_bytes("weights", work->weight_bytes);
    print_bytes("KV read", work->kv_read_bytes);
    print_bytes("KV written", work->kv_write_bytes);
    print("\n  activations     %20" PRIu64 "  %sB, not included in bytes\n", work->activation_bytes,
          scaled(work->activation_bytes, text));
    if (work->communication_bytes)
        print("  communication   %20" PRIu64 "  %sB sent by this GPU\n", work->communication_bytes,
              scaled(work->communication_bytes, text));
    if (!isnan(work->experts_touched))
        print("  experts         %20.4g  touched per layer\n", work->experts_touched);
    if (work->bytes) {
        double intensity = (double)work->model_flops / (double)work->bytes;

        print("  intensity       %20.*f  model FLOPs per byte\n", model_decimals(intensity, 4),
              intensity);
    }
}

/* Operators with their share of the step's model FLOPs and bytes. */
static void print_operators(const struct model_answer *answer, const llmperf_step *step,
                            const llmperf_work *work)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    char flops[32], bytes[32];

    print("  %-15s %-13s %6s %14s %7s %14s %7s\n", "operator", "layers", "count", "model FLOPs",
          "share", "bytes", "share");
    for (size_t i = 0; llmperf_model_operator(answer->model, step, i, &op) == 0; i++) {
        uint64_t moved = op.weight_bytes + op.kv_read_bytes + op.kv_write_bytes;

        print("  %-15s %-13s %6" PRIu64 " %14s %6.1f%% %13sB %6.1f%%\n", op.name, op.layer_kind,
              op.layers, scaled(op.model_flops, flops),
              work->model_flops ? 100.0 * (double)op.model_flops / (double)work->model_flops : 0.0,
              scaled(moved, bytes),
              work->bytes ? 100.0 * (double)moved / (double)work->bytes : 0.0);
    }
}

static void print_conventions(const struct model_answer *answer)
{
    const char *name;
    uint64_t flops;

    print("\nthe same prefill under other counting conventions\n");
    for (size_t i = 1; (name = llmperf_convention_name(i)); i++)
        if (llmperf_model_flops(answer->model, &answer->prefill_step, name, &flops) == 0)
            print("  %-13s %22" PRIu64 "  x %.3f  %s\n", name, flops,
                  (double)flops / (double)answer->prefill.model_flops,
                  llmperf_convention_note(name));
        else if (i == 1) {
            print("  not available for one GPU's share of a step\n");
            return;
        }
}

static void print_sum(const char *words, uint64_t value, const char *unit)
{
    char text[32];

    if (value == LLMPERF_UNKNOWN)
        print("  %-15s %20s\n", words, "more than 64 bits");
    else
        print("  %-15s %20" PRIu64 "  %s%s\n", words, value, scaled(value, text), unit);
}

static void print_generation(const struct model_answer *answer)
{
    print("\ngeneration of %" PRIu64 " x %" PRIu64 " output tokens after the prompt\n",
          answer->batch, answer->generated);
    print_sum("model FLOPs", answer->generation_flops, "FLOP");
    print_sum("bytes", answer->generation_bytes, "B");
}

static void print_decoder(const struct model_answer *answer)
{
    print("\nprefill of %" PRIu64 " x %" PRIu64 " tokens", answer->batch, answer->prompt);
    if (answer->prefix)
        print(" after %" PRIu64 " cached ones", answer->prefix);
    print(", logits of the last one only\n");
    print_work(&answer->prefill);
    print_operators(answer, &answer->prefill_step, &answer->prefill);
    print("\ndecode step of %" PRIu64 " x 1 token, context length %" PRIu64 "\n", answer->batch,
          answer->context);
    print_work(&answer->decode);
    if (answer->decode_step.draft_tokens)
        print("  tokens          %20.4g  expected with %u draft tokens per request\n",
              answer->decode.tokens_expected, (unsigned)answer->decode_step.draft_tokens);
    print_operators(answer, &answer->decode_step, &answer->decode);
    if (answer->generated)
        print_generation(answer);
    print_conventions(answer);
}

static void print_lines(const char *title, const char *(*line)(const llmperf_model *, size_t),
                        const llmperf_model *model)
{
    const char *text;

    for (size_t i = 0; (text = line(model, i)); i++)
        print("%s%s  %s\n", i ? "" : title, i ? "" : "\n", text);
}

void print_model_text(const struct model_answer *answer)
{
    print_parameters(answer);
    if (answer->info.has_vision) {
        print("\nvision: an image of %" PRIu64 " tokens in %" PRIu64 " positions\n",
              answer->vision.tokens, answer->vision.positions);
        print_work(&answer->vision);
        print_operators(answer, &answer->vision_step, &answer->vision);
    }
    if (answer->info.has_decoder)
        print_decoder(answer);
    print_gpu_text(answer);
    print_lines("\nassumed", llmperf_model_assumption, answer->model);
    print_lines("\nwarnings", llmperf_model_warning, answer->model);
}
