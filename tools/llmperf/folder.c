/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool folder_join(char *path, const char *folder, const char *name)
{
    return snprintf(path, FOLDER_PATH_BYTES, "%s/%s", folder, name) < FOLDER_PATH_BYTES;
}

bool folder_is_kind(const char *path, mode_t kind)
{
    struct stat info;

    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

void folder_cut_slashes(char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
}

static bool fail_to_make(const char *path, int reason)
{
    fprintf(stderr, "llmperf: cannot create folder %s: %s\n", path, strerror(reason));
    return false;
}

bool folder_make(const char *path)
{
    char partial[FOLDER_PATH_BYTES];
    size_t length = strlen(path);

    if (length == 0 || length >= sizeof(partial))
        return fail_to_make(path, length == 0 ? ENOENT : ENAMETOOLONG);
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        snprintf(partial, sizeof(partial), "%.*s", (int)end, path);
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return fail_to_make(partial, errno);
        if (!folder_is_kind(partial, S_IFDIR))
            return fail_to_make(partial, ENOTDIR);
    }
    return true;
}

bool folder_make_own(const char *path)
{
    struct stat info;

    if (!folder_make(path))
        return false;
    return lstat(path, &info) < 0 || S_ISDIR(info.st_mode) || fail_to_make(path, ELOOP);
}

FILE *folder_new_file(const char *path, mode_t mode)
{
    int fd = -1;
    FILE *file;

    if (unlink(path) == 0 || errno == ENOENT)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        fprintf(stderr, "llmperf: cannot write %s: %s\n", path, strerror(errno));
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int folder_each(const char *folder, void (*visit)(const char *path, const char *name, void *user),
                void *user)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, versionsort);

    for (int i = 0; i < count; i++) {
        char path[FOLDER_PATH_BYTES];

        if (folder_join(path, folder, entries[i]->d_name))
            visit(path, entries[i]->d_name, user);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count;
}
