/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the steps of a program in the order of its launches. docs/explanation/structure.md
 * explains the method. For lib/structure only. @threads one at a time per object */
#ifndef LP_STRUCTURE_STEPS_H
#define LP_STRUCTURE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** What a kernel's class says of its place in a model. */
enum lp_role {
    LP_ROLE_OTHER,
    LP_ROLE_ATTENTION,
    LP_ROLE_SOFTMAX, /* of attention that is not fused, or of anything else */
    LP_ROLE_PRODUCT,
    LP_ROLE_EXPERTS,
    LP_ROLE_SUM, /* of a product that was split */
    LP_ROLE_SAMPLING,
    LP_ROLE_NORM,
    LP_ROLE_COLLECTIVE,
    LP_ROLE_BACKWARD, /* of training */
    LP_ROLE_MEMORY,   /* a memset, or a copy within the device; all below are copies too */
    LP_ROLE_COPY_OUT, /* to the host */
    LP_ROLE_COPY_IN
};

/** A launch, in the order of launches. */
struct lp_token {
    uint64_t launch_ns;
    uint32_t key; /* its name */
    uint32_t length_ns;
    uint32_t threads;  /* of its grid; 0: not known */
    uint32_t activity; /* index */
    uint8_t role;      /* enum lp_role */
    bool cut;          /* what ran before it was not collected */
};

/** A step: tokens from `begin` up to `end`, and its units in `units` of the result. */
struct lp_step {
    uint32_t begin, end;
    uint32_t first_unit, units;
    uint32_t kind; /* enum lp_step_kind, see kinds.h */
};

/** Units are the attentions of a pass, or its matrix products if it has no attention. */
struct lp_steps {
    LP_VECTOR(uint32_t) units; /* tokens */
    LP_VECTOR(struct lp_step) items;
    bool by_attention;
    uint32_t units_per_step; /* of most steps; 0: no steps were found */
    uint32_t second;         /* units of the steps of a smaller model; 0: there is one model */
    uint32_t kept_from;      /* first token of the step that is not complete yet */
    double confidence;       /* share of the units in steps that recur, 0 to 1 */
};

/** Units of all steps. */
uint64_t lp_steps_units(const struct lp_steps *steps);

/** Find the steps. 0 or LLMPERF_ENOMEM.
 * @param final  The last step may end with the tokens.
 * @param follows  The first launch is the one after a step. */
int lp_steps_find(const struct lp_token *tokens, uint32_t count, bool final, bool follows,
                  struct lp_steps *steps_out);
void lp_steps_clear(struct lp_steps *steps);

/** Move the steps of the smaller model to a list that shares the units. 0 or LLMPERF_ENOMEM. */
int lp_steps_split(struct lp_steps *steps, struct lp_steps *second_out);

#endif
