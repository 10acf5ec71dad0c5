/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf compare`: two runs, or two groups of repeated runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"
#include "progress.h"
#include "run_paths.h"
#include "terminal.h"

/* A side of the comparison: a run, or the runs of a folder of repeats. */
struct side {
    struct run_paths paths;
    llmperf_profile **profiles;
    size_t opened;
};

static int open_side(struct side *side, const char *word)
{
    int status = LLMPERF_OK;

    if (!run_paths_add(&side->paths, word) ||
        !(side->profiles = calloc(side->paths.count, sizeof(*side->profiles))))
        return LLMPERF_ENOMEM;
    while (side->opened < side->paths.count && status == LLMPERF_OK)
        if ((status = llmperf_profile_open(side->paths.paths[side->opened],
                                           &side->profiles[side->opened])) == LLMPERF_OK)
            side->opened++;
    return status;
}

static void clear_side(struct side *side)
{
    for (size_t i = 0; i < side->opened; i++)
        llmperf_profile_free(side->profiles[i]);
    free(side->profiles);
    run_paths_clear(&side->paths);
}

static int compare(const struct side *sides, double threshold, uint32_t format, const char *path)
{
    uint64_t slower;
    char *text;
    int status =
        llmperf_runs_compare((const llmperf_profile *const *)sides[0].profiles, sides[0].opened,
                             (const llmperf_profile *const *)sides[1].profiles, sides[1].opened,
                             threshold, format, &text, &slower);

    bool comparable = status != LLMPERF_ENOTCOMPARABLE;

    if (status < 0 && comparable)
        return fail_status(status);
    if (!comparable)
        fprintf(stderr, "llmperf compare: %s\n", llmperf_last_error());
    if (format == LLMPERF_TEXT_PLAIN && strcmp(path, "-") == 0) {
        terminal_print_words(text);
        status = EXIT_FINE;
    } else {
        status = write_text(text, path);
    }
    llmperf_text_free(text);
    if (status != EXIT_FINE)
        return status;
    return !comparable ? EXIT_NOT_COMPARABLE : slower > 0 ? EXIT_CHECK_FAILED : EXIT_FINE;
}

static int open_and_compare(char **words, double threshold, uint32_t format, const char *path)
{
    struct side sides[2] = { { .opened = 0 }, { .opened = 0 } };
    int status;

    progress_begin();
    if ((status = open_side(&sides[0], words[0])) == LLMPERF_OK)
        status = open_side(&sides[1], words[1]);
    progress_end();
    status = status < 0 ? fail_status(status) : compare(sides, threshold, format, path);
    clear_side(&sides[0]);
    clear_side(&sides[1]);
    return status;
}

enum { THRESHOLD, FORMAT, OUTPUT };

/* choice_of() gives the position in the option's list. */
_Static_assert(LLMPERF_TEXT_PLAIN == 0 && LLMPERF_TEXT_JSON == 1 && LLMPERF_TEXT_HTML == 2, "");

static const struct option options[] = {
    [THRESHOLD] =
        OPTION("--threshold", NULL, "PCT", "5", "differences up to this are ignored, percent"),
    [FORMAT] =
        OPTION("--format", NULL, "md|json|html", "md", "Markdown, JSON, or a page with charts"),
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
    if (words.count != 2)
        return fail_usage(command, "expected two runs, or folders of repeats: BASE NEW");
    if (!take_percent(command, &words, THRESHOLD, &threshold))
        return EXIT_USAGE;
    return open_and_compare(argv + 1, threshold, (uint32_t)choice_of(command, &words, FORMAT),
                            words.values[OUTPUT]);
}

const struct command command_compare = {
    .name = "compare",
    .summary = "show what became slower or faster between two runs",
    .operands = "BASE NEW [options]",
    .about = "The first lines name what made the difference of each stage: the kernel, memcpy, gap "
             "or host time, in milliseconds a call.\n"
             "Compares the time per call of each region: wall time, GPU time by kernel class, and "
             "latencies of requests. "
             "A difference counts if it exceeds the threshold, the noise, and what a change in "
             "work per call (tokens, context length) explains. BASE and NEW are runs or folders of "
             "repeats (llmperf run --repeat), whose spread is then the noise. A run with several "
             "processes or GPUs is one job; if both jobs have the same ranks, each rank is "
             "compared with its counterpart.",
    .options = options,
    .after = "Exit code 1: something became slower. 4: the runs have too little in common to be "
             "compared; the first line says why.",
    .run = run,
};
