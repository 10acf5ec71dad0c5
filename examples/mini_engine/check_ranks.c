/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks with half of each layer, and two engines with the same weights, run simultaneously in
 * two threads. Both must give the results of a single engine. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "engine.h"
#include "group.h"

enum { WORLD = 2, BATCH = 2, PROMPT = 9, STEPS = 4, VOCABULARY_MAX = 256 };

/* Runs one engine in a thread of its own. */
struct life {
    struct engine *engine;
    struct engine_options options;
    int descriptor; /* of the group; -1: alone */
    int left_out;   /* there are too few GPUs, or no NCCL */
    char problem[512];
    float logits[BATCH * VOCABULARY_MAX];
    int32_t tokens[(STEPS + 1) * BATCH];
};

/* Each step gets the same token, whatever was sampled: engines that round differently may sample
 * differently. */
static int run_steps(struct life *life)
{
    for (int32_t s = 0; s < STEPS; s++) {
        int32_t forced[BATCH] = { 5 + 11 * s, 7 + 3 * s };

        if (engine_force(life->engine, forced) < 0 ||
            engine_decode(life->engine, 1, life->tokens + (1 + s) * BATCH) < 0)
            return -1;
    }
    return 0;
}

static int generate(struct life *life)
{
    int32_t text[PROMPT];
    struct request request = { .text_tokens = PROMPT, .text = text };

    for (size_t i = 0; i < PROMPT; i++)
        text[i] = (int32_t)(random_bits(3, i) % 128);
    if (engine_start(life->engine, &request) == 0 &&
        engine_prefill(life->engine, life->tokens) == 0 && run_steps(life) == 0 &&
        engine_logits(life->engine, life->logits) == 0)
        return 0;
    snprintf(life->problem, sizeof(life->problem), "%s", engine_error(life->engine));
    return -1;
}

/* The engine takes `ops`. */
static void open_and_generate(struct life *life, struct ops *ops)
{
    if (engine_open(&life->engine, ops, &life->options, life->problem, sizeof(life->problem)) < 0)
        return;
    generate(life);
    engine_free(life->engine);
}

static void *live(void *argument)
{
    struct life *life = argument;
    struct group *group =
        life->descriptor < 0 ? NULL : group_join(life->descriptor, life->options.rank);
    struct ops *ops = ops_open(life->options.rank);

    if (!ops || (life->descriptor >= 0 && !group)) {
        snprintf(life->problem, sizeof(life->problem), "no device, or no group");
    } else if (group && ops->join(ops, group) < 0) {
        life->left_out = 1;
        snprintf(life->problem, sizeof(life->problem), "%s", ops->error);
        ops->destroy(ops);
    } else {
        open_and_generate(life, ops);
    }
    group_leave(group);
    return NULL;
}

static struct life life_of(const char *path, int graphs)
{
    struct life life = { .descriptor = -1 };

    life.options = (struct engine_options){ .model = path,
                                            .seed = 7,
                                            .batch = BATCH,
                                            .prompt = PROMPT,
                                            .new_tokens = STEPS + 1,
                                            .graphs = graphs };
    return life;
}

static void run_both(struct life lives[WORLD], void *(*body)(void *))
{
    pthread_t threads[WORLD];

    for (size_t i = 0; i < WORLD; i++)
        if (pthread_create(&threads[i], NULL, body, &lives[i]) != 0)
            abort();
    for (size_t i = 0; i < WORLD; i++)
        pthread_join(threads[i], NULL);
}

static double logits_apart(const struct life *life, const struct life *alone, size_t count)
{
    double wanted[BATCH * VOCABULARY_MAX];

    for (size_t i = 0; i < count; i++)
        wanted[i] = (double)alone->logits[i];
    return distance(life->logits, wanted, count);
}

/* Ranks round their parts of each sum, so they are a little off; between ranks nothing is. */
static void check_shares(const char *text, const char *name, size_t vocabulary, int graphs)
{
    const char *path = check_model_file(text);
    struct life alone = life_of(path, 0), ranks[WORLD];
    int descriptor = group_create(WORLD);
    double apart;

    for (size_t i = 0; i < WORLD; i++) {
        ranks[i] = life_of(path, graphs);
        ranks[i].options.rank = i;
        ranks[i].options.world = WORLD;
        ranks[i].descriptor = descriptor;
    }
    live(&alone);
    run_both(ranks, live);
    close(descriptor);
    unlink(path);
    if (ranks[0].left_out && on_gpu) {
        printf("left out %s: %s\n", name, ranks[0].problem);
        return;
    }
    claim(!*alone.problem && !*ranks[0].problem && !*ranks[1].problem, "ranks_run", "%s%s%s %s",
          name, alone.problem, ranks[0].problem, ranks[1].problem);
    apart = logits_apart(&ranks[0], &alone, BATCH * vocabulary);
    claim(apart > 0 && apart < CHECK_TOLERANCE, "two_ranks_are_one_engine",
          "%s: relative error %.4f behind %d tokens", name, apart, PROMPT + STEPS);
    claim(memcmp(ranks[0].logits, ranks[1].logits, BATCH * vocabulary * sizeof(float)) == 0 &&
              memcmp(ranks[0].tokens, ranks[1].tokens, sizeof(ranks[0].tokens)) == 0,
          "ranks_agree_bit_by_bit", "%s", name);
}

static void *generate_often(void *argument)
{
    struct life *life = argument;

    for (int i = 0; i < 20 && generate(life) == 0; i++)
        ;
    return NULL;
}

static void check_beside(int graphs)
{
    const char *path = check_model_file(check_llama);
    struct life alone = life_of(path, 0),
                lives[WORLD] = { life_of(path, graphs), life_of(path, graphs) };
    struct ops *first = ops_open(0), *second = ops_open(0);
    char problem[512] = "";

    live(&alone);
    if (!first || !second ||
        engine_open(&lives[0].engine, first, &lives[0].options, problem, sizeof(problem)) < 0 ||
        engine_open_beside(&lives[1].engine, second, lives[0].engine, problem, sizeof(problem)) <
            0) {
        claim(0, "engines_open_beside_each_other", "%s", problem);
        exit(1);
    }
    run_both(lives, generate_often);
    for (size_t i = 0; i < WORLD; i++)
        claim(memcmp(lives[i].logits, alone.logits, BATCH * 256 * sizeof(float)) == 0,
              "engines_that_share_weights_are_one", "%zu%s %s", i, graphs ? " in graphs" : "",
              lives[i].problem);
    engine_free(lives[1].engine);
    engine_free(lives[0].engine);
    unlink(path);
}

static void uneven_shares_are_refused(void)
{
    const char *path = check_model_file(check_qwen2);
    struct engine_options options = { .model = path, .prompt = 4, .new_tokens = 4, .world = 2 };
    uint64_t parameters;
    char problem[512] = "";
    size_t bytes;

    claim(engine_measure(&options, 1, &bytes, &parameters, problem, sizeof(problem)) < 0 &&
              strstr(problem, "KV heads"),
          "uneven_shares_are_refused", "%s", problem);
    unlink(path);
}

static void shares_are_as_many_weights_as_the_whole(void)
{
    const char *path = check_model_file(check_mixtral);
    struct engine_options options = { .model = path, .prompt = 4, .new_tokens = 4 };
    /* On both ranks: embedding, norms (two per layer, one at the end), routers. */
    uint64_t twice = 128 * 64 + 5 * 64 + 2 * 4 * 64, whole = 0, share = 0;
    char problem[512] = "";
    size_t bytes;

    engine_measure(&options, 1, &bytes, &whole, problem, sizeof(problem));
    options.world = 2;
    engine_measure(&options, 1, &bytes, &share, problem, sizeof(problem));
    claim(whole > 0 && 2 * share == whole + twice, "shares_are_as_many_weights_as_the_whole",
          "%llu of %llu %s", (unsigned long long)share, (unsigned long long)whole, problem);
    unlink(path);
}

void check_ranks(void)
{
    uneven_shares_are_refused();
    shares_are_as_many_weights_as_the_whole();
    check_shares(check_llama, "grouped_heads", 256, 0);
    check_shares(check_tied, "biases_and_tied_embeddings", 128, 0);
    check_shares(check_mixtral, "experts", 128, 0);
    check_shares(check_latent, "latent_attention", 128, 0);
    check_shares(check_ocr, "shared_experts", 128, 0);
    check_beside(0);
    if (on_gpu) {
        check_shares(check_llama, "grouped_heads_in_a_graph", 256, 1);
        check_beside(1);
    }
}
