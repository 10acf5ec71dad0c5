/* SPDX-License-Identifier: Apache-2.0 */
/** Runs in the formats of other programs. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"

static const struct {
    const char *word;
    uint32_t document; /* 0: events in the order of time, which a run of totals does not have */
} formats[] = {
    { "prometheus", LLMPERF_DOCUMENT_PROMETHEUS },
    { "csv", LLMPERF_DOCUMENT_ROWS_CSV },
    { "jsonl", LLMPERF_DOCUMENT_ROWS_JSONL },
    { "chrome", 0 },
    { "perfetto", 0 },
    { "nsys-sqlite", 0 },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static int write_export(const llmperf_profile *profile, uint32_t document, const char *path)
{
    char *text;
    int status;

    if (strcmp(path, "-") != 0)
        return llmperf_document_write(profile, document, path);
    if ((status = llmperf_document_text(profile, document, &text)) < 0)
        return status;
    print("%s", text);
    llmperf_text_free(text);
    return LLMPERF_OK;
}

/* -1: *document_out is set; else an exit code. */
static int find_format(const struct command *command, const char *word, uint32_t *document_out)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (!word || strcmp(formats[i].word, word) != 0)
            continue;
        if ((*document_out = formats[i].document))
            return -1;
        fprintf(stderr,
                "llmperf export: %s needs events in the order of time, and this run keeps totals; "
                "export prometheus, csv or jsonl\n",
                word);
        return EXIT_USAGE;
    }
    return fail_usage(command, "--format takes prometheus, csv, jsonl, chrome, perfetto or "
                               "nsys-sqlite");
}

int cmd_export(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--format", NULL, NULL }, { "--output", "-o", "-" } };
    llmperf_profile *profile;
    uint32_t document = 0;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 2, &count)) >= 0)
        return status;
    if (count != 1)
        return fail_usage(command, "give one run");
    if ((status = find_format(command, options[0].value, &document)) >= 0)
        return status;
    if ((status = llmperf_profile_open(argv[1], &profile)) < 0)
        return fail_status(status);
    status = write_export(profile, document, options[1].value);
    llmperf_profile_free(profile);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}
