/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with more region names than a session keeps apart: one name a request is enough. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "lib/regions/nvtx_in.h"
#include "lib/regions/region_stack.h"
#include "lib/record/paths.h"
#include "tests/support/memory.h"
#include "tests/support/play.h"

static void mark(const char *label)
{
    llmperf_region_begin(label);
    llmperf_region_end();
}

static void mark_many(const char *name, int count)
{
    for (int i = 0; i < count; i++) {
        char label[32];

        snprintf(label, sizeof(label), "%s%d", name, i);
        mark(label);
    }
}

static llmperf_session *start(uint64_t path_limit)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.path_limit = path_limit;
    return start_options(&options);
}

static uint64_t kernels_of(const llmperf_profile *profile, const char *path)
{
    return find_region(profile, path, 0).kernel_count;
}

static void a_full_tree_keeps_the_stages(void **state)
{
    llmperf_session *session = start(64);
    llmperf_profile *profile;

    (void)state;
    mark_many("request ", 100);
    for (int i = 0; i < 3; i++) {
        llmperf_decode_step_begin(1, 1);
        llmperf_region_begin("attention");
        lp_fake_launch("flash", 7, 500);
        llmperf_region_end();
        lp_fake_launch("gemm", 7, 500);
        llmperf_decode_step_end();
    }
    llmperf_region_begin("request 1000");
    llmperf_prefill_begin(10);
    lp_fake_launch("gemm", 7, 500);
    llmperf_prefill_end();
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).instances, 3);
    assert_int_equal(kernels_of(profile, "LLM@decode_step"), 6);
    assert_int_equal(kernels_of(profile, "LLM@decode_step/LLM@(too many paths)"), 3);
    assert_int_equal(kernels_of(profile, "LLM@(too many paths)/LLM@prefill"), 1);
    assert_int_equal(ledger_of(profile).regions_over_limit,
                     3 + 2 + find_region(profile, "LLM@(too many paths)", 0).instances - 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_true(has_problem(profile, "raise path_limit"));
    llmperf_profile_free(profile);
}

static void a_region_that_is_made_a_stage_is_kept_too(void **state)
{
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
    llmperf_session *session = start(64);
    llmperf_profile *profile;

    (void)state;
    mark_many("request ", 100);
    attr.label = "draft";
    attr.kind = LLMPERF_REGION_STAGE;
    llmperf_region_begin_attr(&attr);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@draft", -1).kind, LLMPERF_REGION_STAGE);
    assert_int_equal(find_region(profile, "LLM@(too many paths)", -1).kind,
                     LLMPERF_REGION_OPERATOR);
    llmperf_profile_free(profile);
}

static void what_fits_is_complete(void **state)
{
    llmperf_session *session = start(200);
    llmperf_profile *profile;

    (void)state;
    mark_many("request ", 100);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).regions_over_limit, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(find_region(profile, "LLM@request 99", -1).instances, 1);
    llmperf_profile_free(profile);
}

static void limits_out_of_range_are_refused(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    (void)state;
    options.path_limit = 15;
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error("path_limit is 15; it must be between 16 and 1048576");
    options.path_limit = (1 << 20) + 1;
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
}

/* The server's own region is open meanwhile, and a label is known from before. */
static void a_session_has_all_paths_whatever_was_marked_before(void **state)
{
    static const char known[] = "known";
    llmperf_profile *profile;
    llmperf_session *session;
    const uint64_t limit = 8192;
    size_t before = 0;

    (void)state;
    llmperf_region_begin("server");
    mark(known);
    for (int round = 0; round < 4; round++) {
        before = round == 2 ? allocated_bytes() : before;
        mark_many(round % 2 ? "odd " : "even ", (int)limit);
        mark(known);
        session = start(limit);
        assert_true(lp_path_count() < 2000);
        mark(known);
        mark_many("fresh ", 500);
        llmperf_decode_step_begin(1, 1);
        llmperf_decode_step_end();
        profile = stop_session(session);
        assert_int_equal(ledger_of(profile).regions_over_limit, 0);
        assert_int_equal(find_region(profile, "LLM@server/LLM@known", -1).instances, 1);
        assert_int_equal(find_region(profile, "LLM@server/LLM@fresh 499", -1).instances, 1);
        assert_int_equal(find_region(profile, "LLM@server/LLM@decode_step", -1).instances, 1);
        llmperf_profile_free(profile);
    }
    llmperf_region_end();
    assert_in_range(allocated_bytes(), 0, before + (UINT64_C(1) << 17));
}

/* Labels at addresses of their own: each thread keeps what it found for them. */
static void known_labels_are_the_same_paths_in_the_next_session(void **state)
{
    static char known[100][32];
    llmperf_session *session;
    llmperf_profile *profile;
    char path[64];

    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(known[i], sizeof(known[i]), "known %d", i);
        mark(known[i]);
    }
    mark_many("forgotten ", 1000);
    session = start(0);
    mark_many("fresh ", 1000);
    for (int i = 0; i < 100; i++)
        mark(known[i]);
    profile = stop_session(session);
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "LLM@known %d", i);
        assert_int_equal(find_region(profile, path, -1).instances, 1);
    }
    llmperf_profile_free(profile);
}

/* NVTX ranges that are on no stack take the place of an open one in the thread's cache. */
static void an_open_region_keeps_its_path_that_no_cache_has(void **state)
{
    const struct lp_nvtx_domain *domain = lp_nvtx_domain_of("D");
    struct lp_thread *thread = lp_thread_get();
    llmperf_session *session;
    struct lp_range range;
    char name[32];
    uint32_t node = lp_nvtx_node(thread, LP_PATH_ROOT, &domain, "open", NULL, &range);

    (void)state;
    lp_stack_open(thread, node, LP_OWNER_SELF);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "range %d", i);
        lp_nvtx_node(thread, LP_PATH_ROOT, &domain, name, NULL, &range);
    }
    session = start(0);
    assert_string_equal(lp_path_get(node)->label, "D@open");
    lp_stack_close(thread, LP_OWNER_SELF);
    llmperf_profile_free(stop_session(session));
}

/* Paths have the places of others by now: what a recording says of them is what was there. */
static void a_recording_of_reused_paths_is_replayed_with_their_names(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *live, *replayed;

    (void)state;
    mark_many("idle ", 3000);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.record_path = in_test_folder("reused.llmrec");
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 50; i++) {
        char label[32];

        snprintf(label, sizeof(label), "outer %d", i);
        llmperf_region_begin(label);
        llmperf_decode_step_begin(1, 1);
        lp_fake_launch("gemm", 7, 500);
        llmperf_decode_step_end();
        llmperf_region_end();
    }
    live = stop_session(session);
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = options.record_path;
    options.record_path = NULL;
    replayed = play_options(&options);
    for (int i = 0; i < 50; i++) {
        char path[64];

        snprintf(path, sizeof(path), "LLM@outer %d/LLM@decode_step", i);
        assert_int_equal(find_region(live, path, 0).kernel_count, 1);
        assert_int_equal(find_region(replayed, path, 0).kernel_count, 1);
    }
    assert_int_equal(llmperf_profile_count(replayed, LLMPERF_ROWS_REGIONS),
                     llmperf_profile_count(live, LLMPERF_ROWS_REGIONS));
    llmperf_profile_free(live);
    llmperf_profile_free(replayed);
}

/* Threads that go on while sessions come and go: no label stands for another one. */

#define THREADS 3

static _Atomic bool over;

static void *mark_own(void *number)
{
    unsigned seed = (unsigned)(uintptr_t)number;

    while (!atomic_load(&over)) {
        char outer[32], inner[32];

        seed = seed * 1103515245 + 12345;
        snprintf(outer, sizeof(outer), "thread %u", (unsigned)(uintptr_t)number);
        snprintf(inner, sizeof(inner), "of %u, %u", (unsigned)(uintptr_t)number,
                 seed / 65536 % 2000);
        llmperf_region_begin(outer);
        llmperf_region_begin(inner);
        llmperf_region_end();
        llmperf_region_end();
    }
    return NULL;
}

static void check_paths(const llmperf_profile *profile)
{
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats row = LLMPERF_REGION_STATS_INIT;
        unsigned outer, inner;

        assert_int_equal(llmperf_profile_region(profile, i, &row), 0);
        if (sscanf(row.path, "LLM@thread %u/LLM@of %u,", &outer, &inner) == 2)
            assert_int_equal(outer, inner);
        else
            assert_int_equal(strncmp(row.path, "LLM@thread ", 11), 0);
        assert_true(row.depth <= 1);
    }
}

static void threads_keep_their_paths_while_sessions_come_and_go(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    atomic_store(&over, false);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark_own, (void *)i), 0);
    for (int round = 0; round < scaled(40, 10); round++) {
        llmperf_session *session = start(0);
        llmperf_profile *profile;

        usleep(5000);
        profile = stop_session(session);
        check_paths(profile);
        llmperf_profile_free(profile);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_tree_keeps_the_stages),
        cmocka_unit_test(a_region_that_is_made_a_stage_is_kept_too),
        cmocka_unit_test(what_fits_is_complete),
        cmocka_unit_test(limits_out_of_range_are_refused),
        cmocka_unit_test(a_session_has_all_paths_whatever_was_marked_before),
        cmocka_unit_test(known_labels_are_the_same_paths_in_the_next_session),
        cmocka_unit_test(an_open_region_keeps_its_path_that_no_cache_has),
        cmocka_unit_test(a_recording_of_reused_paths_is_replayed_with_their_names),
        cmocka_unit_test(threads_keep_their_paths_while_sessions_come_and_go),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
