/* SPDX-License-Identifier: Apache-2.0 */
/** Several runs of a program: all the same, or each with another group of counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"
#include "new_run.h"
#include "run.h"

#define THRESHOLD_PERCENT 10.0
#define GROUPS_MOST       64u

struct runs {
    const struct run_repeats *options;
    llmperf_profile *profiles[RUN_REPEATS_MOST];
    size_t count;
    unsigned wanted;
    bool grouped;    /* each run has another group of the counters */
    unsigned groups; /* available; 0: not known */
};

bool run_repeats_read(struct run_repeats *options, const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);

    options->automatic = strcmp(word, "auto") == 0;
    options->most = options->automatic ? GROUPS_MOST : (unsigned)number;
    if (options->automatic)
        return options->tier && strcmp(options->tier, "counters") == 0;
    return end != word && !*end && number >= 2 && number <= (long)RUN_REPEATS_MOST;
}

/* Counters with replay=user or replay=kernel need no further runs, nor does a single requested
 * group. */
static bool is_grouped(const struct run_repeats *options)
{
    const char *words = options->counters ? options->counters : "light";

    return options->tier && strcmp(options->tier, "counters") == 0 && !options->sampled &&
           !strstr(words, "group=") && !strstr(words, "replay=user") &&
           !strstr(words, "replay=kernel") && strncmp(words, "pm", 2) != 0;
}

/* Keep the run. A run that cannot be read is left out, with a message. */
static void keep(struct runs *runs, const char *path)
{
    const char *groups;

    if (llmperf_profile_open(path, &runs->profiles[runs->count]) < 0) {
        fprintf(stderr, "llmperf run: %s\n", llmperf_last_error());
        return;
    }
    groups = llmperf_profile_fact(runs->profiles[runs->count++], "counter_groups");
    if (groups && runs->groups == 0)
        runs->groups = (unsigned)strtoul(groups, NULL, 10);
}

/* After the first run: the number of runs that are needed. @return exit code */
static int decide(struct runs *runs)
{
    const struct run_repeats *options = runs->options;

    if (runs->grouped && runs->groups > options->most) {
        fprintf(stderr,
                "llmperf run: these counters need %u runs of the program but --repeat allows %u: "
                "give --repeat %u or auto, or use preset light\n",
                runs->groups, options->most, runs->groups);
        runs->grouped = false;
        return EXIT_USAGE;
    }
    if (runs->grouped && runs->groups == 0)
        fprintf(
            stderr,
            "llmperf run: the first run collected no counters; the notes of its report say why\n");
    runs->grouped = runs->grouped && runs->groups > 1;
    if (runs->grouped)
        runs->wanted = runs->groups;
    else if (options->automatic)
        runs->wanted = 1;
    if (runs->grouped)
        fprintf(stderr, "llmperf run: the counters need %u passes: the program runs %u times\n",
                runs->groups, runs->groups);
    return EXIT_FINE;
}

static int run_next(struct runs *runs, unsigned number,
                    int (*once)(void *context, const char *name, const char *counters, char *best),
                    void *context)
{
    const char *words = runs->options->counters ? runs->options->counters : "light";
    char name[32], counters[4096], best[RUN_PATH_BYTES] = "";
    int code;

    snprintf(name, sizeof(name), "repeat-%u", number);
    snprintf(counters, sizeof(counters), "%.4000s group=%u passes=%u", words, number,
             runs->options->most);
    code = once(context, name, runs->grouped ? counters : NULL, best);
    if (best[0])
        keep(runs, best);
    if (code != EXIT_FINE)
        fprintf(stderr,
                "llmperf run: run %u ended with exit code %d: no further runs are started\n",
                number, code);
    return code;
}

static int write_repeats(const struct runs *runs, uint32_t format, const char *file,
                         uint64_t *findings)
{
    char path[RUN_PATH_BYTES + 32], *text;
    int status = llmperf_repeats_compare((const llmperf_profile *const *)runs->profiles,
                                         runs->count, THRESHOLD_PERCENT, format, &text, findings);

    if (status < 0)
        return fail_status(status);
    snprintf(path, sizeof(path), "%s/%s", runs->options->folder, file);
    status = write_text(text, path);
    llmperf_text_free(text);
    return status;
}

/* Number of runs with a region or device activity, and of runs with device activity. */
static void count_content(const struct runs *runs, size_t *filled, size_t *devices)
{
    *filled = *devices = 0;
    for (size_t i = 0; i < runs->count; i++) {
        size_t kernels = llmperf_profile_count(runs->profiles[i], LLMPERF_ROWS_KERNELS);

        *filled +=
            kernels > 0 || llmperf_profile_count(runs->profiles[i], LLMPERF_ROWS_REGIONS) > 0;
        *devices += kernels > 0;
    }
}

static void report_distance(const struct runs *runs, bool differ)
{
    size_t filled, devices;

    count_content(runs, &filled, &devices);
    fprintf(stderr, "llmperf run: %zu runs, ", runs->count);
    if (filled == 0)
        fprintf(stderr, "none with a region or GPU activity: there is nothing to compare; the "
                        "lines above say why");
    else
        fprintf(stderr, "%s%s",
                differ ? "which differ by more than 10 % or are not repeats of each other"
                       : "all times within 10 %",
                devices == 0 ? " (host times only: there was no GPU activity)" : "");
    fprintf(stderr, "; see %s/repeats.md\n", runs->options->folder);
}

/* Compare the runs. */
static int set_beside(const struct runs *runs)
{
    uint64_t findings = 0;
    int status;

    if (runs->count < 2)
        return EXIT_FINE;
    if ((status = write_repeats(runs, LLMPERF_TEXT_JSON, "repeats.json", &findings)) == EXIT_FINE)
        status = write_repeats(runs, LLMPERF_TEXT_PLAIN, "repeats.md", &findings);
    if (status == EXIT_FINE)
        report_distance(runs, findings > 0);
    return status;
}

/* Merge the counters of all groups into one run, in the common folder. */
static int put_together(const struct runs *runs)
{
    const char *slash = strrchr(runs->options->folder, '/');
    llmperf_profile *together;
    size_t merged = 0;
    int status;

    if (!runs->grouped || runs->groups < 2 || runs->count == 0)
        return EXIT_FINE;
    status =
        llmperf_profile_merge_counters((const llmperf_profile *const *)runs->profiles, runs->count,
                                       slash ? slash + 1 : NULL, &merged, &together);
    if (status < 0)
        return fail_status(status);
    status = new_run_save(together, runs->options->folder);
    llmperf_profile_free(together);
    if (status == EXIT_FINE)
        fprintf(stderr, "llmperf run: counters from %zu of %u passes merged into one run%s\n",
                merged, runs->groups,
                merged < runs->groups ? "; the notes of its report say what is missing" : "");
    return status;
}

int run_repeats(const struct run_repeats *options,
                int (*once)(void *context, const char *name, const char *counters, char *best),
                void *context)
{
    struct runs *runs = calloc(1, sizeof(*runs));
    int code = EXIT_FINE, written;

    if (!runs) {
        fprintf(stderr, "llmperf: out of memory\n");
        return EXIT_ENVIRONMENT;
    }
    runs->options = options;
    runs->wanted = options->most;
    runs->grouped = is_grouped(options);
    for (unsigned number = 1; number <= runs->wanted && code == EXIT_FINE; number++) {
        code = run_next(runs, number, once, context);
        fflush(stdout); /* Before the program prints again. */
        if (number == 1 && code == EXIT_FINE)
            code = decide(runs);
    }
    written = put_together(runs);
    if (written == EXIT_FINE)
        written = set_beside(runs);
    for (size_t i = 0; i < runs->count; i++)
        llmperf_profile_free(runs->profiles[i]);
    free(runs);
    print("%s\n", options->folder);
    return code != EXIT_FINE ? code : written;
}
