/* SPDX-License-Identifier: Apache-2.0 */
#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

static char folder[256];

int make_test_folder(void **state)
{
    const char *parent = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof(folder), "%s/llmperf-test-XXXXXX",
             parent && strlen(parent) < 200 ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

int remove_test_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *in_test_folder(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

const char *write_test_file(const char *name, const void *bytes, size_t size)
{
    const char *path = in_test_folder(name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

llmperf_session_options script_options(const char *script)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = write_test_file("script.txt", script, strlen(script));
    return options;
}

llmperf_session *start_options(const llmperf_session_options *options)
{
    llmperf_session *session = NULL;

    if (llmperf_session_start(options, &session) < 0)
        fail_msg("start: %s", llmperf_last_error());
    return session;
}

/* Each stands for a process of its own. */
static void be_process(llmperf_profile *profile)
{
    static _Atomic unsigned processes;
    char started[16];

    snprintf(started, sizeof(started), "%u", ++processes);
    assert_int_equal(lp_profile_set_fact(profile, LP_STARTED_FACT, started), 0);
}

llmperf_profile *stop_session(llmperf_session *session)
{
    llmperf_profile *profile = NULL;

    if (llmperf_session_stop(session, &profile) < 0)
        fail_msg("stop: %s", llmperf_last_error());
    llmperf_session_free(session);
    assert_non_null(profile);
    be_process(profile);
    return profile;
}

llmperf_profile *play_options(const llmperf_session_options *options)
{
    return stop_session(start_options(options));
}

llmperf_profile *play_script(const char *script)
{
    const llmperf_session_options options = script_options(script);

    return play_options(&options);
}

static bool same(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

llmperf_region_stats find_region(const llmperf_profile *profile, const char *path, int32_t device)
{
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        assert_int_equal(llmperf_profile_region(profile, i, &stats), 0);
        if (same(stats.path, path) && stats.device == device)
            return stats;
    }
    fail_msg("no region \"%s\" on device %d", path, device);
    return stats;
}

bool has_region(const llmperf_profile *profile, const char *path)
{
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++)
        if (llmperf_profile_region(profile, i, &stats) == 0 && same(stats.path, path))
            return true;
    return false;
}

llmperf_kernel_stats find_kernel(const llmperf_profile *profile, const char *name,
                                 const char *region)
{
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        assert_int_equal(llmperf_profile_kernel(profile, i, &stats), 0);
        if (same(stats.name, name) && same(stats.region, region))
            return stats;
    }
    fail_msg("no kernel \"%s\" in region %s", name, region ? region : "(not seen)");
    return stats;
}

llmperf_operator_stats find_operator(const llmperf_profile *profile, const char *name,
                                     const char *stage)
{
    llmperf_operator_stats stats = LLMPERF_OPERATOR_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_OPERATORS); i++) {
        assert_int_equal(llmperf_profile_operator(profile, i, &stats), 0);
        if (same(stats.name, name) && same(stats.stage, stage))
            return stats;
    }
    fail_msg("no operator %s of stage %s", name, stage ? stage : "(none)");
    return stats;
}

llmperf_iteration_stats find_spread(const llmperf_profile *profile, const char *region,
                                    const char *quantity)
{
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_iteration_stats(profile, i, &row) == 0; i++)
        if ((!region || !strcmp(row.region, region)) && !strcmp(row.quantity, quantity))
            return row;
    fail_msg("no %s of %s", quantity, region ? region : "any stage");
    return row;
}

llmperf_iteration_stats find_all_calls(const llmperf_profile *profile, const char *region,
                                       const char *quantity)
{
    llmperf_iteration_stats all = find_spread(profile, region, quantity);
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_iteration_stats(profile, i, &row) == 0; i++) {
        if (!row.warm_up || strcmp(row.region, all.region) || strcmp(row.quantity, quantity))
            continue;
        all.warm_up = (uint32_t)row.count;
        all.count += row.count;
        all.sum_ms += row.sum_ms;
        all.min_ms = fmin(all.min_ms, row.min_ms);
        all.max_ms = fmax(all.max_ms, row.max_ms);
    }
    return all;
}

llmperf_ledger ledger_of(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    assert_int_equal(llmperf_profile_ledger(profile, &ledger), 0);
    return ledger;
}

void check_ledger(const llmperf_profile *profile, const llmperf_ledger *expected)
{
#define NUMBER(field)                                                                              \
    {                                                                                              \
#field, offsetof(llmperf_ledger, field)                                                    \
    }
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {
        NUMBER(launches_expected),      NUMBER(graph_launches),
        NUMBER(memory_calls),           NUMBER(kernels_seen),
        NUMBER(graph_kernels_seen),     NUMBER(memory_seen),
        NUMBER(kernels_attributed),     NUMBER(kernels_outside),
        NUMBER(kernels_unattributed),   NUMBER(launches_missing),
        NUMBER(records_dropped),        NUMBER(records_invalid_time),
        NUMBER(records_incomplete),     NUMBER(records_duplicate),
        NUMBER(records_late),           NUMBER(graph_nodes_unmapped),
        NUMBER(regions_dropped),        NUMBER(regions_truncated),
        NUMBER(regions_unbalanced),     NUMBER(graphs_device_launchable),
        NUMBER(kernels_outside_window), NUMBER(kernels_in_windows),
        NUMBER(launches_duplicate),     NUMBER(graph_records_missing),
        NUMBER(memory_missing),         NUMBER(records_before_launch),
        NUMBER(records_foreign),        NUMBER(names_over_limit),
        NUMBER(source_errors),          NUMBER(regions_abandoned),
        NUMBER(regions_over_limit),     NUMBER(allocations_over_limit),
    };
#undef NUMBER
    const llmperf_ledger ledger = ledger_of(profile);
    int wrong = 0;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint64_t is, wanted;

        memcpy(&is, (const char *)&ledger + numbers[i].offset, sizeof(is));
        memcpy(&wanted, (const char *)expected + numbers[i].offset, sizeof(wanted));
        if (is == wanted)
            continue;
        print_error("%s is %llu, expected %llu\n", numbers[i].name, (unsigned long long)is,
                    (unsigned long long)wanted);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_string_equal(llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
                        llmperf_name(LLMPERF_NAME_VERDICT, expected->verdict));
}

static bool has_line(const llmperf_profile *profile,
                     const char *(*line)(const llmperf_profile *, size_t), const char *part)
{
    const char *text;

    for (size_t i = 0; (text = line(profile, i)); i++) {
        assert_null(strchr(text, '\n'));
        if (strstr(text, part))
            return true;
    }
    return false;
}

bool has_problem(const llmperf_profile *profile, const char *part)
{
    return has_line(profile, llmperf_profile_problem, part);
}

bool has_note(const llmperf_profile *profile, const char *part)
{
    return has_line(profile, llmperf_profile_note, part);
}

char *lasting_metrics(const llmperf_profile *profile)
{
    static const char *const passing[] = { "run_id", "created_at", "source", "hardware", "notes" };
    char *text = NULL, *lasting;
    json_t *metrics;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    metrics = json_loads(text, 0, NULL);
    assert_non_null(metrics);
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        assert_int_equal(json_object_del(metrics, passing[i]), 0);
    assert_int_equal(json_object_del(json_object_get(metrics, "aggregates"), "duration_ms"), 0);
    lasting = json_dumps(metrics, JSON_INDENT(1));
    assert_non_null(lasting);
    json_decref(metrics);
    llmperf_text_free(text);
    return lasting;
}

void check_document(const llmperf_profile *profile, uint32_t document, const char *part)
{
    char *text = NULL;

    assert_int_equal(llmperf_document_text(profile, document, &text), 0);
    assert_text_has(text, part);
    llmperf_text_free(text);
}

static void check_same(const llmperf_profile *again, const char *expected)
{
    char *found = lasting_metrics(again);

    assert_string_equal(found, expected);
    free(found);
}

void check_lasts(const llmperf_profile *live, const char *recording)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char *expected = lasting_metrics(live), path[512];
    llmperf_profile *again = NULL;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = recording;
    again = play_options(&options);
    check_same(again, expected);
    llmperf_profile_free(again);
    snprintf(path, sizeof(path), "%s", in_test_folder("lasting.llmperf"));
    if (llmperf_profile_save(live, path) < 0 || llmperf_profile_open(path, &again) < 0)
        fail_msg("%s", llmperf_last_error());
    check_same(again, expected);
    llmperf_profile_free(again);
    free(expected);
}

void check_error(const char *part)
{
    const char *error = llmperf_last_error();

    assert_null(strchr(error, '\n'));
    if (!strstr(error, part))
        fail_msg("\"%s\" does not hold \"%s\"", error, part);
}

void check_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

int scaled(int full, int sanitized)
{
#ifdef SANITIZED
    (void)full;
    return sanitized;
#else
    (void)sanitized;
    return full;
#endif
}

int run_self(const char *argument, unsigned killed_after_ms)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "self", argument, folder, (char *)NULL);
        _exit(126);
    }
    if (killed_after_ms > 0) {
        usleep(killed_after_ms * 1000);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
