/* SPDX-License-Identifier: Apache-2.0 */
/* The engine from outside: memory, requests, stages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llmperf/llmperf.h"
#include "parts.h"

static int fail(struct engine *engine, const char *what)
{
    snprintf(engine->error, sizeof(engine->error), "%s", what);
    return -1;
}

/* 0, or -1 with the fault of the device. */
static int settle(struct engine *engine, int status)
{
    return status < 0 ? fail(engine, engine->ops->error) : 0;
}

static const char *options_problem(const struct shape *shape, const struct engine_options *options)
{
    const struct views *views[] = { &options->tiles, &options->whole };

    if (shape->decoder.layers && (options->prompt == 0 || options->batch > 1024))
        return "a prompt needs a token, and at most 1024 sequences run at once";
    if (shape->decoder.window && options->prompt + options->new_tokens > shape->decoder.window)
        return "the context is longer than the model's sliding window, which this engine does not "
               "do";
    for (int i = 0; i < 2; i++)
        if (views[i]->count && (views[i]->pixels == 0 || views[i]->pixels % 64))
            return "views must be multiples of 64 pixels";
    if (!shape->vision.sam.layers && options->tiles.count + options->whole.count > 0)
        return "this model takes no images";
    return NULL;
}

/* A rank's numbers must be whole, and multiples of 8 where a matrix product has them inside. */
static int share_evenly(struct engine *engine)
{
    struct decoder_shape *share = &engine->shape.decoder;
    size_t world = engine->options.world, vocabulary = share->vocabulary;
    const struct {
        const char *name;
        size_t *value, unit;
    } parts[] = { { "heads", &share->heads, 1 },
                  { "KV heads", &share->kv_heads, 1 },
                  { "vocabulary", &vocabulary, 8 },
                  { "intermediate_size", &share->intermediate, 8 },
                  { "size of an expert", &share->expert_size, 8 },
                  { "size of the shared experts", &share->shared_size, 8 } };

    engine->whole = *share;
    if (world == 1)
        return 0;
    if (share->layers == 0)
        return fail(engine, "only layers of a decoder are split over ranks");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (*parts[i].value % (parts[i].unit * world)) {
            snprintf(engine->error, sizeof(engine->error),
                     "%zu ranks do not divide the %s, %zu, into parts of %zu or a multiple", world,
                     parts[i].name, *parts[i].value, parts[i].unit);
            return -1;
        }
        *parts[i].value /= world;
    }
    return 0;
}

static int make_lists(struct engine *engine)
{
    const struct shape *shape = &engine->shape;
    size_t layers = shape->decoder.layers, convolutions = 1 + 2 * shape->resnet.blocks;

    if (layers < 64)
        layers = 64; /* encoders use the labels too */
    engine->layer_labels = calloc(layers, sizeof(*engine->layer_labels));
    engine->decoder.layers = calloc(shape->decoder.layers + 1, sizeof(struct layer));
    engine->vision.sam.layers = calloc(65, sizeof(struct encoder_layer));
    engine->vision.clip.layers = calloc(65, sizeof(struct encoder_layer));
    engine->resnet.convolutions = calloc(convolutions, sizeof(bf16 *));
    engine->resnet.scales = calloc(convolutions, sizeof(bf16 *));
    engine->resnet.shifts = calloc(convolutions, sizeof(bf16 *));
    if (!engine->layer_labels || !engine->decoder.layers || !engine->vision.sam.layers ||
        !engine->vision.clip.layers || !engine->resnet.convolutions || !engine->resnet.scales ||
        !engine->resnet.shifts)
        return fail(engine, "out of memory");
    for (size_t i = 0; i < layers; i++)
        snprintf(engine->layer_labels[i], sizeof(engine->layer_labels[i]), "layer%02u",
                 (unsigned)i);
    return 0;
}

static int prepare(struct engine *engine)
{
    const char *problem = options_problem(&engine->shape, &engine->options);

    if (problem)
        return fail(engine, problem);
    if (share_evenly(engine) < 0)
        return -1;
    if (work_open(&engine->work, engine->shape.source, engine->options.batch,
                  engine->options.world) < 0)
        return fail(engine, llmperf_last_error());
    engine->work.off = engine->options.no_regions;
    return make_lists(engine);
}

/* `weights` NULL: make them, in front of the buffers. */
static int take_memory(struct engine *engine, void *weights)
{
    struct memory_size size = layout_engine(engine, NULL, NULL, 0);
    size_t in_front = weights ? 0 : size.weights;
    void *base;

    if (settle(engine, engine->ops->reserve(engine->ops, in_front + size.buffers, &base)) < 0)
        return -1;
    engine->weights = weights ? weights : base;
    layout_engine(engine, engine->weights, (unsigned char *)base + in_front, !weights);
    return settle(engine, engine->ops->wait(engine->ops));
}

/* An engine without memory on its device. */
static struct engine *make(struct ops *ops, const struct engine_options *options, char *problem,
                           size_t problem_size)
{
    struct engine *engine = calloc(1, sizeof(*engine));

    if (!engine) {
        snprintf(problem, problem_size, "out of memory");
        return NULL;
    }
    engine->ops = ops;
    engine->options = *options;
    engine->options.batch = options->batch ? options->batch : 1;
    engine->options.world = options->world ? options->world : 1;
    engine->capacity = options->prompt + options->new_tokens;
    if (shape_read(&engine->shape, options->model, problem, problem_size) == 0) {
        if (prepare(engine) == 0)
            return engine;
        snprintf(problem, problem_size, "%s", engine->error);
    }
    engine->ops = NULL;
    engine_free(engine);
    return NULL;
}

static int open_with(struct engine **engine_out, struct ops *ops,
                     const struct engine_options *options, void *weights, char *problem,
                     size_t problem_size)
{
    struct engine *engine = make(ops, options, problem, problem_size);

    if (!engine) {
        ops->destroy(ops);
        return -1;
    }
    if (take_memory(engine, weights) == 0) {
        *engine_out = engine;
        return 0;
    }
    snprintf(problem, problem_size, "%s", engine->error);
    engine_free(engine);
    return -1;
}

int engine_open(struct engine **engine_out, struct ops *ops, const struct engine_options *options,
                char *problem, size_t problem_size)
{
    return open_with(engine_out, ops, options, NULL, problem, problem_size);
}

int engine_open_beside(struct engine **engine_out, struct ops *ops, const struct engine *first,
                       char *problem, size_t problem_size)
{
    struct engine_options options = first->options;

    options.model = first->shape.source;
    return open_with(engine_out, ops, &options, first->weights, problem, problem_size);
}

int engine_measure(const struct engine_options *options, size_t engines, size_t *bytes_out,
                   uint64_t *parameters_out, char *problem, size_t problem_size)
{
    struct engine *engine = make(NULL, options, problem, problem_size);
    struct memory_size size;

    if (!engine)
        return -1;
    size = layout_engine(engine, NULL, NULL, 0);
    *bytes_out = size.weights + engines * size.buffers;
    *parameters_out = engine->parameters;
    engine_free(engine);
    return 0;
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    if (engine->ops)
        engine->ops->destroy(engine->ops);
    work_close(&engine->work);
    free(engine->layer_labels);
    free(engine->decoder.layers);
    free(engine->vision.sam.layers);
    free(engine->vision.clip.layers);
    free(engine->resnet.convolutions);
    free(engine->resnet.scales);
    free(engine->resnet.shifts);
    free(engine);
}

const struct shape *engine_shape(const struct engine *engine)
{
    return &engine->shape;
}

const struct ops *engine_ops(const struct engine *engine)
{
    return engine->ops;
}

uint64_t engine_parameters(const struct engine *engine)
{
    return engine->parameters;
}

const char *engine_error(const struct engine *engine)
{
    return engine->error;
}

size_t engine_image_positions(const struct shape *shape, const struct request *request)
{
    size_t tile = vision_side(shape, request->tiles.pixels);
    size_t whole = vision_side(shape, request->whole.pixels), positions = 0;

    if (request->tiles.count)
        positions += tile * request->tile_rows * (tile * request->tile_columns + 1);
    if (request->whole.count)
        positions += whole * (whole + 1) + 1;
    return positions;
}

/* Writes rows of features to `to` in the order in which the prompt has them. */
struct image_rows {
    int32_t *to;
    size_t next;
    int32_t row_mark, view_mark;
};

static void put_row(struct image_rows *rows, int32_t feature)
{
    rows->to[rows->next++] = feature;
}

/* The tiles side by side make one large picture: each of its rows goes through all tiles of that
 * height. */
static void put_tiles(const struct engine *engine, const struct request *request, size_t sequence,
                      struct image_rows *rows)
{
    size_t side = vision_side(&engine->shape, request->tiles.pixels);
    size_t first = sequence * request->tiles.count;

    for (size_t y = 0; y < request->tile_rows * side && request->tiles.count; y++) {
        for (size_t x = 0; x < request->tile_columns * side; x++) {
            size_t tile = first + y / side * request->tile_columns + x / side;

            put_row(rows, (int32_t)((tile * side + y % side) * side + x % side));
        }
        put_row(rows, rows->row_mark);
    }
}

static void put_whole(const struct engine *engine, const struct request *request, size_t sequence,
                      struct image_rows *rows)
{
    size_t side = vision_side(&engine->shape, request->whole.pixels);
    size_t first = engine->options.batch * vision_tokens(&engine->shape, &request->tiles) +
                   sequence * side * side;

    if (!request->whole.count)
        return;
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++)
            put_row(rows, (int32_t)(first + y * side + x));
        put_row(rows, rows->row_mark);
    }
    put_row(rows, rows->view_mark);
}

static void put_pixels(struct engine *engine, bf16 *to, const struct views *views,
                       const bf16 *pixels)
{
    size_t count = views->count * views->pixels * views->pixels * 3;

    for (size_t i = 0; i < engine->options.batch && count; i++)
        engine->ops->put(engine->ops, to + i * count, pixels, count * sizeof(bf16));
}

static int put_prompt(struct engine *engine, const struct request *request, size_t images)
{
    size_t batch = engine->options.batch, tokens = engine->prompt_tokens;
    int32_t *ids = malloc(2 * batch * tokens * sizeof(*ids)), *rows = ids + batch * tokens;
    int32_t features = (int32_t)(batch * (vision_tokens(&engine->shape, &request->tiles) +
                                          vision_tokens(&engine->shape, &request->whole)));

    if (!ids)
        return fail(engine, "out of memory");
    for (size_t b = 0; b < batch; b++) {
        struct image_rows at = { rows + b * tokens, 0, features, features + 1 };

        put_tiles(engine, request, b, &at);
        put_whole(engine, request, b, &at);
        for (size_t i = 0; i < tokens; i++) {
            ids[b * tokens + i] = i < images ? -1 : request->text[i - images];
            rows[b * tokens + i] = i < images ? rows[b * tokens + i] : -1;
        }
    }
    engine->ops->put(engine->ops, engine->decoder.prompt, ids, batch * tokens * sizeof(*ids));
    engine->ops->put(engine->ops, engine->decoder.image_rows, rows, batch * tokens * sizeof(*ids));
    free(ids);
    return 0;
}

static int put_positions(struct engine *engine)
{
    int32_t positions[1024];

    for (size_t b = 0; b < engine->options.batch; b++)
        positions[b] = (int32_t)engine->prompt_tokens;
    engine->ops->put(engine->ops, engine->decoder.positions, positions,
                     engine->options.batch * sizeof(positions[0]));
    return settle(engine, engine->ops->wait(engine->ops));
}

static const char *request_problem(const struct engine *engine, const struct request *request,
                                   size_t tokens)
{
    const struct engine_options *options = &engine->options;

    if (request->tiles.count != request->tile_rows * request->tile_columns)
        return "tiles must be rows times columns";
    if (tokens == 0 || tokens > options->prompt || request->tiles.count > options->tiles.count ||
        request->whole.count > options->whole.count || request->whole.count > 1 ||
        (request->tiles.count && request->tiles.pixels != options->tiles.pixels) ||
        (request->whole.count && request->whole.pixels != options->whole.pixels))
        return "the request is larger than what the engine was opened for";
    for (size_t i = 0; i < request->text_tokens; i++)
        if (request->text[i] < 0 || (size_t)request->text[i] >= engine->shape.decoder.vocabulary)
            return "a token of the prompt is not in the vocabulary";
    return NULL;
}

int engine_start(struct engine *engine, const struct request *request)
{
    size_t images = engine_image_positions(&engine->shape, request);
    struct work_image image = { request->whole.count ? request->whole.pixels : 0,
                                request->tiles.pixels, request->tile_rows, request->tile_columns };
    const char *problem = request_problem(engine, request, images + request->text_tokens);

    if (problem)
        return fail(engine, problem);
    engine->request = *request;
    engine->prompt_tokens = images + request->text_tokens;
    engine->context = engine->prompt_tokens;
    if (work_plan(&engine->work, engine->prompt_tokens, &image) < 0)
        return fail(engine, llmperf_last_error());
    put_pixels(engine, engine->vision.pixels[0], &request->tiles, request->tile_pixels);
    put_pixels(engine, engine->vision.pixels[1], &request->whole, request->whole_pixels);
    if (put_prompt(engine, request, images) < 0)
        return -1;
    return put_positions(engine);
}

static int get_tokens(struct engine *engine, int32_t *tokens_out)
{
    int32_t tokens[1024];

    return settle(engine, engine->ops->get(engine->ops, tokens_out ? tokens_out : tokens,
                                           engine->decoder.tokens,
                                           engine->options.batch * sizeof(tokens[0])));
}

int engine_prefill(struct engine *engine, int32_t *tokens_out)
{
    int status;

    begin_prefill(&engine->work, engine->prompt_tokens);
    if (engine->request.tiles.count + engine->request.whole.count > 0)
        vision_forward(engine);
    decoder_prefill(engine);
    status = get_tokens(engine, tokens_out);
    end_region(&engine->work);
    return status;
}

int engine_capture(struct engine *engine)
{
    int status;

    if (!engine->options.graphs)
        return 0;
    begin_capture(&engine->work);
    status = engine->ops->capture_begin(engine->ops);
    if (status == 0) {
        decoder_step(engine);
        status = engine->ops->capture_end(engine->ops);
    }
    end_region(&engine->work);
    engine->captured = status == 0;
    return settle(engine, status);
}

/* A server looks at each token before the next step: it may be the last one of its answer. */
static int run_step(struct engine *engine, int32_t *tokens_out)
{
    double start = engine->step_ms ? engine_now_ms() : 0;
    int status = 0;

    begin_decode_step(&engine->work, ++engine->context);
    if (engine->captured)
        status = settle(engine, engine->ops->replay(engine->ops));
    else
        decoder_step(engine);
    if (status == 0)
        status = get_tokens(engine, tokens_out);
    end_region(&engine->work);
    if (engine->step_ms)
        *engine->step_ms++ = engine_now_ms() - start;
    return status;
}

double engine_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void engine_time_steps(struct engine *engine, double *step_ms)
{
    engine->step_ms = step_ms;
}

int engine_decode(struct engine *engine, size_t count, int32_t *tokens_out)
{
    int status = engine->captured ? 0 : engine_capture(engine);

    if (engine->context + count > engine->capacity)
        return fail(engine, "more tokens than the engine was opened for");
    begin_decode_all(&engine->work);
    for (size_t i = 0; i < count && status == 0; i++)
        status = run_step(engine, tokens_out ? tokens_out + i * engine->options.batch : NULL);
    end_decode_all(&engine->work, count * engine->options.batch);
    return status;
}

int engine_classify(struct engine *engine, float *logits_out)
{
    size_t count = engine->options.batch * engine->shape.resnet.classes;
    float *logits = logits_out ? logits_out : malloc(count * sizeof(*logits));
    int status = -1;

    if (!logits)
        return fail(engine, "out of memory");
    begin_part(&engine->work, "forward");
    resnet_forward(engine);
    status = settle(engine, engine->ops->get(engine->ops, logits, engine->resnet.logits,
                                             count * sizeof(*logits)));
    end_region(&engine->work);
    if (!logits_out)
        free(logits);
    return status;
}

int engine_logits(struct engine *engine, float *logits_out)
{
    return settle(engine,
                  engine->ops->get(engine->ops, logits_out, engine->decoder.logits,
                                   engine->options.batch * engine->shape.decoder.vocabulary *
                                       sizeof(*logits_out)));
}

int engine_force(struct engine *engine, const int32_t *tokens)
{
    engine->ops->put(engine->ops, engine->decoder.tokens, tokens,
                     engine->options.batch * sizeof(*tokens));
    return settle(engine, engine->ops->wait(engine->ops));
}
