/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/status.h"

char *lp_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);

    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}

static int is_yaml(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* alphasort() depends on the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int lp_folder_visit_yaml(const char *folder, int (*visit)(void *context, const char *path),
                         void *context)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_yaml, compare_names), status = 0;

    if (count < 0)
        return lp_error(LLMPERF_ENOENT, "folder not found: %s", folder);
    for (int i = 0; i < count; i++) {
        char *path = status == 0 ? lp_path_join(folder, entries[i]->d_name) : NULL;

        if (status == 0)
            status = path ? visit(context, path) : lp_out_of_memory();
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

bool lp_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool lp_path_is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool lp_path_is_special(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

int lp_file_create(const char *path)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

FILE *lp_file_create_stream(const char *path)
{
    int fd = lp_file_create(path);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");

    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

char *lp_path_absolute(const char *path)
{
    bool relative = *path && *path != '/';
    char *folder = relative ? getcwd(NULL, 0) : NULL, *joined;

    if (!folder)
        return relative && errno == ENOMEM ? NULL : strdup(path);
    joined = lp_path_join(folder, path);
    free(folder);
    return joined;
}

int lp_folder_make(const char *path)
{
    char *partial;
    int status = 0;

    if (!*path)
        return lp_error(LLMPERF_EIO, "cannot create folder: its name is empty");
    partial = strdup(path);
    if (!partial)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    for (size_t end = 1; status == 0 && end <= strlen(path); end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        partial[end] = '\0';
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            status = errno;
        else if (!lp_path_is_folder(partial))
            status = ENOTDIR;
        if (status)
            status =
                lp_error(LLMPERF_EIO, "cannot create folder %s: %s", partial, strerror(status));
        partial[end] = path[end];
    }
    free(partial);
    return status;
}

int lp_folder_make_own(const char *path)
{
    int status = lp_folder_make(path);
    struct stat info;

    if (status == 0 && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return lp_error(LLMPERF_EIO, "%s is a symbolic link, which is not followed; remove it",
                        path);
    return status;
}

void lp_size_signal_hold(struct lp_size_signal *held)
{
    sigset_t signal;

    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    held->is_ours = pthread_sigmask(SIG_BLOCK, &signal, &held->before) == 0 &&
                    !sigismember(&held->before, SIGXFSZ);
}

/* The signal is pending on the thread that wrote: consume it here. */
void lp_size_signal_release(const struct lp_size_signal *held)
{
    const struct timespec now = { 0, 0 };
    sigset_t signal;

    if (!held->is_ours)
        return;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    while (sigtimedwait(&signal, NULL, &now) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, bytes, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        bytes += done;
        size -= (size_t)done;
    }
    return 0;
}

int lp_file_write(const char *path, const void *bytes, size_t size)
{
    struct lp_size_signal held;
    char temporary[4096];
    int fd, failed;

    if (snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid()) >=
        (int)sizeof(temporary))
        return lp_error(LLMPERF_EIO, "path too long: %s", path);
    fd = lp_file_create(temporary);
    if (fd < 0)
        return lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
    lp_size_signal_hold(&held);
    failed = write_all(fd, bytes, size) < 0 ? errno : 0;
    lp_size_signal_release(&held);
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed && rename(temporary, path) < 0)
        failed = errno;
    if (failed) {
        unlink(temporary);
        return lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(failed));
    }
    return 0;
}

int lp_file_open(const char *path, int *fd_out)
{
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* does not block on a pipe */
    struct stat info;

    if (fd < 0 || fstat(fd, &info) < 0) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        return lp_error(error == ENOENT ? LLMPERF_ENOENT : LLMPERF_EIO, "cannot read %s: %s", path,
                        strerror(error));
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        return lp_error(LLMPERF_EINVAL, "%s is %s, not a regular file", path,
                        S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device");
    }
    *fd_out = fd;
    return 0;
}

int lp_file_open_stream(const char *path, FILE **stream_out)
{
    int fd, status = lp_file_open(path, &fd);

    if (status < 0)
        return status;
    if ((*stream_out = fdopen(fd, "rb")))
        return 0;
    close(fd);
    return lp_error(LLMPERF_ENOMEM, "out of memory for %s", path);
}

static int too_large(const char *path, size_t most)
{
    return lp_error(LLMPERF_EFORMAT, "%s is larger than %zu bytes, the limit for such a file", path,
                    most);
}

static int read_stream(FILE *stream, const char *path, size_t most, char **bytes_out,
                       size_t *size_out)
{
    size_t capacity = 65536, size = 0;
    char *bytes = malloc(capacity), *grown;

    while (bytes) {
        size += fread(bytes + size, 1, capacity - size - 1, stream);
        if (size < capacity - 1 || size > most)
            break;
        grown = realloc(bytes, capacity *= 2);
        if (!grown)
            free(bytes);
        bytes = grown;
    }
    if (!bytes)
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", path);
    if (ferror(stream)) {
        free(bytes);
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    }
    if (size > most) {
        free(bytes);
        return too_large(path, most);
    }
    bytes[size] = '\0';
    *bytes_out = bytes;
    *size_out = size;
    return 0;
}

int lp_file_read_most(const char *path, size_t most, char **bytes_out, size_t *size_out)
{
    struct stat info;
    FILE *stream;
    int status = lp_file_open_stream(path, &stream);

    if (status < 0)
        return status;
    if (fstat(fileno(stream), &info) == 0 && info.st_size > 0 && (uintmax_t)info.st_size > most)
        status = too_large(path, most);
    else
        status = read_stream(stream, path, most, bytes_out, size_out);
    fclose(stream);
    return status;
}

int lp_file_read(const char *path, char **bytes_out, size_t *size_out)
{
    return lp_file_read_most(path, SIZE_MAX, bytes_out, size_out);
}
