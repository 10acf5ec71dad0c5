/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a few kilobytes, whole, against the reference in double precision; and the shapes of
 * the real ones against the analysis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "llmperf/llmperf.h"
#include "reference.h"

struct pair {
    struct engine *tested, *plain; /* plain: on the CPU, for its weights */
};

static struct pair open_pair(const char *text, struct engine_options options)
{
    struct pair pair = { NULL, NULL };
    char problem[512] = "";
    struct ops *ops = ops_open(0);

    options.model = check_model_file(text);
    options.seed = 7;
    if (!ops || engine_open(&pair.tested, ops, &options, problem, sizeof(problem)) < 0) {
        claim(0, "engine_opens", "%s", problem);
        exit(1);
    }
    options.graphs = 0;
    if (engine_open(&pair.plain, ops_cpu_open(), &options, problem, sizeof(problem)) < 0) {
        claim(0, "engine_opens", "%s", problem);
        exit(1);
    }
    unlink(options.model);
    return pair;
}

static void close_pair(struct pair *pair)
{
    engine_free(pair->tested);
    engine_free(pair->plain);
}

static void make_text(int32_t *text, size_t count, size_t vocabulary)
{
    for (size_t i = 0; i < count; i++)
        text[i] = (int32_t)(random_bits(3, i) % vocabulary);
}

/* Rows of one sequence's prompt, then tokens that are forced; logits of all sequences must be the
 * reference's. */
static void compare(struct pair *pair, const char *name, const double *rows, size_t count,
                    size_t batch)
{
    size_t vocabulary = pair->plain->shape.decoder.vocabulary;
    double *wanted = calloc(vocabulary, sizeof(*wanted)), worst = 0;
    float *found = calloc(batch * vocabulary, sizeof(*found));

    reference_decoder(pair->plain, rows, count, wanted);
    if (engine_logits(pair->tested, found) < 0)
        claim(0, name, "%s", engine_error(pair->tested));
    for (size_t b = 0; b < batch; b++)
        worst = fmax(worst, distance(found + b * vocabulary, wanted, vocabulary));
    claim(worst < CHECK_TOLERANCE, name, "relative error %.4f at %zu tokens", worst, count);
    free(wanted);
    free(found);
}

/* `steps` forced tokens after the `count` rows of the prompt; `rows` has room for them. */
static void compare_decode(struct pair *pair, const char *name, double *rows, size_t count,
                           size_t steps)
{
    size_t hidden = pair->plain->shape.decoder.hidden, batch = pair->plain->options.batch;
    int32_t none[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };

    for (size_t s = 0; s < steps; s++) {
        int32_t tokens[8], token = (int32_t)(5 + 11 * s);

        for (size_t b = 0; b < batch; b++)
            tokens[b] = token;
        reference_rows(pair->plain, &token, none, NULL, 1, rows + (count + s) * hidden);
        if (engine_force(pair->tested, tokens) < 0 || engine_decode(pair->tested, 1, NULL) < 0)
            claim(0, name, "%s", engine_error(pair->tested));
    }
    compare(pair, name, rows, count + steps, batch);
}

static void run_decoder(const char *text, const char *name, size_t count, size_t batch, int graphs)
{
    struct engine_options options = {
        .batch = batch, .prompt = count + 3, .new_tokens = 8, .graphs = graphs
    };
    struct pair pair = open_pair(text, options);
    int32_t *ids = calloc(2 * count, sizeof(*ids)), *none = ids + count;
    double *rows = calloc((count + 8) * pair.plain->shape.decoder.hidden, sizeof(*rows));
    struct request request = { .text_tokens = count, .text = ids };
    char what[128];

    make_text(ids, count, pair.plain->shape.decoder.vocabulary);
    for (size_t i = 0; i < count; i++)
        none[i] = -1;
    reference_rows(pair.plain, ids, none, NULL, count, rows);
    if (engine_start(pair.tested, &request) < 0 || engine_prefill(pair.tested, NULL) < 0)
        claim(0, name, "%s", engine_error(pair.tested));
    snprintf(what, sizeof(what), "%s_prefill_is_the_reference", name);
    compare(&pair, what, rows, count, batch);
    snprintf(what, sizeof(what), "%s_decode_is_the_reference%s", name, graphs ? "_in_a_graph" : "");
    compare_decode(&pair, what, rows, count, 5);
    free(ids);
    free(rows);
    close_pair(&pair);
}

static void compare_features(struct pair *pair, double *wanted, size_t rows)
{
    size_t width = pair->plain->shape.vision.projector_out, count = rows * width;
    bf16 *bits = calloc(count, sizeof(*bits));
    float *found = calloc(count, sizeof(*found));

    pair->tested->ops->get(pair->tested->ops, bits, pair->tested->vision.features,
                           count * sizeof(*bits));
    for (size_t i = 0; i < count; i++)
        found[i] = bf16_to_float(bits[i]);
    claim(distance(found, wanted, count) < CHECK_TOLERANCE, "features_of_views_are_the_reference",
          "relative error %.4f, %zu tokens", distance(found, wanted, count), rows);
    free(bits);
    free(found);
}

/* 2 x 1 tiles of 128 pixels (grid 8: windows of 3 leave a rim; 2 x 2 tokens) and a whole of 192
 * (3 x 3 tokens; positions are interpolated everywhere). Order in the prompt: rows of the two tiles
 * side by side, each with a mark, then the whole's. */
static void run_ocr(size_t batch)
{
    enum { TILE = 128, WHOLE = 192, TEXT = 6 };
    static const int32_t order[] = { 0,  1,  4,  5,  17, 2,  3,  6,  7,  17, 8, 9,
                                     10, 17, 11, 12, 13, 17, 14, 15, 16, 17, 18 };
    enum { POSITIONS = sizeof(order) / sizeof(order[0]), COUNT = POSITIONS + TEXT };
    struct engine_options options = { .batch = batch,
                                      .prompt = COUNT,
                                      .new_tokens = 8,
                                      .tiles = { 2, TILE },
                                      .whole = { 1, WHOLE } };
    struct pair pair = open_pair(check_ocr, options);
    size_t tile_numbers = (size_t)TILE * TILE * 3, numbers = 2 * tile_numbers + WHOLE * WHOLE * 3;
    size_t width = pair.plain->shape.vision.projector_out;
    bf16 *pixels = malloc(numbers * sizeof(*pixels));
    double *features = calloc(19 * width, sizeof(*features));
    double *rows = calloc((COUNT + 8) * width, sizeof(*rows));
    int32_t ids[COUNT], images[COUNT];
    struct request request = { .text_tokens = TEXT,
                               .text = ids + POSITIONS,
                               .tiles = { 2, TILE },
                               .whole = { 1, WHOLE },
                               .tile_rows = 1,
                               .tile_columns = 2,
                               .tile_pixels = pixels,
                               .whole_pixels = pixels + 2 * tile_numbers };

    for (size_t i = 0; i < numbers; i++)
        pixels[i] = bf16_from_float(random_value(11, i, 1, 0));
    make_text(ids, COUNT, pair.plain->shape.decoder.vocabulary);
    for (size_t i = 0; i < COUNT; i++)
        images[i] = i < POSITIONS ? order[i] : -1;
    reference_vision(pair.plain, pixels, TILE, features);
    reference_vision(pair.plain, pixels + tile_numbers, TILE, features + 4 * width);
    reference_vision(pair.plain, pixels + 2 * tile_numbers, WHOLE, features + 8 * width);
    for (size_t i = 0; i < 2 * width; i++)
        features[17 * width + i] = (double)bf16_to_float(pair.plain->vision.marks[i]);
    reference_rows(pair.plain, ids, images, features, COUNT, rows);
    claim(engine_image_positions(&pair.plain->shape, &request) == POSITIONS,
          "image_positions_are_rows_and_marks", "%d", POSITIONS);
    if (engine_start(pair.tested, &request) < 0 || engine_prefill(pair.tested, NULL) < 0)
        claim(0, "images_run", "%s", engine_error(pair.tested));
    if (batch == 1)
        compare_features(&pair, features, 19);
    compare(&pair, "prompt_with_an_image_is_the_reference", rows, COUNT, batch);
    compare_decode(&pair, "decode_behind_an_image_is_the_reference", rows, COUNT, 3);
    free(pixels);
    free(features);
    free(rows);
    close_pair(&pair);
}

static void run_resnet(void)
{
    struct pair pair = open_pair(check_resnet, (struct engine_options){ .batch = 3 });
    float found[3 * 7];
    double wanted[7], worst = 0;

    if (engine_classify(pair.tested, found) < 0)
        claim(0, "resnet_runs", "%s", engine_error(pair.tested));
    for (size_t i = 0; i < 3; i++) {
        reference_resnet(pair.plain, i, wanted);
        worst = fmax(worst, distance(found + i * 7, wanted, 7));
    }
    claim(worst < CHECK_TOLERANCE, "resnet_is_the_reference", "relative error %.4f", worst);
    close_pair(&pair);
}

static void parameters_are_the_analysis(void)
{
    static const char *const models[] = { "deepseek_ocr",        "llama3_8b",  "qwen2.5-7b",
                                          "mixtral_8x7b",        "mistral_7b", "deepseek_v2_lite",
                                          "qwen3_30b_a3b",       "qwen3_8b",   "llama_3_2_1b",
                                          "dummy_shallow_resnet" };

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct engine_options options = { .model = models[i], .prompt = 64, .new_tokens = 64 };
        llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
        llmperf_model *model = NULL;
        struct shape shape;
        char problem[512] = "";
        uint64_t parameters = 0;
        size_t bytes = 0;

        if (shape_read(&shape, models[i], problem, sizeof(problem)) == 0 &&
            engine_measure(&options, 1, &bytes, &parameters, problem, sizeof(problem)) == 0 &&
            llmperf_model_open(shape.source, &model) == 0)
            llmperf_model_info_get(model, &info);
        claim(parameters > 0 && parameters == info.parameters_total,
              "weights_are_as_many_as_the_analysis_counts", "%s %llu, %.1f GB %s", models[i],
              (unsigned long long)parameters, (double)bytes / 1e9, problem);
        llmperf_model_free(model);
    }
}

static void models_that_cannot_run_are_refused(void)
{
    static const char *const models[] = { "gemma_2_9b", "gpt2", "sam_vit_b", "no_such_model" };
    char problem[512];
    struct shape shape;

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        claim(shape_read(&shape, models[i], problem, sizeof(problem)) < 0 && problem[0],
              "models_that_cannot_run_are_refused", "%s", problem);
}

/* Two engines of one seed agree bit by bit, replayed or not; another seed does not. */
static void graphs_change_nothing(void)
{
    float logits[2][256];

    for (int graphs = 0; graphs < 2; graphs++) {
        struct engine_options options = {
            .batch = 1, .prompt = 16, .new_tokens = 16, .graphs = graphs
        };
        struct pair pair = open_pair(check_llama, options);
        int32_t text[4] = { 1, 2, 3, 4 };
        struct request request = { .text_tokens = 4, .text = text };

        if (engine_start(pair.tested, &request) < 0 || engine_prefill(pair.tested, NULL) < 0 ||
            engine_decode(pair.tested, 9, NULL) < 0 ||
            engine_logits(pair.tested, logits[graphs]) < 0)
            claim(0, "graphs_change_nothing", "%s", engine_error(pair.tested));
        close_pair(&pair);
    }
    claim(memcmp(logits[0], logits[1], sizeof(logits[0])) == 0, "graphs_change_nothing",
          "first logit %f and %f", (double)logits[0][0], (double)logits[1][0]);
}

void check_engine(void)
{
    models_that_cannot_run_are_refused();
    parameters_are_the_analysis();
    run_decoder(check_llama, "grouped_heads", 21, 1, 0);
    run_decoder(check_llama, "grouped_heads_of_two_sequences", 10, 2, 0);
    run_decoder(check_qwen2, "biases_and_tied_embeddings", 13, 2, 0);
    run_decoder(check_qwen3_moe, "normed_heads_and_experts", 13, 1, 0);
    run_decoder(check_mixtral, "experts_without_shared_ones", 17, 2, 0);
    run_decoder(check_latent, "latent_attention", 19, 2, 0);
    run_ocr(1);
    run_ocr(2);
    run_resnet();
    if (on_gpu) {
        run_decoder(check_mixtral, "experts_of_many_tokens", 150, 2, 1);
        run_decoder(check_latent, "latent_attention", 40, 1, 1);
        graphs_change_nothing();
    }
}
