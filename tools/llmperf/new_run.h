/* SPDX-License-Identifier: Apache-2.0 */
/** Run directories that commands write from profiles. */
#ifndef LLMPERF_TOOL_NEW_RUN_H
#define LLMPERF_TOOL_NEW_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"
#include "configured.h"
#include "llmperf/llmperf.h"

#define RUN_ID_BYTES 64

/** Run id of the library plus a number, because several runs may be written in one second. */
void new_run_id(char id[RUN_ID_BYTES], int number);

/** Run id of the configuration (run.id), else a new one. @return exit code */
int new_run_name(const struct command *command, const struct configured *configured, char *run_id,
                 size_t size);

bool holds_run(const char *run_dir);

/** Write run.llmperf and the reports into a new folder. @return exit code */
int new_run_save(const llmperf_profile *profile, const char *run_dir);

/** Write the reports beside the run.llmperf of a profile, and print verdict and folder. @return
 * exit code */
int new_run_finish(const llmperf_profile *profile, const char *run_dir);

/** The same, and print the name of the source, the verdict and, last, the folder. @param run_dir
 * NULL: the run's id below `out`.
 * @return exit code */
int new_run_write(const llmperf_profile *profile, const char *run_dir, const char *out,
                  const char *what);

/** Write the reports beside the run.llmperf of a profile, and print verdict and folder. @return
 * exit code */
int new_run_finish(const llmperf_profile *profile, const char *run_dir);

#endif
