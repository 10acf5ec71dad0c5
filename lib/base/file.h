/* SPDX-License-Identifier: Apache-2.0 */
/** Whole files and folders. @threads any thread */
#ifndef LP_BASE_FILE_H
#define LP_BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Writing beyond the process's file size limit raises a signal that ends the program. Between
 * these calls, on this thread, the write fails instead. Calls may nest. */
struct lp_size_signal {
    sigset_t before;
    bool is_ours;
};
void lp_size_signal_hold(struct lp_size_signal *held);
void lp_size_signal_release(const struct lp_size_signal *held);

/** Create an empty file for writing in place of whatever has its name: a link or pipe is removed
 * and never written to. For names that the library chose. A descriptor, or -1 and errno. */
int lp_file_create(const char *path);

/** As lp_file_create(). NULL and errno. */
FILE *lp_file_create_stream(const char *path);

/** Write a file through a temporary one and a rename, so that readers see the old or the new file.
 * 0 or LLMPERF_EIO. */
int lp_file_write(const char *path, const void *bytes, size_t size);

/** Open a regular file for reading. Pipes, devices and folders are refused without blocking. 0,
 * LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_EINVAL: not a regular file. */
int lp_file_open(const char *path, int *fd_out);

/** As lp_file_open(), to be closed with fclose(). */
int lp_file_open_stream(const char *path, FILE **stream_out);

/** Read a whole regular file. *bytes_out: free(); a NUL follows the last byte. As lp_file_open(),
 * and LLMPERF_ENOMEM. */
int lp_file_read(const char *path, char **bytes_out, size_t *size_out);

/** As lp_file_read(); LLMPERF_EFORMAT: larger than `most` bytes. The size is checked before
 * anything is read. */
int lp_file_read_most(const char *path, size_t most, char **bytes_out, size_t *size_out);

/** Create a folder and its parents, unless they exist. 0 or LLMPERF_EIO. */
int lp_folder_make(const char *path);

/** As lp_folder_make(), for names that the library chose: a symbolic link is refused, so that files
 * are not written to its target. */
int lp_folder_make_own(const char *path);

bool lp_path_exists(const char *path);
bool lp_path_is_folder(const char *path);

/** Is it a pipe, terminal or device, which may block when opened? */
bool lp_path_is_special(const char *path);

/** Call `visit` with the path of each file NAME.yaml of a folder, in the order of their names,
 * until it returns other than 0.
 * @return what it returned last; LLMPERF_ENOENT: no such folder; LLMPERF_ENOMEM */
int lp_folder_visit_yaml(const char *folder, int (*visit)(void *context, const char *path),
                         void *context);

/** "folder/name", malloc'ed; NULL: out of memory. */
char *lp_path_join(const char *folder, const char *name);

/** Absolute path, malloc'ed; the file need not exist. A copy of `path` if that is empty or the
 * working directory has no path. NULL: out of memory. */
char *lp_path_absolute(const char *path);

#endif
