/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of lp_structure, for lib/structure only. */
#ifndef LP_STRUCTURE_INSIDE_H
#define LP_STRUCTURE_INSIDE_H

#include "lib/base/vector.h"
#include "lib/structure/layers.h"
#include "lib/structure/structure.h"

#define LP_FOUND_LAYERS 1000u /* at most */

/** No step, or no layer. */
#define LP_FOUND_NONE UINT32_MAX

/** A step among the held activities. */
struct lp_found_step {
    uint64_t begin_ns; /* of its first launch */
    uint32_t kind;     /* enum lp_step_kind */
};

/** What the launches of a step say of it; 0: not known. */
struct lp_found_amounts {
    uint64_t tokens, sequences, context; /* LLMPERF_QUANTITY_… */
    uint64_t choice;                     /* name and shape of the launch that chooses tokens */
    uint64_t choice_blocks;
    bool cached; /* by an engine that may keep the cache of earlier prompts */
};

/** A launch that chooses the tokens of a number of sequences; 0: of different ones. */
struct lp_found_choice {
    uint64_t key, sequences;
};

#define LP_FOUND_CHOICES 32u

/** The sequences that are decoded now; 0: not known. */
struct lp_found_request {
    uint64_t sequences, context;
    uint32_t last;  /* correlation id of the last launch */
    bool in_prompt; /* no step of decode so far */
};

/** Where an activity belongs. */
struct lp_found_place {
    uint32_t step, layer; /* LP_FOUND_NONE: none */
};

/** Steps of one kind so far. */
struct lp_found_loop {
    uint64_t steps, launches, busy_ns;
};

/** Parts of a layer. */
enum lp_operator {
    LP_OPERATOR_NORM,
    LP_OPERATOR_QKV,
    LP_OPERATOR_ROPE, /* and all else between these products and attention, such as the cache */
    LP_OPERATOR_ATTENTION,
    LP_OPERATOR_O,
    LP_OPERATOR_UP_GATE,
    LP_OPERATOR_ACT,
    LP_OPERATOR_DOWN,
    LP_OPERATOR_ROUTER,
    LP_OPERATOR_EXPERTS,
    LP_OPERATOR_COLLECTIVE,
    LP_OPERATOR_OTHER,
    LP_OPERATORS
};

struct lp_structure {
    struct lp_attribution_sink next;
    const struct lp_names *names;
    struct lp_kernel_classes *classes;
    const struct lp_attribution *attribution; /* NULL: not settled yet */
    LP_VECTOR(struct lp_activity) held;       /* in the order of launches during a search */
    LP_VECTOR(uint8_t) roles;                 /* by name, + 1; 0: not asked yet */
    LP_VECTOR(uint64_t) elements;             /* by name, + 1; 0: not asked yet */
    uint64_t hidden;                          /* size of the model's hidden state; 0: not known */
    uint64_t wait_ns;                         /* time that the next search needs */
    bool marked;                              /* the program marks regions */
    bool passing;                             /* what is passed on is not taken again */
    bool follows;                             /* the first one held is the one after a step */
    uint32_t passed;                          /* correlation id of the launch before it */
    struct lp_step_groups groups;

    /* Results of a search. */
    LP_VECTOR(struct lp_token) tokens;
    LP_VECTOR(struct lp_token) some;         /* of one device or stream */
    LP_VECTOR(struct lp_found_place) places; /* by activity */
    LP_VECTOR(struct lp_found_step) steps;
    uint32_t kept_from; /* first activity that is held on to */

    /* All results so far. */
    struct lp_found_loop loops[LP_STEP_KINDS];
    struct lp_found_loop operators[LP_OPERATORS]; /* of all layers; no steps */
    uint32_t layers, layer_kernels;
    uint64_t kernels, device_ns, covered_ns;
    double confidence, steps_judged; /* Σ confidence of a search x its steps */
    const char *reason;              /* why the last search found nothing */
    uint32_t nodes[LP_STEP_KINDS];
    LP_VECTOR(uint32_t) layer_nodes[LP_STEP_KINDS];
    uint16_t generation; /* of the unit */
    bool in_others;      /* steps are in stages that a library marks */

    /* For the amounts of steps. */
    struct lp_found_request request;
    struct lp_found_choice choices[LP_FOUND_CHOICES];
    uint32_t choice_count;
};

/** Time of the call that launched an activity. */
static inline uint64_t lp_found_launched(const struct lp_activity *activity)
{
    return activity->start_ns - lp_queued_before(activity->start_ns, activity->queued);
}

/** Labels of steps. */
extern const char *const lp_step_labels[LP_STEP_KINDS];

const char *lp_operator_name(enum lp_operator operator);

/** Count the launches of a layer, tokens of `some`. */
void lp_layer_operators(struct lp_structure *structure, uint32_t begin, uint32_t end);

/** Were launches between these two correlation ids not collected? */
bool lp_structure_missed(const struct lp_structure *structure, uint32_t after, uint32_t before);

/** Tokens of a step, and the launch that chooses the next ones. */
struct lp_found_amounts lp_amounts_read(struct lp_structure *structure,
                                        const struct lp_activity *work,
                                        const struct lp_found_place *places, size_t count);

/** A step of decode computes one token of each sequence: learn which launch chooses for how many.
 */
void lp_amounts_learn(struct lp_structure *structure, const struct lp_found_amounts *amounts);

/** Set sequences and context of the next step.
 * @param first, last  Correlation ids of its launches.
 * @param prefill_follows  The step after it is a prefill. */
void lp_amounts_follow(struct lp_structure *structure, uint32_t kind, uint32_t first, uint32_t last,
                       bool prefill_follows, struct lp_found_amounts *amounts);

/** Role of an activity by its name. */
uint8_t lp_structure_role(struct lp_structure *structure, const struct lp_activity *activity);

/** Find the steps among the held activities: sets the results of a search. 0 or LLMPERF_ENOMEM. */
int lp_structure_search(struct lp_structure *structure, bool final);

/** Pass on the held activities of steps, as device work of these, and all others before `cut`. */
void lp_structure_pass(struct lp_structure *structure, uint32_t cut);

/** Pass on activities that are in stages of libraries, or those that are not. */
void lp_structure_pass_those(struct lp_structure *structure, const struct lp_activity *activities,
                             size_t count, bool of_stages);

/** Is the region of an activity marked by a library that the program uses, not by itself? */
bool lp_structure_is_foreign(uint32_t node);

#endif
