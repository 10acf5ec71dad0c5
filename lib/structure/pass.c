/* SPDX-License-Identifier: Apache-2.0 */
/** Passes held activities on: those of steps as device work of stages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/structure/inside.h"
#include "llmperf/region.h"

const char *const lp_step_labels[LP_STEP_KINDS] = { "found@step", "found@prefill", "found@decode" };

static uint32_t step_node(struct lp_structure *structure, uint32_t kind)
{
    if (structure->nodes[kind] == LP_PATH_UNKNOWN)
        structure->nodes[kind] = lp_path_intern(LP_PATH_ROOT, lp_step_labels[kind]);
    return structure->nodes[kind];
}

static uint32_t layer_node(struct lp_structure *structure, uint32_t kind, uint32_t layer)
{
    uint32_t parent = step_node(structure, kind);
    char label[32];

    while (structure->layer_nodes[kind].count <= layer) {
        snprintf(label, sizeof(label), "found@layer%02u",
                 (unsigned)structure->layer_nodes[kind].count);
        if (lp_vector_push(&structure->layer_nodes[kind], lp_path_intern(parent, label)) < 0)
            return parent;
    }
    return structure->layer_nodes[kind].items[layer];
}

/* Stages of libraries keep their work: it was passed on when it came. */
void lp_structure_pass_those(struct lp_structure *structure, const struct lp_activity *activities,
                             size_t count, bool of_stages)
{
    bool passing = structure->passing;

    structure->passing = true;
    for (size_t i = 0, end; i < count; i = end) {
        bool of_stage = activities[i].unit != LP_UNIT_NONE;

        for (end = i + 1; end < count && (activities[end].unit != LP_UNIT_NONE) == of_stage; end++)
            ;
        if (of_stage == of_stages)
            structure->next.activities(structure->next.context, &activities[i], end - i);
    }
    structure->passing = passing;
}

static bool has_stage(const struct lp_activity *work, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (work[i].unit != LP_UNIT_NONE)
            return true;
    return false;
}

static uint64_t returned_ns(const struct lp_activity *activity)
{
    uint64_t returned = lp_found_launched(activity) + activity->call_ns;

    return returned > activity->end_ns ? returned : activity->end_ns;
}

/* The time of a layer is that of its device work, from the first start to the last end. */
static void pass_layers(struct lp_structure *structure, uint32_t kind,
                        const struct lp_activity *work, const struct lp_found_place *places,
                        size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t first_ns = work[i].start_ns, last_ns = work[i].end_ns;

        for (end = i; end < count && places[end].layer == places[i].layer; end++) {
            first_ns = work[end].start_ns < first_ns ? work[end].start_ns : first_ns;
            last_ns = work[end].end_ns > last_ns ? work[end].end_ns : last_ns;
        }
        if (places[i].layer != LP_FOUND_NONE)
            structure->next.region(structure->next.context,
                                   layer_node(structure, kind, places[i].layer), last_ns - first_ns,
                                   false, LP_WINDOW_NOT);
    }
}

static void pass_amounts(struct lp_structure *structure, uint32_t node, uint32_t unit,
                         const struct lp_found_amounts *amounts)
{
    const struct lp_attribution_sink *next = &structure->next;
    const uint64_t known[] = { amounts->tokens, amounts->sequences, amounts->context };

    for (uint32_t i = 0; i < LP_LENGTH(known); i++) {
        next->count(next->context, node, LLMPERF_QUANTITY_TOKENS + i,
                    known[i] > 0 ? known[i] : LLMPERF_UNKNOWN, LP_WINDOW_NOT);
        if (known[i] > 0)
            next->units.count(next->context, unit, LLMPERF_QUANTITY_TOKENS + i, known[i]);
    }
}

/* A step lasts until the next one launches, or its own work is done and its calls have returned. */
static void pass_step(struct lp_structure *structure, const struct lp_found_step *step,
                      uint64_t next_ns, const struct lp_found_amounts *amounts,
                      struct lp_activity *work, const struct lp_found_place *places, size_t count)
{
    const struct lp_attribution_sink *next = &structure->next;
    uint32_t node = step_node(structure, step->kind);
    uint32_t unit = (uint32_t)++structure->generation << 16 | LP_UNIT_FOUND;
    struct lp_found_loop *loop = &structure->loops[step->kind];
    uint64_t end_ns = step->begin_ns;

    loop->steps++;
    loop->launches += count;
    for (size_t i = 0; i < count; i++)
        loop->busy_ns += work[i].end_ns - work[i].start_ns;
    if (has_stage(work, count)) {
        structure->in_others = true;
        lp_structure_pass_those(structure, work, count, false);
        return;
    }
    next->units.begin(next->context, unit, LP_UNIT_NONE, node, step->begin_ns, true, 0, 0);
    pass_amounts(structure, node, unit, amounts);
    for (size_t i = 0; i < count; i++) {
        work[i].node = places[i].layer == LP_FOUND_NONE
                           ? node
                           : layer_node(structure, step->kind, places[i].layer);
        work[i].unit = unit;
        end_ns = returned_ns(&work[i]) > end_ns ? returned_ns(&work[i]) : end_ns;
    }
    end_ns = next_ns > step->begin_ns && next_ns < end_ns ? next_ns : end_ns;
    next->activities(next->context, work, count);
    pass_layers(structure, step->kind, work, places, count);
    next->region(next->context, node, end_ns - step->begin_ns, false, LP_WINDOW_NOT);
    next->units.end(next->context, unit, end_ns, false);
    next->units.done(next->context, unit);
}

/* Where an activity is passed on: 0 in no step, one more than its step, or not yet. */
#define NOT_YET UINT32_MAX

static uint32_t part_of(const struct lp_structure *structure, uint32_t at, uint32_t cut)
{
    uint32_t step = at < structure->places.count ? structure->places.items[at].step : LP_FOUND_NONE;

    return step != LP_FOUND_NONE ? step + 1 : at < cut ? 0 : NOT_YET;
}

/* Activities by part, each part in the order of launches. */
struct sorted {
    struct lp_activity *work;
    struct lp_found_place *places;
    uint32_t *ends;                   /* by part */
    struct lp_found_amounts *amounts; /* by step */
};

static void count_work(struct lp_structure *structure, const struct lp_activity *activity,
                       bool covered)
{
    uint64_t length_ns = activity->end_ns - activity->start_ns;

    structure->kernels += activity->kind == LLMPERF_ACTIVITY_KERNEL;
    structure->device_ns += length_ns;
    structure->covered_ns += covered ? length_ns : 0;
}

static int sort_by_part(struct lp_structure *structure, uint32_t cut, struct sorted *sorted)
{
    static const struct lp_found_place nowhere = { LP_FOUND_NONE, LP_FOUND_NONE };
    uint32_t parts = (uint32_t)structure->steps.count + 1, count = (uint32_t)structure->held.count;
    uint32_t left = 0;

    sorted->work = malloc((count + 1) * sizeof(*sorted->work));
    sorted->places = malloc((count + 1) * sizeof(*sorted->places));
    sorted->ends = calloc(parts + 1, sizeof(*sorted->ends));
    sorted->amounts = calloc(parts, sizeof(*sorted->amounts));
    if (!sorted->work || !sorted->places || !sorted->ends || !sorted->amounts)
        return lp_out_of_memory();
    for (uint32_t i = 0; i < count; i++)
        if (part_of(structure, i, cut) != NOT_YET)
            sorted->ends[part_of(structure, i, cut) + 1]++;
    for (uint32_t i = 1; i <= parts; i++)
        sorted->ends[i] += sorted->ends[i - 1];
    for (uint32_t i = 0; i < count; i++) { /* each begin moves to the end of its part */
        uint32_t part = part_of(structure, i, cut);

        if (part == NOT_YET) {
            structure->held.items[left++] = structure->held.items[i];
            continue;
        }
        count_work(structure, &structure->held.items[i], part > 0);
        sorted->work[sorted->ends[part]] = structure->held.items[i];
        sorted->places[sorted->ends[part]++] = part > 0 ? structure->places.items[i] : nowhere;
    }
    structure->held.count = left;
    return 0;
}

static void read_amounts(struct lp_structure *structure, const struct sorted *sorted)
{
    for (uint32_t i = 0; i < structure->steps.count; i++) {
        uint32_t begin = sorted->ends[i], count = sorted->ends[i + 1] - begin;

        sorted->amounts[i] =
            lp_amounts_read(structure, sorted->work + begin, sorted->places + begin, count);
        if (structure->steps.items[i].kind == LP_STEP_DECODE)
            lp_amounts_learn(structure, &sorted->amounts[i]);
    }
}

static void pass_sorted(struct lp_structure *structure, const struct sorted *sorted)
{
    lp_structure_pass_those(structure, sorted->work, sorted->ends[0], false);
    read_amounts(structure, sorted);
    for (uint32_t i = 0; i < structure->steps.count; i++) {
        const struct lp_found_step *step = &structure->steps.items[i];
        const struct lp_found_step *next = i + 1 < structure->steps.count ? step + 1 : NULL;
        uint32_t begin = sorted->ends[i], count = sorted->ends[i + 1] - begin;

        if (count == 0)
            continue;
        lp_amounts_follow(structure, step->kind, sorted->work[begin].correlation,
                          sorted->work[begin + count - 1].correlation,
                          next && next->kind == LP_STEP_PREFILL, &sorted->amounts[i]);
        pass_step(structure, step, next ? next->begin_ns : 0, &sorted->amounts[i],
                  sorted->work + begin, sorted->places + begin, count);
    }
}

void lp_structure_pass(struct lp_structure *structure, uint32_t cut)
{
    struct sorted sorted = { NULL, NULL, NULL, NULL };

    structure->passing = true;
    if (cut > 0)
        structure->passed = structure->held.items[cut - 1].correlation;
    if (sort_by_part(structure, cut, &sorted) == 0) {
        pass_sorted(structure, &sorted);
    } else {
        lp_structure_pass_those(structure, structure->held.items, structure->held.count, false);
        structure->held.count = 0;
    }
    free(sorted.work);
    free(sorted.places);
    free(sorted.ends);
    free(sorted.amounts);
    structure->steps.count = structure->places.count = 0;
    structure->passing = false;
}
