/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "configured.h"
#include "llmperf/llmperf.h"

static const struct {
    const char *word;
    uint32_t document;
} formats[] = {
    { "md", LLMPERF_DOCUMENT_REPORT_MD },
    { "json", LLMPERF_DOCUMENT_METRICS_JSON },
    { "html", LLMPERF_DOCUMENT_REPORT_HTML },
    { "summary", LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD },
    { "assumptions", LLMPERF_DOCUMENT_ASSUMPTIONS_MD },
    { "inputs", LLMPERF_DOCUMENT_INPUTS_YAML },
    { "stages", LLMPERF_DOCUMENT_STAGES_MD },
    { "operators", LLMPERF_DOCUMENT_OPERATORS_MD },
    { "kernels", LLMPERF_DOCUMENT_KERNELS_MD },
};

/* 0: there is no such format. */
static uint32_t find_document(const char *word)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].word, word) == 0)
            return formats[i].document;
    return 0;
}

int cmd_report(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--format", NULL, "md" },
                                     { "--output", "-o", "-" },
                                     { "--model", NULL, NULL },
                                     { "--dtype", NULL, NULL } };
    llmperf_profile *profile;
    uint32_t document;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 4, &count)) >= 0)
        return status;
    if (count != 1)
        return fail_usage(command, "expected one run");
    if (!(document = find_document(options[0].value)))
        return fail_usage(command,
                          "--format must be md, json, html, summary, assumptions, inputs, stages, "
                          "operators or kernels, not %s",
                          options[0].value);
    if ((status = llmperf_profile_open(argv[1], &profile)) < 0)
        return fail_status(status);
    status = options[2].value || options[3].value
                 ? configured_apply(profile, options[2].value, options[3].value)
                 : EXIT_FINE;
    if (status == EXIT_FINE)
        status = write_document(profile, document, options[1].value);
    llmperf_profile_free(profile);
    return status;
}
