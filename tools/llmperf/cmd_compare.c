/* SPDX-License-Identifier: Apache-2.0 */
/** What became slower or faster between two runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"

static int compare(llmperf_profile *base, llmperf_profile *fresh, double threshold, uint32_t format,
                   const char *path)
{
    uint64_t slower;
    char *text;
    int status = llmperf_compare(base, fresh, threshold, format, &text, &slower);

    if (status < 0)
        return fail_status(status);
    status = write_text(text, path);
    llmperf_text_free(text);
    return status == EXIT_FINE && slower > 0 ? EXIT_CHECK_FAILED : status;
}

static int open_and_compare(char **runs, double threshold, uint32_t format, const char *path)
{
    llmperf_profile *base, *fresh;
    int status;

    if ((status = llmperf_profile_open(runs[0], &base)) < 0)
        return fail_status(status);
    if ((status = llmperf_profile_open(runs[1], &fresh)) < 0) {
        llmperf_profile_free(base);
        return fail_status(status);
    }
    status = compare(base, fresh, threshold, format, path);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
    return status;
}

int cmd_compare(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--threshold", NULL, "5" },
                                     { "--format", NULL, "md" },
                                     { "--output", "-o", "-" } };
    double threshold;
    char *end;
    int count, status;
    bool json;

    if ((status = parse_options(command, argc, argv, options, 3, &count)) >= 0)
        return status;
    if (count != 2)
        return fail_usage(command, "give two runs: BASE NEW");
    threshold = strtod(options[0].value, &end);
    if (end == options[0].value || *end || !(threshold >= 0))
        return fail_usage(command, "--threshold takes a percentage from 0 on");
    json = strcmp(options[1].value, "json") == 0;
    if (!json && strcmp(options[1].value, "md") != 0)
        return fail_usage(command, "--format takes md or json");
    return open_and_compare(argv + 1, threshold, json ? LLMPERF_COMPARE_JSON : LLMPERF_COMPARE_MD,
                            options[2].value);
}
