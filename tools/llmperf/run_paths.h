/* SPDX-License-Identifier: Apache-2.0 */
/** Runs that the operands of a command name. */
#ifndef LLMPERF_TOOL_RUN_PATHS_H
#define LLMPERF_TOOL_RUN_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/** Zero-initialised: none. */
struct run_paths {
    char **paths;
    size_t count, capacity;
};

/** Add a run; for a folder that is not a run, the runs in it in the order of their names, run-2
 * before run-10. Anything else is added unchanged: opening it reports the error.
 * @return false: out of memory, with a message. */
bool run_paths_add(struct run_paths *runs, const char *word);
/** Is it the folder of a run, or of a job whose processes have runs? */
bool run_paths_is_run(const char *path);

void run_paths_clear(struct run_paths *runs);

#endif
