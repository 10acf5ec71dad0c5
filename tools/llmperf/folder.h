/* SPDX-License-Identifier: Apache-2.0 */
/** The entries of a folder. */
#ifndef LLMPERF_TOOL_FOLDER_H
#define LLMPERF_TOOL_FOLDER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#define FOLDER_PATH_BYTES 4096

/** folder/name. @param path  FOLDER_PATH_BYTES. @return false: too long */
bool folder_join(char *path, const char *folder, const char *name);

/** @param kind  S_IFREG, S_IFDIR */
bool folder_is_kind(const char *path, mode_t kind);

/** Take the slashes off the end, so that entries below can be named relative to it. */
void folder_cut_slashes(char *path);

/** Make a folder and its parents; an existing one is fine. @return false: see errno */
bool folder_make(const char *path);

/** As folder_make(), for a name that the user did not give: a symbolic link of that name is
 * refused, so that files do not end up where it leads. */
bool folder_make_own(const char *path);

/** Create a file in the folder of a run in place of whatever has its name: a link or a pipe left
 * there is removed and never written to. @return NULL: see errno */
FILE *folder_new_file(const char *path, mode_t mode);

/** Call `visit` with each entry in the order of names, those that begin with a dot left out.
 * @return number of entries; -1: no folder that can be read */
int folder_each(const char *folder, void (*visit)(const char *path, const char *name, void *user),
                void *user);

#endif
