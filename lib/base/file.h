/* SPDX-License-Identifier: Apache-2.0 */
/** Whole files and folders. @threads any thread */
#ifndef LP_BASE_FILE_H
#define LP_BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** A file above the size limit of the process raises a signal that ends the program. Between the
 * two, on this thread, it is an error of the write alone. They nest. */
struct lp_size_signal {
    sigset_t before;
    bool is_ours;
};
void lp_size_signal_hold(struct lp_size_signal *held);
void lp_size_signal_release(const struct lp_size_signal *held);

/** Create an empty file for writing, in place of whatever has its name: a link or a pipe left there
 * is removed and never written to. For names that the library chose, not for those that a user
 * gave. A descriptor, or -1 and errno. */
int lp_file_create(const char *path);

/** As lp_file_create(). NULL and errno. */
FILE *lp_file_create_stream(const char *path);

/** Write a file through a temporary one beside it and rename, so that a reader sees the old or the
 * new, never half of it. 0 or LLMPERF_EIO. */
int lp_file_write(const char *path, const void *bytes, size_t size);

/** Open a regular file for reading; a pipe or a device, which may give nothing or never end, and a
 * folder are refused at once. 0, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_EINVAL: not a regular file.
 */
int lp_file_open(const char *path, int *fd_out);

/** As lp_file_open(), to be closed with fclose(). */
int lp_file_open_stream(const char *path, FILE **stream_out);

/** Read a whole regular file. *bytes_out: free(); a NUL follows the last byte. As lp_file_open(),
 * and LLMPERF_ENOMEM. */
int lp_file_read(const char *path, char **bytes_out, size_t *size_out);

/** As lp_file_read(), of at most `most` bytes; also LLMPERF_EFORMAT: there are more. A file
 * is refused by its size before anything is read. */
int lp_file_read_most(const char *path, size_t most, char **bytes_out, size_t *size_out);

/** Make a folder and its parents; an existing one is fine. 0 or LLMPERF_EIO. */
int lp_folder_make(const char *path);

/** As lp_folder_make(), for a name that the library chose: a symbolic link of that name is refused,
 * so that files do not end up where it leads. */
int lp_folder_make_own(const char *path);

bool lp_path_exists(const char *path);
bool lp_path_is_folder(const char *path);

/** A pipe, a terminal, a device: opening it may block forever. */
bool lp_path_is_special(const char *path);

/** "folder/name", malloc'ed; NULL without memory. */
char *lp_path_join(const char *folder, const char *name);

/** The absolute path, malloc'ed, whether it exists or not. An unchanged copy if `path` is empty or
 * the working folder has no name. NULL without memory. */
char *lp_path_absolute(const char *path);

#endif
