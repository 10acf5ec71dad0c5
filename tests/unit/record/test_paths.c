/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "lib/record/paths.h"
#include "llmperf/region.h"

#define THREADS 4
#define LABELS  2000

static void check_printed(uint32_t node, const char *expected)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_text_puts(&text, "");
    lp_path_print(&text, node);
    assert_string_equal(text.bytes, expected);
    lp_text_clear(&text);
}

static void root_and_rest_are_there_from_the_start(void **state)
{
    (void)state;
    assert_true(lp_path_count() >= 2);
    check_printed(LP_PATH_ROOT, "");
    check_printed(LP_PATH_OTHER, "LLM@(too many paths)");
    assert_int_equal(lp_path_get(LP_PATH_ROOT)->depth, 0);
    assert_int_equal(lp_path_stage(LP_PATH_ROOT), LP_PATH_ROOT);
}

static void a_path_is_found_again_by_its_clean_label(void **state)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "outer");
    uint32_t inner = lp_path_intern(node, "CUDA@in ner");

    (void)state;
    assert_int_equal(lp_path_intern(LP_PATH_ROOT, "LLM@outer"), node);
    assert_int_equal(lp_path_intern(LP_PATH_ROOT, "@outer"), node);
    assert_int_not_equal(lp_path_intern(node, "outer"), node);
    assert_int_equal(lp_path_get(inner)->parent, node);
    assert_int_equal(lp_path_get(inner)->depth, 2);
    assert_string_equal(lp_path_get(inner)->name, "in ner");
    check_printed(inner, "LLM@outer/CUDA@in ner");
    assert_true(inner > node); /* Totals go up the tree by it. */
}

static void stages_are_known_by_label_or_by_kind(void **state)
{
    uint32_t prefill = lp_path_intern(LP_PATH_ROOT, "LLM@prefill");
    uint32_t below = lp_path_intern(lp_path_intern(prefill, "layer"), "mlp");
    uint32_t step = lp_path_intern(lp_path_intern(LP_PATH_ROOT, "decode_all"), "decode_step");

    (void)state;
    assert_int_equal(lp_path_stage(below), prefill);
    assert_int_equal(lp_path_stage(step), step);
    assert_int_equal(lp_path_kind(below), LLMPERF_REGION_OPERATOR);
    assert_int_equal(lp_path_stage(lp_path_intern(LP_PATH_ROOT, "other")), LP_PATH_ROOT);
    atomic_store(&lp_path_get(below)->kind, LLMPERF_REGION_STAGE);
    assert_int_equal(lp_path_stage(below), below);
}

static void *intern_all(void *nodes)
{
    for (int i = 0; i < LABELS; i++) {
        char label[32];

        snprintf(label, sizeof(label), "of all %d", i);
        ((uint32_t *)nodes)[i] = lp_path_intern(LP_PATH_ROOT, label);
        if (strcmp(lp_path_get(((uint32_t *)nodes)[i])->name, label))
            return nodes;
    }
    return NULL;
}

static void threads_agree_on_each_path(void **state)
{
    static uint32_t nodes[THREADS][LABELS];
    uint32_t before = lp_path_count();
    pthread_t threads[THREADS];
    void *wrong;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, intern_all, nodes[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
        assert_memory_equal(nodes[i], nodes[0], sizeof(nodes[0]));
    }
    assert_int_equal(lp_path_count(), before + LABELS);
}

static void raw_labels_are_kept_once(void **state)
{
    char label[] = "raw\x01label";
    const char *copy = lp_path_raw_label(label);

    (void)state;
    assert_string_equal(copy, label);
    assert_ptr_not_equal(copy, label);
    assert_ptr_equal(lp_path_raw_label("raw\x01label"), copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_and_rest_are_there_from_the_start),
        cmocka_unit_test(a_path_is_found_again_by_its_clean_label),
        cmocka_unit_test(stages_are_known_by_label_or_by_kind),
        cmocka_unit_test(threads_agree_on_each_path),
        cmocka_unit_test(raw_labels_are_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
