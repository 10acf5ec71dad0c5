/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/structure/layers.h"

#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"

#define MOST_STRIDE    4u /* units of a layer: attention to the text and to the audio */
#define LEAST_LAYERS   2u
#define LEAST_PRODUCTS 2u  /* of a layer with attention */
#define MORE_PRODUCTS  3u  /* of one that is known by its products only */
#define CANDIDATES     32u /* numbers of layers that are tried */

/* Shares in percent. */
#define LIKE 65u /* launches of two layers that are alike */
#define LEAST_COVERED                                                                              \
    60u                /* of the launches of a step, by layers that are known by their products */
#define LEAST_LIKE 70u /* layers that are like the one in the middle */

/* Where the layers of a step have the same product or attention. */
struct anchors {
    LP_VECTOR(uint32_t) items;
};

/* How many pairs of launches that follow one another are in both parts, as a share of those of the
 * part that has more. Repeated ones count once: a loop over experts has any length. */
static int compare_parts(const struct lp_token *tokens, const uint32_t *part, const uint32_t *model,
                         uint32_t *like_out)
{
    struct lp_hashmap pairs = { 0 };
    uint32_t of_model = 0, common = 0, own = 0;
    int status = 0;

    for (uint32_t i = model[0]; i + 1 < model[1] && status == 0; i++)
        status = lp_hashmap_put(&pairs, tokens[i].key, tokens[i + 1].key, 0);
    of_model = (uint32_t)pairs.count;
    for (uint32_t i = part[0]; i + 1 < part[1] && status == 0; i++) {
        uint32_t found = lp_hashmap_get(&pairs, tokens[i].key, tokens[i + 1].key);

        common += found == 0;
        own += found == LP_HASHMAP_NONE;
        if (found != 1)
            status = lp_hashmap_put(&pairs, tokens[i].key, tokens[i + 1].key, 1);
    }
    lp_hashmap_clear(&pairs);
    own += common;
    *like_out = of_model + own > 0 ? common * 100 / (own > of_model ? own : of_model) : 0;
    return status;
}

static uint32_t count_products(const struct lp_token *tokens, const uint32_t *part)
{
    uint32_t products = 0;

    for (uint32_t i = part[0]; i < part[1]; i++)
        products += tokens[i].role == LP_ROLE_PRODUCT || tokens[i].role == LP_ROLE_EXPERTS;
    return products;
}

/* Share of the layers that are like the one in the middle. The last one is followed by the end of
 * the step, so it is not compared. */
static int judge_anchors(const struct lp_token *tokens, const struct anchors *anchors,
                         uint32_t least_products, uint32_t *share_out)
{
    uint32_t parts = anchors->items.count > 0 ? (uint32_t)anchors->items.count - 1 : 0;
    const uint32_t *model = parts > 0 ? &anchors->items.items[parts / 2] : NULL;
    uint32_t alike = 0, like;

    *share_out = 0;
    if (parts + 1 < LEAST_LAYERS || count_products(tokens, model) < least_products)
        return 0;
    for (uint32_t i = 0; i < parts; i++) {
        if (compare_parts(tokens, &anchors->items.items[i], model, &like) < 0)
            return lp_out_of_memory();
        alike += like >= LIKE;
    }
    /* Two layers cannot be compared with one another: the first with its products is enough. */
    *share_out = alike * 100 / parts;
    return 0;
}

static int anchors_of(const struct lp_token *tokens, const struct lp_steps *steps,
                      const struct lp_layers *layers, const struct lp_step *step,
                      struct anchors *anchors)
{
    uint32_t first = lp_layers_first(layers, step);
    int status = 0;

    anchors->items.count = 0;
    for (uint32_t i = 0; layers->stride > 0 && i < layers->count && status == 0; i++)
        status = lp_vector_push(&anchors->items, steps->units.items[first + i * layers->stride]);
    for (uint32_t i = step->begin; layers->stride == 0 && i < step->end && status == 0; i++)
        if (tokens[i].key == layers->key)
            status = lp_vector_push(&anchors->items, i);
    return status;
}

static int try_layers(const struct lp_token *tokens, const struct lp_steps *steps,
                      const struct lp_step *step, struct lp_layers tried, struct lp_layers *best)
{
    struct anchors anchors = { { NULL, 0, 0 } };
    uint32_t share = 0;
    int status = anchors_of(tokens, steps, &tried, step, &anchors);

    if (status == 0 && anchors.items.count == tried.count)
        status = judge_anchors(tokens, &anchors, tried.stride > 0 ? LEAST_PRODUCTS : MORE_PRODUCTS,
                               &share);
    if (status == 0 && share >= LEAST_LIKE && tried.count > best->count) {
        const uint32_t *middle = &anchors.items.items[tried.count / 2 - 1];

        tried.kernels = middle[1] - middle[0];
        if (tried.stride > 0 ||
            tried.count * tried.kernels * 100 >= (step->end - step->begin) * LEAST_COVERED)
            *best = tried;
    }
    lp_vector_clear(&anchors.items);
    return status;
}

/* Units of the longest pass of a step, and those after it: passes end where a token is chosen,
 * unless that happens in the layers. */
static uint32_t longest_pass(const struct lp_token *tokens, const struct lp_steps *steps,
                             const struct lp_step *step, uint32_t *after_out)
{
    const uint32_t *units = &steps->units.items[step->first_unit];
    uint32_t begin = 0, longest = 0;

    for (uint32_t unit = 1; unit <= step->units; unit++) {
        bool chosen = unit == step->units;

        for (uint32_t i = units[unit - 1]; unit < step->units && i < units[unit]; i++)
            chosen = chosen || tokens[i].role == LP_ROLE_SAMPLING;
        if (chosen && unit - begin > longest) {
            longest = unit - begin;
            *after_out = step->units - unit;
        }
        begin = chosen ? unit : begin;
    }
    if (longest * 2 > steps->units_per_step)
        return longest;
    *after_out = 0;
    return steps->units_per_step;
}

/* One attention, or several, in each layer: the largest number of layers that are alike. */
static int find_by_attention(const struct lp_token *tokens, const struct lp_steps *steps,
                             const struct lp_step *step, struct lp_layers *best)
{
    uint32_t after = 0, units = longest_pass(tokens, steps, step, &after);
    int status = 0;

    for (uint32_t stride = 1; stride <= MOST_STRIDE && status == 0; stride++)
        if (units % stride == 0)
            status = try_layers(tokens, steps, step,
                                (struct lp_layers){ units / stride, stride, after, 0, 0 }, best);
    return status;
}

static int find_by_products(const struct lp_token *tokens, const struct lp_steps *steps,
                            const struct lp_step *step, struct lp_layers *best)
{
    struct lp_hashmap counts = { 0 };
    uint32_t tries = 0;
    int status = 0;

    for (uint32_t i = step->begin; i < step->end && status == 0; i++) {
        uint32_t count = lp_hashmap_get(&counts, tokens[i].key, 0);

        if (tokens[i].role == LP_ROLE_PRODUCT)
            status =
                lp_hashmap_put(&counts, tokens[i].key, 0, count == LP_HASHMAP_NONE ? 1 : count + 1);
    }
    for (size_t i = 0; i < counts.capacity && status == 0 && tries < CANDIDATES; i++) {
        uint32_t count = counts.slots[i].value;

        if (count == LP_HASHMAP_NONE || count < LEAST_LAYERS)
            continue;
        tries++;
        status = try_layers(tokens, steps, step,
                            (struct lp_layers){ count, 0, 0, (uint32_t)counts.slots[i].key[0], 0 },
                            best);
    }
    lp_hashmap_clear(&counts);
    return status;
}

int lp_layers_find(const struct lp_token *tokens, const struct lp_steps *steps,
                   struct lp_layers *layers)
{
    const struct lp_step *step = &steps->items.items[steps->items.count - 1];

    *layers = (struct lp_layers){ 0 };
    return steps->by_attention ? find_by_attention(tokens, steps, step, layers)
                               : find_by_products(tokens, steps, step, layers);
}

/* Launches before the first anchor that are also before the second: the first layer begins with
 * them. A launch that only one of them has is passed over. */
static uint32_t match_before(const struct lp_token *tokens, uint32_t first, uint32_t second,
                             uint32_t begin)
{
    uint32_t at = first, other = second, matched = first;

    while (at > begin && other > first + 1) {
        if (tokens[at - 1].key == tokens[other - 1].key) {
            matched = --at;
            other--;
        } else if (at > begin + 1 && tokens[at - 2].key == tokens[other - 1].key) {
            at--;
        } else if (tokens[at - 1].key == tokens[other - 2].key) {
            other--;
        } else {
            break;
        }
    }
    return first - matched;
}

bool lp_layers_of_step(const struct lp_token *tokens, const struct lp_steps *steps,
                       const struct lp_layers *layers, const struct lp_step *step, uint32_t *starts)
{
    struct anchors anchors = { { NULL, 0, 0 } };
    uint32_t count = layers->count, before, end;
    bool found = count > 0 && anchors_of(tokens, steps, layers, step, &anchors) == 0 &&
                 anchors.items.count == count;

    if (found) {
        memcpy(starts, anchors.items.items, count * sizeof(*starts));
        before = match_before(tokens, starts[0], starts[1], step->begin);
        end = 2 * starts[count - 1] - starts[count - 2] - before;
        for (uint32_t i = 0; i < count; i++)
            starts[i] -= before;
        starts[count] = end < step->end ? end : step->end;
    }
    lp_vector_clear(&anchors.items);
    return found;
}

int lp_layers_keep(const struct lp_token *tokens, struct lp_steps *steps,
                   const struct lp_layers *layers)
{
    struct anchors anchors = { { NULL, 0, 0 } };
    uint64_t units = 0, of_kept = 0;
    size_t kept = 0;
    int status = 0;

    for (size_t i = 0; i < steps->items.count && status == 0; i++) {
        const struct lp_step step = steps->items.items[i];
        uint32_t share = step.units == steps->units_per_step ? 100 : 0;

        units += step.units;
        if (share == 0 && layers->stride > 0 &&
            (status = anchors_of(tokens, steps, layers, &step, &anchors)) == 0)
            status = judge_anchors(tokens, &anchors, LEAST_PRODUCTS, &share);
        if (share < LEAST_LIKE)
            continue;
        of_kept += step.units;
        steps->items.items[kept++] = step;
    }
    steps->items.count = kept;
    steps->confidence *= units > 0 ? (double)of_kept / (double)units : 0;
    lp_vector_clear(&anchors.items);
    return status;
}
