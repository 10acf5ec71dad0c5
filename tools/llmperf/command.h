/* SPDX-License-Identifier: Apache-2.0 */
/** Commands of the command line, and functions that they share. */
#ifndef LLMPERF_TOOL_COMMAND_H
#define LLMPERF_TOOL_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/profile.h"
#include "options.h"

/** Exit codes. */
enum {
    EXIT_FINE = 0,
    EXIT_CHECK_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_NOT_COMPARABLE = 4
};

extern const struct command command_attach, command_compare, command_completion, command_config,
    command_counters, command_deep, command_doctor, command_export, command_hardware,
    command_import, command_list, command_merge, command_model, command_ncu, command_nsys,
    command_repeats, command_report, command_run, command_top, command_validate;

/** All of them; NULL after the last. */
extern const struct command *const all_commands[];

/** NULL: after a message */
const struct command *find_command(const char *name);

/** " (did you mean WORD?)"; "": none of the words is similar. Valid until the next call. */
const char *did_you_mean(const char *word, const char *const *words);

/** Write a text, or a document of a run, to a file; "-" is standard output.
 * @return exit code, after a message */
int write_text(const char *text, const char *path);
int write_document(const llmperf_profile *profile, uint32_t document, const char *path);

/** Is the whole text a decimal number of at most 64 bits? */
bool to_number(const char *text, uint64_t *value);

/** Message on standard error. @return EXIT_USAGE */
int fail_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Message of the library's last error. @return exit code for `status` */
int fail_status(int status);

/** The same with `text` as the message. */
int fail_with(int status, const char *text);

/** Print to standard output, without control characters other than line ends and tabs. A closed
 * pipe is noted, not fatal. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same for one line: line ends in names are replaced, and one is added at the end. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same without the line end. */
void print_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Result of printing. @return `code`; EXIT_ENVIRONMENT if output was lost, unless a closed pipe
 * was the reason. */
int finish_output(int code);

#endif
