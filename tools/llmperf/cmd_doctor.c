/* SPDX-License-Identifier: Apache-2.0 */

#include "command.h"
#include "llmperf/sys.h"
#include "terminal.h"

static const struct option options[] = {
    OPTION("--format", NULL, "text|json", "text", "text or JSON"), OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    struct words words;
    char *text = NULL;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count != 0)
        return fail_usage(command, "doctor takes no arguments");
    status = llmperf_machine_check(
        choice_of(command, &words, 0) ? LLMPERF_TEXT_JSON : LLMPERF_TEXT_PLAIN, &text);
    if (!text)
        return fail_status(status);
    terminal_print_words(text);
    llmperf_text_free(text);
    return status == LLMPERF_OK ? EXIT_FINE : EXIT_CHECK_FAILED;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "check whether this machine can profile GPU kernels",
    .operands = "[options]",
    .about = "Checks driver, GPUs, CUPTI, tools, permissions and environment variables, and says "
             "how to fix what does not work. Exit code 0: kernels can be profiled here; 1: they "
             "cannot.",
    .options = options,
    .after = "The JSON has schema conf/schema/doctor.schema.json.",
    .run = run,
};
