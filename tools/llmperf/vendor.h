/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of `llmperf nsys`, `llmperf ncu` and `llmperf deep`. */
#ifndef LLMPERF_TOOL_VENDOR_H
#define LLMPERF_TOOL_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

#include "llmperf/sys.h"

#define VENDOR_PATH_BYTES 4096

/** Run a tool's commands one after another; `cmd.txt` in the folder keeps each with its exit code,
 * `log.txt` what those after the first one print.
 *
 * @param tool    Its name, for messages.
 * @param folder  Of the results; it exists.
 * @return whether the first command left its result: without it the others are not run. */
bool vendor_run(const llmperf_commands *commands, const char *tool, const char *version,
                const char *folder);

/** Print errors from the log of ncu with their fix on standard error. @return true if the log
 * contains a table. */
bool vendor_check_ncu(const char *log_file);

/** Does the file exist, and is it not empty? */
bool vendor_has_file(const char *path);

#endif
