/* SPDX-License-Identifier: Apache-2.0 */
/** The results of `llmperf model`, and the two ways to print them. */
#ifndef LLMPERF_TOOL_MODEL_ANSWER_H
#define LLMPERF_TOOL_MODEL_ANSWER_H

#include <stdbool.h>

#include "llmperf/sys.h"

enum model_phase { PREFILL, DECODE_STEP, VISION, PHASES };

/* With the peaks in use, and with the measured peaks. */
enum { IN_USE, MEASURED, LIMITS };

struct gpu_answer {
    const char *name;           /* as given; NULL: none was given */
    llmperf_hardware *hardware; /* NULL: not known */
    char reason[512];           /* reason; "" if it is known */
    bool has[PHASES];           /* the model has such a step */
    llmperf_step_floor floors[LIMITS][PHASES];
    llmperf_decode_turn turn;
};

/* Of one GPU; NaN: unknown. */
struct memory_answer {
    double gpu_bytes;     /* as sold */
    double weights_bytes; /* of this GPU's share of the model */
    double kv_bytes;      /* cache of the batch at the context of the decode step */
    double requests;      /* maximum whose KV cache fits next to the weights */
};

struct model_answer {
    const llmperf_model *model;
    llmperf_model_info info;
    uint32_t weight_dtype, kv_dtype;
    uint64_t weight_bytes, kv_bytes_per_token;
    /* The request. */
    uint64_t prompt, prefix, context, batch, generated;
    uint64_t image_height, image_width, tile_rows, tile_columns, tile_pixels;
    llmperf_step prefill_step, decode_step, vision_step;
    llmperf_work prefill, prefill_all, decode, vision;
    /* Of `generated` tokens for each request after its prompt; 0 if none were requested,
     * LLMPERF_UNKNOWN above 64 bits. */
    uint64_t generation_flops, generation_bytes;
    struct gpu_answer gpu;
    struct memory_answer memory;
};

void print_model_text(const struct model_answer *answer);
/** @return exit code */
int print_model_json(const struct model_answer *answer);

#endif
