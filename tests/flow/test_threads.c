/* SPDX-License-Identifier: Apache-2.0 */
/** Many threads on one session, through the live fake device: nothing lost, nothing in the wrong
 * region, and what a full ring drops is counted. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/device/device.h"
#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"

#define THREADS       8
#define STREAMS       4
#define SHORT_THREADS 2000
#define SHORT_AT_ONCE 40
#define FORKS         scaled(30, 5)

static atomic_bool leaks_are_fine; /* A forked child has lost the threads that hold its memory. */

int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return atomic_load(&leaks_are_fine);
}

struct worker {
    pthread_t thread;
    char label[16], kernels[STREAMS][16];
    int rounds;
};

static void make_workers(struct worker *workers, int rounds)
{
    for (int i = 0; i < THREADS; i++) {
        workers[i].rounds = rounds;
        snprintf(workers[i].label, sizeof(workers[i].label), "t%d", i);
        for (int k = 0; k < STREAMS; k++)
            snprintf(workers[i].kernels[k], sizeof(workers[i].kernels[k]), "t%d_s%d", i, k);
    }
}

/* A kernel on each stream in each round; the streams are shared by all threads. */
static void *launch_rounds(void *context)
{
    struct worker *worker = context;

    for (int i = 0; i < worker->rounds; i++) {
        llmperf_region_begin(worker->label);
        for (uint32_t k = 0; k < STREAMS; k++)
            lp_fake_launch(worker->kernels[k], k, 10);
        llmperf_region_end();
    }
    return NULL;
}

static void run_workers(struct worker *workers)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, launch_rounds, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

static llmperf_session *start(uint64_t ring_bytes, const char *record_path)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.ring_bytes = ring_bytes;
    options.record_path = record_path;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

/* Facts of a recording, by kind. */
struct counts {
    uint64_t host[16], activities;
};

static void count_host(void *context, uint32_t thread, const struct lp_record *records, size_t n)
{
    struct counts *counts = context;

    (void)thread;
    for (size_t i = 0; i < n; i++)
        counts->host[records[i].kind] += records[i].kind == LP_RECORD_LOST ? records[i].value : 1;
}

static void count_activities(void *context, struct lp_activity *activities, size_t n)
{
    (void)activities;
    ((struct counts *)context)->activities += n;
}

static struct counts count_recording(const char *path)
{
    struct lp_names names = { 0 };
    struct lp_device_options options = { .path = path, .memory_activities = true, .names = &names };
    struct counts counts = { 0 };
    struct lp_device_sink sink = { &counts, count_host, count_activities, NULL, NULL, NULL, NULL };
    struct lp_device_source *source = NULL;

    assert_int_equal(lp_device_open_replay(&options, &source), 0);
    while (source->ops->deliver(source, &sink) > 0)
        ;
    source->ops->close(source);
    lp_names_clear(&names);
    return counts;
}

static void what_a_small_ring_drops_is_counted(void **state)
{
    const uint64_t rounds = (uint64_t)scaled(20000, 2000);
    const uint64_t kernels = rounds * THREADS * STREAMS;
    const uint64_t made = rounds * THREADS * (2 + STREAMS) + THREADS; /* and the threads' exits */
    const char *path = in_test_folder("small.llmrec");
    struct worker workers[THREADS];
    llmperf_session *session = start(1, path);
    llmperf_profile *profile;
    llmperf_ledger ledger;
    struct counts counts;

    (void)state;
    make_workers(workers, (int)rounds);
    run_workers(workers);
    profile = stop_session(session);
    ledger = ledger_of(profile);
    counts = count_recording(path);
    assert_int_equal(counts.host[LP_RECORD_LOST], ledger.regions_dropped);
    assert_int_equal(counts.host[LP_RECORD_REGION_BEGIN] + counts.host[LP_RECORD_REGION_END] +
                         counts.host[LP_RECORD_LAUNCH] + counts.host[LP_RECORD_THREAD_EXIT] +
                         ledger.regions_dropped,
                     made);
    assert_int_equal(counts.activities, kernels);
    assert_int_equal(ledger.kernels_seen, kernels);
    assert_int_equal(ledger.launches_expected, counts.host[LP_RECORD_LAUNCH]);
    assert_int_equal(ledger.kernels_attributed, ledger.launches_expected);
    assert_int_equal(ledger.kernels_unattributed, kernels - ledger.kernels_attributed);
    assert_int_equal(ledger.launches_missing, 0);
    assert_true((ledger.verdict == LLMPERF_VERDICT_INCOMPLETE) == (ledger.regions_dropped > 0));
    assert_true(has_problem(profile, "(raise ring_bytes)") == (ledger.regions_dropped > 0));
    llmperf_profile_free(profile);
}

static void a_thread_without_memory_for_its_ring_counts_what_it_loses(void **state)
{
    llmperf_session *session = start(UINT64_C(1) << 29, NULL); /* half a GiB for a thread */
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 10; i++) {
        llmperf_region_begin("lost or not");
        llmperf_region_end();
    }
    profile = stop_session(session);
    if (has_region(profile, "LLM@lost or not")) /* A machine that has it, or promises it. */
        assert_int_equal(ledger_of(profile).regions_dropped, 0);
    else
        assert_int_equal(ledger_of(profile).regions_dropped, 20);
    llmperf_profile_free(profile);
}

static void of_many_threads_and_streams_nothing_is_lost(void **state)
{
    /* 100,000 launches a thread: more would come so fast that old intervals are folded under way.
     */
    const uint64_t rounds = (uint64_t)scaled(25000, 15000);
    struct worker workers[THREADS];
    llmperf_session *session = start(64 << 20, NULL);
    llmperf_ledger expected = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile;

    (void)state;
    make_workers(workers, (int)rounds);
    run_workers(workers);
    profile = stop_session(session);
    expected.launches_expected = expected.kernels_seen = expected.kernels_attributed =
        rounds * THREADS * STREAMS;
    expected.verdict = LLMPERF_VERDICT_COMPLETE;
    check_ledger(profile, &expected);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), THREADS * STREAMS);
    for (int i = 0; i < THREADS; i++) {
        char region[32];

        snprintf(region, sizeof(region), "LLM@%s", workers[i].label);
        assert_int_equal(find_region(profile, region, 0).instances, rounds);
        assert_int_equal(find_region(profile, region, 0).truncated, 0);
        for (int k = 0; k < STREAMS; k++)
            assert_int_equal(find_kernel(profile, workers[i].kernels[k], region).calls, rounds);
    }
    llmperf_profile_free(profile);
}

static void *live_shortly(void *unused)
{
    (void)unused;
    llmperf_region_begin("short");
    llmperf_region_begin("left open");
    lp_fake_launch("k", 1, 10);
    return NULL;
}

static void thousands_of_threads_may_end_inside_regions(void **state)
{
    llmperf_session *session = start(0, NULL);
    llmperf_profile *profile;
    llmperf_ledger ledger;

    (void)state;
    for (int done = 0; done < SHORT_THREADS; done += SHORT_AT_ONCE) {
        pthread_t threads[SHORT_AT_ONCE];

        for (int i = 0; i < SHORT_AT_ONCE; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, live_shortly, NULL), 0);
        for (int i = 0; i < SHORT_AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    profile = stop_session(session);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.regions_truncated, 2 * SHORT_THREADS);
    assert_int_equal(ledger.regions_unbalanced, 0);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 1);
    assert_int_equal(find_kernel(profile, "k", "LLM@short/LLM@left open").calls, SHORT_THREADS);
    assert_int_equal(find_region(profile, "LLM@short", 0).truncated, SHORT_THREADS);
    llmperf_profile_free(profile);
}

static atomic_bool enough;

/* One address, two texts: each call looks its label up under the lock of all paths. */
static void *look_labels_up(void *label)
{
    char text[] = "lookup a";

    (void)label;
    for (int i = 0; !atomic_load(&enough); i++) {
        text[7] = i % 2 ? 'a' : 'b';
        llmperf_region_begin(text);
        llmperf_region_end();
    }
    return NULL;
}

static _Noreturn void be_the_child(llmperf_session *session)
{
    llmperf_session *own = NULL;
    llmperf_profile *profile = NULL;
    char text[] = "lookup b";
    bool good;

    atomic_store(&leaks_are_fine, true);
    alarm(60); /* A lock that nobody will open is a failed test, not a hanging one. */
    for (int i = 0; i < 100; i++) {
        text[7] = i % 2 ? 'a' : 'b';
        llmperf_region_begin(text);
        lp_fake_launch("of the child", 1, 10);
        llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 1);
        llmperf_region_end();
    }
    good = llmperf_session_start(NULL, &own) == LLMPERF_ESTATE && !own &&
           strstr(llmperf_last_error(), "forked child") &&
           llmperf_session_stop(session, &profile) == LLMPERF_ESTATE && !profile &&
           llmperf_session_flush(session) == LLMPERF_ESTATE;
    llmperf_session_free(session); /* The parent's: nothing happens. */
    exit(good ? 0 : 1);
}

static void a_forked_child_records_nothing_and_harms_nothing(void **state)
{
    llmperf_session *session = start(64 << 20, NULL);
    llmperf_profile *profile;
    pthread_t threads[2];

    (void)state;
    atomic_store(&enough, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_labels_up, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t child;

        llmperf_region_begin("around fork");
        lp_fake_launch("of the parent", 1, 10);
        fflush(NULL);
        child = fork();
        assert_true(child >= 0);
        if (child == 0)
            be_the_child(session);
        llmperf_region_end();
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    assert_int_equal(find_kernel(profile, "of the parent", "LLM@around fork").calls, FORKS);
    assert_int_equal(find_region(profile, "LLM@around fork", 0).instances, FORKS);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 1);
    assert_true(find_region(profile, "LLM@around fork", 0).tokens == LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_small_ring_drops_is_counted),
        cmocka_unit_test(a_thread_without_memory_for_its_ring_counts_what_it_loses),
        cmocka_unit_test(of_many_threads_and_streams_nothing_is_lost),
        cmocka_unit_test(thousands_of_threads_may_end_inside_regions),
        cmocka_unit_test(a_forked_child_records_nothing_and_harms_nothing),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
