/* SPDX-License-Identifier: Apache-2.0 */
/** Steps and layers that are found in launches of which the truth is known: of random engines, of
 * other programs, and of recordings whose regions are ignored. With an argument: more engines, or
 * what is found in a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "lib/attribution/attribution.h"
#include "lib/device/device.h"
#include "lib/record/paths.h"
#include "lib/structure/structure.h"
#include "llmperf/llmperf.h"
#include "tests/support/engine.h"

#define BATCH 1000u

/* What came out of the structure. */
struct seen {
    struct lp_kernel_classes *classes;
    uint32_t node; /* of the open step; LP_PATH_ROOT: none */
    uint64_t passed;
    LP_VECTOR(uint64_t) begins; /* first launch of each step; launches are numbered from 1 */
    LP_VECTOR(bool) prefills;   /* by step */
    uint64_t prefill_ns, decode_ns, steps[3]; /* any, prefill, decode */
    uint32_t layers;                          /* most of a step */
    uint64_t amounts[2][3];                   /* prefill, decode: tokens, sequences, context */
    char *found;                              /* JSON */
};

static const char *label_of(uint32_t node)
{
    while (lp_path_get(node)->depth > 1)
        node = lp_path_get(node)->parent;
    return lp_path_get(node)->label;
}

static void see_activities(void *context, const struct lp_activity *activities, size_t count)
{
    struct seen *seen = context;
    uint64_t first = UINT64_MAX;

    seen->passed += count;
    for (size_t i = 0; i < count && seen->node != LP_PATH_ROOT; i++) {
        uint64_t ns = activities[i].end_ns - activities[i].start_ns;

        first = activities[i].bytes < first ? activities[i].bytes : first;
        assert_string_equal(label_of(activities[i].node), label_of(seen->node));
        *(strcmp(label_of(seen->node), "found@prefill") ? &seen->decode_ns : &seen->prefill_ns) +=
            activities[i].kind == LLMPERF_ACTIVITY_KERNEL ? ns : 0;
    }
    if (seen->node != LP_PATH_ROOT)
        assert_int_equal(lp_vector_push(&seen->begins, first), 0);
}

static void see_region(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                       enum lp_in_window window)
{
    struct seen *seen = context;
    const char *name = lp_path_get(node)->name;

    (void)wall_ns, (void)truncated, (void)window;
    if (!strncmp(name, "layer", 5) && (uint32_t)atoi(name + 5) + 1 > seen->layers)
        seen->layers = (uint32_t)atoi(name + 5) + 1;
}

static void see_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                      enum lp_in_window window)
{
    struct seen *seen = context;

    (void)window;
    assert_in_range(quantity, LLMPERF_QUANTITY_TOKENS, LLMPERF_QUANTITY_CONTEXT);
    if (amount != LLMPERF_UNKNOWN)
        seen->amounts[strcmp(label_of(node), "found@decode") == 0][quantity - 1] += amount;
}

static void see_unit_count(void *context, uint32_t unit, uint32_t quantity, uint64_t amount)
{
    (void)context, (void)unit, (void)quantity;
    assert_true(amount > 0 && amount != LLMPERF_UNKNOWN);
}

static void see_begin(void *context, uint32_t unit, uint32_t parent, uint32_t node,
                      uint64_t begin_ns, bool collected, uint32_t window, uint32_t chance)
{
    struct seen *seen = context;
    bool prefill = !strcmp(lp_path_get(node)->label, "found@prefill");

    (void)unit, (void)parent, (void)begin_ns, (void)collected, (void)window, (void)chance;
    seen->node = node;
    seen->steps[prefill ? 1 : !strcmp(lp_path_get(node)->label, "found@decode") ? 2 : 0]++;
    assert_int_equal(lp_vector_push(&seen->prefills, prefill), 0);
}

static void see_end(void *context, uint32_t unit, uint64_t end_ns, bool truncated)
{
    (void)unit, (void)end_ns, (void)truncated;
    ((struct seen *)context)->node = LP_PATH_ROOT;
}

static void see_done(void *context, uint32_t unit)
{
    (void)context, (void)unit;
}

static struct lp_structure *begin(struct seen *seen, const struct lp_names *names)
{
    const struct lp_attribution_sink sink = { .context = seen,
                                              .region = see_region,
                                              .count = see_count,
                                              .activities = see_activities,
                                              .units = { see_begin, see_unit_count, see_end,
                                                         see_done } };
    struct lp_structure *structure = lp_structure_create(&sink, names);

    *seen = (struct seen){ .node = LP_PATH_ROOT };
    assert_non_null(structure);
    assert_int_equal(lp_kernel_classes_open(NULL, &seen->classes), 0);
    lp_structure_set_classes(structure, seen->classes);
    return structure;
}

static void end(struct seen *seen, struct lp_structure *structure,
                const struct lp_attribution *attribution)
{
    llmperf_profile *profile = lp_profile_create();
    const char *found;

    lp_structure_settle(structure, LP_STRUCTURE_END, attribution);
    assert_int_equal(lp_structure_fill(structure, profile), 0);
    found = llmperf_profile_fact(profile, LP_FOUND_FACT);
    seen->found = strdup(found ? found : "null");
    llmperf_profile_free(profile);
    lp_structure_free(structure);
}

static void clear(struct seen *seen)
{
    lp_kernel_classes_free(seen->classes);
    lp_vector_clear(&seen->begins);
    lp_vector_clear(&seen->prefills);
    free(seen->found);
}

/* In batches, as buffers arrive. */
static void play_engine(struct engine *engine, const struct lp_attribution *attribution,
                        struct seen *seen)
{
    struct lp_structure *structure = begin(seen, &engine->names);
    struct lp_activity batch[BATCH];
    size_t count = 0;

    for (size_t i = 0; i < engine->launches.count; i++) {
        batch[count] = engine->launches.items[i].activity;
        batch[count++].bytes = i + 1;
        if (count < BATCH && i + 1 < engine->launches.count)
            continue;
        if (!lp_structure_take(structure, batch, count))
            see_activities(seen, batch, count);
        lp_structure_settle(structure, LP_STRUCTURE_SOME, attribution);
        count = 0;
    }
    end(seen, structure, attribution);
    assert_int_equal(seen->passed, engine->launches.count);
}

/* Engines */

struct score {
    size_t right, found, all;
};

/* A step begins where it does in truth. A prefill begins once its inputs are on the device. */
static struct score score_steps(const struct engine *engine, const struct seen *seen)
{
    struct score score = { 0, seen->begins.count, engine->prefills.count };
    uint32_t *counts = calloc(engine->prefills.count + 1, sizeof(*counts));
    uint32_t *places = calloc(engine->launches.count + 1, sizeof(*places));

    assert_true(counts && places);
    for (size_t i = 0; i < engine->launches.count; i++)
        if (engine->launches.items[i].step != ENGINE_NO_STEP)
            places[i] = counts[engine->launches.items[i].step]++;
    for (size_t i = 0; i < seen->begins.count; i++) {
        uint64_t first = seen->begins.items[i] - 1;
        uint32_t step = engine->launches.items[first].step;

        if (getenv("DBG") && !(step != ENGINE_NO_STEP && places[first] < 2 &&
                               seen->prefills.items[i] == engine->prefills.items[step]))
            printf("found %zu at launch %llu (place %u) stream %u: step %d prefill %d, found "
                   "prefill %d\n",
                   i, (unsigned long long)first, places[first],
                   engine->launches.items[first].activity.stream, (int)step,
                   step != ENGINE_NO_STEP ? engine->prefills.items[step] : -1,
                   seen->prefills.items[i]);
        if (step != ENGINE_NO_STEP)
            counts[step] = 0;
        score.right += step != ENGINE_NO_STEP && places[first] < 2 &&
                       seen->prefills.items[i] == engine->prefills.items[step];
    }
    for (size_t i = 0; getenv("DBG") && i < engine->prefills.count; i++)
        if (counts[i])
            printf("missing step %zu prefill %d\n", i, engine->prefills.items[i]);
    free(counts);
    free(places);
    return score;
}

static double f1(const struct score *score)
{
    return 2.0 * (double)score->right / (double)(score->found + score->all);
}

static double seconds, launches;

static bool judge(struct engine *made, const char *name, uint64_t seed, bool verbose,
                  struct score *total)
{
    struct engine engine = *made;
    struct score score;
    struct seen seen;
    bool right;

    seconds -= (double)clock() / CLOCKS_PER_SEC;
    play_engine(&engine, NULL, &seen);
    seconds += (double)clock() / CLOCKS_PER_SEC;
    launches += (double)engine.launches.count;
    score = score_steps(&engine, &seen);
    total->right += score.right;
    total->found += score.found;
    total->all += score.all;
    right = f1(&score) >= 0.99 && seen.layers == engine.layers;
    if (!right || verbose)
        printf("%s, seed %llu: F1 %.4f (%zu of %zu, found %zu), layers %u of %u: %s\n", name,
               (unsigned long long)seed, f1(&score), score.right, score.all, score.found,
               seen.layers, engine.layers, seen.found);
    clear(&seen);
    engine_clear(&engine);
    return right;
}

static bool serve(uint64_t seed, bool verbose, struct score *total)
{
    struct engine engine;

    engine_serve(&engine, seed);
    return judge(&engine, "engine", seed, verbose, total);
}

static uint32_t serve_special(uint64_t seeds)
{
    uint32_t wrong = 0;
    const char *name;
    struct engine engine;

    for (size_t kind = 0; engine_special(&engine, kind, 1, &name); kind++) {
        struct score total = { 0, 0, 0 };

        engine_clear(&engine);
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            engine_special(&engine, kind, seed, &name);
            wrong += !judge(&engine, name, seed, false, &total);
        }
        printf("%s: F1 %.4f of %zu steps\n", name, f1(&total), total.all);
    }
    return wrong;
}

static void steps_and_layers_of_special_engines_are_found(void **state)
{
    (void)state;
    assert_int_equal(serve_special(3), 0);
}

static void steps_and_layers_of_random_engines_are_found(void **state)
{
    struct score total = { 0, 0, 0 };

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        assert_true(serve(seed, false, &total));
    assert_true(f1(&total) >= 0.99);
}

static void leave_out(struct lp_attribution *attribution, uint32_t first, uint32_t last)
{
    const struct lp_record record = { .value = LP_UNCOUNTED_VALUE(first, last),
                                      .kind = LP_RECORD_UNCOUNTED };

    lp_attribution_host(attribution, 0, &record, 1);
}

/* Tier light: what is launched in 20 of 150 ms. Steps whose kernels are collected in part are none.
 */
static void keep_windows(struct engine *engine, struct lp_attribution *attribution)
{
    size_t kept = 0;
    uint32_t first = 0;

    for (size_t i = 0; i < engine->launches.count; i++) {
        const struct engine_launch *launch = &engine->launches.items[i];
        const struct lp_activity *activity = &launch->activity;
        uint64_t ns = activity->start_ns - lp_queued_before(activity->start_ns, activity->queued);

        if (ns % 150000000 >= 20000000 && launch->step != ENGINE_NO_STEP &&
            activity->kind == LLMPERF_ACTIVITY_KERNEL)
            engine->whole[launch->step] = false;
        if (ns % 150000000 >= 20000000) {
            first = first ? first : activity->correlation;
            continue;
        }
        if (first)
            leave_out(attribution, first, activity->correlation - 1);
        first = 0;
        engine->launches.items[kept++] = *launch;
    }
    engine->launches.count = kept;
}

static void steps_of_windows_are_whole(void **state)
{
    size_t found = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct lp_attribution_sink sink = { .context = NULL };
        struct lp_attribution *attribution = lp_attribution_create(&sink);
        struct engine engine;
        struct seen seen;

        engine_serve(&engine, seed);
        keep_windows(&engine, attribution);
        play_engine(&engine, attribution, &seen);
        lp_attribution_free(attribution);
        for (size_t i = 0; i < seen.begins.count; i++) {
            uint32_t step = engine.launches.items[seen.begins.items[i] - 1].step;

            /* A step that lacks its first draft looks like one with fewer drafts. */
            if (!engine.draft && (step == ENGINE_NO_STEP || !engine.whole[step]))
                fail_msg("seed %llu, step %u", (unsigned long long)seed, step);
        }
        found += seen.begins.count;
        clear(&seen);
        engine_clear(&engine);
    }
    printf("%zu steps in windows\n", found);
    assert_true(found > 20);
}

/* Others */

/* Programs with layers, or whose steps are told. */
static const struct known {
    const char *name;
    uint32_t steps, layers;
} knowns[] = { { "ResNet training", 60, 0 },
               { "BERT training", 40, 12 },
               { "text embedding", 200, 12 },
               { "reranking", 200, 24 },
               { "image classification", 150, 12 },
               { "GPT training", 40, 16 },
               { "perplexity", 120, 20 } };

static bool check_other(const char *name, const struct seen *seen)
{
    bool right = seen->steps[1] + seen->steps[2] == 0;
    uint32_t layers = 0;

    for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++)
        if (!strcmp(name, knowns[i].name)) {
            layers = knowns[i].layers;
            right = right && seen->steps[0] == knowns[i].steps;
        }
    right = right && seen->layers == layers;
    if (!right || getenv("VERBOSE"))
        printf("%s, %s: %s\n", right ? "right" : "wrong", name, seen->found);
    return right;
}

static void other_programs_have_no_phases_and_only_true_layers(void **state)
{
    struct engine engine;
    uint32_t wrong = 0;
    const char *name;
    struct seen seen;

    (void)state;
    for (size_t i = 0; engine_other(&engine, i, &name); i++) {
        play_engine(&engine, NULL, &seen);
        wrong += !check_other(name, &seen);
        clear(&seen);
        engine_clear(&engine);
    }
    assert_int_equal(wrong, 0);
}

/* Recordings */

/* Attribution of a recording, and what the structure gets of it: all its regions are ignored. */
struct ignoring {
    struct lp_attribution *attribution;
    struct lp_structure *structure;
    uint64_t prefill_ns, decode_ns, stages[3]; /* as marked: any, prefill, decode */
    uint64_t amounts[2][3];                    /* as in struct seen */
};

static bool is_in(uint32_t node, const char *label)
{
    for (; node != LP_PATH_ROOT && node != LP_PATH_UNKNOWN; node = lp_path_get(node)->parent)
        if (!strcmp(lp_path_get(node)->label, label))
            return true;
    return false;
}

static void ignore_regions(void *context, const struct lp_activity *activities, size_t count)
{
    struct ignoring *ignoring = context;

    for (size_t i = 0; i < count; i++) {
        struct lp_activity stripped = activities[i];
        uint64_t ns = stripped.end_ns - stripped.start_ns;

        if (stripped.kind == LLMPERF_ACTIVITY_KERNEL) {
            ignoring->prefill_ns += is_in(stripped.node, "LLM@prefill") ? ns : 0;
            ignoring->decode_ns += is_in(stripped.node, "LLM@decode_step") ? ns : 0;
        }
        stripped.node = LP_PATH_ROOT;
        stripped.unit = LP_UNIT_NONE;
        stripped.bytes = stripped.correlation;
        lp_structure_take(ignoring->structure, &stripped, 1);
    }
}

static void count_stage(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                        enum lp_in_window window)
{
    struct ignoring *ignoring = context;
    const char *label = lp_path_get(node)->label;

    (void)wall_ns, (void)truncated, (void)window;
    ignoring->stages[1] += !strcmp(label, "LLM@prefill");
    ignoring->stages[2] += !strcmp(label, "LLM@decode_step");
}

static void sum_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                      enum lp_in_window window)
{
    struct ignoring *ignoring = context;
    const char *label = lp_path_get(node)->label;
    bool decode = !strcmp(label, "LLM@decode_step");

    (void)window;
    if (quantity <= LLMPERF_QUANTITY_CONTEXT && (decode || !strcmp(label, "LLM@prefill")))
        ignoring->amounts[decode][quantity - 1] += amount;
}

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    lp_attribution_host(((struct ignoring *)context)->attribution, thread, records, count);
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    lp_attribution_activities(((struct ignoring *)context)->attribution, activities, count);
}

static void pass_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    lp_attribution_graphs(((struct ignoring *)context)->attribution, events, count);
}

static void play_recording(const char *path, uint64_t hidden, struct ignoring *ignoring,
                           struct seen *seen)
{
    struct lp_names names = { .ids = { 0 } };
    const struct lp_device_options options = { .path = path, .names = &names };
    const struct lp_device_sink facts = {
        .context = ignoring, .host = pass_host, .activities = pass_activities, .graphs = pass_graphs
    };
    const struct lp_attribution_sink sink = {
        .context = ignoring, .region = count_stage, .count = sum_count, .activities = ignore_regions
    };
    struct lp_structure *structure = begin(seen, &names);
    struct lp_device_source *source = NULL;
    int status;

    lp_structure_set_hidden(structure, hidden);
    *ignoring = (struct ignoring){ .structure = structure };
    assert_non_null(ignoring->attribution = lp_attribution_create(&sink));
    if (lp_device_open_replay(&options, &source) < 0)
        fail_msg("%s", llmperf_last_error());
    do {
        assert_true((status = source->ops->deliver(source, &facts)) >= 0);
        lp_attribution_settle(ignoring->attribution, 0, status == 0);
    } while (status > 0);
    source->ops->close(source);
    end(seen, structure, ignoring->attribution);
    lp_attribution_free(ignoring->attribution);
    lp_names_clear(&names);
}

static void assert_within(uint64_t found, uint64_t truth, uint64_t permille)
{
    uint64_t apart = found > truth ? found - truth : truth - found;

    if (apart * 1000 > truth * permille)
        fail_msg("found %llu ns, marked %llu ns", (unsigned long long)found,
                 (unsigned long long)truth);
}

static void stages_of_recorded_engines_are_as_they_marked_them(void **state)
{
    static const struct {
        const char *variable, *path;
        uint32_t layers;
    } recordings[] = { { "LLMPERF_SOURCE", "examples/data/dsocr_base.llmrec", 12 },
                       { "LLMPERF_SOURCE", "examples/data/dsocr_base_graphs.llmrec", 12 },
                       { "LLMPERF_TEST_DATA", "h100/dsocr_graphs.llmrec", 12 },
                       { "LLMPERF_TEST_DATA", "h100/llama_b8.llmrec", 16 },
                       { "LLMPERF_TEST_DATA", "h100/transformers.llmrec", 16 },
                       { "LLMPERF_TEST_DATA", "h200/engine/streams.llmrec", 12 },
                       { "LLMPERF_TEST_DATA", "h200/engine/streams_graphs.llmrec", 12 },
                       { "LLMPERF_TEST_DATA", "h200/engine/tensor_0.llmrec", 12 },
                       { "LLMPERF_TEST_DATA", "h200/whisper/eager.llmrec", 6 },
                       { "LLMPERF_TEST_DATA", "h200/whisper/graph.llmrec", 6 } };

    (void)state;
    for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
        struct ignoring marked;
        struct seen seen;
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", getenv(recordings[i].variable), recordings[i].path);
        play_recording(path, 0, &marked, &seen);
        assert_int_equal(seen.steps[1], marked.stages[1]);
        assert_int_equal(seen.steps[2], marked.stages[2]);
        assert_int_equal(seen.layers, recordings[i].layers);
        assert_within(seen.prefill_ns, marked.prefill_ns, 20);
        assert_within(seen.decode_ns, marked.decode_ns, 20);
        clear(&seen);
    }
}

static void amounts_of_a_recorded_engine_are_as_it_marked_them(void **state)
{
    struct ignoring marked;
    struct seen seen;
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s/h100/transformers.llmrec", getenv("LLMPERF_TEST_DATA"));
    play_recording(path, 2048, &marked, &seen);
    assert_memory_equal(seen.amounts, marked.amounts, sizeof(seen.amounts));
    assert_int_equal(seen.amounts[1][2], 33056);
    clear(&seen);
    play_recording(path, 0, &marked, &seen); /* no model: the width is not known */
    assert_int_equal(seen.amounts[0][0] + seen.amounts[1][0], 0);
    clear(&seen);
}

static int serve_many(int count)
{
    struct score total = { 0, 0, 0 };
    int wrong = 0;

    for (int seed = 1; seed <= count; seed++)
        wrong += !serve((uint64_t)seed, false, &total);
    printf("%d engines, %zu steps: F1 %.5f, %d wrong; %.1f million launches a second\n", count,
           total.all, f1(&total), wrong, launches / seconds / 1e6);
    return (wrong += (int)serve_special((uint64_t)count / 10)) > 0;
}

/* The steps of a recording whose regions are ignored, as the correlation id of their first launch.
 */
static int show(const char *path)
{
    struct ignoring marked;
    struct seen seen;

    play_recording(path, 0, &marked, &seen);
    for (size_t i = 0; i < seen.begins.count; i++)
        printf("%s %llu\n", seen.prefills.items[i] ? "prefill" : "step",
               (unsigned long long)seen.begins.items[i]);
    printf("%s\n", seen.found);
    clear(&seen);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_layers_of_random_engines_are_found),
        cmocka_unit_test(steps_and_layers_of_special_engines_are_found),
        cmocka_unit_test(steps_of_windows_are_whole),
        cmocka_unit_test(other_programs_have_no_phases_and_only_true_layers),
        cmocka_unit_test(stages_of_recorded_engines_are_as_they_marked_them),
        cmocka_unit_test(amounts_of_a_recorded_engine_are_as_it_marked_them),
    };

    if (argc > 2)
        return !serve((uint64_t)atoi(argv[2]), true, &(struct score){ 0, 0, 0 });
    if (argc > 1)
        return atoi(argv[1]) > 0 ? serve_many(atoi(argv[1])) : show(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
