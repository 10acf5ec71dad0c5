/* SPDX-License-Identifier: Apache-2.0 */
/** Power fails while a run file is written. Everything that the library and SQLite do to its files
 * is kept in order; each moment of that is then a power failure: what was forced to the disk is
 * there, of the rest nothing, all, or any 512-byte parts. The run file then opens with the numbers
 * of one commit, or is refused with one line. */
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "lib/profile/profile.h"
#include "tests/support/play.h"
#include "tests/support/rows.h"

#ifdef SANITIZED /* They have functions of these names themselves. */

int main(void)
{
    printf("not under sanitizers: they replace write() too\n");
    return 77;
}

#else

#define COMMITS 6u
#define ROWS    150u
#define SECTOR  512u
#define FDS     256
#define FILES   64

enum kind { CREATED, WRITTEN, CUT, FORCED, RENAMED, REMOVED, COMMITTED, CLOSED };

struct operation {
    enum kind kind;
    int file;
    uint64_t offset;
    size_t size;
    char *bytes; /* what was written; of RENAMED the new name */
};

static struct operation *operations;
static size_t count, capacity;
static char watched[300]; /* path that all names begin with */
static int file_of_fd[FDS], file_count;
static char names[FILES][320];
static bool watching;

static struct operation *add(enum kind kind, int file)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 256;
        operations = realloc(operations, capacity * sizeof(*operations));
    }
    operations[count] = (struct operation){ .kind = kind, .file = file };
    return &operations[count++];
}

/* SQLite's shared memory is made anew by whoever opens the file. */
static bool is_watched(const char *path)
{
    size_t length = strlen(path);

    return watching && strncmp(path, watched, strlen(watched)) == 0 &&
           !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

static int find_file(const char *path)
{
    for (int i = file_count; i-- > 0;)
        if (strcmp(names[i], path) == 0)
            return i;
    return -1;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    int mode, fd;

    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd < 0 || fd >= FDS || !is_watched(path))
        return fd;
    if (find_file(path) < 0 && file_count < FILES) {
        snprintf(names[file_count], sizeof(names[0]), "%s", path);
        add(CREATED, file_count++)->bytes = strdup(path);
    }
    file_of_fd[fd] = find_file(path) + 1;
    return fd;
}

int close(int fd)
{
    if (fd >= 0 && fd < FDS)
        file_of_fd[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

static void keep(enum kind kind, int fd, const void *bytes, size_t size, off_t offset)
{
    struct operation *operation;

    if (!watching || fd < 0 || fd >= FDS || file_of_fd[fd] == 0)
        return;
    operation = add(kind, file_of_fd[fd] - 1);
    operation->offset = (uint64_t)offset;
    operation->size = size;
    if (bytes && (operation->bytes = malloc(size ? size : 1)))
        memcpy(operation->bytes, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, size, offset);

    if (written > 0)
        keep(WRITTEN, fd, bytes, (size_t)written, offset);
    return written;
}

int ftruncate(int fd, off_t size)
{
    int failed = (int)syscall(SYS_ftruncate, fd, size);

    if (!failed)
        keep(CUT, fd, NULL, 0, size);
    return failed;
}

int fsync(int fd)
{
    keep(FORCED, fd, NULL, 0, 0);
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

int unlink(const char *path)
{
    int failed = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0), file;

    if (!failed && is_watched(path) && (file = find_file(path)) >= 0) {
        add(REMOVED, file);
        names[file][0] = '\0';
    }
    return failed;
}

int rename(const char *from, const char *to)
{
    int failed = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0), file, other;

    if (failed || !is_watched(from) || (file = find_file(from)) < 0)
        return failed;
    if ((other = find_file(to)) >= 0)
        names[other][0] = '\0';
    snprintf(names[file], sizeof(names[0]), "%s", to);
    add(RENAMED, file)->bytes = strdup(to);
    return failed;
}

/* A session's store, with a checkpoint in the middle. */

static char regions[ROWS][32], kernels[ROWS][32];

static llmperf_profile *make_profile(unsigned commit)
{
    llmperf_profile *profile = lp_profile_create();

    assert_non_null(profile);
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(regions[i], sizeof(regions[i]), "LLM@r%u", i);
        snprintf(kernels[i], sizeof(kernels[i]), "kernel number %u", i);
        put_region_row(profile, regions[i], 1, -1, commit, 2, 0);
        put_kernel_row(profile, kernels[i], regions[0], 0, commit, 3, 0);
    }
    finish_rows(profile);
    return profile;
}

static void checkpoint(void)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(watched, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(RESTART)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static int write_run(void **state)
{
    struct lp_store *store;

    if (make_test_folder(state) < 0)
        return -1;
    snprintf(watched, sizeof(watched), "%s", in_test_folder("run.llmperf"));
    watching = true;
    assert_int_equal(lp_store_create(watched, &store), 0);
    for (unsigned i = 1; i <= COMMITS; i++) {
        llmperf_profile *profile = make_profile(i);

        assert_int_equal(lp_store_write(store, profile), 0);
        add(COMMITTED, -1)->size = i;
        llmperf_profile_free(profile);
        if (i == COMMITS / 2)
            checkpoint();
    }
    assert_int_equal(lp_store_close(store), 0);
    add(CLOSED, -1);
    watching = false;
    return 0;
}

/* What a disk holds */

struct disk_file {
    char name[320]; /* "": removed */
    char *bytes;
    size_t size;
    size_t forced; /* operations up to here are on the disk */
};

static void resize(struct disk_file *file, size_t size)
{
    file->bytes = realloc(file->bytes, size ? size : 1);
    if (size > file->size)
        memset(file->bytes + file->size, 0, size - file->size);
    file->size = size;
}

enum rest { NOTHING, EVERYTHING, PARTS };

static void write_part(struct disk_file *file, const struct operation *operation, enum rest rest,
                       unsigned *random)
{
    for (size_t at = 0; at < operation->size;) {
        size_t size = SECTOR - (size_t)((operation->offset + at) % SECTOR);

        size = size < operation->size - at ? size : operation->size - at;
        if (rest == EVERYTHING || rand_r(random) % 2) {
            if (operation->offset + at + size > file->size)
                resize(file, (size_t)operation->offset + at + size);
            memcpy(file->bytes + operation->offset + at, operation->bytes + at, size);
        }
        at += size;
    }
}

static void apply(struct disk_file *files, const struct operation *operation, enum rest rest,
                  unsigned *random)
{
    struct disk_file *file = &files[operation->file];

    if (operation->kind == WRITTEN)
        write_part(file, operation, rest, random);
    else if (operation->kind == CUT && (rest == EVERYTHING || rand_r(random) % 2))
        resize(file, (size_t)operation->offset);
}

/* Files get their names on the disk at once: the worst case, as a name whose content is not there
 * is worse than no name. What is removed may be there until anything is forced, as in a file system
 * with a journal. */
static void take_names(struct disk_file *files, size_t until, bool removed_late)
{
    size_t last_forced = 0;

    for (size_t i = 0; i < until; i++)
        last_forced = operations[i].kind == FORCED ? i : last_forced;
    for (size_t i = 0; i < until; i++) {
        const struct operation *operation = &operations[i];

        if (operation->kind == RENAMED)
            snprintf(files[operation->file].name, sizeof(files[0].name), "%s", operation->bytes);
        else if (operation->kind == REMOVED && (!removed_late || i < last_forced))
            files[operation->file].name[0] = '\0';
        else if (operation->kind == FORCED)
            files[operation->file].forced = i;
    }
}

static void write_disk(const struct disk_file *files, const char *folder)
{
    static const char *const suffixes[] = { "", "-wal", "-journal", "-shm" };
    char path[400];

    for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
        snprintf(path, sizeof(path), "%s%s", folder, suffixes[k]);
        unlink(path);
        for (int i = 0; i < file_count; i++) {
            FILE *file;

            if (strncmp(files[i].name, watched, strlen(watched)) != 0 ||
                strcmp(files[i].name + strlen(watched), suffixes[k]) != 0)
                continue;
            file = fopen(path, "wb");
            assert_non_null(file);
            fwrite(files[i].bytes, 1, files[i].size, file);
            fclose(file);
        }
    }
}

/* `until`: operations before the power failed. */
static void fail_power(size_t until, enum rest rest, bool removed_late, unsigned seed,
                       const char *path)
{
    struct disk_file files[FILES];

    memset(files, 0, sizeof(files));
    for (size_t i = 0; i < until; i++)
        if (operations[i].kind == CREATED)
            snprintf(files[operations[i].file].name, sizeof(files[0].name), "%s",
                     operations[i].bytes);
    take_names(files, until, removed_late);
    for (size_t i = 0; i < until; i++) {
        const struct operation *operation = &operations[i];

        if (operation->kind != WRITTEN && operation->kind != CUT)
            continue;
        if (i < files[operation->file].forced)
            apply(files, operation, EVERYTHING, &seed);
        else if (rest != NOTHING)
            apply(files, operation, rest, &seed);
    }
    write_disk(files, path);
    for (int i = 0; i < file_count; i++)
        free(files[i].bytes);
}

/* The commit that all rows are of; 0: not even one was made. */
static uint64_t commit_of(const llmperf_profile *profile)
{
    uint64_t commit;

    if (!has_region(profile, regions[0])) {
        assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 0);
        assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 0);
        return 0;
    }
    commit = find_region(profile, regions[0], -1).instances;
    for (unsigned i = 0; i < ROWS; i++) {
        assert_int_equal(find_region(profile, regions[i], -1).instances, commit);
        assert_int_equal(find_kernel(profile, kernels[i], regions[0]).calls, commit);
    }
    return commit;
}

struct outcome {
    unsigned opened, refused, lost; /* lost: opened, with an older commit than the newest */
};

static void look(size_t until, enum rest rest, bool removed_late, unsigned seed,
                 struct outcome *outcome)
{
    const char *path = in_test_folder("disk.llmperf");
    uint64_t commit, newest = 0, at_least = 0;
    llmperf_profile *profile;
    bool closed = false;
    int status;

    for (size_t i = 0; i < until; i++) {
        newest = operations[i].kind == COMMITTED ? operations[i].size : newest;
        closed = closed || operations[i].kind == CLOSED;
    }
    at_least = closed || rest == EVERYTHING ? newest : 0;
    fail_power(until, rest, removed_late, seed, path);
    status = llmperf_profile_open(path, &profile);
    if (status < 0) {
        if (at_least > 0)
            fail_msg("power fails after operation %zu of %zu: %s", until, count,
                     llmperf_last_error());
        assert_true(status == LLMPERF_ENOENT || status == LLMPERF_EFORMAT || status == LLMPERF_EIO);
        check_error("disk.llmperf");
        outcome->refused++;
        return;
    }
    commit = commit_of(profile);
    if (commit < at_least || commit > newest + 1) /* The next one may be whole already. */
        fail_msg("power fails after operation %zu of %zu: commit %u of %u", until, count,
                 (unsigned)commit, (unsigned)newest);
    outcome->opened++;
    outcome->lost += commit < newest;
    llmperf_profile_free(profile);
}

static void look_at_all(enum rest rest, unsigned seeds)
{
    struct outcome outcome = { 0, 0, 0 };

    for (size_t until = 0; until <= count; until++)
        for (unsigned seed = 1; seed <= 2 * seeds; seed++)
            look(until, rest, rest != EVERYTHING && seed % 2 == 0, seed, &outcome);
    printf("%zu operations, %u power failures: %u open (%u of them lack commits), %u refused\n",
           count, outcome.opened + outcome.refused, outcome.opened, outcome.lost, outcome.refused);
    assert_true(outcome.opened > 0);
}

static void what_was_forced_to_the_disk_opens_or_is_refused(void **state)
{
    (void)state;
    look_at_all(NOTHING, 1);
}

static void what_was_written_is_all_there_after_a_killed_process(void **state)
{
    (void)state;
    look_at_all(EVERYTHING, 1);
}

static void any_parts_of_what_was_not_forced_open_or_are_refused(void **state)
{
    (void)state;
    look_at_all(PARTS, 2);
}

static void all_that_happens_to_the_files_is_seen(void **state)
{
    unsigned kinds[CLOSED + 1] = { 0 };

    (void)state;
    for (size_t i = 0; i < count; i++)
        kinds[operations[i].kind]++;
    assert_true(kinds[WRITTEN] > 20 && kinds[FORCED] > 3 && kinds[RENAMED] == 1);
    assert_int_equal(kinds[COMMITTED], COMMITS);
}

static int forget(void **state)
{
    for (size_t i = 0; i < count; i++)
        free(operations[i].bytes);
    free(operations);
    return remove_test_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_happens_to_the_files_is_seen),
        cmocka_unit_test(what_was_forced_to_the_disk_opens_or_is_refused),
        cmocka_unit_test(what_was_written_is_all_there_after_a_killed_process),
        cmocka_unit_test(any_parts_of_what_was_not_forced_open_or_are_refused),
    };

    return cmocka_run_group_tests(tests, write_run, forget);
}

#endif
