/* SPDX-License-Identifier: Apache-2.0 */
/** Which steps are prefill and which decode. */
#include <stdlib.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/structure/layers.h"

/* A prefill step computes this much longer than a decode step, in percent; or a little longer,
 * where it is rarer and has other products and another attention, or many more threads in its small
 * kernels: short prompts of small models. */
#define LONGER       130u
#define LITTLE       103u
#define RARER        2u
#define MORE_THREADS 8u

/* The product with the vocabulary is this much longer than one of a layer, in percent. */
#define HEAD 110u

/* Steps in which a token is chosen or copied to the host, in percent. */
#define LEAST_CHOOSING 80u

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* First unit of the layer in the middle. The layers of the model are the last ones of a step. */
static uint32_t middle_unit(const struct lp_step *step, const struct lp_layers *layers)
{
    return lp_layers_first(layers, step) + (layers->count - layers->count / 2 - 1) * layers->stride;
}

/* Names of the products, or of the attention, in the layer in the middle. */
static uint64_t hash_layer(const struct lp_token *tokens, const uint32_t *layer, enum lp_role role)
{
    uint64_t hash = 0;

    for (uint32_t i = layer[0]; i < layer[1]; i++)
        if (tokens[i].role == role)
            hash = mix(hash, tokens[i].key);
    return hash;
}

/* Is the last product that with a vocabulary? It is longer than those of a layer; what an encoder
 * ends with is one of its layers, or shorter. */
static bool has_head(const struct lp_token *tokens, const struct lp_step *step,
                     const uint32_t *layer)
{
    const struct lp_token *last = NULL;
    uint64_t length_ns = 0, longest_ns = 0, products = 0;
    bool other = true;

    for (uint32_t i = layer[0]; i < step->end; i++)
        last = tokens[i].role == LP_ROLE_PRODUCT ? &tokens[i] : last;
    for (uint32_t i = layer[0]; i < layer[1]; i++) {
        if (tokens[i].role != LP_ROLE_PRODUCT)
            continue;
        products++;
        length_ns += tokens[i].length_ns;
        longest_ns = tokens[i].length_ns > longest_ns ? tokens[i].length_ns : longest_ns;
        other = other && tokens[i].key != last->key;
    }
    return last && (last->length_ns * UINT64_C(100) > longest_ns * HEAD ||
                    (other && last->length_ns * products * 100 > length_ns * HEAD));
}

/* The layers of the model only, not those of a vision encoder or a draft model before them. */
static void add_to_group(const struct lp_token *tokens, const struct lp_step *step, uint32_t begin,
                         struct lp_step_group *group)
{
    group->count++;
    for (uint32_t i = begin; i < step->end; i++)
        if (tokens[i].role == LP_ROLE_PRODUCT || tokens[i].role == LP_ROLE_ATTENTION ||
            tokens[i].role == LP_ROLE_SOFTMAX || tokens[i].role == LP_ROLE_EXPERTS)
            group->length_ns += tokens[i].length_ns;
        else
            group->threads += tokens[i].threads;
}

/* Does it generate text? Training has no such steps, whatever its attention. */
static bool generates(const struct lp_token *tokens, const struct lp_steps *steps)
{
    size_t choosing = 0;

    for (size_t i = 0; i < steps->items.count; i++) {
        const struct lp_step *step = &steps->items.items[i];
        bool chooses = false;

        for (uint32_t at = step->begin; at < step->end; at++) {
            if (tokens[at].role == LP_ROLE_BACKWARD)
                return false;
            chooses = chooses || tokens[at].role == LP_ROLE_SAMPLING ||
                      tokens[at].role == LP_ROLE_COPY_OUT;
        }
        choosing += chooses;
    }
    return choosing * 100 >= steps->items.count * LEAST_CHOOSING;
}

static int group_steps(const struct lp_token *tokens, struct lp_steps *steps,
                       const struct lp_layers *layers, struct lp_step_groups *groups)
{
    for (size_t i = 0; i < steps->items.count; i++) {
        struct lp_step *step = &steps->items.items[i];
        const uint32_t *layer = &steps->units.items[middle_unit(step, layers)];
        uint64_t products = mix(steps->units_per_step, hash_layer(tokens, layer, LP_ROLE_PRODUCT));
        uint64_t attention = hash_layer(tokens, layer, LP_ROLE_ATTENTION);
        uint32_t first = lp_layers_first(layers, step);
        uint32_t row = lp_hashmap_get(&groups->rows, products, attention);

        if (row == LP_HASHMAP_NONE) {
            row = groups->count < LP_STEP_GROUPS ? groups->count++ : LP_STEP_GROUPS - 1;
            groups->items[row].model = steps->units_per_step;
            groups->items[row].products = products;
            groups->items[row].attention = attention;
            if (lp_hashmap_put(&groups->rows, products, attention, row) < 0)
                return lp_out_of_memory();
        }
        add_to_group(tokens, step, steps->units.items[first], &groups->items[row]);
        groups->items[row].heads += has_head(tokens, step, layer);
        step->kind = row;
    }
    return 0;
}

static bool is_prefill(const struct lp_step_group *group, const struct lp_step_group *decode)
{
    double times = (double)decode->count / (double)group->count;
    double length = (double)group->length_ns * times / (double)decode->length_ns;
    double threads = (double)group->threads * times;
    bool other = group->products != decode->products && group->attention != decode->attention;

    if (length * 100 > LONGER)
        return true;
    return length * 100 > LITTLE &&
           ((other && times >= RARER) ||
            (decode->threads > 0 && threads > (double)decode->threads * MORE_THREADS));
}

/* The most frequent kind of a model is decode, if it ends with the product with a vocabulary. */
static uint64_t name_groups(struct lp_step_groups *groups, uint32_t model)
{
    const struct lp_step_group *decode = NULL;
    uint64_t prefills = 0;

    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->items[i].model == model && (!decode || groups->items[i].count > decode->count))
            decode = &groups->items[i];
    if (!decode || 2 * decode->heads < decode->count)
        return 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct lp_step_group *group = &groups->items[i];

        if (group->model != model)
            continue;
        group->kind = is_prefill(group, decode) ? LP_STEP_PREFILL : LP_STEP_DECODE;
        prefills += group->kind == LP_STEP_PREFILL ? group->count : 0;
    }
    return prefills;
}

/* A prefill begins once its inputs are on the device. */
static void skip_inputs(const struct lp_token *tokens, struct lp_step *step)
{
    while (step->kind == LP_STEP_PREFILL && step->begin + 1 < step->end &&
           tokens[step->begin].role >= LP_ROLE_MEMORY)
        step->begin++;
}

int lp_steps_name(const struct lp_token *tokens, struct lp_steps *steps,
                  const struct lp_layers *layers, struct lp_step_groups *groups)
{
    bool named = layers->stride > 0 && generates(tokens, steps);
    int status = named ? group_steps(tokens, steps, layers, groups) : 0;

    named = named && status == 0 && name_groups(groups, steps->units_per_step) > 0;
    for (size_t i = 0; i < steps->items.count; i++) {
        struct lp_step *step = &steps->items.items[i];

        step->kind = named ? groups->items[step->kind].kind : LP_STEP_ANY;
        skip_inputs(tokens, step);
    }
    return status;
}
