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

bool folder_make(const char *path)
{
    char partial[FOLDER_PATH_BYTES];

    if (snprintf(partial, sizeof(partial), "%s", path) >= (int)sizeof(partial)) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = partial; *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(partial, 0777);
        *slash = '/';
    }
    return mkdir(partial, 0777) == 0 || errno == EEXIST;
}

bool folder_make_own(const char *path)
{
    struct stat info;

    if (!folder_make(path))
        return false;
    if (lstat(path, &info) < 0 || S_ISDIR(info.st_mode))
        return true;
    errno = S_ISLNK(info.st_mode) ? ELOOP : ENOTDIR;
    return false;
}

FILE *folder_new_file(const char *path, mode_t mode)
{
    int fd = -1;
    FILE *file;

    if (unlink(path) == 0 || errno == ENOENT)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    file = fd < 0 ? NULL : fdopen(fd, "w");
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
    int count = scandir(folder, &entries, is_visible, alphasort);

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
