/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"

int cmd_doctor(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--format", NULL, "text" } };
    uint32_t format;
    char *text = NULL;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 1, &count)) >= 0)
        return status;
    if (count != 0)
        return fail_usage(command, "doctor takes no arguments");
    if (strcmp(options[0].value, "text") == 0)
        format = LLMPERF_TEXT_PLAIN;
    else if (strcmp(options[0].value, "json") == 0)
        format = LLMPERF_TEXT_JSON;
    else
        return fail_usage(command, "unknown format %s; use text or json", options[0].value);
    status = llmperf_machine_check(format, &text);
    if (!text)
        return fail_status(status);
    print("%s", text);
    llmperf_text_free(text);
    return status == LLMPERF_OK ? EXIT_FINE : EXIT_CHECK_FAILED;
}
