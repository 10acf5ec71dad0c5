/* SPDX-License-Identifier: Apache-2.0 */
/** The configuration of a command, composed once from a file, KEY=VALUE and options. */
#ifndef LLMPERF_TOOL_CONFIGURED_H
#define LLMPERF_TOOL_CONFIGURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/llmperf.h"

#include "options.h"

#define CONFIGURED_WORDS      256
#define CONFIGURED_PATH_BYTES 4096

struct configured {
    const char *name;  /* --config; NULL: the default */
    const char *model; /* --model; NULL: as in the configuration */
    const char *words[CONFIGURED_WORDS];
    size_t count;
    char *made[OPTIONS_MOST]; /* words made from options */
    size_t made_count;
    llmperf_config *config; /* NULL: there is none */
    char *text;             /* the configuration as YAML */
    uint32_t tier;          /* LLMPERF_TIER_… of a session with it */
};

/** KEY=VALUE of the command line. false after a message: too many. */
bool configured_add(struct configured *configured, const char *word);

/** Options of the library's table, each as its key; after configured_add(), because they override
 * KEY=VALUE. --config and --model are stored separately. false after a message: out of memory. */
bool configured_take(struct configured *configured, const struct words *words);

/** Compose it, unset the variables that the command line overrides, and check it and the files that
 * it names, as a session would. @return exit code, after one line. */
int configured_compose(struct configured *configured);

/** The value of an option: that of its variable, else of the configuration (which includes the
 * command line), else `usual`. */
const char *configured_text(const struct configured *configured, const char *key,
                            const char *usual);

/** The folder for a command: the operand `path`, else the folder of runs.
 * @param folder  CONFIGURED_PATH_BYTES.
 * @return exit code, after one line. */
int configured_folder(const struct words *words, const char *given, char *folder);

/** Apply the options to a profile. Prints a line if nothing can be computed from the model. @param
 * words NULL: those of the configuration in the profile. @return exit code */
int configured_apply(llmperf_profile *profile, const struct words *words);

void configured_clear(struct configured *configured);

#endif
