/* SPDX-License-Identifier: Apache-2.0 */
/* Where every tensor lies in device memory: weights in one piece, buffers and cache in another. */
#include <math.h>

#include "parts.h"

#define VECTOR_SCALE 0.1f /* of biases and tables, and of norms around 1 */

struct area {
    unsigned char *base; /* NULL: count only */
    size_t bytes;
};

struct layout {
    struct engine *engine;
    struct area weights, buffers;
    int fill; /* else another engine's weights lie there */
    uint64_t tensors;
};

static void *take(struct area *area, size_t bytes)
{
    size_t at = area->bytes;

    area->bytes += (bytes + 255) / 256 * 256;
    return area->base ? area->base + at : NULL;
}

static bf16 *numbers(struct layout *layout, size_t count)
{
    return take(&layout->buffers, count * sizeof(bf16));
}

static float *floats(struct layout *layout, size_t count)
{
    return take(&layout->buffers, count * sizeof(float));
}

static int32_t *integers(struct layout *layout, size_t count)
{
    return take(&layout->buffers, count * sizeof(int32_t));
}

/* One tensor, of up to three parts of the whole one. */
static bf16 *filled_parts(struct layout *layout, const struct block *parts, size_t count,
                          float scale, float offset)
{
    struct engine *engine = layout->engine;
    uint64_t key = random_bits(engine->options.seed, ++layout->tensors);
    size_t at = 0, all = 0;
    bf16 *to;

    for (size_t i = 0; i < count; i++)
        all += parts[i].rows * parts[i].width;
    to = take(&layout->weights, all * sizeof(bf16));
    engine->parameters += all;
    for (size_t i = 0; i < count && to && layout->fill; i++) {
        engine->ops->fill(engine->ops, to + at, parts[i], key, scale, offset);
        at += parts[i].rows * parts[i].width;
    }
    return to;
}

static bf16 *filled(struct layout *layout, size_t count, float scale, float offset)
{
    struct block all = { 1, count, count, 0 };

    return filled_parts(layout, &all, 1, scale, offset);
}

/* Uniform with the variance 1 / in: what comes out is as large as what goes in. */
static float scale_of(size_t in)
{
    return sqrtf(3.0f / (float)in);
}

static bf16 *matrix(struct layout *layout, size_t out, size_t in)
{
    return filled(layout, out * in, scale_of(in), 0);
}

/* The rows of this rank in each of `count` matrices, out x in, that are stored one after the other.
 */
static struct block some_rows(const struct layout *layout, size_t count, size_t out, size_t in)
{
    const struct engine_options *options = &layout->engine->options;
    size_t width = out / options->world * in;

    return (struct block){ count, width, out * in, options->rank * width };
}

static bf16 *split_rows(struct layout *layout, size_t count, size_t out, size_t in)
{
    struct block part = some_rows(layout, count, out, in);

    return filled_parts(layout, &part, 1, scale_of(in), 0);
}

/* This rank's columns. Each rank's product is a part of a sum. */
static bf16 *split_columns(struct layout *layout, size_t rows, size_t in)
{
    const struct engine_options *options = &layout->engine->options;
    size_t width = in / options->world;
    struct block part = { rows, width, in, options->rank * width };

    return filled_parts(layout, &part, 1, scale_of(in), 0);
}

static bf16 *vector(struct layout *layout, size_t count)
{
    return filled(layout, count, VECTOR_SCALE, 0);
}

static bf16 *norm_weight(struct layout *layout, size_t count)
{
    return filled(layout, count, VECTOR_SCALE, 1);
}

/* This rank's heads of a matrix (in: hidden) or a vector (in: 1) for query, key and value. */
static bf16 *split_heads(struct layout *layout, size_t in, float scale)
{
    const struct decoder_shape *whole = &layout->engine->whole;
    size_t q = whole->heads * whole->head_dim, kv = whole->kv_heads * whole->head_dim;
    struct block parts[] = { some_rows(layout, 1, q, in), some_rows(layout, 1, kv, in),
                             some_rows(layout, 1, kv, in) };

    parts[1].first += q * in;
    parts[2].first += (q + kv) * in;
    return filled_parts(layout, parts, 3, scale, 0);
}

static void attention_weights(struct layout *layout, struct layer *layer)
{
    const struct decoder_shape *shape = &layout->engine->whole;
    size_t h = shape->hidden;

    if (!shape->kv_rank) {
        layer->qkv = split_heads(layout, h, scale_of(h));
        layer->qkv_bias = shape->qkv_bias ? split_heads(layout, 1, VECTOR_SCALE) : NULL;
        layer->q_norm = shape->qk_norm ? norm_weight(layout, shape->head_dim) : NULL;
        layer->k_norm = shape->qk_norm ? norm_weight(layout, shape->head_dim) : NULL;
    } else {
        size_t q_in = shape->q_rank ? shape->q_rank : h;

        layer->q_down = shape->q_rank ? matrix(layout, shape->q_rank, h) : NULL;
        layer->q_down_norm = shape->q_rank ? norm_weight(layout, shape->q_rank) : NULL;
        layer->q_up = split_rows(layout, 1, shape->heads * shape_key_dim(shape), q_in);
        layer->kv_down = matrix(layout, shape->kv_rank + shape->rope, h);
        layer->kv_down_norm = norm_weight(layout, shape->kv_rank);
        layer->kv_up =
            split_rows(layout, 1, shape->heads * (shape->nope + shape->value), shape->kv_rank);
    }
    layer->out = split_columns(layout, h, shape->heads * shape_value_dim(shape));
}

static void layer_weights(struct layout *layout, size_t index)
{
    const struct decoder_shape *shape = &layout->engine->whole;
    struct layer *layer = &layout->engine->decoder.layers[index];
    size_t h = shape->hidden, width = shape->intermediate;

    layer->norm_in = norm_weight(layout, h);
    layer->norm_mlp = norm_weight(layout, h);
    attention_weights(layout, layer);
    if (shape_is_moe(shape, index)) {
        layer->router = matrix(layout, shape->experts, h);
        layer->experts_gate_up = split_rows(layout, 2 * shape->experts, shape->expert_size, h);
        layer->experts_down = split_columns(layout, shape->experts * h, shape->expert_size);
        width = shape->shared_size;
    }
    layer->gate_up = width ? split_rows(layout, 2, width, h) : NULL;
    layer->down = width ? split_columns(layout, h, width) : NULL;
}

static void cache(struct layout *layout)
{
    struct engine *engine = layout->engine;
    const struct decoder_shape *shape = &engine->shape.decoder;
    size_t rows = engine->options.batch * shape_cache_heads(shape) * engine->capacity;

    for (size_t i = 0; i < shape->layers; i++) {
        engine->decoder.layers[i].cache_k = numbers(layout, rows * shape_key_dim(shape));
        engine->decoder.layers[i].cache_v = numbers(layout, rows * shape_value_dim(shape));
    }
}

static void attention_buffers(struct layout *layout, size_t rows)
{
    const struct engine *engine = layout->engine;
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &layout->engine->decoder;
    size_t heads = rows * shape->heads, key = shape_key_dim(shape), value = shape_value_dim(shape);

    d->qkv = numbers(layout, rows * (shape->heads + 2 * shape->kv_heads) * key);
    d->q_low = numbers(layout, rows * shape->q_rank);
    d->latent = numbers(layout, rows * (shape->kv_rank + shape->rope));
    d->latent_normed = numbers(layout, rows * shape->kv_rank);
    d->expanded = numbers(layout, shape->kv_rank ? heads * (shape->nope + shape->value) : 0);
    d->q = numbers(layout, heads * key);
    d->k = numbers(layout, heads * key);
    d->v = numbers(layout, heads * value);
    d->heads = numbers(layout, heads * value);
    d->merged = numbers(layout, heads * value);
    d->scores = floats(layout, heads * scores_stride(engine->options.prompt));
}

static void expert_buffers(struct layout *layout, size_t rows)
{
    const struct decoder_shape *shape = &layout->engine->shape.decoder;
    struct decoder *d = &layout->engine->decoder;
    size_t pairs = rows * shape->choices;

    d->pair_gate_up = numbers(layout, pairs * 2 * shape->expert_size);
    d->pair_inner = numbers(layout, pairs * shape->expert_size);
    d->pair_out = numbers(layout, pairs * shape->hidden);
    d->router_logits = floats(layout, rows * shape->experts);
    d->weights = floats(layout, pairs);
    d->chosen = integers(layout, pairs);
    d->order = integers(layout, pairs);
    d->starts = integers(layout, shape->experts + 1);
}

static void decoder_buffers(struct layout *layout)
{
    const struct engine *engine = layout->engine;
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &layout->engine->decoder;
    size_t batch = engine->options.batch, rows = batch * engine->options.prompt;
    size_t inner =
        shape->intermediate > shape->shared_size ? shape->intermediate : shape->shared_size;

    d->x = numbers(layout, rows * shape->hidden);
    d->normed = numbers(layout, rows * shape->hidden);
    attention_buffers(layout, rows);
    d->gate_up = numbers(layout, rows * 2 * inner);
    d->inner = numbers(layout, rows * inner);
    expert_buffers(layout, rows);
    d->last = numbers(layout, batch * shape->hidden);
    d->logits = floats(layout, batch * shape->vocabulary);
    d->logits_part = engine->options.world > 1
                         ? floats(layout, batch * shape->vocabulary / engine->options.world)
                         : d->logits;
    d->tokens = integers(layout, batch);
    d->positions = integers(layout, batch);
    d->prompt = integers(layout, rows);
    d->image_rows = integers(layout, rows);
}

static void lay_out_decoder(struct layout *layout)
{
    const struct decoder_shape *shape = &layout->engine->shape.decoder;
    struct decoder *d = &layout->engine->decoder;

    d->embedding = filled(layout, shape->vocabulary * shape->hidden, 1.7320508f, 0);
    for (size_t i = 0; i < shape->layers; i++)
        layer_weights(layout, i);
    d->norm_out = norm_weight(layout, shape->hidden);
    if (shape->tied) /* a part of the table that every rank has */
        d->lm_head = d->embedding + layout->engine->options.rank * shape->vocabulary /
                                        layout->engine->options.world * shape->hidden;
    else
        d->lm_head = split_rows(layout, 1, shape->vocabulary, shape->hidden);
    cache(layout);
    decoder_buffers(layout);
}

static void encoder_weights(struct layout *layout, const struct encoder_shape *shape,
                            struct encoder_layer *layer, size_t table_grid)
{
    size_t c = shape->width, dim = c / shape->heads;

    layer->norm_in = norm_weight(layout, c);
    layer->norm_in_bias = vector(layout, c);
    layer->qkv = matrix(layout, 3 * c, c);
    layer->qkv_bias = vector(layout, 3 * c);
    layer->out = matrix(layout, c, c);
    layer->out_bias = vector(layout, c);
    layer->norm_mlp = norm_weight(layout, c);
    layer->norm_mlp_bias = vector(layout, c);
    layer->up = matrix(layout, shape->mlp, c);
    layer->up_bias = vector(layout, shape->mlp);
    layer->down = matrix(layout, c, shape->mlp);
    layer->down_bias = vector(layout, c);
    layer->table_grid = table_grid;
    layer->row_table = table_grid ? vector(layout, (2 * table_grid - 1) * dim) : NULL;
    layer->column_table = table_grid ? vector(layout, (2 * table_grid - 1) * dim) : NULL;
}

static void sam_weights(struct layout *layout)
{
    const struct encoder_shape *shape = &layout->engine->shape.vision.sam;
    struct encoder *sam = &layout->engine->vision.sam;
    size_t patch = 3 * shape->patch * shape->patch;

    sam->patch = matrix(layout, shape->width, patch);
    sam->patch_bias = vector(layout, shape->width);
    sam->positions = vector(layout, shape->grid * shape->grid * shape->width);
    for (size_t i = 0; i < shape->layers; i++)
        encoder_weights(layout, shape, &sam->layers[i],
                        shape->global_layers >> i & 1 ? shape->grid : shape->window);
}

static void clip_weights(struct layout *layout)
{
    const struct encoder_shape *shape = &layout->engine->shape.vision.clip;
    struct encoder *clip = &layout->engine->vision.clip;

    /* In the checkpoint, but SAM's map stands in for what this convolution would make. */
    clip->patch = matrix(layout, shape->width, 3 * shape->patch * shape->patch);
    clip->class_token = vector(layout, shape->width);
    clip->positions = vector(layout, (1 + shape->grid * shape->grid) * shape->width);
    clip->norm = norm_weight(layout, shape->width);
    clip->norm_bias = vector(layout, shape->width);
    for (size_t i = 0; i < shape->layers; i++)
        encoder_weights(layout, shape, &clip->layers[i], 0);
}

static void vision_weights(struct layout *layout)
{
    const struct vision_shape *shape = &layout->engine->shape.vision;
    struct vision *v = &layout->engine->vision;

    sam_weights(layout);
    v->neck_1x1 = matrix(layout, shape->neck, shape->sam.width);
    v->neck_norm1 = norm_weight(layout, shape->neck);
    v->neck_norm1_bias = vector(layout, shape->neck);
    v->neck_3x3 = matrix(layout, shape->neck, 9 * shape->neck);
    v->neck_norm2 = norm_weight(layout, shape->neck);
    v->neck_norm2_bias = vector(layout, shape->neck);
    v->compress1 = matrix(layout, shape->compressor[0], 9 * shape->neck);
    v->compress2 = matrix(layout, shape->compressor[1], 9 * shape->compressor[0]);
    clip_weights(layout);
    v->projector = matrix(layout, shape->projector_out, shape->projector_in);
    v->projector_bias = vector(layout, shape->projector_out);
    v->marks = vector(layout, 2 * shape->projector_out);
}

/* The most that any of the calls of the encoder needs. */
struct vision_room {
    size_t patches;  /* of all images */
    size_t rows;     /* with what fills windows */
    size_t scores;   /* floats */
    size_t relative; /* floats, each */
    size_t clip_rows, tokens;
};

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void need_vision(const struct engine *engine, const struct views *views,
                        struct vision_room *room)
{
    const struct vision_shape *shape = &engine->shape.vision;
    size_t grid = views->pixels / shape->sam.patch, window = shape->sam.window;
    size_t images = views->count * engine->options.batch;
    size_t padded = (grid + window - 1) / window * window, square = window * window;
    size_t side = vision_side(&engine->shape, views->pixels), clip = side * side + 1;
    size_t rows = images * padded * padded, patches = images * grid * grid;

    if (images == 0)
        return;
    room->patches = most(room->patches, patches);
    room->rows = most(room->rows, rows);
    room->scores = most(room->scores, shape->sam.heads * rows * scores_stride(square));
    room->scores = most(room->scores, shape->sam.heads * patches * scores_stride(grid * grid));
    room->scores = most(room->scores, shape->clip.heads * images * clip * scores_stride(clip));
    room->relative = most(room->relative, shape->sam.heads * most(rows * window, patches * grid));
    room->clip_rows = most(room->clip_rows, images * clip);
    room->tokens += images * side * side;
}

static void vision_buffers(struct layout *layout)
{
    const struct engine *engine = layout->engine;
    const struct engine_options *options = &engine->options;
    const struct vision_shape *shape = &engine->shape.vision;
    struct vision *v = &layout->engine->vision;
    struct vision_room room = { 0 };
    size_t sam, both;

    need_vision(engine, &options->tiles, &room);
    need_vision(engine, &options->whole, &room);
    sam = room.rows * shape->sam.width;
    both = most(sam, room.clip_rows * shape->clip.width);
    v->pixels[0] = numbers(layout, options->batch * options->tiles.count * options->tiles.pixels *
                                       options->tiles.pixels * 3);
    v->pixels[1] = numbers(layout, options->batch * options->whole.count * options->whole.pixels *
                                       options->whole.pixels * 3);
    v->x = numbers(layout, sam);
    v->windowed = numbers(layout, sam);
    v->normed = numbers(layout, both);
    v->qkv = numbers(layout, 3 * both);
    v->q = numbers(layout, both);
    v->k = numbers(layout, both);
    v->v = numbers(layout, both);
    v->heads = numbers(layout, both);
    v->merged = numbers(layout, both);
    v->inner =
        numbers(layout, most(room.patches * shape->sam.mlp, room.clip_rows * shape->clip.mlp));
    v->unfolded = numbers(
        layout, room.patches * most(most(3 * shape->sam.patch * shape->sam.patch, 9 * shape->neck),
                                    9 * shape->compressor[0] / 16));
    v->neck = numbers(layout, room.patches * shape->neck);
    v->half = numbers(layout, room.patches / 4 * shape->compressor[0]);
    v->quarter = numbers(layout, room.patches / 16 * shape->compressor[1]);
    v->clip_x = numbers(layout, room.clip_rows * shape->clip.width);
    v->joined = numbers(layout, room.clip_rows * shape->projector_in);
    v->features = numbers(layout, (room.tokens + 2) * shape->projector_out);
    v->scores = floats(layout, room.scores);
    v->bias_rows = floats(layout, room.relative);
    v->bias_columns = floats(layout, room.relative);
}

/* Rows of weights are padded to the alignment that matrix products need; the padding is multiplied
 * by zeros and is not a parameter. */
static void resnet_weights(struct layout *layout)
{
    const struct resnet_shape *shape = &layout->engine->shape.resnet;
    struct resnet *net = &layout->engine->resnet;

    for (size_t i = 0; i < 1 + 2 * shape->blocks; i++) {
        size_t in = 9 * (i == 0 ? shape->in_channels : shape->channels);

        net->convolutions[i] = matrix(layout, shape->channels, scores_stride(in));
        layout->engine->parameters -= shape->channels * (scores_stride(in) - in);
        net->scales[i] = norm_weight(layout, shape->channels);
        net->shifts[i] = vector(layout, shape->channels);
    }
    net->linear = matrix(layout, shape->classes, shape->channels);
    net->linear_bias = vector(layout, shape->classes);
}

static void lay_out_resnet(struct layout *layout)
{
    const struct engine *engine = layout->engine;
    const struct resnet_shape *shape = &engine->shape.resnet;
    struct resnet *net = &layout->engine->resnet;
    size_t places = engine->options.batch * shape->height * shape->width;
    size_t channels = most(shape->channels, shape->in_channels);
    struct block all = { 1, places * shape->in_channels, places * shape->in_channels, 0 };

    resnet_weights(layout);
    net->input = numbers(layout, places * shape->in_channels);
    if (net->input)
        engine->ops->fill(engine->ops, net->input, all, random_bits(engine->options.seed, 0),
                          1.7320508f, 0);
    net->a = numbers(layout, places * shape->channels);
    net->b = numbers(layout, places * shape->channels);
    net->c = numbers(layout, places * shape->channels);
    net->unfolded = numbers(layout, places * scores_stride(9 * channels));
    net->pooled = numbers(layout, engine->options.batch * shape->channels);
    net->logits = floats(layout, engine->options.batch * shape->classes);
}

struct memory_size layout_engine(struct engine *engine, void *weights, void *buffers, int fill)
{
    struct layout layout = { engine, { weights, 0 }, { buffers, 0 }, fill, 0 };

    engine->parameters = 0;
    if (engine->shape.decoder.layers)
        lay_out_decoder(&layout);
    if (engine->shape.vision.sam.layers) {
        vision_weights(&layout);
        vision_buffers(&layout);
    }
    if (engine->shape.resnet.blocks)
        lay_out_resnet(&layout);
    return (struct memory_size){ layout.weights.bytes, layout.buffers.bytes };
}
