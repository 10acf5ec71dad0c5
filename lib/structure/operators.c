/* SPDX-License-Identifier: Apache-2.0 */
/** What the launches of a layer compute, by their class and their place around the attention. */
#include "lib/structure/inside.h"

static const char *const names[LP_OPERATORS] = { "norm",   "qkv",     "rope",       "attention",
                                                 "o",      "up_gate", "act",        "down",
                                                 "router", "experts", "collective", "other" };

const char *lp_operator_name(enum lp_operator operator)
{
    return names[operator];
}

/* Products of a layer after the first one that follows its attention, and where these are. */
struct plan {
    uint32_t attention, o, last; /* tokens; `end` of the layer: none */
    bool unfused;                /* products beside the softmax are attention, too */
    bool has_experts;
};

static struct plan make_plan(const struct lp_token *tokens, uint32_t begin, uint32_t end)
{
    struct plan plan = { end, end, end, false, false };
    uint32_t after = 0;

    for (uint32_t i = begin; i < end; i++) {
        uint8_t role = tokens[i].role;

        plan.has_experts |= role == LP_ROLE_EXPERTS;
        if (plan.attention == end && (role == LP_ROLE_ATTENTION || role == LP_ROLE_SOFTMAX)) {
            plan.attention = i;
            plan.unfused = role == LP_ROLE_SOFTMAX;
        }
        if (role != LP_ROLE_PRODUCT || plan.attention == end)
            continue;
        if (after++ == plan.unfused)
            plan.o = i;
        plan.last = i;
    }
    return plan;
}

static enum lp_operator product_of(const struct lp_token *tokens, const struct plan *plan,
                                   uint32_t at)
{
    if (plan->unfused && at < plan->o && at + 3 > plan->attention)
        return LP_OPERATOR_ATTENTION;
    if (at < plan->attention)
        return LP_OPERATOR_QKV;
    if (at == plan->o)
        return LP_OPERATOR_O;
    if (plan->has_experts &&
        (tokens[at + 1].role == LP_ROLE_SAMPLING || tokens[at + 1].role == LP_ROLE_EXPERTS))
        return LP_OPERATOR_ROUTER;
    return at == plan->last ? LP_OPERATOR_DOWN : LP_OPERATOR_UP_GATE;
}

void lp_layer_operators(struct lp_structure *structure, uint32_t begin, uint32_t end)
{
    const struct lp_token *tokens = structure->some.items;
    struct plan plan = make_plan(tokens, begin, end);
    enum lp_operator before = LP_OPERATOR_OTHER;

    for (uint32_t i = begin; i < end && plan.attention < end; i++) {
        uint8_t role = tokens[i].role;
        enum lp_operator operator= role == LP_ROLE_NORM              ? LP_OPERATOR_NORM
        : role == LP_ROLE_ATTENTION || role == LP_ROLE_SOFTMAX       ? LP_OPERATOR_ATTENTION
        : role == LP_ROLE_COLLECTIVE                                 ? LP_OPERATOR_COLLECTIVE
        : role == LP_ROLE_SUM                                        ? before
        : role == LP_ROLE_EXPERTS                                    ? LP_OPERATOR_EXPERTS
        : role == LP_ROLE_SAMPLING                                   ? LP_OPERATOR_ROUTER
        : role == LP_ROLE_PRODUCT && i + 1<structure->some.count     ? product_of(tokens, &plan, i)
        : before == LP_OPERATOR_QKV || before == LP_OPERATOR_ROPE    ? LP_OPERATOR_ROPE
        : before == LP_OPERATOR_UP_GATE || before == LP_OPERATOR_ACT ? LP_OPERATOR_ACT
                                                                     : LP_OPERATOR_OTHER;

        structure->operators[operator].launches++;
        structure->operators[operator].busy_ns += tokens[i].length_ns;
        before = operator;
    }
}
