/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
