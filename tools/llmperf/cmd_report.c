/* SPDX-License-Identifier: Apache-2.0 */

#include "command.h"
#include "configured.h"
#include "llmperf/sys.h"
#include "progress.h"

enum { FORMAT, OUTPUT };

static const struct option options[] = {
    [FORMAT] = OPTION("--format", NULL,
                      "md|json|html|summary|assumptions|inputs|stages|operators|kernels", "md",
                      "md: the report; json: metrics.json; html: a page with charts; summary: "
                      "stakeholder_summary.md; the others: one part of the report"),
    [OUTPUT] = OPTION("--output", "-o", "FILE", "-", "write to a file; - is standard output"),
    OPTIONS_END
};

/* In the order of the choices of --format. */
static const uint32_t documents[] = {
    LLMPERF_DOCUMENT_REPORT_MD,      LLMPERF_DOCUMENT_METRICS_JSON,
    LLMPERF_DOCUMENT_REPORT_HTML,    LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD,
    LLMPERF_DOCUMENT_ASSUMPTIONS_MD, LLMPERF_DOCUMENT_INPUTS_YAML,
    LLMPERF_DOCUMENT_STAGES_MD,      LLMPERF_DOCUMENT_OPERATORS_MD,
    LLMPERF_DOCUMENT_KERNELS_MD,
};

static int run(const struct command *command, int argc, char **argv)
{
    llmperf_profile *profile;
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count != 1)
        return fail_usage(command, "expected one run");
    progress_begin();
    status = llmperf_profile_open(argv[1], &profile);
    progress_end();
    if (status < 0)
        return fail_status(status);
    status = configured_apply(profile, &words);
    if (status == EXIT_FINE)
        status = write_document(profile, documents[choice_of(command, &words, FORMAT)],
                                words.values[OUTPUT]);
    llmperf_profile_free(profile);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "print the report of a run",
    .operands = "RUN [options]",
    .about = "Prints the report of a run. RUN is a run directory or its run.llmperf. Model, "
             "dtype and table sizes can be given after the run; the run itself is not changed.",
    .options = options,
    .run = run,
};
