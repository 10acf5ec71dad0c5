/* SPDX-License-Identifier: Apache-2.0 */
/** Commands of the command line, and what they share. */
#ifndef LLMPERF_TOOL_COMMAND_H
#define LLMPERF_TOOL_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/profile.h"

/** Exit codes. */
enum {
    EXIT_FINE = 0,
    EXIT_CHECK_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_NOT_COMPARABLE = 4
};

struct command {
    const char *name;
    const char *summary;
    const char *usage; /* what --help prints */
    int (*run)(const struct command *command, int argc, char **argv);
};

/** Each takes its arguments from argv[1] on and returns an exit code. */
int cmd_compare(const struct command *command, int argc, char **argv);
int cmd_counters(const struct command *command, int argc, char **argv);
int cmd_config(const struct command *command, int argc, char **argv);
int cmd_doctor(const struct command *command, int argc, char **argv);
int cmd_export(const struct command *command, int argc, char **argv);
int cmd_hardware(const struct command *command, int argc, char **argv);
int cmd_import(const struct command *command, int argc, char **argv);
int cmd_list(const struct command *command, int argc, char **argv);
int cmd_merge(const struct command *command, int argc, char **argv);
int cmd_model(const struct command *command, int argc, char **argv);
int cmd_repeats(const struct command *command, int argc, char **argv);
int cmd_report(const struct command *command, int argc, char **argv);
int cmd_run(const struct command *command, int argc, char **argv);
int cmd_top(const struct command *command, int argc, char **argv);
int cmd_vendor(const struct command *command, int argc, char **argv);
int cmd_validate(const struct command *command, int argc, char **argv);

/** An option with a value: `--format md`, `--format=md`; a short name ("-o") may be NULL. */
struct option_text {
    const char *name, *short_name;
    const char *value; /* in: default; out: what was given */
};

/** Take options out of argv; what is left are `*count` operands at argv[1].
 * @return -1: go on; else an exit code (after --help, or a message about wrong usage). */
int parse_options(const struct command *command, int argc, char **argv, struct option_text *options,
                  int option_count, int *count);

/** Write a text, a document of a run to a file; "-" is standard output.
 * @return exit code, after a message */
int write_text(const char *text, const char *path);
int write_document(const llmperf_profile *profile, uint32_t document, const char *path);

/** Take an option without a value out of argv. Was it there? */
bool take_flag(int *argc, char **argv, const char *flag);

/** Is the text a decimal number of 64 bits, and nothing else? */
bool to_number(const char *text, uint64_t *value);

/** Message on standard error. @return EXIT_USAGE */
int fail_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Message of the library's last error. @return exit code for `status` */
int fail_status(int status);

/** The same with `text` as the message, for a failure that was kept. */
int fail_with(int status, const char *text);

/** Print to standard output, without characters that a terminal obeys but for line ends and tabs; a
 * closed pipe is remembered, not fatal. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same for one line, whatever the names in it hold; the end of the line is added. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** What printing came to. @return `code`, or EXIT_ENVIRONMENT if output was lost for another reason
 * than a closed pipe. */
int finish_output(int code);

#endif
