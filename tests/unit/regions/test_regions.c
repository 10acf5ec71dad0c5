/* SPDX-License-Identifier: Apache-2.0 */
/** Region calls with every label, depth and order that a program may come up with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "tests/support/play.h"

static llmperf_session *start(uint64_t ring_bytes)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_NONE;
    options.ring_bytes = ring_bytes;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static void each_label_becomes_clean_text(void **state)
{
    static const struct {
        const char *raw, *clean;
    } labels[] = {
        { "prefill", "LLM@prefill" },
        { "VLM@vision encoder", "VLM@vision encoder" },
        { "two words", "LLM@two words" },
        { "\xc3\xa4\xe6\xb3\xa8\xf0\x9f\x98\x80", "LLM@\xc3\xa4\xe6\xb3\xa8\xf0\x9f\x98\x80" },
        { NULL, "LLM@(empty)" },
        { "", "LLM@(empty)" },
        { "@", "LLM@(empty)" },
        { "LLM@", "LLM@(empty)" },
        { "X@", "X@(empty)" },
        { "@name", "LLM@name" },
        { "a@b@c", "a@b@c" },
        { "bad\xffutf\xc3", "LLM@bad\xef\xbf\xbdutf\xef\xbf\xbd" },
        { "\xed\xa0\x80", "LLM@\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "tab\tnew\nline\x1b[0m\x7f", "LLM@tab new line [0m " },
        { "c1\xc2\x9b"
          "31m",
          "LLM@c1 31m" },
    };
    const size_t count = sizeof(labels) / sizeof(labels[0]);
    llmperf_session *session = start(0);
    llmperf_profile *profile;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        llmperf_region_begin(labels[i].raw);
        llmperf_region_end();
    }
    profile = stop_session(session);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(find_region(profile, labels[i].clean, -1).label, labels[i].clean);
    assert_int_equal(find_region(profile, "LLM@(empty)", -1).instances, 4);
    llmperf_profile_free(profile);
}

static void a_long_label_is_cut_at_a_character(void **state)
{
    char exact[LLMPERF_LABEL_BYTES + 1], longer[3000], wide[3000], cut[LLMPERF_LABEL_BYTES + 16];
    llmperf_session *session = start(0);
    llmperf_profile *profile;

    (void)state;
    memset(exact, 'e', sizeof(exact) - 1);
    exact[sizeof(exact) - 1] = '\0';
    memset(longer, 'l', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    for (size_t i = 0; i < 999; i++) /* 1024 is no multiple of 3. */
        memcpy(wide + 3 * i, "\xe6\xb3\xa8", 4);
    for (int i = 0; i < 2; i++) {
        llmperf_region_begin(exact);
        llmperf_region_begin(longer);
        llmperf_region_begin(wide);
        llmperf_region_end();
        llmperf_region_end();
        llmperf_region_end();
    }
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 3);
    for (size_t i = 0; i < 3; i++) {
        static const size_t lengths[] = { 1024, 1024, 1023 };
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        snprintf(cut, sizeof(cut), "LLM@%.*s", (int)lengths[i],
                 i == 0   ? exact
                 : i == 1 ? longer
                          : wide);
        assert_string_equal(region.label, cut);
        assert_int_equal(region.instances, 2);
    }
    llmperf_profile_free(profile);
}

static void the_same_address_may_hold_another_label(void **state)
{
    llmperf_session *session = start(0);
    llmperf_profile *profile;
    char label[16];

    (void)state;
    for (int i = 0; i < 30; i++) {
        snprintf(label, sizeof(label), "buffer %d", i % 3);
        llmperf_region_begin(label);
        llmperf_region_end();
    }
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@buffer 0", -1).instances, 10);
    assert_int_equal(find_region(profile, "LLM@buffer 1", -1).instances, 10);
    assert_int_equal(find_region(profile, "LLM@buffer 2", -1).instances, 10);
    llmperf_profile_free(profile);
}

static void one_label_below_two_parents_is_two_paths(void **state)
{
    static const char *const parents[] = { "p", "q" };
    llmperf_session *session = start(0);
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 2; i++) {
        llmperf_region_begin(parents[i]);
        llmperf_region_begin("child");
        llmperf_region_end();
        llmperf_region_end();
    }
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@p/LLM@child", -1).instances, 1);
    assert_int_equal(find_region(profile, "LLM@q/LLM@child", -1).instances, 1);
    llmperf_profile_free(profile);
}

static void levels_above_the_limit_count_in_the_deepest(void **state)
{
    llmperf_session *session = start(0);
    llmperf_region_stats deepest = LLMPERF_REGION_STATS_INIT;
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
    llmperf_profile *profile;

    (void)state;
    attr.label = "too deep";
    attr.kind = LLMPERF_REGION_STAGE;
    attr.tokens = 5;
    for (int i = 0; i < 199; i++)
        llmperf_region_begin("d");
    llmperf_region_begin_attr(&attr);
    for (int i = 0; i < 200; i++)
        llmperf_region_end();
    llmperf_region_begin("on top again");
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS),
                     LLMPERF_REGION_DEPTH + 1);
    llmperf_profile_region(profile, LLMPERF_REGION_DEPTH - 1, &deepest);
    assert_int_equal(deepest.depth, LLMPERF_REGION_DEPTH - 1);
    assert_int_equal(deepest.instances, 1);
    assert_int_equal(deepest.tokens, 5);
    assert_int_equal(deepest.kind, LLMPERF_REGION_OPERATOR); /* A kind is of its own path only. */
    assert_int_equal(find_region(profile, "LLM@on top again", -1).instances, 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    llmperf_profile_free(profile);
}

static void an_end_without_a_begin_is_counted_and_ignored(void **state)
{
    llmperf_session *session = start(0);
    llmperf_profile *profile;

    (void)state;
    llmperf_region_end();
    llmperf_region_begin("balanced");
    llmperf_region_end();
    llmperf_region_end();
    llmperf_decode_step_end();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 3);
    assert_int_equal(find_region(profile, "LLM@balanced", -1).instances, 1);
    llmperf_profile_free(profile);
}

static void the_first_kind_of_a_path_stays(void **state)
{
    llmperf_session *session = start(0);
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
    llmperf_profile *profile;

    (void)state;
    attr.label = "kind of";
    for (uint32_t kind = LLMPERF_REGION_AUTO; kind <= LLMPERF_REGION_OPERATOR; kind++) {
        attr.kind = kind;
        llmperf_region_begin_attr(&attr);
        llmperf_region_end();
    }
    attr.label = "odd kind";
    attr.kind = 77;
    llmperf_region_begin_attr(&attr);
    llmperf_region_begin("LLM@vision");
    llmperf_region_end();
    llmperf_region_begin("VLM@vision");
    llmperf_region_end();
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@kind of", -1).kind, LLMPERF_REGION_STAGE);
    assert_int_equal(find_region(profile, "LLM@odd kind", -1).kind, LLMPERF_REGION_OPERATOR);
    assert_int_equal(find_region(profile, "LLM@odd kind/LLM@vision", -1).kind,
                     LLMPERF_REGION_STAGE);
    assert_int_equal(find_region(profile, "LLM@odd kind/VLM@vision", -1).kind,
                     LLMPERF_REGION_OPERATOR);
    llmperf_profile_free(profile);
}

static void shorthands_open_the_stages_with_their_counts(void **state)
{
    llmperf_session *session = start(0);
    llmperf_region_stats step;
    llmperf_profile *profile;

    (void)state;
    llmperf_prefill_begin(512);
    llmperf_prefill_end();
    llmperf_decode_all_begin();
    for (uint64_t i = 0; i < 3; i++) {
        llmperf_decode_step_begin(4, 100 + i);
        llmperf_decode_step_end();
    }
    llmperf_decode_all_end(12);
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).tokens, 512);
    assert_int_equal(find_region(profile, "LLM@decode_all", -1).tokens, 12);
    step = find_region(profile, "LLM@decode_all/LLM@decode_step", -1);
    assert_int_equal(step.tokens, 12);
    assert_int_equal(step.sequences, 12);
    assert_int_equal(step.context, 303);
    assert_string_equal(step.stage, "LLM@decode_step");
    llmperf_profile_free(profile);
}

static void odd_counts_are_ignored(void **state)
{
    llmperf_session *session = start(0);
    llmperf_region_stats region;
    llmperf_profile *profile;

    (void)state;
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 9);
    llmperf_region_begin("counted");
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 0);
    llmperf_region_count(0, 9);
    llmperf_region_count(6, 9);
    llmperf_region_count(UINT32_MAX, 9);
    llmperf_region_count(LLMPERF_QUANTITY_BYTES, UINT64_C(1) << 60);
    llmperf_region_end();
    profile = stop_session(session);
    region = find_region(profile, "LLM@counted", -1);
    assert_true(region.tokens == LLMPERF_UNKNOWN);
    assert_true(region.flops == LLMPERF_UNKNOWN);
    assert_int_equal(region.bytes, UINT64_C(1) << 60);
    llmperf_profile_free(profile);
}

static void an_attr_of_an_older_header_or_none_is_enough(void **state)
{
    llmperf_session *session = start(0);
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
    llmperf_profile *profile;

    (void)state;
    attr.label = "old";
    attr.tokens = 3;
    attr.bytes = 4;
    attr.struct_size = offsetof(llmperf_region_attr, bytes);
    llmperf_region_begin_attr(&attr);
    llmperf_region_end();
    attr.struct_size = 0;
    llmperf_region_begin_attr(&attr);
    llmperf_region_end();
    llmperf_region_begin_attr(NULL);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@old", -1).tokens, 3);
    assert_true(find_region(profile, "LLM@old", -1).bytes == LLMPERF_UNKNOWN);
    assert_int_equal(find_region(profile, "LLM@(empty)", -1).instances, 2);
    llmperf_profile_free(profile);
}

static void regions_need_no_session(void **state)
{
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("nobody watches");
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 1);
    llmperf_region_end();
    llmperf_region_end();
    profile = stop_session(start(0));
    assert_false(has_region(profile, "LLM@nobody watches"));
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    llmperf_profile_free(profile);
}

/* Last: it uses all paths of this process up. */
static void above_the_limit_paths_share_one_name(void **state)
{
    const int labels = (int)LP_PATH_LIMIT + 1000;
    llmperf_session *session = start(UINT64_C(64) << 20);
    const uint64_t free_paths = LP_PATH_LIMIT - lp_path_count();
    llmperf_profile *profile;
    char label[32], *stages = NULL;

    (void)state;
    for (int i = 0; i < labels; i++) {
        snprintf(label, sizeof(label), "n%d", i);
        llmperf_region_begin(label);
        llmperf_region_end();
    }
    llmperf_region_begin("n0"); /* known: still itself */
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).regions_dropped, 0);
    assert_int_equal(lp_path_count(), LP_PATH_LIMIT);
    assert_int_equal(find_region(profile, "LLM@n0", -1).instances, 2);
    assert_int_equal(find_region(profile, "LLM@(too many paths)", -1).instances,
                     (uint64_t)labels - free_paths);
    assert_int_equal(ledger_of(profile).regions_over_limit, (uint64_t)labels - free_paths);
    /* A table of all of them is made in seconds, not in minutes. */
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_STAGES_MD, &stages), 0);
    assert_non_null(strstr(stages, "`LLM@n0`"));
    llmperf_text_free(stages);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_label_becomes_clean_text),
        cmocka_unit_test(a_long_label_is_cut_at_a_character),
        cmocka_unit_test(the_same_address_may_hold_another_label),
        cmocka_unit_test(one_label_below_two_parents_is_two_paths),
        cmocka_unit_test(levels_above_the_limit_count_in_the_deepest),
        cmocka_unit_test(an_end_without_a_begin_is_counted_and_ignored),
        cmocka_unit_test(the_first_kind_of_a_path_stays),
        cmocka_unit_test(shorthands_open_the_stages_with_their_counts),
        cmocka_unit_test(odd_counts_are_ignored),
        cmocka_unit_test(an_attr_of_an_older_header_or_none_is_enough),
        cmocka_unit_test(regions_need_no_session),
        cmocka_unit_test(above_the_limit_paths_share_one_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
