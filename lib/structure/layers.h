/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the layers inside steps, and says which steps are prefill and which decode. For
 * lib/structure only. @threads one at a time per object */
#ifndef LP_STRUCTURE_LAYERS_H
#define LP_STRUCTURE_LAYERS_H

#include "lib/base/hashmap.h"
#include "lib/structure/steps.h"

/** What a step is. */
enum lp_step_kind { LP_STEP_ANY, LP_STEP_PREFILL, LP_STEP_DECODE, LP_STEP_KINDS };

/** Layers of all steps; zero-initialised: none. */
struct lp_layers {
    uint32_t count;   /* of a step; 0: none were found */
    uint32_t stride;  /* units of a layer; 0: they begin at `key` */
    uint32_t after;   /* units of a step that follow them: of a draft model */
    uint32_t key;     /* a product that each layer has once */
    uint32_t kernels; /* launches of a layer, median */
};

/** First unit of the layers of a step: they are the last ones of it, but for a draft model's. */
static inline uint32_t lp_layers_first(const struct lp_layers *layers, const struct lp_step *step)
{
    return step->first_unit + step->units - layers->after - layers->count * layers->stride;
}

/** Layers that the steps have in common. 0 or LLMPERF_ENOMEM. */
int lp_layers_find(const struct lp_token *tokens, const struct lp_steps *steps,
                   struct lp_layers *layers_out);

/** Drop the steps that have more units than usual, unless the last ones are these layers: a prefill
 * has the layers of a vision encoder before its own, what ran while a program was compiled has
 * none. 0 or LLMPERF_ENOMEM. */
int lp_layers_keep(const struct lp_token *tokens, struct lp_steps *steps,
                   const struct lp_layers *layers);

/** First token of each layer of a step, and the end of the last one.
 * @param starts_out  For layers->count + 1 tokens.
 * @return false: this step does not have these layers */
bool lp_layers_of_step(const struct lp_token *tokens, const struct lp_steps *steps,
                       const struct lp_layers *layers, const struct lp_step *step,
                       uint32_t *starts_out);

#define LP_STEP_GROUPS 64u

/** Steps with the same products and attention in the layer in the middle. */
struct lp_step_group {
    uint64_t products, attention; /* hashes of their names */
    uint32_t model;               /* its usual units: phases are those of one model */
    uint64_t count, length_ns, threads;
    uint64_t heads; /* steps that end with the product with a vocabulary */
    uint32_t kind;
};

/** All steps so far; zero-initialised: none. */
struct lp_step_groups {
    struct lp_hashmap rows;
    struct lp_step_group items[LP_STEP_GROUPS]; /* further ones are in the last one */
    uint32_t count;
};

/** Set the kinds of steps of a model that generates text; all are LP_STEP_ANY if they do not differ
 * in the way that prefill and decode do. 0 or LLMPERF_ENOMEM. */
int lp_steps_name(const struct lp_token *tokens, struct lp_steps *steps,
                  const struct lp_layers *layers, struct lp_step_groups *groups);

#endif
