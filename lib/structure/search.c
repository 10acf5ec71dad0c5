/* SPDX-License-Identifier: Apache-2.0 */
/** Searches the held activities for steps: all launches together, then those of each stream alone.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/shapes.h"
#include "lib/structure/inside.h"

#define STREAMS     32u
#define LEAST_SHARE 10u /* of a stream, percent of the device time */
#define MOST        0.9 /* of the units, in steps: else streams may have steps of their own */
#define SURE        0.8 /* confidence below which nothing is claimed */

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

static uint8_t role_of_class(struct lp_kernel_classes *classes, const char *name, uint32_t kind)
{
    static const char *const backward[] = { "bwd",   "backward", "Backward",           "bprop",
                                            "dgrad", "wgrad",    "multi_tensor_apply", NULL };
    static const char *const sums[] = { "splitKreduce", "splitk_reduce", "split_k_reduce", NULL };
    static const struct {
        const char *class;
        uint8_t role;
    } roles[] = { { "attention", LP_ROLE_ATTENTION }, { "GEMM", LP_ROLE_PRODUCT },
                  { "MoE", LP_ROLE_EXPERTS },         { "sampling", LP_ROLE_SAMPLING },
                  { "norm", LP_ROLE_NORM },           { "collective", LP_ROLE_COLLECTIVE } };
    const char *class = lp_kernel_class(classes, name, kind);

    if (has_word(name, backward))
        return LP_ROLE_BACKWARD;
    if (!strcmp(class, "GEMM") && has_word(name, sums))
        return LP_ROLE_SUM;
    for (size_t i = 0; i < LP_LENGTH(roles); i++)
        if (!strcmp(class, roles[i].class))
            return roles[i].role;
    return !strcmp(class, "reduction") && lp_is_unfused_attention(classes, name) ? LP_ROLE_SOFTMAX
                                                                                 : LP_ROLE_OTHER;
}

static uint8_t find_role(struct lp_structure *structure, const struct lp_activity *activity)
{
    const char *symbol = lp_names_text(structure->names, activity->name);
    struct lp_text name = { NULL, 0, 0, false };
    uint8_t role = LP_ROLE_OTHER;

    if (!symbol)
        return role;
    if (activity->kind != LLMPERF_ACTIVITY_KERNEL)
        return strstr(symbol, "DtoH")   ? LP_ROLE_COPY_OUT
               : strstr(symbol, "HtoD") ? LP_ROLE_COPY_IN
                                        : LP_ROLE_MEMORY;
    lp_kernel_demangle(&name, symbol);
    if (!name.failed)
        role = role_of_class(structure->classes, name.bytes, activity->kind);
    lp_text_clear(&name);
    return role;
}

uint8_t lp_structure_role(struct lp_structure *structure, const struct lp_activity *activity)
{
    uint8_t *role = lp_vector_at(&structure->roles, activity->name);

    if (!role)
        return LP_ROLE_OTHER;
    if (*role == 0)
        *role = (uint8_t)(1 + find_role(structure, activity));
    return *role - 1;
}

/* The order of launches: of the calls, then of the nodes of a graph, which are numbered as they
 * were created. */
static int compare_launches(const void *left, const void *right)
{
    const struct lp_activity *a = left, *b = right;

    if (a->correlation != b->correlation)
        return LP_ORDER(a->correlation, b->correlation);
    if (a->graph_node != b->graph_node)
        return LP_ORDER(a->graph_node, b->graph_node);
    return LP_ORDER(a->start_ns, b->start_ns);
}

static void sort_launches(struct lp_structure *structure)
{
    struct lp_activity *held = structure->held.items;
    size_t count = structure->held.count, ordered = 1;

    while (ordered < count && compare_launches(&held[ordered - 1], &held[ordered]) <= 0)
        ordered++;
    if (ordered < count)
        lp_vector_sort(&structure->held, compare_launches);
}

static uint32_t threads_of(const struct lp_structure *structure, const struct lp_activity *activity)
{
    const struct lp_shape *shape = lp_shapes_get(&structure->names->shapes, activity->shape);
    double threads = 1;

    for (size_t i = 0; shape && i < 3; i++)
        threads *= (double)shape->grid[i] * shape->block[i];
    return !shape ? 0 : threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
}

bool lp_structure_missed(const struct lp_structure *structure, uint32_t after, uint32_t before)
{
    return structure->attribution && lp_attribution_missed(structure->attribution, after, before);
}

static int make_tokens(struct lp_structure *structure)
{
    static const struct lp_found_place nowhere = { LP_FOUND_NONE, LP_FOUND_NONE };
    uint32_t before = structure->passed;

    structure->tokens.count = structure->places.count = structure->steps.count = 0;
    if (lp_vector_reserve(&structure->tokens, structure->held.count) < 0 ||
        lp_vector_reserve(&structure->places, structure->held.count) < 0)
        return lp_out_of_memory();
    for (size_t i = 0; i < structure->held.count; i++) {
        const struct lp_activity *activity = &structure->held.items[i];
        uint64_t length_ns = activity->end_ns - activity->start_ns;

        structure->places.items[structure->places.count++] = nowhere;
        structure->tokens.items[structure->tokens.count++] = (struct lp_token){
            lp_found_launched(activity),
            activity->name,
            length_ns < UINT32_MAX ? (uint32_t)length_ns : UINT32_MAX,
            threads_of(structure, activity),
            (uint32_t)i,
            lp_structure_role(structure, activity),
            lp_structure_missed(structure, before, activity->correlation),
        };
        before = activity->correlation;
    }
    return 0;
}

static bool is_of(const struct lp_activity *activity, uint32_t device, uint32_t stream)
{
    return (device == LP_FOUND_NONE || activity->device == device) &&
           (stream == LP_FOUND_NONE || activity->stream == stream);
}

static int choose_tokens(struct lp_structure *structure, uint32_t device, uint32_t stream)
{
    structure->some.count = 0;
    for (size_t i = 0; i < structure->tokens.count; i++)
        if (is_of(&structure->held.items[i], device, stream) &&
            lp_vector_push(&structure->some, structure->tokens.items[i]) < 0)
            return lp_out_of_memory();
    return 0;
}

/* Activities between the first and the last of a step belong to it, on whatever stream. */
static void place_step(struct lp_structure *structure, const struct lp_step *step, bool alone)
{
    const struct lp_token *tokens = structure->some.items;
    uint32_t number = (uint32_t)structure->steps.count - 1;
    uint32_t end = tokens[step->end - 1].activity;

    for (uint32_t i = step->begin; i < step->end; i++)
        structure->places.items[tokens[i].activity].step = number;
    for (uint32_t i = tokens[step->begin].activity; !alone && i <= end; i++)
        structure->places.items[i].step = number;
}

static void place_layers(struct lp_structure *structure, const uint32_t *starts, uint32_t count)
{
    for (uint32_t layer = 0; layer < count; layer++) {
        lp_layer_operators(structure, starts[layer], starts[layer + 1]);
        for (uint32_t i = starts[layer]; i < starts[layer + 1]; i++)
            structure->places.items[structure->some.items[i].activity].layer = layer;
    }
}

static int place_steps(struct lp_structure *structure, const struct lp_steps *steps,
                       const struct lp_layers *layers, bool alone)
{
    uint32_t starts[LP_FOUND_LAYERS + 1];

    for (size_t i = 0; i < steps->items.count; i++) {
        const struct lp_step *step = &steps->items.items[i];
        struct lp_found_step found = { structure->some.items[step->begin].launch_ns, step->kind };

        if (step->begin >= step->end)
            continue;
        if (lp_vector_push(&structure->steps, found) < 0)
            return lp_out_of_memory();
        place_step(structure, step, alone);
        if (layers->count <= LP_FOUND_LAYERS &&
            lp_layers_of_step(structure->some.items, steps, layers, step, starts))
            place_layers(structure, starts, layers->count);
    }
    return 0;
}

static void note_result(struct lp_structure *structure, const struct lp_steps *steps,
                        const struct lp_layers *layers)
{
    double judged = (double)steps->items.count;

    structure->confidence += steps->confidence * judged;
    structure->steps_judged += judged;
    if (layers->count == 0 && structure->layers > 0)
        return;
    structure->layers = layers->count;
    structure->layer_kernels = layers->kernels;
}

/* Are most steps on a stream of their own each, and others on several? Then requests are served on
 * several streams, and launches of one lie in steps of another. */
static bool mixes_streams(const struct lp_structure *structure, const struct lp_steps *steps)
{
    const struct lp_activity *held = structure->held.items;
    const struct lp_token *tokens = structure->some.items;
    size_t pure = 0, first = 0, count = steps->items.count;
    uint32_t of_first = 0;

    for (size_t i = 0; i < count; i++) {
        const uint32_t *units = &steps->units.items[steps->items.items[i].first_unit];
        uint32_t stream = held[tokens[units[0]].activity].stream;
        bool alone = true;

        for (uint32_t k = 1; k < steps->items.items[i].units; k++)
            alone = alone && held[tokens[units[k]].activity].stream == stream;
        of_first = pure == 0 ? stream : of_first;
        pure += alone;
        first += alone && stream == of_first;
    }
    return pure < count && pure * 2 > count && (pure - first) * 100 > count * LEAST_SHARE;
}

static double covered(const struct lp_steps *steps)
{
    return steps->units.count > 0 ? (double)lp_steps_units(steps) / (double)steps->units.count : 0;
}

/* The layers and phases of the steps of a model. */
static int claim_steps(struct lp_structure *structure, struct lp_steps *steps, bool alone)
{
    const struct lp_token *tokens = structure->some.items;
    struct lp_layers layers = { 0 };
    int status;

    if (steps->items.count == 0)
        return 0;
    if ((status = lp_layers_find(tokens, steps, &layers)) < 0 ||
        (status = lp_layers_keep(tokens, steps, &layers)) < 0)
        return status;
    if (steps->items.count == 0 || steps->confidence < SURE)
        return 0;
    if ((status = lp_steps_name(tokens, steps, &layers, &structure->groups)) == 0 &&
        (status = place_steps(structure, steps, &layers, alone)) == 0)
        note_result(structure, steps, &layers);
    if (steps->kept_from < structure->some.count &&
        tokens[steps->kept_from].activity < structure->kept_from)
        structure->kept_from = tokens[steps->kept_from].activity;
    return status;
}

/* Search all launches, or those of a stream.
 * @param least  Share of the units that must be in steps. */
static int search_some(struct lp_structure *structure, uint32_t device, uint32_t stream,
                       double least, bool final)
{
    struct lp_steps steps = { .confidence = 0 }, second;
    int status = choose_tokens(structure, device, stream);

    if (status == 0)
        status = lp_steps_find(structure->some.items, (uint32_t)structure->some.count, final,
                               structure->follows, &steps);
    if (status == 0 && steps.items.count > 0 && steps.confidence >= SURE &&
        covered(&steps) >= least && !(least > 0 && mixes_streams(structure, &steps))) {
        if ((status = lp_steps_split(&steps, &second)) == 0 &&
            (status = claim_steps(structure, &second, stream != LP_FOUND_NONE)) == 0)
            status = claim_steps(structure, &steps, stream != LP_FOUND_NONE);
        lp_vector_clear(&second.items);
    }
    lp_steps_clear(&steps);
    return status;
}

/* Streams by their device time. */
struct lane {
    uint64_t busy_ns;
    uint32_t device, stream;
};

static uint32_t find_lanes(const struct lp_structure *structure, struct lane *lanes)
{
    uint32_t count = 0;

    for (size_t i = 0; i < structure->held.count; i++) {
        const struct lp_activity *activity = &structure->held.items[i];
        uint32_t stream = activity->stream, at = 0;

        while (at < count && (lanes[at].device != activity->device || lanes[at].stream != stream))
            at++;
        if (at == STREAMS)
            continue;
        if (at == count)
            lanes[count++] = (struct lane){ 0, activity->device, stream };
        lanes[at].busy_ns += activity->end_ns - activity->start_ns;
    }
    return count;
}

static int search_streams(struct lp_structure *structure, bool final)
{
    struct lane lanes[STREAMS];
    uint32_t count = find_lanes(structure, lanes);
    uint64_t all_ns = 0;
    int status = 0;

    for (uint32_t i = 0; i < count; i++)
        all_ns += lanes[i].busy_ns;
    for (uint32_t i = 0; i < count && count > 1 && status == 0; i++)
        if (lanes[i].busy_ns * 100 >= all_ns * LEAST_SHARE)
            status = search_some(structure, lanes[i].device, lanes[i].stream, 0, final);
    return status;
}

int lp_structure_search(struct lp_structure *structure, bool final)
{
    int status;

    uint32_t last = 0;

    sort_launches(structure);
    last = structure->held.items[structure->held.count - 1].correlation;
    final = final &&
            !lp_structure_missed(structure, last, last + UINT32_MAX / 2); /* it may lack its end */
    structure->kept_from = (uint32_t)structure->held.count;
    if ((status = make_tokens(structure)) == 0)
        status = search_some(structure, LP_FOUND_NONE, LP_FOUND_NONE, MOST, final);
    if (status == 0 && structure->steps.count == 0)
        status = search_streams(structure, final);
    if (status == 0 && structure->steps.count == 0)
        status = search_some(structure, LP_FOUND_NONE, LP_FOUND_NONE, 0, final);
    return status;
}
