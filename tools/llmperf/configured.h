/* SPDX-License-Identifier: Apache-2.0 */
/** The configuration of a command: composed once, of a file, KEY=VALUE and options, and then handed
 * on whole. */
#ifndef LLMPERF_TOOL_CONFIGURED_H
#define LLMPERF_TOOL_CONFIGURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/llmperf.h"

#define CONFIGURED_WORDS 256

struct configured {
    const char *name;  /* --config; NULL: the usual one */
    const char *model; /* --model; NULL: as the configuration says */
    const char *words[CONFIGURED_WORDS];
    size_t count;
    char *made[16]; /* words that stand for options */
    size_t made_count;
    llmperf_config *config; /* NULL: there is none */
    char *text;             /* of it, as YAML */
    uint32_t tier;          /* LLMPERF_TIER_… that a session would have */
};

/** KEY=VALUE of the command line. false with a message: there are too many. */
bool configured_add(struct configured *configured, const char *word);

/** An option that stands for a key; after configured_add(), for it comes before KEY=VALUE.
 * @param value  NULL: the option was not given. false with a message: there is no memory. */
bool configured_set(struct configured *configured, const char *key, const char *value);

/** Compose it, take what the command line decides out of the environment, and check it with all
 * that it names, as a session would. @return exit code, after one line. */
int configured_compose(struct configured *configured);

/** A profile gets the model and the dtype, and a line says where the model gives nothing.
 * @param model, dtype  NULL: of the configuration that the profile keeps. @return exit code */
int configured_apply(llmperf_profile *profile, const char *model, const char *dtype);

void configured_clear(struct configured *configured);

#endif
