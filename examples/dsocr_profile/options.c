/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "llmperf/llmperf.h"

static const char help[] =
    "usage: dsocr_profile [--NAME VALUE | NAME=VALUE]...\n"
    "\n"
    "Runs a model with random weights of its true shapes on the GPU (vision, prefill, decode), "
    "profiles "
    "it with libllmperf,\n"
    "and prints the run directory as its last line.\n"
    "\n"
    "  --model NAME|PATH        model of the data files or a config.json (default deepseek_ocr)\n"
    "  --mode NAME              tiny, small, base, large or gundam: views of an image (default "
    "base)\n"
    "  --prompt-tokens N        text tokens of a prompt, behind its image (default 10)\n"
    "  --new-tokens N           decode steps; forward passes of a network of convolutions (default "
    "64)\n"
    "  --repeats N, --warmup N  passes over the pages, in the session and before it (default 3, "
    "1)\n"
    "  --batch N                sequences of the same shape at once (default 1)\n"
    "  --graphs                 decode steps are one CUDA graph\n"
    "  --layers N               run fewer layers of the decoder than the model has\n"
    "  --seed N                 of weights, pixels and prompts (default 1)\n"
    "  --inputs FILE            list of pages: a path or WIDTHxHEIGHT a line, then a category\n"
    "  --dataset NAME           conf/dataset/NAME.yaml (default pages); dataset.epochs=N, "
    "dataset.samples=N,\n"
    "                           dataset.random=true, dataset.seed=N choose from it\n"
    "  --tier NAME              regions, light, deep or counters (default: LLMPERF_TIER, else "
    "deep); none: no\n"
    "                           regions and no session, to see what they cost; there is no run "
    "directory\n"
    "  --counters WORDS         for tier counters: a preset, then include=PATTERN …, in one "
    "argument "
    "(default:\n"
    "                           LLMPERF_COUNTERS, else light for each stage)\n"
    "  --streams N              requests at once, each on a stream of its own (default 1)\n"
    "  --ranks N                processes, one a GPU, that share each layer (default 1)\n"
    "  --parallel NAME          what ranks share: tensor (layers, by NCCL; default) or replicas "
    "(nothing)\n"
    "  --device cuda|cpu        cpu is for models of a few megabytes (default cuda)\n"
    "  --out DIR                folder of runs (default: LLMPERF_OUT, else runs)\n"
    "  --turns                  before each repeat wait for a line on standard input; after it "
    "print "
    "its decode steps:\n"
    "                           \"turn: MEAN us mean, MEDIAN us median\" (to compare processes "
    "that "
    "take turns)\n"
    "  --plan                   print views, prompt lengths and memory, and run nothing\n"
    "  --record FILE            write a recording of the device's activity\n"
    "  --recorded[=FILE]        no GPU: the report of a recorded run on an H200\n"
    "  --help, --version\n"
    "\n"
    "exit: 0 ok, 1 a check failed, 2 usage or a bad value in a file, 3 environment (file, memory, "
    "device, session)\n";

#define NOT_ONE_OF_THESE 1

static int wrong(const char *name, const char *value, const char *wanted)
{
    fprintf(stderr, "dsocr_profile: %s must be %s, not \"%s\"\n", name, wanted, value);
    return -1;
}

static int parse_number(const char *name, const char *value, uint64_t least, uint64_t most,
                        uint64_t *out)
{
    char *end, wanted[64];
    unsigned long long number;

    errno = 0;
    number = strtoull(value, &end, 10);
    if (!errno && end != value && !*end && *value != '-' && number >= least && number <= most) {
        *out = number;
        return 0;
    }
    snprintf(wanted, sizeof(wanted), "a number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return wrong(name, value, wanted);
}

static int parse_tier(struct options *options, const char *value)
{
    static const char *const names[] = { "regions", "light", "deep", "counters" };

    options->no_session = strcmp(value, "none") == 0;
    if (options->no_session)
        return 0;
    for (uint32_t i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            options->tier = LLMPERF_TIER_REGIONS + i;
            return 0;
        }
    return wrong("tier", value, "none, regions, light, deep or counters");
}

static int parse_flag(const char *name, const char *value, int *out)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return wrong(name, value, "true or false");
    *out = strcmp(value, "true") == 0;
    return 0;
}

static int parse_text(struct options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **out;
    } texts[] = { { "model", &options->model },   { "dataset", &options->dataset },
                  { "inputs", &options->inputs }, { "out", &options->out },
                  { "record", &options->record }, { "counters", &options->counters } };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].out = value;
            return *value ? 0 : wrong(name, value, "given");
        }
    return NOT_ONE_OF_THESE;
}

static int parse_count(struct options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        size_t *out;
        uint64_t least, most;
        int *given;
    } counts[] = {
        { "prompt-tokens", &options->prompt_tokens, 1, 1 << 20, NULL },
        { "new-tokens", &options->new_tokens, 1, 1 << 20, NULL },
        { "repeats", &options->repeats, 1, 10000, NULL },
        { "warmup", &options->warmup, 0, 10000, NULL },
        { "batch", &options->batch, 1, 1024, NULL },
        { "layers", &options->layers, 1, 1000, NULL },
        { "streams", &options->streams, 1, STREAMS_MAX, NULL },
        { "ranks", &options->ranks, 1, GROUP_RANKS_MAX, NULL },
        { "rank", &options->rank, 0, GROUP_RANKS_MAX - 1, NULL },
        { "dataset.epochs", &options->sampling.epochs, 1, 10000, &options->epochs_given },
        { "dataset.samples", &options->sampling.samples, 0, 100000, &options->samples_given },
    };
    uint64_t number;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (strcmp(name, counts[i].name) != 0)
            continue;
        if (parse_number(name, value, counts[i].least, counts[i].most, &number) < 0)
            return -1;
        *counts[i].out = (size_t)number;
        if (counts[i].given)
            *counts[i].given = 1;
        return 0;
    }
    return NOT_ONE_OF_THESE;
}

static int parse_other(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "mode") == 0)
        return mode_find(value, &options->mode) == 0
                   ? 0
                   : wrong(name, value, "tiny, small, base, large or gundam");
    if (strcmp(name, "tier") == 0)
        return parse_tier(options, value);
    if (strcmp(name, "seed") == 0)
        return parse_number(name, value, 0, INT64_MAX, &options->seed);
    if (strcmp(name, "graphs") == 0)
        return parse_flag(name, value, &options->graphs);
    if (strcmp(name, "dataset.random") == 0) {
        options->random_given = 1;
        return parse_flag(name, value, &options->sampling.random);
    }
    if (strcmp(name, "dataset.seed") == 0) {
        options->seed_given = 1;
        return parse_number(name, value, 0, INT64_MAX, &options->sampling.seed);
    }
    if (strcmp(name, "parallel") == 0) {
        options->replicas = strcmp(value, "replicas") == 0;
        return options->replicas || strcmp(value, "tensor") == 0
                   ? 0
                   : wrong(name, value, "tensor or replicas");
    }
    if (strcmp(name, "group") == 0) {
        uint64_t descriptor;
        int status = parse_number(name, value, 0, INT32_MAX, &descriptor);

        options->group = status < 0 ? -1 : (int)descriptor;
        return status;
    }
    if (strcmp(name, "device") == 0) {
        options->on_cpu = strcmp(value, "cpu") == 0;
        return options->on_cpu || strcmp(value, "cuda") == 0 ? 0
                                                             : wrong(name, value, "cuda or cpu");
    }
    fprintf(stderr, "dsocr_profile: there is no option \"%s\"\n", name);
    return -1;
}

static int set(struct options *options, const char *name, const char *value)
{
    int status = parse_text(options, name, value);

    if (status == NOT_ONE_OF_THESE)
        status = parse_count(options, name, value);
    return status == NOT_ONE_OF_THESE ? parse_other(options, name, value) : status;
}

/* One argument, and the next if it is its value. @return arguments used, or -1. */
static int take(struct options *options, const char *argument, const char *next)
{
    int dashes = strncmp(argument, "--", 2) == 0;
    const char *from = argument + (dashes ? 2 : 0), *equals = strchr(from, '=');
    char name[64];
    size_t length;

    if (dashes && (strcmp(from, "recorded") == 0 || strncmp(from, "recorded=", 9) == 0)) {
        options->is_recorded = 1;
        options->recorded = equals ? equals + 1 : "";
        return 1;
    }
    length = equals ? (size_t)(equals - from) : strlen(from);
    length = length < sizeof(name) ? length : sizeof(name) - 1;
    memcpy(name, from, length);
    name[length] = '\0';
    for (char *at = name; *at; at++)
        if (*at == '_')
            *at = '-';
    if (equals)
        return set(options, name, equals + 1) < 0 ? -1 : 1;
    if (dashes &&
        (strcmp(name, "graphs") == 0 || strcmp(name, "plan") == 0 || strcmp(name, "turns") == 0)) {
        options->graphs |= *name == 'g';
        options->plan_only |= *name == 'p';
        options->turns |= *name == 't';
        return 1;
    }
    if (!dashes || !next) {
        fprintf(stderr, "dsocr_profile: \"%s\" %s\n", argument,
                dashes ? "needs a value" : "is neither --NAME VALUE nor NAME=VALUE");
        return -1;
    }
    return set(options, name, next) < 0 ? -1 : 2;
}

static int check_together(const struct options *options)
{
    const char *problem = NULL;

    if (options->streams > 1 && options->ranks > 1)
        problem = "streams and ranks are not run together";
    else if (options->ranks > 1 && options->record)
        problem = "a recording is of one process; leave ranks or record out";
    else if (options->no_session && options->record)
        problem = "tier none records nothing; leave record out, or take another tier";
    else if (options->turns && options->ranks > 1)
        problem = "ranks do not take turns; leave ranks or turns out";
    else if (options->rank != RANK_NONE && (options->ranks == 1 || options->rank >= options->ranks))
        problem = "--ranks starts all ranks; leave rank and group out";
    if (problem)
        fprintf(stderr, "dsocr_profile: %s\n", problem);
    return problem ? -1 : 0;
}

static int ask_for_help(void)
{
    fputs("dsocr_profile --help lists the options\n", stderr);
    return EXIT_USAGE;
}

int options_parse(struct options *options, int count, char **arguments)
{
    *options = (struct options){ .model = "deepseek_ocr",
                                 .dataset = "pages",
                                 .mode = MODE_BASE,
                                 .prompt_tokens = 10,
                                 .new_tokens = 64,
                                 .repeats = 3,
                                 .warmup = 1,
                                 .batch = 1,
                                 .streams = 1,
                                 .ranks = 1,
                                 .rank = RANK_NONE,
                                 .group = -1,
                                 .seed = 1,
                                 .sampling = { .epochs = 1 } };
    for (int i = 1; i < count;) {
        int used;

        if (strcmp(arguments[i], "--help") == 0) {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        if (strcmp(arguments[i], "--version") == 0) {
            printf("dsocr_profile, libllmperf %s\n", llmperf_version());
            return EXIT_SUCCESS;
        }
        used = take(options, arguments[i], i + 1 < count ? arguments[i + 1] : NULL);
        if (used < 0)
            return ask_for_help();
        i += used;
    }
    if (check_together(options) < 0)
        return ask_for_help();
    return GO_ON;
}
