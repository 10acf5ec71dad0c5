/* SPDX-License-Identifier: Apache-2.0 */
/* A server with a run folder that commits again and again: neither memory nor what a commit writes
 * grows with the number of steps. tests/bench/bench_server.c does the same for hours. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/memory.h"
#include "tests/support/play.h"

#define STEPS 200 /* between two commits */

static void ask(const char *path, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        snprintf(answer, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void run_steps(int count)
{
    for (int i = 0; i < count; i++) {
        llmperf_decode_step_begin(2, 100);
        llmperf_region_begin("layer");
        lp_fake_launch("gemm", 7, 500);
        lp_fake_launch("norm", 7, 200);
        llmperf_region_end();
        llmperf_decode_step_end();
    }
}

static void *serve_request(void *context)
{
    llmperf_prefill_begin(10);
    lp_fake_launch("gemm", 8, 500);
    llmperf_prefill_end();
    return context;
}

/* A commit, and a thread that serves one request. Returns the memory after it. */
static size_t run_round(llmperf_session *session)
{
    pthread_t thread;

    run_steps(STEPS);
    assert_int_equal(pthread_create(&thread, NULL, serve_request, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(llmperf_session_flush(session), 0);
    usleep(20000);
    return allocated_bytes();
}

/* What is under way at a time depends on the machine: the most after the first rounds is compared
 * with the least after the last ones. */
static void a_session_of_many_commits_stays_as_it_is(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;
    char path[512], answer[64] = "";
    size_t before = 0, after = SIZE_MAX;

    (void)state;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.run_dir = in_test_folder("soak");
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 6; i++) {
        run_steps(25 * STEPS);
        assert_int_equal(llmperf_session_flush(session), 0);
    }
    for (int i = 0; i < scaled(100, 60); i++) {
        size_t bytes = run_round(session);

        before = bytes > before ? bytes : before;
    }
    snprintf(path, sizeof(path), "%s/run.llmperf", llmperf_session_run_dir(session));
    for (int i = 0; i < scaled(100, 10); i++) {
        size_t bytes = run_round(session);

        if (i >= scaled(75, 5))
            after = bytes < after ? bytes : after;
    }
    /* 400 launches a round are remembered for a while, 16 bytes each. */
    assert_in_range(after, 0, before + (size_t)scaled(100, 10) * (2 * STEPS + 1) * 16 + 524288);
    ask(path, "SELECT count(*) <= 1026 AND max(id) > 1024 FROM iteration", answer, sizeof(answer));
    assert_string_equal(answer, "1");
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_of_many_commits_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
