/* SPDX-License-Identifier: Apache-2.0 */
/** A file that grows front to back: a reader sees the old one or all of the new one. For lib/trace
 * only.
 * @threads one at a time per object */
#ifndef LP_TRACE_OUT_FILE_H
#define LP_TRACE_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/text.h"

struct lp_out_file {
    FILE *file;
    char *path, *temporary; /* temporary NULL: a pipe or a device, written in place */
    int failed;             /* errno of the first failure */
};

/** A pipe, a device, a link, a folder: no file that another one may be renamed over. */
bool lp_out_file_is_special(const char *path);

/** Path of the temporary file beside `path`: free(). NULL without memory. */
char *lp_out_file_temporary(const char *path);

/** 0, LLMPERF_EIO, LLMPERF_ENOMEM. Close it afterwards in all cases. */
int lp_out_file_open(struct lp_out_file *out, const char *path);

/** Write what a text holds, which is empty afterwards. */
void lp_out_file_write(struct lp_out_file *out, struct lp_text *text);

/** Give the file its name. 0 or LLMPERF_EIO. */
int lp_out_file_finish(struct lp_out_file *out);

/** What was not finished is removed. */
void lp_out_file_close(struct lp_out_file *out);

#endif
