/* SPDX-License-Identifier: Apache-2.0 */
/* Run files: what goes in comes out, also after a kill, and damage never does worse than an error.
 */
#include <errno.h>
#include <float.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/result/profile_data.h"
#include "lib/result/result.h"

static char folder[64], run_path[96], other_path[96];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/llmperf-store-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(run_path, sizeof(run_path), "%s/run.llmperf", folder);
    snprintf(other_path, sizeof(other_path), "%s/other.llmperf", folder);
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void assert_ok(int status)
{
    if (status < 0)
        fail_msg("%d: %s", status, llmperf_last_error());
}

static void assert_error_has(const char *part)
{
    if (!strstr(llmperf_last_error(), part))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

/* The fields of the public structs, kept apart from the columns of the store on purpose. */

enum field_kind { SIZE, TEXT, DERIVED_TEXT, WORD, DEVICE, COUNT, NUMBER, DERIVED_NUMBER, RESERVED };

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
};

#define LEDGER(kind, field) #field, kind, offsetof(llmperf_ledger, field)
#define REGION(kind, field) #field, kind, offsetof(llmperf_region_stats, field)
#define KERNEL(kind, field) #field, kind, offsetof(llmperf_kernel_stats, field)
#define LENGTH(array)       (sizeof(array) / sizeof((array)[0]))

static const struct field ledger_fields[] = {
    { LEDGER(SIZE, struct_size) },
    { LEDGER(COUNT, launches_expected) },
    { LEDGER(COUNT, graph_launches) },
    { LEDGER(COUNT, memory_calls) },
    { LEDGER(COUNT, kernels_seen) },
    { LEDGER(COUNT, graph_kernels_seen) },
    { LEDGER(COUNT, memory_seen) },
    { LEDGER(COUNT, kernels_attributed) },
    { LEDGER(COUNT, kernels_outside) },
    { LEDGER(COUNT, kernels_unattributed) },
    { LEDGER(COUNT, launches_missing) },
    { LEDGER(COUNT, records_dropped) },
    { LEDGER(COUNT, records_invalid_time) },
    { LEDGER(COUNT, records_incomplete) },
    { LEDGER(COUNT, records_duplicate) },
    { LEDGER(COUNT, records_late) },
    { LEDGER(COUNT, graph_nodes_unmapped) },
    { LEDGER(COUNT, regions_dropped) },
    { LEDGER(COUNT, regions_truncated) },
    { LEDGER(COUNT, regions_unbalanced) },
    { LEDGER(NUMBER, cupti_overhead_ms) },
    { LEDGER(NUMBER, sampled_fraction) },
    { LEDGER(NUMBER, attributed_gpu_time_share) },
    { LEDGER(WORD, verdict) },
    { LEDGER(RESERVED, reserved) },
    { LEDGER(COUNT, graphs_device_launchable) },
    { LEDGER(COUNT, kernels_outside_window) },
};

static const struct field region_fields[] = {
    { REGION(SIZE, struct_size) },
    { REGION(TEXT, path) },
    { REGION(TEXT, label) },
    { REGION(TEXT, parent) },
    { REGION(TEXT, stage) },
    { REGION(WORD, depth) },
    { REGION(WORD, kind) },
    { REGION(DEVICE, device) },
    { REGION(WORD, process_id) },
    { REGION(COUNT, instances) },
    { REGION(COUNT, truncated) },
    { REGION(NUMBER, wall_sum_ms) },
    { REGION(NUMBER, wall_mean_ms) },
    { REGION(NUMBER, wall_std_ms) },
    { REGION(NUMBER, wall_min_ms) },
    { REGION(NUMBER, wall_max_ms) },
    { REGION(NUMBER, wall_p50_ms) },
    { REGION(NUMBER, wall_p95_ms) },
    { REGION(NUMBER, wall_p99_ms) },
    { REGION(NUMBER, gpu_busy_ms) },
    { REGION(NUMBER, exclusive_gpu_busy_ms) },
    { REGION(NUMBER, kernel_ms) },
    { REGION(NUMBER, exclusive_kernel_ms) },
    { REGION(NUMBER, memcpy_ms) },
    { REGION(NUMBER, memset_ms) },
    { REGION(NUMBER, idle_ms) },
    { REGION(COUNT, kernel_count) },
    { REGION(COUNT, memcpy_count) },
    { REGION(COUNT, memset_count) },
    { REGION(COUNT, memcpy_bytes) },
    { REGION(COUNT, tokens) },
    { REGION(COUNT, sequences) },
    { REGION(COUNT, context) },
    { REGION(COUNT, flops) },
    { REGION(COUNT, bytes) },
    { REGION(NUMBER, skipped_fraction) },
    { REGION(WORD, flops_origin) },
    { REGION(WORD, bytes_origin) },
};

static const struct field kernel_fields[] = {
    { KERNEL(SIZE, struct_size) },
    { KERNEL(TEXT, name) },
    { KERNEL(DERIVED_TEXT, demangled) },
    { KERNEL(DERIVED_TEXT, short_name) },
    { KERNEL(TEXT, region) },
    { KERNEL(TEXT, captured_in) },
    { KERNEL(WORD, kind) },
    { KERNEL(DEVICE, device) },
    { KERNEL(COUNT, calls) },
    { KERNEL(COUNT, bytes) },
    { KERNEL(NUMBER, total_ms) },
    { KERNEL(NUMBER, mean_ms) },
    { KERNEL(NUMBER, min_ms) },
    { KERNEL(NUMBER, max_ms) },
    { KERNEL(NUMBER, p50_ms) },
    { KERNEL(NUMBER, p95_ms) },
    { KERNEL(NUMBER, p99_ms) },
    { KERNEL(DERIVED_NUMBER, share) },
};

static size_t size_of_kind(enum field_kind kind)
{
    return kind == WORD || kind == DEVICE || kind == RESERVED ? 4 : 8;
}

static void assert_fields_tile(const struct field *fields, size_t count, size_t size)
{
    size_t end = 0;

    for (size_t i = 0; i < count; i++) {
        if (fields[i].offset != end)
            fail_msg("a field in front of %s is not in the list", fields[i].name);
        end += size_of_kind(fields[i].kind);
    }
    assert_int_equal(end, size);
}

static void field_lists_are_complete(void **state)
{
    (void)state;
    assert_fields_tile(ledger_fields, LENGTH(ledger_fields), sizeof(llmperf_ledger));
    assert_fields_tile(region_fields, LENGTH(region_fields), sizeof(llmperf_region_stats));
    assert_fields_tile(kernel_fields, LENGTH(kernel_fields), sizeof(llmperf_kernel_stats));
}

/* Give each field a value of its own; `number` starts it. */
static void fill(llmperf_profile *profile, const struct field *fields, size_t count, void *row,
                 unsigned number)
{
    char text[64];

    for (size_t i = 0; i < count; i++, number++) {
        void *field = (char *)row + fields[i].offset;

        switch (fields[i].kind) {
        case TEXT:
        case DERIVED_TEXT:
            snprintf(text, sizeof(text), "%s \xc3\xa9 '%u'", fields[i].name, number);
            *(const char **)field = lp_profile_text(profile, text);
            break;
        case WORD:
            *(uint32_t *)field = UINT32_MAX - number;
            break;
        case DEVICE:
            *(int32_t *)field = (int32_t)number;
            break;
        case COUNT:
            *(uint64_t *)field = (UINT64_C(1) << 53) + number;
            break;
        case NUMBER:
        case DERIVED_NUMBER:
            *(double *)field = number + 1 / 3.0;
            break;
        case SIZE:
        case RESERVED:
            break;
        }
    }
}

/* All that may be unknown, unknown. */
static void fill_unknown(const struct field *fields, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++) {
        void *field = (char *)row + fields[i].offset;

        if (fields[i].kind == TEXT && strcmp(fields[i].name, "path") &&
            strcmp(fields[i].name, "label") && strcmp(fields[i].name, "name"))
            *(const char **)field = NULL;
        else if (fields[i].kind == DEVICE)
            *(int32_t *)field = -1;
        else if (fields[i].kind == COUNT)
            *(uint64_t *)field = LLMPERF_UNKNOWN;
        else if (fields[i].kind == NUMBER)
            *(double *)field = NAN;
    }
}

static void assert_field_equal(const struct field *field, const void *left, const void *right)
{
    const char *a = (const char *)left + field->offset, *b = (const char *)right + field->offset;
    const char *text_a, *text_b;

    if (field->kind == DERIVED_TEXT || field->kind == DERIVED_NUMBER)
        return;
    if (field->kind == TEXT) {
        memcpy(&text_a, a, sizeof(text_a));
        memcpy(&text_b, b, sizeof(text_b));
        if (!text_a != !text_b || (text_a && strcmp(text_a, text_b)))
            fail_msg("%s: \"%s\" became \"%s\"", field->name, text_a, text_b);
    } else if (field->kind == NUMBER && isnan(*(const double *)(const void *)a)) {
        if (!isnan(*(const double *)(const void *)b))
            fail_msg("%s: NaN became a number", field->name);
    } else if (memcmp(a, b, size_of_kind(field->kind)) != 0) {
        fail_msg("%s changed", field->name);
    }
}

static void assert_fields_equal(const struct field *fields, size_t count, const void *left,
                                const void *right)
{
    for (size_t i = 0; i < count; i++)
        assert_field_equal(&fields[i], left, right);
}

static void assert_blobs_equal(const struct lp_blob *left, const struct lp_blob *right)
{
    assert_int_equal(left->size, right->size);
    if (left->size > 0)
        assert_memory_equal(left->bytes, right->bytes, left->size);
    else
        assert_null(right->bytes);
}

static const struct lp_region_row *find_region(const llmperf_profile *profile, const char *path)
{
    for (size_t i = 0; i < profile->regions.count; i++)
        if (!strcmp(profile->regions.items[i].stats.path, path))
            return &profile->regions.items[i];
    fail_msg("no region %s", path);
    return NULL;
}

static const struct lp_kernel_row *find_kernel(const llmperf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->kernels.count; i++)
        if (!strcmp(profile->kernels.items[i].stats.name, name))
            return &profile->kernels.items[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static void assert_profiles_equal(const llmperf_profile *left, const llmperf_profile *right)
{
    assert_fields_equal(ledger_fields, LENGTH(ledger_fields), &left->ledger, &right->ledger);
    assert_int_equal(left->regions.count, right->regions.count);
    for (size_t i = 0; i < left->regions.count; i++) {
        const struct lp_region_row *a = &left->regions.items[i];
        const struct lp_region_row *b = find_region(right, a->stats.path);

        assert_fields_equal(region_fields, LENGTH(region_fields), &a->stats, &b->stats);
        assert_blobs_equal(&a->wall, &b->wall);
    }
    assert_int_equal(left->kernels.count, right->kernels.count);
    for (size_t i = 0; i < left->kernels.count; i++) {
        const struct lp_kernel_row *a = &left->kernels.items[i];
        const struct lp_kernel_row *b = find_kernel(right, a->stats.name);

        assert_fields_equal(kernel_fields, LENGTH(kernel_fields), &a->stats, &b->stats);
        assert_blobs_equal(&a->durations, &b->durations);
    }
    assert_int_equal(left->facts.count, right->facts.count);
    for (size_t i = 0; i < left->facts.count; i++)
        assert_string_equal(left->facts.items[i].value,
                            llmperf_profile_fact(right, left->facts.items[i].key));
    assert_int_equal(left->problems.count, right->problems.count);
    for (size_t i = 0; i < left->problems.count; i++)
        assert_string_equal(left->problems.items[i], right->problems.items[i]);
    assert_int_equal(left->notes.count, right->notes.count);
    for (size_t i = 0; i < left->notes.count; i++)
        assert_string_equal(left->notes.items[i], right->notes.items[i]);
}

/* Profiles */

static struct lp_region_row *add_region(llmperf_profile *profile, unsigned number)
{
    struct lp_region_row row = { .stats = LLMPERF_REGION_STATS_INIT };

    fill(profile, region_fields, LENGTH(region_fields), &row.stats, number);
    assert_ok(lp_vector_push(&profile->regions, row));
    return &profile->regions.items[profile->regions.count - 1];
}

static struct lp_kernel_row *add_kernel(llmperf_profile *profile, unsigned number)
{
    struct lp_kernel_row row = { .stats = LLMPERF_KERNEL_STATS_INIT };

    fill(profile, kernel_fields, LENGTH(kernel_fields), &row.stats, number);
    assert_ok(lp_vector_push(&profile->kernels, row));
    return &profile->kernels.items[profile->kernels.count - 1];
}

static llmperf_profile *make_profile(unsigned rows)
{
    llmperf_profile *profile = lp_profile_create();

    assert_non_null(profile);
    fill(profile, ledger_fields, LENGTH(ledger_fields), &profile->ledger, 100);
    for (unsigned i = 0; i < rows; i++) {
        add_region(profile, 1000 + i * 50)->wall = (struct lp_blob){ "a\0b", 3 };
        add_kernel(profile, 1000 + i * 50)->durations = (struct lp_blob){ "\0\1\2\3", 4 };
    }
    assert_ok(lp_profile_set_fact(profile, "run_id", "20260101-000000-1"));
    assert_ok(lp_profile_set_fact(profile, "source", ""));
    assert_ok(lp_profile_add_problem(profile, "first problem"));
    assert_ok(lp_profile_add_problem(profile, "second; 'problem'"));
    assert_ok(lp_profile_add_note(profile, "a note"));
    return profile;
}

static llmperf_profile *open_run(const char *path)
{
    llmperf_profile *profile = NULL;

    assert_ok(llmperf_profile_open(path, &profile));
    assert_non_null(profile);
    return profile;
}

static void assert_run_holds(const char *path, const llmperf_profile *expected)
{
    llmperf_profile *profile = open_run(path);

    assert_profiles_equal(expected, profile);
    llmperf_profile_free(profile);
}

static void assert_not_opened(const char *path, int status, const char *part)
{
    llmperf_profile *profile = NULL;

    assert_int_equal(llmperf_profile_open(path, &profile), status);
    assert_null(profile);
    assert_error_has(part);
}

static void save_rows(const char *path, unsigned rows)
{
    llmperf_profile *profile = make_profile(rows);

    assert_ok(llmperf_profile_save(profile, path));
    llmperf_profile_free(profile);
}

static struct lp_store *create_store(void)
{
    struct lp_store *store = NULL;

    assert_ok(lp_store_create(run_path, &store));
    return store;
}

/* A run whose program was killed after its commit: the log is still there. */
static void leave_killed_run(unsigned rows)
{
    pid_t child = fork();
    int result = -1;

    assert_true(child >= 0);
    if (child == 0) {
        llmperf_profile *profile = make_profile(rows);
        struct lp_store *store = NULL;

        _exit(lp_store_create(run_path, &store) < 0 || lp_store_write(store, profile) < 0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static bool file_exists(const char *suffix)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s", run_path, suffix);
    return lp_path_exists(path);
}

/* Plain SQL on a file, as users write it. */
static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void assert_sql_gives(const char *sql, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(run_path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), expected);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* Round trip */

static void each_field_survives(void **state)
{
    llmperf_profile *profile = make_profile(3);

    (void)state;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    assert_run_holds(folder, profile);
    llmperf_profile_free(profile);
}

static void unknown_values_survive(void **state)
{
    llmperf_profile *profile = make_profile(2);
    struct lp_region_row *region = add_region(profile, 5000);
    struct lp_kernel_row *kernel = add_kernel(profile, 5000);

    (void)state;
    fill_unknown(region_fields, LENGTH(region_fields), &region->stats);
    fill_unknown(kernel_fields, LENGTH(kernel_fields), &kernel->stats);
    fill_unknown(ledger_fields, LENGTH(ledger_fields), &profile->ledger);
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    assert_sql_gives("SELECT count(*) FROM region WHERE device IS NULL AND parent IS NULL AND "
                     "tokens IS NULL AND idle_ms IS NULL AND wall_histogram IS NULL",
                     "1");
    assert_sql_gives("SELECT count(*) FROM kernel WHERE device IS NULL AND region IS NULL AND "
                     "calls IS NULL AND total_ms IS NULL AND histogram IS NULL",
                     "1");
    llmperf_profile_free(profile);
}

static void extreme_values_survive(void **state)
{
    llmperf_profile *profile = make_profile(1);
    llmperf_region_stats *stats = &add_region(profile, 5000)->stats;

    (void)state;
    stats->stage = ""; /* not the same as none */
    stats->instances = 0;
    stats->tokens = UINT64_MAX - 1;
    stats->bytes = (uint64_t)INT64_MAX + 1;
    stats->device = UINT16_MAX;
    stats->wall_sum_ms = DBL_MAX;
    stats->wall_std_ms = DBL_TRUE_MIN;
    stats->wall_min_ms = HUGE_VAL;
    stats->kernel_ms = 0;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void an_empty_profile_survives(void **state)
{
    llmperf_profile *profile = lp_profile_create();

    (void)state;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void long_texts_and_many_lines_survive(void **state)
{
    llmperf_profile *profile = make_profile(0);
    char *name = malloc(100001);

    (void)state;
    memset(name, 'x', 100000);
    name[100000] = '\0';
    add_kernel(profile, 5000)->stats.name = lp_profile_text(profile, name);
    for (int i = 0; i < 500; i++)
        assert_ok(lp_profile_add_note(profile, "note %d", i));
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    free(name);
    llmperf_profile_free(profile);
}

static void columns_for_people_are_in_the_file(void **state)
{
    llmperf_profile *profile = make_profile(1);
    llmperf_kernel_stats *stats = &profile->kernels.items[0].stats;

    (void)state;
    stats->demangled = "f(int)";
    stats->short_name = "f";
    stats->share = 0.25;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_sql_gives("SELECT demangled || short_name || share FROM kernel", "f(int)f0.25");
    assert_sql_gives("SELECT value FROM fact WHERE key='run_id'", "20260101-000000-1");
    assert_sql_gives("SELECT group_concat(line) FROM problem", "first problem,second; 'problem'");
    assert_sql_gives("PRAGMA application_id", "1280068944"); /* "LLMP" */
    assert_sql_gives("PRAGMA user_version", "2");
    llmperf_profile_free(profile);
}

static void rows_with_one_key_stay_two_rows(void **state)
{
    llmperf_profile *profile = make_profile(1);
    struct lp_region_row twin = profile->regions.items[0];
    struct lp_store *store = create_store();

    (void)state;
    assert_ok(lp_vector_push(&profile->regions, twin));
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

/* Writing again and again */

static void a_later_write_replaces_what_changed(void **state)
{
    llmperf_profile *profile = make_profile(3);
    struct lp_store *store = create_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    profile->regions.items[1].stats.tokens++;
    profile->kernels.items[2].durations = (struct lp_blob){ "\7", 1 };
    profile->ledger.kernels_seen++;
    profile->problems.count = 1;
    add_region(profile, 7000);
    assert_ok(lp_profile_set_fact(profile, "source", "cupti"));
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void rows_that_vanish_are_removed_and_may_come_back(void **state)
{
    llmperf_profile *profile = make_profile(3);
    struct lp_store *store = create_store();

    (void)state;
    profile->regions.items[0].stats.device = -1;
    assert_ok(lp_store_write(store, profile));
    profile->regions.items[0].stats.device = 2;
    profile->kernels.count = 1;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    profile->regions.items[0].stats.device = -1;
    profile->kernels.count = 3;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    llmperf_profile_free(profile);
}

/* What somebody else wrote into a row shows whether the store wrote it again. */
static void unchanged_rows_are_not_written_again(void **state)
{
    llmperf_profile *profile = make_profile(2);
    struct lp_store *store = create_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    run_sql(run_path, "UPDATE region SET flops=7; UPDATE kernel SET bytes=7");
    profile->regions.items[0].stats.instances++;
    profile->kernels.items[0].stats.share = 0.5; /* follows from other rows */
    assert_ok(lp_store_write(store, profile));
    assert_sql_gives("SELECT count(*) FROM region WHERE flops=7", "1");
    assert_sql_gives("SELECT count(*) FROM kernel WHERE bytes=7", "2");
    assert_ok(lp_store_close(store));
    llmperf_profile_free(profile);
}

static void shares_are_right_when_the_file_is_closed(void **state)
{
    llmperf_profile *profile = make_profile(2);
    struct lp_store *store = create_store();

    (void)state;
    profile->kernels.items[0].stats.total_ms = 3;
    profile->kernels.items[1].stats.total_ms = 3;
    assert_ok(lp_store_write(store, profile));
    profile->kernels.items[1].stats.total_ms = 9;
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_close(store));
    assert_sql_gives("SELECT group_concat(share) FROM (SELECT share FROM kernel ORDER BY share)",
                     "0.25,0.75");
    llmperf_profile_free(profile);
}

static void a_write_after_a_failed_one_is_whole(void **state)
{
    llmperf_profile *profile = make_profile(200);
    struct lp_store *store = create_store();
    struct rlimit limit, small;

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 65536; /* the log is longer already */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (unsigned i = 0; i < 150; i++)
        profile->regions.items[i].stats.instances++;
    profile->kernels.count = 10;
    assert_int_equal(lp_store_write(store, profile), LLMPERF_EIO);
    assert_error_has(run_path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void a_closed_run_is_one_file(void **state)
{
    llmperf_profile *profile = make_profile(1);
    struct lp_store *store = create_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_true(file_exists("-wal"));
    assert_ok(lp_store_close(store));
    assert_ok(lp_store_close(NULL));
    assert_true(file_exists(""));
    assert_false(file_exists("-wal"));
    assert_false(file_exists("-shm"));
    assert_false(file_exists("-journal"));
    llmperf_profile_free(profile);
}

static void a_reader_that_stays_does_not_fail_the_close(void **state)
{
    llmperf_profile *profile = make_profile(1);
    struct lp_store *store = create_store();
    sqlite3 *reader = NULL;

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_int_equal(sqlite3_open_v2(run_path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM region", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_ok(lp_store_close(store));
    sqlite3_close(reader);
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

/* Replacing */

static void create_replaces_a_run_and_its_log(void **state)
{
    llmperf_profile *profile = make_profile(1);
    struct lp_store *store;

    (void)state;
    leave_killed_run(5);
    store = create_store();
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void save_does_not_apply_the_log_of_the_run_it_replaces(void **state)
{
    llmperf_profile *profile = make_profile(1);

    (void)state;
    leave_killed_run(5);
    assert_true(file_exists("-wal"));
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void a_save_that_fails_leaves_the_old_run(void **state)
{
    llmperf_profile *profile = make_profile(2);
    struct rlimit limit, small;

    (void)state;
    save_rows(run_path, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 8192;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(llmperf_profile_save(profile, run_path), LLMPERF_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    llmperf_profile_free(profile);
    profile = make_profile(1);
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
    assert_int_equal(unlink(run_path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void places_that_cannot_be_written_are_errors(void **state)
{
    llmperf_profile *profile = make_profile(1);
    struct lp_store *store = NULL;
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/missing/run.llmperf", folder);
    assert_int_equal(llmperf_profile_save(profile, path), LLMPERF_EIO);
    assert_error_has("is its folder there");
    assert_int_equal(lp_store_create(path, &store), LLMPERF_EIO);
    assert_int_equal(lp_store_create(folder, &store), LLMPERF_EIO);
    assert_null(store);
    assert_int_equal(llmperf_profile_save(profile, folder), LLMPERF_EIO);
    assert_error_has("it is a folder");
    assert_int_equal(llmperf_profile_save(NULL, run_path), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_save(profile, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_save(profile, ""), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

/* Killed, damaged, foreign */

static void a_run_of_a_killed_program_is_readable(void **state)
{
    llmperf_profile *profile = make_profile(20);

    (void)state;
    leave_killed_run(20);
    assert_true(file_exists("-wal"));
    assert_run_holds(run_path, profile);
    assert_run_holds(folder, profile);
    llmperf_profile_free(profile);
}

static void a_run_without_a_commit_says_so(void **state)
{
    struct lp_store *store = create_store();

    (void)state;
    assert_not_opened(run_path, LLMPERF_EFORMAT, "before the first commit");
    assert_ok(lp_store_close(store));
    assert_not_opened(run_path, LLMPERF_EFORMAT, "before the first commit");
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    assert_ok(lp_file_write(path, bytes, size));
}

static void a_file_cut_anywhere_is_an_error(void **state)
{
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    save_rows(run_path, 40);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    for (size_t length = 1; length < size; length += length < 300 ? 7 : 509) {
        write_file(other_path, bytes, length);
        assert_not_opened(other_path, LLMPERF_EFORMAT, other_path);
    }
    free(bytes);
}

/* The log ends where the disk was full or the machine stopped: its whole commits count. */
static void a_log_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
    char log_path[128], other_log[128], *bytes = NULL, *log = NULL;
    size_t size = 0, log_size = 0, opened = 0;

    (void)state;
    leave_killed_run(40);
    snprintf(log_path, sizeof(log_path), "%s-wal", run_path);
    snprintf(other_log, sizeof(other_log), "%s-wal", other_path);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    assert_ok(lp_file_read(log_path, &log, &log_size));
    for (size_t part = 0; part <= 64; part++) {
        llmperf_profile *profile = NULL;
        int status;

        write_file(other_path, bytes, size);
        write_file(other_log, log, log_size * part / 64);
        status = llmperf_profile_open(other_path, &profile);
        assert_true(status == 0 || status == LLMPERF_EFORMAT);
        opened += status == 0;
        llmperf_profile_free(profile);
    }
    assert_int_equal(opened, 1); /* the only commit is the last thing in the log */
    free(bytes);
    free(log);
}

static void flipped_bytes_do_no_worse_than_an_error(void **state)
{
    uint64_t seed = 4101842887655102017;
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    save_rows(run_path, 12);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    for (int round = 0; round < 1500; round++) {
        llmperf_profile *profile = NULL;
        char *copy = malloc(size);
        int status;

        memcpy(copy, bytes, size);
        for (int i = 0; i < 1 + round % 8; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            copy[(seed >> 8) % size] = (char)seed;
        }
        write_file(other_path, copy, size);
        status = llmperf_profile_open(other_path, &profile);
        assert_true(status == 0 ? profile != NULL : profile == NULL);
        llmperf_profile_free(profile);
        free(copy);
    }
    free(bytes);
}

static void other_files_are_not_runs(void **state)
{
    char garbage[9000];

    (void)state;
    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (char)(i * 7919 >> 3);
    write_file(run_path, garbage, sizeof(garbage));
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not a run of this library");
    write_file(run_path, "", 0);
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not a run of this library");
    assert_int_equal(unlink(run_path), 0);
    run_sql(run_path, "CREATE TABLE region(path)");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not a run of this library");
}

static void a_newer_format_names_both_versions(void **state)
{
    (void)state;
    save_rows(run_path, 1);
    run_sql(run_path, "PRAGMA user_version=3");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "format 3");
    assert_error_has("format 2");
}

static void an_older_format_names_both_versions(void **state)
{
    (void)state;
    save_rows(run_path, 1);
    run_sql(run_path, "PRAGMA user_version=1");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "format 1 of an earlier version");
    assert_error_has("format 2");
}

static void contents_that_cannot_be_are_errors(void **state)
{
    static const char *const changes[] = {
        "PRAGMA user_version=0",
        "DROP TABLE kernel",
        "ALTER TABLE region DROP COLUMN tokens",
        "UPDATE region SET device=4294967296",
        "UPDATE region SET device=-2147483648",
        "UPDATE kernel SET kind=-1",
        "PRAGMA writable_schema=1; UPDATE sqlite_master SET sql=replace(sql, 'NOT NULL', '')",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        save_rows(run_path, 2);
        run_sql(run_path, changes[i]);
        if (i == LENGTH(changes) - 1)
            run_sql(run_path, "UPDATE region SET path=NULL");
        assert_not_opened(run_path, LLMPERF_EFORMAT, run_path);
    }
}

static void missing_runs_say_what_to_give(void **state)
{
    llmperf_profile *profile = NULL;

    (void)state;
    assert_not_opened(run_path, LLMPERF_ENOENT, "give a run directory or its run.llmperf");
    assert_not_opened(folder, LLMPERF_ENOENT, "give a run directory or its run.llmperf");
    assert_int_equal(llmperf_profile_open(NULL, &profile), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_open(run_path, NULL), LLMPERF_EINVAL);
}

/* Read-only places. Root may write everywhere, so it becomes somebody else for a while. */

static bool become_nobody(void)
{
    return geteuid() != 0 || seteuid(65534) == 0;
}

static void become_self(void)
{
    if (geteuid() != getuid())
        assert_int_equal(seteuid(getuid()), 0);
}

static void a_read_only_folder_is_enough(void **state)
{
    llmperf_profile *profile = make_profile(2), *found[2] = { NULL, NULL };
    int status[2];

    (void)state;
    snprintf(other_path, sizeof(other_path), "%s/a?b#c%%20.llmperf", folder);
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_ok(llmperf_profile_save(profile, other_path));
    run_sql(other_path, "PRAGMA journal_mode=WAL"); /* the log goes away at the close */
    assert_int_equal(chmod(run_path, 0444) + chmod(other_path, 0444) + chmod(folder, 0555), 0);
    if (!become_nobody()) {
        llmperf_profile_free(profile);
        skip();
    }
    status[0] = llmperf_profile_open(run_path, &found[0]);
    status[1] = llmperf_profile_open(other_path, &found[1]);
    become_self();
    chmod(folder, 0700);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(status[i], 0);
        assert_profiles_equal(profile, found[i]);
        llmperf_profile_free(found[i]);
    }
    llmperf_profile_free(profile);
}

static void a_file_without_permission_is_eio(void **state)
{
    llmperf_profile *found = NULL;
    int status;

    (void)state;
    save_rows(run_path, 1);
    assert_int_equal(chmod(run_path, 0) + chmod(folder, 0555), 0);
    if (!become_nobody())
        skip();
    status = llmperf_profile_open(run_path, &found);
    become_self();
    chmod(folder, 0700);
    assert_int_equal(status, LLMPERF_EIO);
    assert_null(found);
    assert_error_has(run_path);
}

/* A reader while a writer commits */

#define COMMITS 150

static void *commit_again_and_again(void *done)
{
    llmperf_profile *profile = make_profile(30);
    struct lp_store *store = NULL;
    int status = lp_store_create(run_path, &store);

    for (uint64_t i = 1; i <= COMMITS && status == 0; i++) {
        profile->ledger.kernels_seen = i;
        for (size_t row = 0; row < profile->regions.count; row++)
            profile->regions.items[row].stats.instances = i;
        profile->kernels.items[i % 30].stats.calls = i;
        status = lp_store_write(store, profile);
    }
    if (lp_store_close(store) < 0)
        status = -1;
    llmperf_profile_free(profile);
    __atomic_store_n((int *)done, status < 0 ? -1 : 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_reader_sees_whole_commits_while_they_are_made(void **state)
{
    uint64_t last = 0, reads = 0;
    pthread_t writer;
    int done = 0;

    (void)state;
    save_rows(run_path, 1); /* so that there is something to read at once */
    assert_int_equal(pthread_create(&writer, NULL, commit_again_and_again, &done), 0);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        llmperf_profile *profile = NULL;

        if (llmperf_profile_open(run_path, &profile) < 0)
            continue; /* not yet created, or nothing in it */
        if (profile->regions.count == 30) {
            assert_true(profile->ledger.kernels_seen >= last);
            last = profile->ledger.kernels_seen;
            for (size_t row = 0; row < profile->regions.count; row++)
                assert_int_equal(profile->regions.items[row].stats.instances, last);
            reads++;
        }
        llmperf_profile_free(profile);
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(done, 1);
    assert_true(reads > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_lists_are_complete),
        CASE(each_field_survives),
        CASE(unknown_values_survive),
        CASE(extreme_values_survive),
        CASE(an_empty_profile_survives),
        CASE(long_texts_and_many_lines_survive),
        CASE(columns_for_people_are_in_the_file),
        CASE(rows_with_one_key_stay_two_rows),
        CASE(a_later_write_replaces_what_changed),
        CASE(rows_that_vanish_are_removed_and_may_come_back),
        CASE(unchanged_rows_are_not_written_again),
        CASE(shares_are_right_when_the_file_is_closed),
        CASE(a_write_after_a_failed_one_is_whole),
        CASE(a_closed_run_is_one_file),
        CASE(a_reader_that_stays_does_not_fail_the_close),
        CASE(create_replaces_a_run_and_its_log),
        CASE(save_does_not_apply_the_log_of_the_run_it_replaces),
        CASE(a_save_that_fails_leaves_the_old_run),
        CASE(places_that_cannot_be_written_are_errors),
        CASE(a_run_of_a_killed_program_is_readable),
        CASE(a_run_without_a_commit_says_so),
        CASE(a_file_cut_anywhere_is_an_error),
        CASE(a_log_cut_anywhere_is_read_as_far_as_it_goes),
        CASE(flipped_bytes_do_no_worse_than_an_error),
        CASE(other_files_are_not_runs),
        CASE(a_newer_format_names_both_versions),
        CASE(an_older_format_names_both_versions),
        CASE(contents_that_cannot_be_are_errors),
        CASE(missing_runs_say_what_to_give),
        CASE(a_read_only_folder_is_enough),
        CASE(a_file_without_permission_is_eio),
        CASE(a_reader_sees_whole_commits_while_they_are_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
