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

#define STREAMS_MAX 16

struct options {
    const char *model, *dataset, *inputs, *out, *record,
        *recorded;        /* recorded: "" is the one that ships */
    const char *counters; /* NULL: those of the environment, else of this program */
    enum mode mode;
    uint32_t tier;  /* LLMPERF_TIER_… */
    int no_session; /* tier none: the library is not asked for anything while the model runs */
    int on_cpu, graphs, is_recorded, plan_only, replicas, turns;
    size_t prompt_tokens, new_tokens, repeats, warmup, batch, layers; /* layers 0: the model's */
    size_t streams, ranks;
    size_t rank; /* of a process that --ranks started; else RANK_NONE */
    int group;
    uint64_t seed;
    struct sampling sampling;
    /* Which of the sampling were given: they win over the data set's. */
    int epochs_given, samples_given, random_given, seed_given;
};

#define RANK_NONE SIZE_MAX

/** @return GO_ON, or the exit code: help was printed, or a value was wrong. Strings point into
 * `arguments`. */
int options_parse(struct options *options, int count, char **arguments);

#endif
