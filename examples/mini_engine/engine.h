/* SPDX-License-Identifier: Apache-2.0 */
/** A small inference engine: random weights of a model's true shapes, vision, prefill, decode,
 * greedy sampling.
 *
 *     engine_open(&engine, &options, problem, sizeof(problem));
 *     engine_start(engine, &request);          inputs to the device
 *     engine_prefill(engine, tokens);          the first token of each sequence
 *     engine_decode(engine, count, tokens);    `count` more of each
 *
 * Each block is marked with a region of libllmperf; a server would do it in the same way. One
 * thread at a time. */
#ifndef MINI_ENGINE_ENGINE_H
#define MINI_ENGINE_ENGINE_H

#include "number.h"
#include "shape.h"

struct ops;
struct engine;

/** Images of one size that go through the encoder in one call. */
struct views {
    size_t count;
    size_t pixels; /**< a side */
};

/** The most that will be asked for; memory is taken once. Zero = default. */
struct engine_options {
    const char *model;
    uint64_t seed;
    size_t batch;              /**< sequences; default 1 */
    size_t prompt;             /**< tokens of a prompt, images included */
    size_t new_tokens;         /**< of one prompt */
    struct views tiles, whole; /**< of one sequence; count 0: none */
    int graphs;                /**< decode steps are one CUDA graph */
    int no_regions;            /**< mark nothing: for measuring what marks cost */
    size_t rank, world; /**< share of each layer of the decoder (tensor parallel): `world` engines,
                           each with ops that joined a group of as many; world 0 or 1: all. Every
                           rank makes the same calls */
};

/** One batch of work: every sequence has the same shape. Arrays are Borrowed for the call. */
struct request {
    size_t text_tokens;
    const int32_t *text;       /**< text_tokens ids, for all sequences the same */
    struct views tiles, whole; /**< as in the options, at most those */
    size_t tile_rows, tile_columns;
    const bf16 *tile_pixels, *whole_pixels; /**< views x pixels x pixels x 3, channels last; for all
                                               sequences the same */
};

/** @param ops  Taken, also on failure. @return 0, or -1 with one line in `problem`. */
int engine_open(struct engine **engine_out, struct ops *ops, const struct engine_options *options,
                char *problem, size_t problem_size);
void engine_free(struct engine *engine);

/** A second engine with the weights of `first`, which outlives it, and with buffers and a cache of
 * its own: requests of both run at once if their `ops` are different streams. Each is used by one
 * thread at a time. @param ops  As for engine_open(), of the same device. */
int engine_open_beside(struct engine **engine_out, struct ops *ops, const struct engine *first,
                       char *problem, size_t problem_size);

/** What `engines` of them that share weights would take: device memory, and weights made. No device
 * is needed. @return 0 or -1. */
int engine_measure(const struct engine_options *options, size_t engines, size_t *bytes_out,
                   uint64_t *parameters_out, char *problem, size_t problem_size);

const struct shape *engine_shape(const struct engine *engine);
const struct ops *engine_ops(const struct engine *engine);
/** Weights that were made; alone, the analysis must count as many. */
uint64_t engine_parameters(const struct engine *engine);
/** What the last call failed with. */
const char *engine_error(const struct engine *engine);

/** Tokens that a request's images take in the prompt: DeepSeek-OCR ends each row of tokens and the
 * whole with a mark. */
size_t engine_image_positions(const struct shape *shape, const struct request *request);

/** Upload inputs and forget the last request. @return 0 or -1. */
int engine_start(struct engine *engine, const struct request *request);

/** Vision, if there are images, and one pass over the prompt. @param tokens_out  One a sequence.
 * @return 0 or -1. */
int engine_prefill(struct engine *engine, int32_t *tokens_out);

/** `count` steps. With graphs the first call captures one. @param tokens_out  count x batch, or
 * NULL. @return 0 or -1. */
int engine_decode(struct engine *engine, size_t count, int32_t *tokens_out);

/** From now on write how long each decode step takes, in ms of engine_now_ms(), its marks included:
 * `step_ms` has room for all of them. NULL: no longer. */
void engine_time_steps(struct engine *engine, double *step_ms);

/** The host's clock, in ms. Any thread. */
double engine_now_ms(void);

/** Capture the graph (again): a profiler attributes the nodes of a graph whose capture it saw.
 * Nothing without graphs. @return 0 or -1. */
int engine_capture(struct engine *engine);

/** One forward pass of a network of convolutions over `options.batch` random images. @param
 * logits_out  batch x classes, or NULL. */
int engine_classify(struct engine *engine, float *logits_out);

/** Logits of the last pass, batch x vocabulary. @return 0 or -1. */
int engine_logits(struct engine *engine, float *logits_out);

/** Let the next decode step start from these tokens instead of the sampled ones: for tests. @return
 * 0 or -1. */
int engine_force(struct engine *engine, const int32_t *tokens);

#endif
