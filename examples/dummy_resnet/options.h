/* SPDX-License-Identifier: Apache-2.0 */
/** Command line and YAML files. */
#ifndef DUMMY_RESNET_OPTIONS_H
#define DUMMY_RESNET_OPTIONS_H

#include <stdint.h>

#include "model.h"

/** Exit codes; EXIT_SUCCESS is 0. */
enum { GO_ON = -1, EXIT_CHECK_FAILED = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 };

enum device_choice { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };

struct options {
    enum device_choice device;
    const char *arch_path, *infer_path; /* NULL: the files below llmperf_config_dir() */
    const char *out_dir, *record_path;  /* NULL: the library decides; none */
    uint32_t tier;                      /* LLMPERF_TIER_… */
    double tolerance;                   /* of the relative error */
    int check_times;
    double time_limit; /* percent that device times may differ; negative: only print */
    int64_t batch, size, iterations, warmup; /* negative: as the files say */
};

/** What the files and the command line together say. */
struct plan {
    struct shape shape;
    uint64_t seed, iterations, warmup;
    char arch_path[4096], infer_path[4096]; /* read */
};

/** GO_ON; or the exit code after --help, --version or a message on standard error. */
int options_parse(struct options *options, int count, char **arguments);

/** 0, or an exit code after a message on standard error. */
int plan_make(struct plan *plan, const struct options *options);

#endif
