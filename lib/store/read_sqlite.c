/* SPDX-License-Identifier: Apache-2.0 */
/* Reads run files, also while they are written and on read-only media. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/sqlite_file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/variable.h"
#include "lib/store/job.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "lib/store/checksum.h"
#include "lib/store/columns.h"

#define DEVICE_MAX   65535 /* the limit of 16-bit device numbers in records */
#define OPEN_CHANGED "LLMPERF_OPEN_CHANGED"

static int damaged(const char *path, const char *reason)
{
    return lp_error(LLMPERF_EFORMAT, "%s is damaged: %s", path, reason);
}

static int not_a_run(const char *path)
{
    return lp_error(
        LLMPERF_EFORMAT,
        "%s is not an llmperf run; llmperf import makes runs of recordings and of files "
        "of nsys and ncu",
        path);
}

static int read_error(const struct lp_sqlite *file, const char *path)
{
    int code = sqlite3_extended_errcode(file->db);

    if (file->exhausted)
        return damaged(path, lp_sqlite_message(file));
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", path);
    case SQLITE_NOTADB:
        return not_a_run(path);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a column is missing */
    case SQLITE_TOOBIG:
        return damaged(path, lp_sqlite_message(file));
    default:
        break;
    }
    if (code == SQLITE_IOERR_SHORT_READ)
        return damaged(path, "the file is too short");
    return lp_error(
        LLMPERF_EIO,
        "cannot read %s: %s; check its permissions, or copy its folder and open the copy", path,
        lp_sqlite_message(file));
}

/* Open a file and start a read transaction, so that all reads see one commit. file->db is set on
 * failure as well, for the message. */
static int connect_reader(struct lp_sqlite *file, const char *path, bool immutable)
{
    int code = lp_sqlite_open(file, path, immutable), ignored;

    if (code != SQLITE_OK)
        return code;
    sqlite3_busy_timeout(file->db, LP_STORE_BUSY_MS);
    code = sqlite3_exec(file->db, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK) /* BEGIN alone takes no snapshot */
        code = lp_sqlite_number(file, "SELECT 1 FROM sqlite_master LIMIT 1", &ignored);
    lp_sqlite_measure(file, path);
    return code;
}

static bool has_log(const char *path)
{
    struct lp_text name = { NULL, 0, 0, false };
    struct stat info;
    bool found;

    lp_text_printf(&name, "%s-wal", path);
    found = name.failed || (stat(name.bytes, &info) == 0 && info.st_size > 0);
    lp_text_clear(&name);
    return found;
}

/* SQLite opens these files with the database and would block if one is a pipe. */
static int check_companions(const char *path)
{
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
    int status = 0;

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && status == 0; i++) {
        struct lp_text name = { NULL, 0, 0, false };
        struct stat info;

        lp_text_printf(&name, "%s%s", path, suffixes[i]);
        if (name.failed)
            status = lp_error(LLMPERF_ENOMEM, "out of memory");
        else if (lstat(name.bytes, &info) == 0 && !S_ISREG(info.st_mode))
            status =
                lp_error(LLMPERF_EFORMAT,
                         "%s is not a regular file; remove it, or copy only %s and open the copy",
                         name.bytes, path);
        lp_text_clear(&name);
    }
    return status;
}

static int open_reader(const char *path, struct lp_sqlite *file)
{
    int code, status;

    if ((status = check_companions(path)) < 0)
        return status;
    code = connect_reader(file, path, false) & 0xff;
    /* In WAL mode SQLite creates an index file, which fails on a read-only medium. Without a log
     * the database file alone is complete. */
    if ((code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && !has_log(path)) {
        lp_sqlite_close(file);
        code = connect_reader(file, path, true) & 0xff;
    }
    return code == SQLITE_OK ? 0 : read_error(file, path);
}

static int check_format(struct lp_sqlite *file, const char *path)
{
    int application = 0, format = 0;

    if (lp_sqlite_number(file, "PRAGMA application_id", &application) != SQLITE_OK ||
        lp_sqlite_number(file, "PRAGMA user_version", &format) != SQLITE_OK)
        return read_error(file, path);
    if (application != LP_STORE_APPLICATION)
        return not_a_run(path);
    if (format > LP_STORE_FORMAT)
        return lp_error(
            LLMPERF_EFORMAT,
            "%s has format %d; this version of llmperf reads formats up to %d; use a newer version",
            path, format, LP_STORE_FORMAT);
    if (format == 0)
        return damaged(path, "the format version is missing");
    return format == LP_STORE_FORMAT
               ? 0
               : lp_error(LLMPERF_EFORMAT,
                          "%s has format %d of an earlier version; this version of llmperf reads "
                          "format %d; open the file with the earlier version",
                          path, format, LP_STORE_FORMAT);
}

/* SQLite reads missing bytes at the end of a file as zeros. If there is a log, pages may exist only
 * in the log. */
static int check_size(struct lp_sqlite *file, const char *path)
{
    int pages = 0, page_bytes = 0;
    struct stat info;

    if (lp_sqlite_number(file, "PRAGMA page_count", &pages) != SQLITE_OK ||
        lp_sqlite_number(file, "PRAGMA page_size", &page_bytes) != SQLITE_OK)
        return read_error(file, path);
    if (has_log(path) || stat(path, &info) < 0 || info.st_size >= (off_t)pages * page_bytes)
        return 0;
    return damaged(path, "its end is missing");
}

/* State while a profile is read. */
struct reader {
    struct lp_sqlite file;
    const char *path;
    llmperf_profile *profile;
    sqlite3_stmt *rows; /* of the current table */
    size_t count;       /* rows read */
    struct lp_store_sum sum;
    struct lp_store_checksums kept;
    struct lp_text changed; /* names of tables that fail their checksum */
};

static int out_of_memory(const struct reader *reader)
{
    return lp_error(LLMPERF_ENOMEM, "out of memory for %s", reader->path);
}

/* *text_out is NULL for SQL NULL. */
static int read_text(const struct reader *reader, int at, const char **text_out)
{
    const char *text;

    *text_out = NULL;
    if (sqlite3_column_type(reader->rows, at) == SQLITE_NULL)
        return 0;
    text = (const char *)sqlite3_column_text(reader->rows, at);
    *text_out = text ? lp_profile_text(reader->profile, text) : NULL;
    return *text_out ? 0 : out_of_memory(reader);
}

static int read_name(const struct reader *reader, int at, const char **text_out)
{
    int status = read_text(reader, at, text_out);

    return status < 0 || *text_out ? status : damaged(reader->path, "a name is missing");
}

static int read_blob(const struct reader *reader, int at, struct lp_blob *blob_out)
{
    const void *bytes = sqlite3_column_blob(reader->rows, at);
    size_t size = (size_t)sqlite3_column_bytes(reader->rows, at);

    *blob_out = (struct lp_blob){ NULL, 0 };
    if (!bytes)
        return 0;
    *blob_out = (struct lp_blob){ lp_strings_add_bytes(&reader->profile->pool, bytes, size), size };
    return blob_out->bytes ? 0 : out_of_memory(reader);
}

static int read_integer(const struct reader *reader, int at, sqlite3_int64 most,
                        sqlite3_int64 *value_out)
{
    *value_out = sqlite3_column_int64(reader->rows, at);
    return *value_out >= 0 && *value_out <= most
               ? 0
               : damaged(reader->path, "a number is out of range");
}

static int read_field(const struct reader *reader, int at, const struct lp_row_field *field,
                      void *row)
{
    void *value_out = (char *)row + field->offset;
    bool null = sqlite3_column_type(reader->rows, at) == SQLITE_NULL;
    sqlite3_int64 value = -1;
    int status = 0;

    switch (field->type) {
    case LP_FIELD_NAME:
        return read_name(reader, at, value_out);
    case LP_FIELD_TEXT:
        return read_text(reader, at, value_out);
    case LP_FIELD_BLOB:
        return read_blob(reader, at, value_out);
    case LP_FIELD_WORD:
        status = read_integer(reader, at, UINT32_MAX, &value);
        *(uint32_t *)value_out = (uint32_t)value;
        break;
    case LP_FIELD_DEVICE:
        if (!null)
            status = read_integer(reader, at, DEVICE_MAX, &value);
        *(int32_t *)value_out = (int32_t)value;
        break;
    case LP_FIELD_COUNT:
        value = sqlite3_column_int64(reader->rows, at);
        *(uint64_t *)value_out = null ? LLMPERF_UNKNOWN : (uint64_t)value;
        break;
    case LP_FIELD_NUMBER:
        *(double *)value_out = null ? (double)NAN : sqlite3_column_double(reader->rows, at);
        break;
    }
    return status;
}

/* Large enough for a row of any kind. */
union any_row {
    struct lp_region_row region;
    struct lp_kernel_row kernel;
    struct lp_iteration_stats_row spread;
    llmperf_ledger ledger;
    llmperf_metric_stats metric;
    llmperf_iteration iteration;
    llmperf_window_stats window;
    llmperf_window_kernel window_kernel;
    llmperf_kernel_shape kernel_shape;
    llmperf_requests requests;
    struct lp_latency_row latency;
    llmperf_slow_request slow_request;
    llmperf_load load;
    llmperf_host_call host_call;
    llmperf_energy energy;
    struct lp_fact fact;
    size_t struct_size; /* size of the public struct */
};

static int take_row(const struct reader *reader, enum lp_row_id id)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    union any_row row;
    int status = 0;

    memset(&row, 0, sizeof(row));
    if (kind->size > 0)
        row.struct_size = kind->size;
    for (size_t i = 0; i < kind->count && status == 0; i++)
        if (i < lp_store_column_count(kind))
            status = read_field(reader, (int)i, &kind->fields[i], &row);
        else
            lp_field_forget(&kind->fields[i], &row);
    return status < 0 ? status : lp_row_push(reader->profile, id, &row);
}

/* Facts are not checked for line ends: they may be documents or paths. */
static int take_fact(const struct reader *reader)
{
    struct lp_fact fact = { NULL, NULL };
    const char *value;
    int status = read_name(reader, 0, &fact.key);

    if (status < 0)
        return status;
    if ((value = (const char *)sqlite3_column_text(reader->rows, 1)) &&
        !(fact.value = lp_strings_add(&reader->profile->pool, value)))
        return out_of_memory(reader);
    return lp_vector_push(&reader->profile->facts, fact);
}

static int read_rows(struct reader *reader, const char *sql, enum lp_row_id id)
{
    int code = sqlite3_prepare_v2(reader->file.db, sql, -1, &reader->rows, NULL), status = 0;

    if (code == SQLITE_OK)
        code = SQLITE_ROW;
    while (status == 0 && code == SQLITE_ROW &&
           (code = lp_sqlite_step(&reader->file, reader->rows)) == SQLITE_ROW) {
        if ((status = lp_store_sum_row(&reader->sum, reader->rows)) == 0)
            status = id == LP_ROW_FACT ? take_fact(reader) : take_row(reader, id);
        reader->count++;
    }
    if (status == 0 && code != SQLITE_DONE)
        status = read_error(&reader->file, reader->path);
    sqlite3_finalize(reader->rows);
    reader->rows = NULL;
    return status;
}

static int has_table(struct reader *reader, const char *name, bool *has_out)
{
    return lp_sqlite_has_table(&reader->file, name, has_out) == SQLITE_OK
               ? 0
               : read_error(&reader->file, reader->path);
}

/* On request a changed run is read; the profile then has a problem that says so. */
static bool takes_changed(void)
{
    const char *word = lp_variable(OPEN_CHANGED);

    return word && strcmp(word, "1") == 0;
}

static int check_sum(struct reader *reader, enum lp_row_id id)
{
    const char *table = lp_row_kinds[id].table;

    if (!reader->kept.any || reader->kept.crc[id] == reader->sum.crc)
        return 0;
    if (!takes_changed())
        return lp_error(LLMPERF_EFORMAT,
                        "%s was changed after it was written: the rows of %s do not match their "
                        "checksum; use a copy of the run, or set " OPEN_CHANGED
                        "=1 to read it anyway",
                        reader->path, table);
    lp_text_printf(&reader->changed, "%s%s", reader->changed.length ? ", " : "", table);
    return reader->changed.failed ? out_of_memory(reader) : 0;
}

static int report_changed(struct reader *reader)
{
    if (reader->changed.length == 0)
        return 0;
    return lp_profile_problem(
        reader->profile,
        "the run file was changed after it was written: rows of %s do not match their checksum. It "
        "was read anyway because of " OPEN_CHANGED
        ": none of its numbers is reliable, not even as a lower bound",
        reader->changed.bytes);
}

static int read_table(struct reader *reader, enum lp_row_id id)
{
    const struct lp_row_kind *kind = &lp_row_kinds[id];
    struct lp_text sql = { NULL, 0, 0, false };
    bool there;
    int status = has_table(reader, kind->table, &there);

    reader->count = 0;
    reader->sum.crc = 0;
    if (status < 0)
        return status;
    if (!there)
        return lp_error(LLMPERF_EFORMAT, "%s is damaged: %s is not an ordinary table", reader->path,
                        kind->table);
    lp_store_sql_select(&sql, kind);
    status = sql.failed ? out_of_memory(reader) : read_rows(reader, sql.bytes, id);
    lp_text_clear(&sql);
    return status < 0 ? status : check_sum(reader, id);
}

/* Files of earlier versions have no table of checksums. */
static int read_checksums(struct reader *reader)
{
    bool there = false;
    int status = has_table(reader, "checksum", &there);

    if (status == 0 && there && lp_store_read_checksums(&reader->file, &reader->kept) != SQLITE_OK)
        status = read_error(&reader->file, reader->path);
    return status;
}

static int read_profile(struct reader *reader)
{
    int status;

    if ((status = check_format(&reader->file, reader->path)) < 0 ||
        (status = check_size(&reader->file, reader->path)) < 0 ||
        (status = read_checksums(reader)) < 0 || (status = read_table(reader, LP_ROW_LEDGER)) < 0)
        return status;
    if (reader->count == 0)
        return lp_error(
            LLMPERF_ENOENT,
            "%s is empty: its program has written nothing yet, or ended before the first write",
            reader->path);
    for (int id = LP_ROW_LEDGER + 1; id < LP_ROW_KINDS; id++)
        if (lp_row_kinds[id].table && (status = read_table(reader, (enum lp_row_id)id)) < 0)
            return status;
    if ((status = report_changed(reader)) < 0)
        return status;
    return lp_profile_finish(reader->profile);
}

static int open_file(const char *path, llmperf_profile **profile_out)
{
    struct reader reader = { .path = path };
    int status;

    lp_progress("reading a run", 0, 0);
    if (lp_store_is_orphaned())
        return lp_error(
            LLMPERF_ESTATE,
            "a forked child of a profiled process cannot read runs; start a new program with exec");
    if (!lp_path_exists(path))
        return errno == EACCES
                   ? lp_error(LLMPERF_EIO, "%s cannot be read: %s", path, strerror(errno))
                   : lp_error(LLMPERF_ENOENT,
                              "%s not found; give a run directory or its run.llmperf", path);
    if ((status = open_reader(path, &reader.file)) == 0) {
        reader.profile = lp_profile_create();
        status = reader.profile ? read_profile(&reader) : out_of_memory(&reader);
    }
    lp_text_clear(&reader.sum.bytes);
    lp_text_clear(&reader.changed);
    lp_sqlite_close(&reader.file);
    if (status < 0) {
        llmperf_profile_free(reader.profile);
        return status;
    }
    *profile_out = reader.profile;
    return 0;
}

/* SQLite's log is beside the link's target. Takes ownership of `path`. */
static char *follow_link(char *path)
{
    struct stat info;
    char *real = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;

    if (!real)
        return path;
    free(path);
    return real;
}

/* A job folder without its own run refers to the run of its processes. */
static int find_file(const char *run, char **path_out)
{
    char *path = lp_path_is_folder(run) ? lp_path_join(run, "run.llmperf") : lp_text_copy(run);
    char *only;
    int status;

    if (path && lp_path_is_folder(run) && !lp_path_exists(path) && errno == ENOENT) {
        free(path);
        if ((status = lp_job_only_run(run, &only)) < 0)
            return status;
        path = lp_path_join(only, "run.llmperf");
        free(only);
    }
    if (path && lp_path_is_special(path)) {
        free(path);
        return lp_error(LLMPERF_EFORMAT,
                        "%s is not a regular file; give a run directory or its run.llmperf", run);
    }
    *path_out = path ? follow_link(path) : NULL;
    return *path_out ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

/* NULL if memory runs out or the path has no real name: the profile does not need it. */
static char *folder_of(const char *path)
{
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;

    if (slash)
        slash[slash == real] = '\0';
    return real;
}

int llmperf_profile_open(const char *run, llmperf_profile **profile_out)
{
    char *path;
    int status;

    if (!run || !profile_out)
        return lp_error(LLMPERF_EINVAL, "run and profile_out are required");
    if ((status = find_file(run, &path)) < 0)
        return status;
    if ((status = open_file(path, profile_out)) == 0)
        (*profile_out)->folder = folder_of(path);
    free(path);
    return status;
}
