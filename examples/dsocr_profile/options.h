/* SPDX-License-Identifier: Apache-2.0 */
/** The command line: --name value, or name=value. */
#ifndef DSOCR_PROFILE_OPTIONS_H
#define DSOCR_PROFILE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "tiling.h"

/** Exit codes, as llmperf has them. */
enum { EXIT_CHECK = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3, GO_ON = -1 };

struct options {
    const char *model, *dataset, *inputs, *out, *record, *recorded; /* recorded: "" is the one that ships */
    enum mode mode;
    uint32_t tier; /* LLMPERF_TIER_… */
    int on_cpu, graphs, is_recorded, plan_only;
    size_t prompt_tokens, new_tokens, repeats, warmup, batch, layers; /* layers 0: the model's */
    uint64_t seed;
    struct sampling sampling;
    /* Which of the sampling were given: they win over the data set's. */
    int epochs_given, samples_given, random_given, seed_given;
};

/** @return GO_ON, or the exit code: help was printed, or a value was wrong. Strings point into `arguments`. */
int options_parse(struct options *options, int count, char **arguments);

#endif
