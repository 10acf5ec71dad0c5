/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf repeats`: differences between repeated runs of one program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"
#include "run_paths.h"

static int write_repeats(llmperf_profile **profiles, size_t count, double threshold,
                         uint32_t format, const char *path)
{
    uint64_t findings;
    char *text;
    int status = llmperf_repeats_compare((const llmperf_profile *const *)profiles, count, threshold,
                                         format, &text, &findings);

    if (status < 0)
        return fail_status(status);
    status = write_text(text, path);
    llmperf_text_free(text);
    return status == EXIT_FINE && findings > 0 ? EXIT_CHECK_FAILED : status;
}

static int open_and_write(const struct run_paths *runs, double threshold, uint32_t format,
                          const char *path)
{
    llmperf_profile **profiles = calloc(runs->count, sizeof(*profiles));
    size_t opened = 0;
    int status = profiles ? LLMPERF_OK : LLMPERF_ENOMEM, code;

    while (opened < runs->count && status == LLMPERF_OK)
        if ((status = llmperf_profile_open(runs->paths[opened], &profiles[opened])) == LLMPERF_OK)
            opened++;
    code = status == LLMPERF_OK ? write_repeats(profiles, opened, threshold, format, path)
                                : fail_status(status);
    for (size_t i = 0; i < opened; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
    return code;
}

static int find_and_write(const struct command *command, char **words, int count, double threshold,
                          uint32_t format, const char *path)
{
    struct run_paths runs = { NULL, 0, 0 };
    int status = EXIT_FINE;

    for (int i = 0; i < count && status == EXIT_FINE; i++)
        if (!run_paths_add(&runs, words[i]))
            status = EXIT_ENVIRONMENT;
    if (status == EXIT_FINE && runs.count < 2)
        status = fail_usage(command, "expected two or more runs, or a folder of runs");
    if (status == EXIT_FINE)
        status = open_and_write(&runs, threshold, format, path);
    run_paths_clear(&runs);
    return status;
}

enum { THRESHOLD, FORMAT, OUTPUT };

static const struct option options[] = {
    [THRESHOLD] =
        OPTION("--threshold", NULL, "PCT", "10", "spread above which the exit code is 1, percent"),
    [FORMAT] = OPTION("--format", NULL, "md|json", "md", "Markdown or JSON"),
    [OUTPUT] = OPTION("--output", "-o", "FILE", "-", "write to a file; - is standard output"),
    OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    struct words words;
    double threshold;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (!take_percent(command, &words, THRESHOLD, &threshold))
        return EXIT_USAGE;
    return find_and_write(command, argv + 1, words.count, threshold,
                          choice_of(command, &words, FORMAT) ? LLMPERF_TEXT_JSON
                                                             : LLMPERF_TEXT_PLAIN,
                          words.values[OUTPUT]);
}

const struct command command_repeats = {
    .name = "repeats",
    .summary = "show the spread between repeated runs",
    .operands = "RUN RUN... [options]",
    .about =
        "Shows mean, standard deviation, minimum, maximum and spread ((max - min) / mean) of the "
        "times of two or more runs, outliers, and differences because of which the runs are not "
        "repeats of each other, such as another GPU or other work. RUN may be a folder of runs "
        "from llmperf run --repeat.",
    .options = options,
    .after = "Exit code 1: times differ by more than the threshold, or the runs are not repeats.",
    .run = run,
};
