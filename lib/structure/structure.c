/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/structure/structure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/record/paths.h"
#include "lib/structure/inside.h"

#define HELD_MOST 262144u /* activities, 20 MiB */
#define HELD_NS                                                                                    \
    UINT64_C(10000000000) /* for a search before the end; twice as long after each one             \
                             without a result, up to the longest */
#define LONGEST_NS (6 * HELD_NS)

/* Libraries mark ranges of their own in every program that uses them: XLA, NCCL, CCCL, cuDNN. */
static const char *const foreign_domains[] = { "xla@",   "TSL@",   "NCCL@",   "CCCL@",
                                               "cuDNN@", "cudnn@", "cublas@", "cuBLAS@" };

bool lp_structure_is_foreign(uint32_t node)
{
    if (node == LP_PATH_ROOT || node == LP_PATH_UNKNOWN)
        return true;
    while (lp_path_get(node)->parent != LP_PATH_ROOT)
        node = lp_path_get(node)->parent;
    for (size_t i = 0; i < LP_LENGTH(foreign_domains); i++)
        if (!strncmp(lp_path_get(node)->label, foreign_domains[i], strlen(foreign_domains[i])))
            return true;
    return false;
}

struct lp_structure *lp_structure_create(const struct lp_attribution_sink *next,
                                         const struct lp_names *names)
{
    struct lp_structure *structure = calloc(1, sizeof(*structure));

    if (!structure)
        return NULL;
    structure->next = *next;
    structure->names = names;
    structure->wait_ns = HELD_NS;
    for (size_t i = 0; i < LP_STEP_KINDS; i++)
        structure->nodes[i] = LP_PATH_UNKNOWN;
    return structure;
}

void lp_structure_free(struct lp_structure *structure)
{
    if (!structure)
        return;
    lp_vector_clear(&structure->held);
    lp_vector_clear(&structure->roles);
    lp_vector_clear(&structure->elements);
    lp_vector_clear(&structure->tokens);
    lp_vector_clear(&structure->some);
    lp_vector_clear(&structure->places);
    lp_vector_clear(&structure->steps);
    for (size_t i = 0; i < LP_STEP_KINDS; i++)
        lp_vector_clear(&structure->layer_nodes[i]);
    lp_hashmap_clear(&structure->groups.rows);
    free(structure);
}

void lp_structure_set_classes(struct lp_structure *structure, struct lp_kernel_classes *classes)
{
    structure->classes = classes;
}

void lp_structure_set_hidden(struct lp_structure *structure, uint64_t hidden)
{
    structure->hidden = hidden;
}

/* Pass on all that is held, as it came. */
static void release(struct lp_structure *structure)
{
    structure->steps.count = structure->places.count = 0;
    if (structure->held.count > 0)
        lp_structure_pass(structure, (uint32_t)structure->held.count);
    structure->wait_ns = HELD_NS;
}

static void search(struct lp_structure *structure, bool final)
{
    uint32_t cut = 0;

    if (lp_structure_search(structure, final) < 0) {
        release(structure);
        return;
    }
    structure->wait_ns = structure->steps.count > 0 ? HELD_NS : 2 * structure->wait_ns;
    if (final)
        cut = (uint32_t)structure->held.count;
    else if (structure->steps.count > 0)
        cut = structure->kept_from;
    else if (structure->held.count >= HELD_MOST)
        cut = HELD_MOST / 2; /* the rest may be the begin of a loop */
    structure->follows = structure->steps.count > 0;
    lp_structure_pass(structure, cut);
    if (structure->held.count >= HELD_MOST)
        release(structure);
}

static void mark(struct lp_structure *structure)
{
    release(structure);
    structure->marked = true;
}

void lp_structure_mark(void *context, uint32_t node)
{
    struct lp_structure *structure = context;

    if (!structure->marked && !structure->passing && !lp_structure_is_foreign(node) &&
        lp_path_stage(node) != LP_PATH_ROOT)
        mark(structure);
}

/* Is an activity in a region of the program? Mostly it is in the same region as the one before. */
struct owner {
    uint32_t node;
    bool own;
};

static bool is_own(struct owner *last, uint32_t node)
{
    if (node != last->node)
        *last = (struct owner){ node, !lp_structure_is_foreign(node) };
    return last->own;
}

/* Memcpys in regions of the program stay there. */
static void hold(struct lp_structure *structure, const struct lp_activity *activities, size_t count,
                 bool own)
{
    lp_structure_pass_those(structure, activities, count, true);
    if (own) {
        lp_structure_pass_those(structure, activities, count, false);
        return;
    }
    memcpy(structure->held.items + structure->held.count, activities, count * sizeof(*activities));
    structure->held.count += count;
}

bool lp_structure_take(void *context, const struct lp_activity *activities, size_t count)
{
    struct lp_structure *structure = context;
    struct owner last = { LP_PATH_ROOT, false };
    bool mixed = false;

    if (structure->marked || structure->passing || !structure->classes)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool own = is_own(&last, activities[i].node);

        if (own && activities[i].kind == LLMPERF_ACTIVITY_KERNEL) {
            mark(structure);
            return false;
        }
        mixed |= own;
    }
    if (lp_vector_reserve(&structure->held, count) < 0)
        return false;
    for (size_t i = 0, end; i < count; i = end) {
        bool own = mixed && is_own(&last, activities[i].node);

        for (end = mixed ? i + 1 : count; end < count; end++)
            if (is_own(&last, activities[end].node) != own)
                break;
        hold(structure, &activities[i], end - i, own);
    }
    if (structure->held.count >= HELD_MOST)
        search(structure, false);
    return true;
}

static uint64_t held_ns(const struct lp_structure *structure)
{
    const struct lp_activity *held = structure->held.items;
    size_t count = structure->held.count;

    return held[count - 1].end_ns > held[0].start_ns ? held[count - 1].end_ns - held[0].start_ns
                                                     : 0;
}

void lp_structure_settle(struct lp_structure *structure, enum lp_structure_need need,
                         const struct lp_attribution *attribution)
{
    structure->attribution = attribution;
    if (structure->marked || structure->held.count == 0)
        return;
    if (need != LP_STRUCTURE_SOME || held_ns(structure) >= structure->wait_ns)
        search(structure, need == LP_STRUCTURE_END);
    if (structure->held.count > 0 && !structure->follows &&
        (need == LP_STRUCTURE_ALL || held_ns(structure) >= LONGEST_NS))
        release(structure);
}
