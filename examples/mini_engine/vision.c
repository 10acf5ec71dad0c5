/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSeek-OCR's encoder: SAM, a neck and two convolutions that leave a sixteenth of the tokens,
 * CLIP on these, and one matrix to the decoder's width. */
#include <math.h>

#include "parts.h"

#define SAM_EPSILON  1e-6f
#define CLIP_EPSILON 1e-5f

/* Images of one size on their way through. */
struct pass {
    size_t images, pixels;
    size_t grid;  /* patches a side */
    size_t side;  /* tokens a side at the end: a quarter */
    double share; /* of the request's work */
};

static void layer_norm(struct engine *engine, bf16 *y, const bf16 *x, const bf16 *weight,
                       const bf16 *bias, size_t rows, size_t width, float epsilon)
{
    engine->ops->norm(engine->ops, (struct norm){ .y = y,
                                                  .x = x,
                                                  .weight = weight,
                                                  .bias = bias,
                                                  .rows = rows,
                                                  .width = width,
                                                  .per_row = 1,
                                                  .x_stride = width,
                                                  .y_stride = width,
                                                  .epsilon = epsilon });
}

/* Attention over `count` pictures of `tokens` each; in and out: rows of the encoder's width. */
static void attend_pictures(struct engine *engine, const struct encoder_layer *layer,
                            const struct encoder_shape *shape, const bf16 *in, size_t count,
                            size_t tokens, size_t grid, struct linear out)
{
    struct ops *ops = engine->ops;
    struct vision *v = &engine->vision;
    size_t dim = shape->width / shape->heads, rows = count * tokens;
    int relative = layer->row_table != NULL;

    ops->linear(ops, (struct linear){ .y = v->qkv,
                                      .x = in,
                                      .w = layer->qkv,
                                      .bias = layer->qkv_bias,
                                      .rows = rows,
                                      .in = shape->width,
                                      .out = 3 * shape->width });
    ops->split(ops, (struct split){ .in = v->qkv,
                                    .q = v->q,
                                    .k = v->k,
                                    .v = v->v,
                                    .batch = count,
                                    .tokens = tokens,
                                    .heads = shape->heads,
                                    .kv_heads = shape->heads,
                                    .dim = dim });
    if (relative)
        ops->relative(ops, (struct relative){ .rows = v->bias_rows,
                                              .columns = v->bias_columns,
                                              .q = v->q,
                                              .row_table = layer->row_table,
                                              .column_table = layer->column_table,
                                              .batch = count * shape->heads,
                                              .grid = grid,
                                              .table_grid = layer->table_grid,
                                              .dim = dim });
    ops->attend(ops, (struct attend){ .out = v->heads,
                                      .q = v->q,
                                      .k = v->k,
                                      .v = v->v,
                                      .scores = v->scores,
                                      .bias_rows = relative ? v->bias_rows : NULL,
                                      .bias_columns = relative ? v->bias_columns : NULL,
                                      .batch = count * shape->heads,
                                      .queries = tokens,
                                      .keys = tokens,
                                      .dim = dim,
                                      .value = dim,
                                      .grid = grid,
                                      .scale = 1.0f / sqrtf((float)dim) });
    ops->merge(ops, (struct merge){ .out = v->merged,
                                    .in = v->heads,
                                    .batch = count,
                                    .heads = shape->heads,
                                    .tokens = tokens,
                                    .dim = dim });
    out.x = v->merged;
    out.w = layer->out;
    out.bias = layer->out_bias;
    out.rows = rows;
    out.in = out.out = shape->width;
    ops->linear(ops, out);
}

static void plain_mlp(struct engine *engine, const struct encoder_layer *layer,
                      const struct encoder_shape *shape, bf16 *x, size_t rows, enum activation kind)
{
    struct vision *v = &engine->vision;

    engine->ops->linear(engine->ops, (struct linear){ .y = v->inner,
                                                      .x = v->normed,
                                                      .w = layer->up,
                                                      .bias = layer->up_bias,
                                                      .rows = rows,
                                                      .in = shape->width,
                                                      .out = shape->mlp });
    engine->ops->activate(
        engine->ops,
        (struct activate){
            .y = v->inner, .x = v->inner, .rows = rows, .width = shape->mlp, .kind = kind });
    engine->ops->linear(engine->ops, (struct linear){ .y = x,
                                                      .x = v->inner,
                                                      .w = layer->down,
                                                      .bias = layer->down_bias,
                                                      .rows = rows,
                                                      .in = shape->mlp,
                                                      .out = shape->width,
                                                      .add = 1 });
}

/* Windows are padded with zeros after the norm, and the padding takes part in attention. */
static void attend_windows(struct engine *engine, const struct encoder_layer *layer,
                           const struct pass *pass)
{
    const struct encoder_shape *shape = &engine->shape.vision.sam;
    struct vision *v = &engine->vision;
    size_t side = (pass->grid + shape->window - 1) / shape->window;
    struct windows windows = { .y = v->windowed,
                               .x = v->normed,
                               .images = pass->images,
                               .grid = pass->grid,
                               .window = shape->window,
                               .width = shape->width };

    engine->ops->windows(engine->ops, windows);
    attend_pictures(engine, layer, shape, v->windowed, pass->images * side * side,
                    shape->window * shape->window, shape->window,
                    (struct linear){ .y = v->windowed });
    windows.y = v->x;
    windows.x = v->windowed;
    windows.merge = 1;
    engine->ops->windows(engine->ops, windows);
}

static void sam_layer(struct engine *engine, size_t index, const struct pass *pass)
{
    const struct encoder_shape *shape = &engine->shape.vision.sam;
    const struct encoder_layer *layer = &engine->vision.sam.layers[index];
    struct vision *v = &engine->vision;
    size_t tokens = pass->grid * pass->grid, rows = pass->images * tokens;

    begin_part(&engine->work, engine->layer_labels[index]);
    begin_part(&engine->work, "attention");
    layer_norm(engine, v->normed, v->x, layer->norm_in, layer->norm_in_bias, rows, shape->width,
               SAM_EPSILON);
    if (shape->global_layers >> index & 1)
        attend_pictures(engine, layer, shape, v->normed, pass->images, tokens, pass->grid,
                        (struct linear){ .y = v->x, .add = 1 });
    else
        attend_windows(engine, layer, pass);
    end_region(&engine->work);
    begin_part(&engine->work, "mlp");
    layer_norm(engine, v->normed, v->x, layer->norm_mlp, layer->norm_mlp_bias, rows, shape->width,
               SAM_EPSILON);
    plain_mlp(engine, layer, shape, v->x, rows, GELU);
    end_region(&engine->work);
    end_region(&engine->work);
}

static void run_sam(struct engine *engine, const bf16 *pixels, const struct pass *pass)
{
    const struct encoder_shape *shape = &engine->shape.vision.sam;
    struct vision *v = &engine->vision;
    size_t patch = 3 * shape->patch * shape->patch;

    begin_vision_part(&engine->work, "sam", VISION_SAM, pass->share);
    engine->ops->unfold(engine->ops, (struct unfold){ .y = v->unfolded,
                                                      .x = pixels,
                                                      .images = pass->images,
                                                      .height = pass->pixels,
                                                      .width = pass->pixels,
                                                      .channels = 3,
                                                      .kernel = shape->patch,
                                                      .stride = shape->patch,
                                                      .y_stride = patch });
    engine->ops->linear(engine->ops,
                        (struct linear){ .y = v->x,
                                         .x = v->unfolded,
                                         .w = v->sam.patch,
                                         .bias = v->sam.patch_bias,
                                         .rows = pass->images * pass->grid * pass->grid,
                                         .in = patch,
                                         .out = shape->width });
    engine->ops->place(engine->ops, (struct place){ .x = v->x,
                                                    .table = v->sam.positions,
                                                    .images = pass->images,
                                                    .grid = pass->grid,
                                                    .table_grid = shape->grid,
                                                    .width = shape->width });
    for (size_t i = 0; i < shape->layers; i++)
        sam_layer(engine, i, pass);
    end_region(&engine->work);
}

/* A 3 x 3 convolution without a bias: neighbours side by side, then one matrix. */
static void convolve(struct engine *engine, bf16 *y, const bf16 *x, const bf16 *w,
                     const struct pass *pass, size_t grid, size_t in, size_t out, size_t stride)
{
    struct vision *v = &engine->vision;
    size_t side = (grid + 2 - 3) / stride + 1;

    engine->ops->unfold(engine->ops, (struct unfold){ .y = v->unfolded,
                                                      .x = x,
                                                      .images = pass->images,
                                                      .height = grid,
                                                      .width = grid,
                                                      .channels = in,
                                                      .kernel = 3,
                                                      .stride = stride,
                                                      .padding = 1,
                                                      .y_stride = 9 * in });
    engine->ops->linear(engine->ops, (struct linear){ .y = y,
                                                      .x = v->unfolded,
                                                      .w = w,
                                                      .rows = pass->images * side * side,
                                                      .in = 9 * in,
                                                      .out = out });
}

static void compress(struct engine *engine, const struct pass *pass)
{
    const struct vision_shape *shape = &engine->shape.vision;
    struct vision *v = &engine->vision;
    size_t rows = pass->images * pass->grid * pass->grid;

    begin_vision_part(&engine->work, "compressor", VISION_COMPRESSOR, pass->share);
    engine->ops->linear(engine->ops, (struct linear){ .y = v->neck,
                                                      .x = v->x,
                                                      .w = v->neck_1x1,
                                                      .rows = rows,
                                                      .in = shape->sam.width,
                                                      .out = shape->neck });
    layer_norm(engine, v->neck, v->neck, v->neck_norm1, v->neck_norm1_bias, rows, shape->neck,
               SAM_EPSILON);
    convolve(engine, v->neck, v->neck, v->neck_3x3, pass, pass->grid, shape->neck, shape->neck, 1);
    layer_norm(engine, v->neck, v->neck, v->neck_norm2, v->neck_norm2_bias, rows, shape->neck,
               SAM_EPSILON);
    convolve(engine, v->half, v->neck, v->compress1, pass, pass->grid, shape->neck,
             shape->compressor[0], 2);
    convolve(engine, v->quarter, v->half, v->compress2, pass, pass->grid / 2, shape->compressor[0],
             shape->compressor[1], 2);
    end_region(&engine->work);
}

static void clip_layer(struct engine *engine, size_t index, size_t images, size_t tokens)
{
    const struct encoder_shape *shape = &engine->shape.vision.clip;
    const struct encoder_layer *layer = &engine->vision.clip.layers[index];
    struct vision *v = &engine->vision;
    size_t rows = images * tokens;

    begin_part(&engine->work, engine->layer_labels[index]);
    begin_part(&engine->work, "attention");
    layer_norm(engine, v->normed, v->clip_x, layer->norm_in, layer->norm_in_bias, rows,
               shape->width, CLIP_EPSILON);
    attend_pictures(engine, layer, shape, v->normed, images, tokens, 0,
                    (struct linear){ .y = v->clip_x, .add = 1 });
    end_region(&engine->work);
    begin_part(&engine->work, "mlp");
    layer_norm(engine, v->normed, v->clip_x, layer->norm_mlp, layer->norm_mlp_bias, rows,
               shape->width, CLIP_EPSILON);
    plain_mlp(engine, layer, shape, v->clip_x, rows, QUICK_GELU);
    end_region(&engine->work);
    end_region(&engine->work);
}

/* CLIP takes the compressor's map for its patches. */
static void run_clip(struct engine *engine, const struct pass *pass)
{
    const struct encoder_shape *shape = &engine->shape.vision.clip;
    struct vision *v = &engine->vision;
    size_t tokens = pass->side * pass->side, width = shape->width;

    begin_vision_part(&engine->work, "clip", VISION_CLIP, pass->share);
    engine->ops->rows(engine->ops, (struct rows){ .y = v->clip_x,
                                                  .x = v->clip.class_token,
                                                  .images = pass->images,
                                                  .count = 1,
                                                  .width = width,
                                                  .y_stride = (tokens + 1) * width });
    engine->ops->rows(engine->ops, (struct rows){ .y = v->clip_x,
                                                  .x = v->quarter,
                                                  .images = pass->images,
                                                  .count = tokens,
                                                  .width = width,
                                                  .y_skip = 1,
                                                  .y_stride = width,
                                                  .x_stride = width });
    engine->ops->place(engine->ops, (struct place){ .x = v->clip_x,
                                                    .table = v->clip.positions,
                                                    .images = pass->images,
                                                    .grid = pass->side,
                                                    .table_grid = shape->grid,
                                                    .width = width,
                                                    .skip = 1 });
    layer_norm(engine, v->clip_x, v->clip_x, v->clip.norm, v->clip.norm_bias,
               pass->images * (tokens + 1), width, CLIP_EPSILON);
    for (size_t i = 0; i < shape->layers; i++)
        clip_layer(engine, i, pass->images, tokens + 1);
    end_region(&engine->work);
}

static void run_projector(struct engine *engine, const struct pass *pass, bf16 *features)
{
    const struct vision_shape *shape = &engine->shape.vision;
    struct vision *v = &engine->vision;
    size_t tokens = pass->side * pass->side, clip = shape->clip.width;
    struct rows half = { .y = v->joined,
                         .x = v->clip_x,
                         .images = pass->images,
                         .count = tokens,
                         .width = clip,
                         .y_stride = shape->projector_in,
                         .x_skip = 1,
                         .x_stride = clip };

    begin_vision_part(&engine->work, "projector", VISION_PROJECTOR, pass->share);
    engine->ops->rows(engine->ops, half);
    half.y = v->joined + clip;
    half.x = v->quarter;
    half.x_skip = 0;
    half.width = half.x_stride = shape->compressor[1];
    engine->ops->rows(engine->ops, half);
    engine->ops->linear(engine->ops, (struct linear){ .y = features,
                                                      .x = v->joined,
                                                      .w = v->projector,
                                                      .bias = v->projector_bias,
                                                      .rows = pass->images * tokens,
                                                      .in = shape->projector_in,
                                                      .out = shape->projector_out });
    end_region(&engine->work);
}

size_t vision_side(const struct shape *shape, size_t pixels)
{
    return shape->vision.sam.layers ? pixels / shape->vision.sam.patch / 4 : 0;
}

size_t vision_tokens(const struct shape *shape, const struct views *views)
{
    size_t side = vision_side(shape, views->pixels);

    return views->count * side * side;
}

static void encode(struct engine *engine, const struct views *views, const bf16 *pixels,
                   bf16 *features)
{
    const struct request *request = &engine->request;
    double all = (double)(request->tiles.count * request->tiles.pixels * request->tiles.pixels +
                          request->whole.count * request->whole.pixels * request->whole.pixels);
    struct pass pass = { .images = views->count * engine->options.batch,
                         .pixels = views->pixels,
                         .grid = views->pixels / engine->shape.vision.sam.patch,
                         .side = vision_side(&engine->shape, views->pixels) };

    if (views->count == 0)
        return;
    pass.share = (double)(views->count * views->pixels * views->pixels) / all;
    run_sam(engine, pixels, &pass);
    compress(engine, &pass);
    run_clip(engine, &pass);
    run_projector(engine, &pass, features);
}

/* Features: tokens of all tiles, of the whole views, then the two marks. */
void vision_forward(struct engine *engine)
{
    const struct request *request = &engine->request;
    struct vision *v = &engine->vision;
    size_t width = engine->shape.vision.projector_out;
    bf16 *whole = v->features +
                  engine->options.batch * vision_tokens(&engine->shape, &request->tiles) * width;
    bf16 *marks =
        whole + engine->options.batch * vision_tokens(&engine->shape, &request->whole) * width;

    begin_vision(&engine->work);
    encode(engine, &request->tiles, v->pixels[0], v->features);
    encode(engine, &request->whole, v->pixels[1], whole);
    engine->ops->rows(engine->ops, (struct rows){ .y = marks,
                                                  .x = v->marks,
                                                  .images = 1,
                                                  .count = 2,
                                                  .width = width,
                                                  .y_stride = width,
                                                  .x_stride = width });
    end_vision(&engine->work);
}
