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

/** Remove slashes at the end, so that entries can be named relative to the folder. */
void folder_cut_slashes(char *path);

/** Create a folder and its parents; it may exist. @return false: after a message
 * that names the one that cannot be created */
bool folder_make(const char *path);

/** As folder_make(), for a name that the user did not give: a symbolic link of that name is
 * refused, so that files are not written to its target. */
bool folder_make_own(const char *path);

/** Create a file in a run folder. An existing link or pipe of that name is removed, never written
 * to. @return NULL: after a message */
FILE *folder_new_file(const char *path, mode_t mode);

/** Call `visit` with each entry in the order of names, run-2 before run-10, without those that
 * begin with a dot. @return number of entries; -1: not a readable folder */
int folder_each(const char *folder, void (*visit)(const char *path, const char *name, void *user),
                void *user);

#endif
