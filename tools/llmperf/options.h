/* SPDX-License-Identifier: Apache-2.0 */
/** The arguments of a command: options from its own table and from the option table of the library,
 * then operands. The help text comes from the same tables. */
#ifndef LLMPERF_TOOL_OPTIONS_H
#define LLMPERF_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/sys.h"

#define OPTIONS_MOST 32

/** An option of one command. */
struct option {
    const char *name, *letter; /* "--output", "-o" */
    const char *value;         /* "FILE"; "md|json": one of these; NULL: it takes no value */
    const char *usual;         /* the default; NULL: none */
    const char *help;
    uint64_t least, most; /* most > 0: an integer in this range */
};

#define OPTION(name, letter, value, usual, help)                                                   \
    {                                                                                              \
        name, letter, value, usual, help, 0, 0                                                     \
    }
#define OPTIONS_END OPTION(NULL, NULL, NULL, NULL, NULL)

struct command {
    const char *name;
    const char *summary;
    const char *operands; /* of the usage line */
    const char *about;    /* paragraphs, each one line */
    const struct option *options;
    const char *after; /* paragraphs after the options; NULL: none */
    int (*run)(const struct command *command, int argc, char **argv);
    void (*more_help)(void); /* NULL: none */
};

/** The given arguments. */
struct words {
    const char *values[OPTIONS_MOST]; /* values of the command's options, in the order of its table;
                                         "" for an option without a value, NULL: not given */
    struct setting {
        llmperf_option_info info;
        const char *value;    /* "true" for one that takes no value */
    } settings[OPTIONS_MOST]; /* options of the library's table */
    size_t setting_count;
    int count; /* operands, from argv[1] on */
};

/** Remove the options from argv and check their values.
 * @return -1: continue; else an exit code (after --help, or a message about wrong usage). */
int parse_words(const struct command *command, int argc, char **argv, struct words *words);

/** The value of an option of the library's table; NULL: not given. */
const char *option_value(const struct words *words, const char *name);

/** The value of a number option; `usual` if it was not given. */
uint64_t number_value(const struct words *words, int option, uint64_t usual);

/** Index of a value in "md|json". */
int choice_of(const struct command *command, const struct words *words, int option);

/** A percentage of at least 0. false after a message. */
bool take_percent(const struct command *command, const struct words *words, int option,
                  double *percent);

/** An option of the command's own table or, after these, of the library's. Its value is the list of
 * choices if it has one. false: past the last. */
bool option_at(const struct command *command, size_t index, struct option *option);

void print_help(const struct command *command);

/** Print a text in lines of at most 80 columns; lines after the first are indented. */
void print_wrapped(int column, int indent, const char *text);

#endif
