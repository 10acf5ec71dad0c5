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
#include "lib/profile/fields.h"
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

/* Give each field a value of its own; `number` starts it. */
static void fill_fields(llmperf_profile *profile, enum lp_row_id id, void *row, unsigned number)
{
    char text[64];

    for (size_t i = 0; i < lp_row_kinds[id].count; i++, number++) {
        const struct lp_row_field *field = &lp_row_kinds[id].fields[i];
        void *at = (char *)row + field->offset;

        switch (field->type) {
        case LP_FIELD_NAME:
        case LP_FIELD_TEXT:
            snprintf(text, sizeof(text), "%s \xc3\xa9 '%u'", field->name, number);
            *(const char **)at = lp_profile_text(profile, text);
            break;
        case LP_FIELD_WORD:
            *(uint32_t *)at = UINT32_MAX - number;
            break;
        case LP_FIELD_DEVICE:
            *(int32_t *)at = (int32_t)number;
            break;
        case LP_FIELD_COUNT:
            *(uint64_t *)at = (UINT64_C(1) << 53) + number;
            break;
        case LP_FIELD_NUMBER:
            *(double *)at = number + 1 / 3.0;
            break;
        case LP_FIELD_BLOB:
            break;
        }
    }
}

/* All that may be unknown, unknown. */
static void fill_unknown_fields(enum lp_row_id id, void *row)
{
    for (size_t i = 0; i < lp_row_kinds[id].count; i++)
        lp_field_forget(&lp_row_kinds[id].fields[i], row);
}

/* Made again from other rows when a run is read. */
static bool is_derived(const struct lp_row_field *field)
{
    return (field->merge == LP_MERGE_DERIVED && field->type == LP_FIELD_TEXT) ||
           field->merge == LP_MERGE_SHARE || field->merge == LP_MERGE_LATER;
}

static void assert_field_equal(const struct lp_row_field *field, const void *left,
                               const void *right)
{
    const void *a = (const char *)left + field->offset, *b = (const char *)right + field->offset;

    if (is_derived(field) || field->type == LP_FIELD_BLOB)
        return;
    if (lp_field_known(field, left) != lp_field_known(field, right))
        fail_msg("%s is known on one side only", field->name);
    if (!lp_field_known(field, left))
        return;
    if (field->type == LP_FIELD_NAME || field->type == LP_FIELD_TEXT)
        assert_string_equal(*(const char *const *)a, *(const char *const *)b);
    else if (memcmp(a, b, field->type <= LP_FIELD_DEVICE ? 4 : 8) != 0)
        fail_msg("%s changed", field->name);
}

static void assert_fields_equal(enum lp_row_id id, const void *left, const void *right)
{
    for (size_t i = 0; i < lp_row_kinds[id].count; i++)
        assert_field_equal(&lp_row_kinds[id].fields[i], left, right);
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

static const llmperf_kernel_shape *find_shape_row(const llmperf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->kernel_shapes.count; i++)
        if (!strcmp(profile->kernel_shapes.items[i].name, name))
            return &profile->kernel_shapes.items[i];
    fail_msg("no shape of %s", name);
    return NULL;
}

static const llmperf_host_call *find_call_row(const llmperf_profile *profile, const char *call)
{
    for (size_t i = 0; i < profile->host_calls.count; i++)
        if (!strcmp(profile->host_calls.items[i].call, call))
            return &profile->host_calls.items[i];
    fail_msg("no call of %s", call);
    return NULL;
}

void assert_profiles_equal(const llmperf_profile *left, const llmperf_profile *right)
{
    assert_fields_equal(LP_ROW_LEDGER, &left->ledger, &right->ledger);
    assert_int_equal(left->regions.count, right->regions.count);
    for (size_t i = 0; i < left->regions.count; i++) {
        const struct lp_region_row *a = &left->regions.items[i];
        const struct lp_region_row *b = find_region_row(right, a->stats.path);

        assert_fields_equal(LP_ROW_REGION, a, b);
        assert_blobs_equal(&a->wall, &b->wall);
    }
    assert_int_equal(left->kernels.count, right->kernels.count);
    for (size_t i = 0; i < left->kernels.count; i++) {
        const struct lp_kernel_row *a = &left->kernels.items[i];
        const struct lp_kernel_row *b = find_kernel_row(right, a->stats.name);

        assert_fields_equal(LP_ROW_KERNEL, a, b);
        assert_blobs_equal(&a->durations, &b->durations);
    }
    assert_int_equal(left->kernel_shapes.count, right->kernel_shapes.count);
    for (size_t i = 0; i < left->kernel_shapes.count; i++)
        assert_fields_equal(LP_ROW_KERNEL_SHAPE,
                            find_shape_row(left, right->kernel_shapes.items[i].name),
                            &right->kernel_shapes.items[i]);
    assert_int_equal(left->host_calls.count, right->host_calls.count);
    for (size_t i = 0; i < left->host_calls.count; i++)
        assert_fields_equal(LP_ROW_HOST_CALL, find_call_row(left, right->host_calls.items[i].call),
                            &right->host_calls.items[i]);
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

    fill_fields(profile, LP_ROW_REGION, &row, number);
    assert_ok(lp_vector_push(&profile->regions, row));
    return &profile->regions.items[profile->regions.count - 1];
}

struct lp_kernel_row *add_kernel_row(llmperf_profile *profile, unsigned number)
{
    struct lp_kernel_row row = { .stats = LLMPERF_KERNEL_STATS_INIT };

    fill_fields(profile, LP_ROW_KERNEL, &row, number);
    assert_ok(lp_vector_push(&profile->kernels, row));
    return &profile->kernels.items[profile->kernels.count - 1];
}

static void add_shape_row(llmperf_profile *profile, unsigned number)
{
    llmperf_kernel_shape row = LLMPERF_KERNEL_SHAPE_INIT;

    fill_fields(profile, LP_ROW_KERNEL_SHAPE, &row, number);
    assert_ok(lp_vector_push(&profile->kernel_shapes, row));
}

static void add_call_row(llmperf_profile *profile, unsigned number)
{
    llmperf_host_call row = LLMPERF_HOST_CALL_INIT;

    fill_fields(profile, LP_ROW_HOST_CALL, &row, number);
    assert_ok(lp_vector_push(&profile->host_calls, row));
}

llmperf_profile *make_numbered_profile(unsigned rows)
{
    llmperf_profile *profile = lp_profile_create();

    assert_non_null(profile);
    fill_fields(profile, LP_ROW_LEDGER, &profile->ledger, 100);
    for (unsigned i = 0; i < rows; i++) {
        add_region_row(profile, 1000 + i * 50)->wall = (struct lp_blob){ "a\0b", 3 };
        add_kernel_row(profile, 1000 + i * 50)->durations = (struct lp_blob){ "\0\1\2\3", 4 };
        add_shape_row(profile, 1000 + i * 50);
        add_call_row(profile, 1000 + i * 50);
    }
    assert_ok(lp_profile_set_fact(profile, "run_id", "20260101-000000-1"));
    assert_ok(lp_profile_set_fact(profile, "source", ""));
    assert_ok(lp_profile_add_problem(profile, "first problem"));
    assert_ok(lp_profile_add_problem(profile, "second; 'problem'"));
    assert_ok(lp_profile_note(profile, "a note"));
    return profile;
}

llmperf_profile *make_unknown_profile(unsigned rows)
{
    llmperf_profile *profile = make_numbered_profile(rows);
    struct lp_region_row *region = add_region_row(profile, 5000);
    struct lp_kernel_row *kernel = add_kernel_row(profile, 5000);

    fill_unknown_fields(LP_ROW_REGION, region);
    fill_unknown_fields(LP_ROW_KERNEL, kernel);
    fill_unknown_fields(LP_ROW_LEDGER, &profile->ledger);
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
