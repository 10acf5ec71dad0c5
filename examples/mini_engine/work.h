/* SPDX-License-Identifier: Apache-2.0 */
/** Regions with their work: FLOPs and bytes of a stage, and of the operators below it, from the
 * library's analysis of the model. */
#ifndef MINI_ENGINE_WORK_H
#define MINI_ENGINE_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "shape.h"

struct llmperf_model;

enum operator_id {
    OPERATOR_ATTENTION,
    OPERATOR_MLP,
    OPERATOR_ROUTER,
    OPERATOR_MOE,
    OPERATOR_LM_HEAD,
    OPERATOR_OTHER, /* no work of matrices */
    OPERATORS
};

/* Parts of the vision stage. */
enum vision_part { VISION_SAM, VISION_COMPRESSOR, VISION_CLIP, VISION_PROJECTOR, VISION_PARTS };

struct amount {
    uint64_t flops, bytes;
};

struct stage_work {
    struct amount all;
    struct amount each[OPERATORS]; /* one layer's */
};

struct work {
    struct llmperf_model *model; /* NULL: regions without work */
    int off;                     /* no regions at all */
    size_t sequences, world;
    struct stage_work vision, prefill;
    struct amount vision_parts[VISION_PARTS];
    /* Decode at context 1, and the work of each further position: work of attention is linear. */
    struct stage_work decode, decode_more;
    const struct stage_work *now, *now_more;
    uint64_t now_context;
};

/** @param world  Ranks that share each layer: the work is one's share. @return 0, or -1:
 * llmperf_last_error(). */
int work_open(struct work *work, const char *model_path, size_t sequences, size_t world);
void work_close(struct work *work);

/** Images of one sequence; 0 rows and columns: no tiles. */
struct work_image {
    uint64_t pixels, tile_pixels, tile_rows, tile_columns; /* pixels 0: no image */
};

/** Look up what a prompt of `tokens` takes, once for each request. @return 0 or -1. */
int work_plan(struct work *work, uint64_t tokens, const struct work_image *image);

/** Stages. Work of vision is part of the work of prefill. */
void begin_prefill(struct work *work, uint64_t tokens);
void begin_vision(struct work *work);
/** @param share  Share of this encoder call in all encoder calls of the request, by pixels. */
void begin_vision_part(struct work *work, const char *label, enum vision_part part, double share);
void end_vision(struct work *work);
void begin_decode_all(struct work *work);
void end_decode_all(struct work *work, uint64_t tokens);
/** @param context  Positions that each sequence attends, the new one included. */
void begin_decode_step(struct work *work, uint64_t context);
/** Captured work belongs to the step that replays it, so nothing is counted. */
void begin_capture(struct work *work);

/** An operator of the stage that is open, and plain names. */
void begin_operator(struct work *work, const char *label, enum operator_id id);
void begin_part(struct work *work, const char *label);
void end_region(struct work *work);

#endif
