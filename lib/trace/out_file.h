/* SPDX-License-Identifier: Apache-2.0 */
/** A file written sequentially: readers see the old file or the complete new one. For lib/trace
 * only.
 * @threads one at a time per object */
#ifndef LP_TRACE_OUT_FILE_H
#define LP_TRACE_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/text.h"

struct lp_out_file {
    FILE *file;
    char *path, *temporary; /* temporary NULL: a pipe or device, written directly */
    int failed;             /* errno of the first error */
};

/** Is it a pipe, device, link or folder, which a rename must not replace? */
bool lp_out_file_is_special(const char *path);

/** Path of the temporary file beside `path`: free(). NULL: out of memory. */
char *lp_out_file_temporary(const char *path);

/** 0, LLMPERF_EIO or LLMPERF_ENOMEM. Close it in any case. */
int lp_out_file_open(struct lp_out_file *out, const char *path);

/** Write the text and empty it. */
void lp_out_file_write(struct lp_out_file *out, struct lp_text *text);

/** Rename the file to its name. 0 or LLMPERF_EIO. */
int lp_out_file_finish(struct lp_out_file *out);

/** Remove an unfinished file. */
void lp_out_file_close(struct lp_out_file *out);

#endif
