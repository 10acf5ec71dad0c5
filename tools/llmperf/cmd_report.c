/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"

static int write_document(const llmperf_profile *profile, uint32_t document, const char *path)
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

int cmd_report(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--format", NULL, "md" }, { "--output", "-o", "-" } };
    llmperf_profile *profile;
    uint32_t document;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 2, &count)) >= 0)
        return status;
    if (count != 1)
        return fail_usage(command, "give one run");
    if (strcmp(options[0].value, "md") == 0)
        document = LLMPERF_DOCUMENT_REPORT_MD;
    else if (strcmp(options[0].value, "json") == 0)
        document = LLMPERF_DOCUMENT_METRICS_JSON;
    else if (strcmp(options[0].value, "html") == 0)
        return fail_usage(command, "format html is not in this version");
    else
        return fail_usage(command, "format %s does not exist", options[0].value);
    if ((status = llmperf_profile_open(argv[1], &profile)) < 0)
        return fail_status(status);
    status = write_document(profile, document, options[1].value);
    llmperf_profile_free(profile);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}
