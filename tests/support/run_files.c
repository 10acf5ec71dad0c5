/* SPDX-License-Identifier: Apache-2.0 */
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "tests/support/run_files.h"
char run_folder[64], run_path[96], other_path[96];

int make_run_folder(void **state)
{
    (void)state;
    strcpy(run_folder, "/tmp/llmperf-store-XXXXXX");
    if (!mkdtemp(run_folder))
        return -1;
    snprintf(run_path, sizeof(run_path), "%s/run.llmperf", run_folder);
    snprintf(other_path, sizeof(other_path), "%s/other.llmperf", run_folder);
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

int remove_run_folder(void **state)
{
    (void)state;
    return nftw(run_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void assert_ok(int status)
{
    if (status < 0)
        fail_msg("%d: %s", status, llmperf_last_error());
}

void assert_error_has(const char *part)
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
    { LEDGER(COUNT, kernels_in_windows) },
    { LEDGER(COUNT, launches_duplicate) },
    { LEDGER(COUNT, graph_records_missing) },
    { LEDGER(COUNT, memory_missing) },
    { LEDGER(COUNT, records_before_launch) },
    { LEDGER(COUNT, records_foreign) },
    { LEDGER(COUNT, names_over_limit) },
    { LEDGER(COUNT, source_errors) },
    { LEDGER(COUNT, regions_abandoned) },
    { LEDGER(COUNT, regions_over_limit) },
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
    { REGION(COUNT, window_instances) },
    { REGION(NUMBER, window_ms) },
    { REGION(COUNT, window_flops) },
    { REGION(COUNT, window_bytes) },
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

void assert_field_lists_complete(void)
{
    assert_fields_tile(ledger_fields, LENGTH(ledger_fields), sizeof(llmperf_ledger));
    assert_fields_tile(region_fields, LENGTH(region_fields), sizeof(llmperf_region_stats));
    assert_fields_tile(kernel_fields, LENGTH(kernel_fields), sizeof(llmperf_kernel_stats));
}

/* Give each field a value of its own; `number` starts it. */
static void fill_fields(llmperf_profile *profile, const struct field *fields, size_t count,
                        void *row, unsigned number)
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
static void fill_unknown_fields(const struct field *fields, size_t count, void *row)
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

static const struct lp_region_row *find_region_row(const llmperf_profile *profile, const char *path)
{
    for (size_t i = 0; i < profile->regions.count; i++)
        if (!strcmp(profile->regions.items[i].stats.path, path))
            return &profile->regions.items[i];
    fail_msg("no region %s", path);
    return NULL;
}

static const struct lp_kernel_row *find_kernel_row(const llmperf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->kernels.count; i++)
        if (!strcmp(profile->kernels.items[i].stats.name, name))
            return &profile->kernels.items[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

void assert_profiles_equal(const llmperf_profile *left, const llmperf_profile *right)
{
    assert_fields_equal(ledger_fields, LENGTH(ledger_fields), &left->ledger, &right->ledger);
    assert_int_equal(left->regions.count, right->regions.count);
    for (size_t i = 0; i < left->regions.count; i++) {
        const struct lp_region_row *a = &left->regions.items[i];
        const struct lp_region_row *b = find_region_row(right, a->stats.path);

        assert_fields_equal(region_fields, LENGTH(region_fields), &a->stats, &b->stats);
        assert_blobs_equal(&a->wall, &b->wall);
    }
    assert_int_equal(left->kernels.count, right->kernels.count);
    for (size_t i = 0; i < left->kernels.count; i++) {
        const struct lp_kernel_row *a = &left->kernels.items[i];
        const struct lp_kernel_row *b = find_kernel_row(right, a->stats.name);

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

struct lp_region_row *add_region_row(llmperf_profile *profile, unsigned number)
{
    struct lp_region_row row = { .stats = LLMPERF_REGION_STATS_INIT };

    fill_fields(profile, region_fields, LENGTH(region_fields), &row.stats, number);
    assert_ok(lp_vector_push(&profile->regions, row));
    return &profile->regions.items[profile->regions.count - 1];
}

struct lp_kernel_row *add_kernel_row(llmperf_profile *profile, unsigned number)
{
    struct lp_kernel_row row = { .stats = LLMPERF_KERNEL_STATS_INIT };

    fill_fields(profile, kernel_fields, LENGTH(kernel_fields), &row.stats, number);
    assert_ok(lp_vector_push(&profile->kernels, row));
    return &profile->kernels.items[profile->kernels.count - 1];
}

llmperf_profile *make_numbered_profile(unsigned rows)
{
    llmperf_profile *profile = lp_profile_create();

    assert_non_null(profile);
    fill_fields(profile, ledger_fields, LENGTH(ledger_fields), &profile->ledger, 100);
    for (unsigned i = 0; i < rows; i++) {
        add_region_row(profile, 1000 + i * 50)->wall = (struct lp_blob){ "a\0b", 3 };
        add_kernel_row(profile, 1000 + i * 50)->durations = (struct lp_blob){ "\0\1\2\3", 4 };
    }
    assert_ok(lp_profile_set_fact(profile, "run_id", "20260101-000000-1"));
    assert_ok(lp_profile_set_fact(profile, "source", ""));
    assert_ok(lp_profile_add_problem(profile, "first problem"));
    assert_ok(lp_profile_add_problem(profile, "second; 'problem'"));
    assert_ok(lp_profile_add_note(profile, "a note"));
    return profile;
}

llmperf_profile *make_unknown_profile(unsigned rows)
{
    llmperf_profile *profile = make_numbered_profile(rows);
    struct lp_region_row *region = add_region_row(profile, 5000);
    struct lp_kernel_row *kernel = add_kernel_row(profile, 5000);

    fill_unknown_fields(region_fields, LENGTH(region_fields), &region->stats);
    fill_unknown_fields(kernel_fields, LENGTH(kernel_fields), &kernel->stats);
    fill_unknown_fields(ledger_fields, LENGTH(ledger_fields), &profile->ledger);
    return profile;
}

static llmperf_profile *open_run(const char *path)
{
    llmperf_profile *profile = NULL;

    assert_ok(llmperf_profile_open(path, &profile));
    assert_non_null(profile);
    return profile;
}

void assert_run_holds(const char *path, const llmperf_profile *expected)
{
    llmperf_profile *profile = open_run(path);

    assert_profiles_equal(expected, profile);
    llmperf_profile_free(profile);
}

void assert_not_opened(const char *path, int status, const char *part)
{
    llmperf_profile *profile = NULL;

    assert_int_equal(llmperf_profile_open(path, &profile), status);
    assert_null(profile);
    assert_error_has(part);
}

void save_rows(const char *path, unsigned rows)
{
    llmperf_profile *profile = make_numbered_profile(rows);

    assert_ok(llmperf_profile_save(profile, path));
    llmperf_profile_free(profile);
}

struct lp_store *create_run_store(void)
{
    struct lp_store *store = NULL;

    assert_ok(lp_store_create(run_path, &store));
    return store;
}

/* A run whose program was killed after its commit: the log is still there. */
void leave_killed_run(unsigned rows)
{
    pid_t child = fork();
    int result = -1;

    assert_true(child >= 0);
    if (child == 0) {
        llmperf_profile *profile = make_numbered_profile(rows);
        struct lp_store *store = NULL;

        _exit(lp_store_create(run_path, &store) < 0 || lp_store_write(store, profile) < 0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

bool run_file_exists(const char *suffix)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s", run_path, suffix);
    return lp_path_exists(path);
}

/* Plain SQL on a file, as users write it. */
void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

void assert_sql_gives(const char *sql, const char *expected)
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
