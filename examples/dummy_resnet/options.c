/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "llmperf/llmperf.h"
#include "llmperf/sys/config.h"
#include "options.h"

#define MODEL_FOLDER "model/dummy_shallow_resnet/"

static const char help[] =
    "usage: dummy_resnet [options]\n"
    "\n"
    "Runs a small convolutional network on the GPU or the CPU, profiles it with libllmperf, checks "
    "the result against a\n"
    "reference in double precision, and prints the run directory as its last line.\n"
    "\n"
    "  --device auto|cpu|cuda     auto: the first GPU, else the CPU (default auto)\n"
    "  --iterations N             forward passes in the session (default: infer file)\n"
    "  --warmup N                 forward passes before it (default: infer file)\n"
    "  --batch N                  images (default: infer file)\n"
    "  --size N                   height and width of an image (default: arch file)\n"
    "  --tier regions|light|deep  how much is collected (default: LLMPERF_TIER, else deep)\n"
    "  --out DIR                  folder of runs (default: LLMPERF_OUT, else runs)\n"
    "  --record FILE              write a recording of the device's activity\n"
    "  --arch FILE                shapes of the model, YAML\n"
    "  --infer FILE               batch, iterations, warm-up, seed and dtype, YAML\n"
    "  --tolerance X              largest relative error that passes (default 1e-4)\n"
    "  --check-times[=PERCENT]    compare the profiler's device times with CUDA events; with "
    "PERCENT, fail beyond it.\n"
    "                             Needs kernels far longer than the gaps between them: --batch "
    "1024 or more.\n"
    "  --help, --version\n"
    "\n"
    "exit: 0 ok, 1 a check failed, 2 usage or a bad value in a file, 3 environment (file, memory, "
    "device, session)\n";

enum {
    OPTION_DEVICE = 256,
    OPTION_ITERATIONS,
    OPTION_WARMUP,
    OPTION_BATCH,
    OPTION_SIZE,
    OPTION_TIER,
    OPTION_OUT,
    OPTION_RECORD,
    OPTION_ARCH,
    OPTION_INFER,
    OPTION_TOLERANCE,
    OPTION_CHECK_TIMES,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "device", required_argument, NULL, OPTION_DEVICE },
    { "iterations", required_argument, NULL, OPTION_ITERATIONS },
    { "warmup", required_argument, NULL, OPTION_WARMUP },
    { "batch", required_argument, NULL, OPTION_BATCH },
    { "size", required_argument, NULL, OPTION_SIZE },
    { "tier", required_argument, NULL, OPTION_TIER },
    { "out", required_argument, NULL, OPTION_OUT },
    { "record", required_argument, NULL, OPTION_RECORD },
    { "arch", required_argument, NULL, OPTION_ARCH },
    { "infer", required_argument, NULL, OPTION_INFER },
    { "tolerance", required_argument, NULL, OPTION_TOLERANCE },
    { "check-times", optional_argument, NULL, OPTION_CHECK_TIMES },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { NULL, 0, NULL, 0 },
};

static int bad_value(const char *option, const char *value, const char *wanted)
{
    fprintf(stderr, "dummy_resnet: %s must be %s, not \"%s\"\n", option, wanted, value);
    return -1;
}

/* Index of `value` in `words`, or -1 after a message. */
static int word(const char *option, const char *value, const char *const *words, int count,
                const char *wanted)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return bad_value(option, value, wanted);
}

static int parse_count(const char *option, const char *value, int64_t least, int64_t *out)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || number < least || number > INT32_MAX)
        return bad_value(option, value, least ? "a whole number, 1 or more" : "a whole number");
    *out = number;
    return 0;
}

static int parse_real(const char *option, const char *value, double *out)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || strspn(value, "0123456789.eE+-") != strlen(value) || *end ||
        !isfinite(number) || number < 0)
        return bad_value(option, value, "a number, 0 or more");
    *out = number;
    return 0;
}

static int parse_device(struct options *options, const char *value)
{
    static const char *const words[] = { "auto", "cpu", "cuda" };
    int index = word("--device", value, words, 3, "auto, cpu or cuda");

    options->device = (enum device_choice)index;
    return index;
}

static int parse_tier(struct options *options, const char *value)
{
    static const char *const words[] = { "regions", "light", "deep" };
    int index = word("--tier", value, words, 3, "regions, light or deep");

    options->tier = (uint32_t)(LLMPERF_TIER_REGIONS + index);
    return index;
}

static int parse_path(const char *option, const char *value, const char **out)
{
    *out = value;
    return *value ? 0 : bad_value(option, value, "a path");
}

static int parse_check_times(struct options *options, const char *value)
{
    options->check_times = 1;
    return value ? parse_real("--check-times", value, &options->time_limit) : 0;
}

/* Negative after a message, or if getopt has printed one. */
static int parse_one(struct options *options, int option, const char *value)
{
    switch (option) {
    case OPTION_DEVICE:
        return parse_device(options, value);
    case OPTION_ITERATIONS:
        return parse_count("--iterations", value, 1, &options->iterations);
    case OPTION_WARMUP:
        return parse_count("--warmup", value, 0, &options->warmup);
    case OPTION_BATCH:
        return parse_count("--batch", value, 1, &options->batch);
    case OPTION_SIZE:
        return parse_count("--size", value, 1, &options->size);
    case OPTION_TIER:
        return parse_tier(options, value);
    case OPTION_OUT:
        return parse_path("--out", value, &options->out_dir);
    case OPTION_RECORD:
        return parse_path("--record", value, &options->record_path);
    case OPTION_ARCH:
        return parse_path("--arch", value, &options->arch_path);
    case OPTION_INFER:
        return parse_path("--infer", value, &options->infer_path);
    case OPTION_TOLERANCE:
        return parse_real("--tolerance", value, &options->tolerance);
    case OPTION_CHECK_TIMES:
        return parse_check_times(options, value);
    default:
        return -1;
    }
}

int options_parse(struct options *options, int count, char **arguments)
{
    int option, status = 0;

    *options = (struct options){
        .tolerance = 1e-4, .time_limit = -1, .batch = -1, .size = -1, .iterations = -1, .warmup = -1
    };
    while (status >= 0 && (option = getopt_long(count, arguments, "", long_options, NULL)) != -1) {
        if (option == OPTION_HELP)
            fputs(help, stdout);
        if (option == OPTION_VERSION)
            printf("dummy_resnet, libllmperf %s\n", llmperf_version());
        if (option == OPTION_HELP || option == OPTION_VERSION)
            return EXIT_SUCCESS;
        status = parse_one(options, option, optarg);
    }
    if (status >= 0 && optind < count)
        status = bad_value("the command line", arguments[optind], "options only");
    if (status >= 0)
        return GO_ON;
    fputs("dummy_resnet --help lists the options\n", stderr);
    return EXIT_USAGE;
}

/* The exit code that a failure of the library means here. */
static int report(int status)
{
    fprintf(stderr, "dummy_resnet: %s\n", llmperf_last_error());
    return status == LLMPERF_EFORMAT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

/* The session reads the files too, so it gets the path at which they were found. */
static int locate(const char *given, const char *usual, char *path, size_t size)
{
    const char *folder =
        given && (given[0] == '/' || access(given, F_OK) == 0) ? NULL : llmperf_config_dir();
    int length = folder ? snprintf(path, size, "%s/%s", folder, given ? given : usual)
                        : snprintf(path, size, "%s", given ? given : usual);

    if (length >= (int)size) {
        fprintf(stderr, "dummy_resnet: path too long: %s\n", given ? given : usual);
        return EXIT_ENVIRONMENT;
    }
    return 0;
}

/* A missing key of a file that was found is a fault of the file. */
static int read_count(const llmperf_config *config, const char *key, uint64_t *value_out)
{
    int64_t value;

    if (llmperf_config_integer(config, key, &value) < 0) {
        fprintf(stderr, "dummy_resnet: %s\n", llmperf_last_error());
        return EXIT_USAGE;
    }
    if (value < 0 || value > INT32_MAX) {
        fprintf(stderr, "dummy_resnet: %s must be 0 to %d, not %lld\n", key, INT32_MAX,
                (long long)value);
        return EXIT_USAGE;
    }
    *value_out = (uint64_t)value;
    return 0;
}

static int read_size(const llmperf_config *config, const char *key, size_t *value_out)
{
    uint64_t value = 0;
    int code = read_count(config, key, &value);

    *value_out = (size_t)value;
    return code;
}

static int read_arch(struct shape *shape, const llmperf_config *config)
{
    int code;

    if ((code = read_size(config, "input.channels", &shape->in_channels)) ||
        (code = read_size(config, "input.height", &shape->height)) ||
        (code = read_size(config, "input.width", &shape->width)) ||
        (code = read_size(config, "channels", &shape->channels)) ||
        (code = read_size(config, "blocks", &shape->blocks)) ||
        (code = read_size(config, "classes", &shape->classes)))
        return code;
    if (llmperf_config_number(config, "batch_norm_epsilon", &shape->epsilon) == 0)
        return 0;
    fprintf(stderr, "dummy_resnet: %s\n", llmperf_last_error());
    return EXIT_USAGE;
}

static int read_infer(struct plan *plan, const llmperf_config *config)
{
    const char *dtype;
    int code;

    if ((code = read_size(config, "batch", &plan->shape.batch)) ||
        (code = read_count(config, "iterations", &plan->iterations)) ||
        (code = read_count(config, "warmup", &plan->warmup)) ||
        (code = read_count(config, "seed", &plan->seed)))
        return code;
    if (llmperf_config_text(config, "dtype", &dtype) < 0)
        fprintf(stderr, "dummy_resnet: %s\n", llmperf_last_error());
    else if (strcmp(dtype, "fp32") != 0)
        fprintf(stderr, "dummy_resnet: dtype must be fp32, not %s\n", dtype);
    else
        return 0;
    return EXIT_USAGE;
}

static int read_files(struct plan *plan)
{
    llmperf_config *arch = NULL, *infer = NULL;
    int status, code;

    if ((status = llmperf_config_open(plan->arch_path, &arch)) < 0 ||
        (status = llmperf_config_open(plan->infer_path, &infer)) < 0)
        code = report(status);
    else if ((code = read_arch(&plan->shape, arch)) == 0)
        code = read_infer(plan, infer);
    llmperf_config_free(arch);
    llmperf_config_free(infer);
    return code;
}

static void apply_overrides(struct plan *plan, const struct options *options)
{
    if (options->batch >= 0)
        plan->shape.batch = (size_t)options->batch;
    if (options->size >= 0)
        plan->shape.height = plan->shape.width = (size_t)options->size;
    if (options->iterations >= 0)
        plan->iterations = (uint64_t)options->iterations;
    if (options->warmup >= 0)
        plan->warmup = (uint64_t)options->warmup;
}

int plan_make(struct plan *plan, const struct options *options)
{
    const char *problem;
    int code;

    *plan = (struct plan){ .seed = 0 };
    if ((code = locate(options->arch_path, MODEL_FOLDER "arch/dummy_shallow_resnet.default.yaml",
                       plan->arch_path, sizeof(plan->arch_path))) ||
        (code = locate(options->infer_path, MODEL_FOLDER "infer/dummy_shallow_resnet.default.yaml",
                       plan->infer_path, sizeof(plan->infer_path))) ||
        (code = read_files(plan)))
        return code;
    apply_overrides(plan, options);
    problem = plan->iterations ? shape_problem(&plan->shape) : "iterations must be 1 or more";
    if (!problem)
        return 0;
    fprintf(stderr, "dummy_resnet: %s\n", problem);
    return EXIT_USAGE;
}
