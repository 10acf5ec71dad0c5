/* SPDX-License-Identifier: Apache-2.0 */
/** Tokens, sequences and context of found steps, where they follow from the grids of their kernels.
 * docs/explanation/structure.md has the rules. */
#include "lib/base/text.h"
#include "lib/device/symbol.h"
#include "lib/record/shapes.h"
#include "lib/structure/inside.h"

#define VALUES_MOST 32 /* pairs of a kernel and a number of tokens, in a step */

/* Launches of one kernel that speak for the same number of tokens. */
struct evidence {
    uint64_t tokens;
    uint32_t name, launches;
};

/* As lp_kernel_elements(), cached by name. */
static uint32_t elements_of(struct lp_structure *structure, uint32_t name)
{
    const char *symbol = lp_names_text(structure->names, name);
    struct lp_text text = { NULL, 0, 0, false };
    uint64_t *elements = lp_vector_at(&structure->elements, name);

    if (!elements)
        return 0;
    if (*elements == 0) {
        *elements = 1;
        if (symbol)
            lp_kernel_demangle(&text, symbol);
        if (text.bytes && !text.failed)
            *elements += lp_kernel_elements(structure->classes, text.bytes);
        lp_text_clear(&text);
    }
    return (uint32_t)(*elements - 1);
}

/* Tokens that a launch speaks for; 0: none. A grid is rounded up to whole blocks. */
static uint64_t tokens_of(const struct lp_structure *structure, const struct lp_activity *launch,
                          uint64_t elements)
{
    const struct lp_shape *shape = lp_shapes_get(&structure->names->shapes, launch->shape);
    uint64_t tokens,
        blocks = shape && shape->grid[1] == 1 && shape->grid[2] == 1 ? shape->grid[0] : 0;

    if (blocks == 0 || elements == LP_ELEMENTS_ALL)
        return blocks;
    if (structure->hidden < elements)
        return 0;
    tokens = blocks * elements / structure->hidden;
    return tokens * structure->hidden > (blocks - 1) * elements ? tokens : 0;
}

/* The number of tokens that most launches of at least two kernels speak for, each of them in every
 * layer; 0: there is none, or two are equally likely. */
static uint64_t choose(const struct evidence *values, size_t count, uint32_t layers)
{
    uint64_t chosen = 0;
    double most = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t kernels = 0;
        double weight = 1;

        for (size_t k = 0; k < count; k++)
            if (values[k].tokens == values[i].tokens && values[k].launches >= layers) {
                weight *= values[k].launches;
                kernels++;
            }
        if (kernels < 2 || values[i].tokens == chosen)
            continue;
        if (weight >= most)
            chosen = weight > most ? values[i].tokens : 0;
        most = weight > most ? weight : most;
    }
    return chosen;
}

/* The launch that chooses the tokens has at least one block for each sequence, if it says their
 * number at all. */
static uint64_t blocks_of(const struct lp_structure *structure, uint32_t shape_id)
{
    const struct lp_shape *shape = lp_shapes_get(&structure->names->shapes, shape_id);

    return shape ? (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2] : 0;
}

struct lp_found_amounts lp_amounts_read(struct lp_structure *structure,
                                        const struct lp_activity *work,
                                        const struct lp_found_place *places, size_t count)
{
    struct lp_found_amounts amounts = { 0 };
    struct evidence values[VALUES_MOST];
    size_t value_count = 0, at;
    uint32_t layers = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t elements = elements_of(structure, work[i].name);
        uint64_t tokens = elements ? tokens_of(structure, &work[i], elements) : 0;

        if (lp_structure_role(structure, &work[i]) == LP_ROLE_SAMPLING &&
            places[i].layer == LP_FOUND_NONE) {
            amounts.choice = (uint64_t)work[i].name << 32 | work[i].shape;
            amounts.choice_blocks = blocks_of(structure, work[i].shape);
        }
        if (places[i].layer == LP_FOUND_NONE || tokens == 0)
            continue;
        layers = places[i].layer >= layers ? places[i].layer + 1 : layers;
        amounts.cached |= elements == LP_ELEMENTS_ALL;
        for (at = 0; at < value_count; at++)
            if (values[at].tokens == tokens && values[at].name == work[i].name)
                break;
        if (at == VALUES_MOST)
            continue;
        if (at == value_count)
            values[value_count++] = (struct evidence){ tokens, work[i].name, 0 };
        values[at].launches++;
    }
    amounts.tokens = choose(values, value_count, layers);
    return amounts;
}

static struct lp_found_choice *find_choice(struct lp_structure *structure, uint64_t key)
{
    for (uint32_t i = 0; i < structure->choice_count; i++)
        if (structure->choices[i].key == key)
            return &structure->choices[i];
    return NULL;
}

void lp_amounts_learn(struct lp_structure *structure, const struct lp_found_amounts *amounts)
{
    struct lp_found_choice *choice = find_choice(structure, amounts->choice);

    if (amounts->tokens == 0 || amounts->choice_blocks < amounts->tokens)
        return;
    if (choice && choice->sequences != amounts->tokens)
        choice->sequences = 0; /* it does not tell */
    else if (!choice && structure->choice_count < LP_FOUND_CHOICES)
        structure->choices[structure->choice_count++] =
            (struct lp_found_choice){ amounts->choice, amounts->tokens };
}

/* A prompt begins with an empty cache, unless the engine keeps those of earlier prompts. A prompt
 * computed in chunks looks like several prompts. */
static void begin_request(struct lp_structure *structure, struct lp_found_amounts *amounts,
                          bool more)
{
    const struct lp_found_choice *choice = find_choice(structure, amounts->choice);
    struct lp_found_request *request = &structure->request;
    bool alone = !more && !request->in_prompt && !amounts->cached;

    request->in_prompt = true;
    request->sequences = request->context = 0;
    if (!alone || !choice || choice->sequences == 0 || amounts->tokens < choice->sequences)
        return;
    request->sequences = amounts->sequences = choice->sequences;
    request->context = amounts->context = amounts->tokens;
}

void lp_amounts_follow(struct lp_structure *structure, uint32_t kind, uint32_t first, uint32_t last,
                       bool prefill_follows, struct lp_found_amounts *amounts)
{
    struct lp_found_request *request = &structure->request;

    if (lp_structure_missed(structure, request->last, first))
        *request = (struct lp_found_request){ 0 };
    request->last = last;
    if (kind == LP_STEP_PREFILL) {
        begin_request(structure, amounts, prefill_follows);
        return;
    }
    request->in_prompt = false;
    if (kind != LP_STEP_DECODE || amounts->tokens != request->sequences)
        request->sequences = 0;
    if (request->sequences == 0)
        return;
    request->context += amounts->tokens;
    amounts->sequences = request->sequences;
    amounts->context = request->context;
}
