/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "command.h"
#include "llmperf/llmperf.h"

int cmd_validate(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--schema", NULL, NULL } };
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 1, &count)) >= 0)
        return status;
    if (count != 1)
        return fail_usage(command, "give one file");
    if (!options[0].value && !llmperf_config_dir()) {
        fprintf(stderr, "llmperf: %s\n", llmperf_last_error());
        return EXIT_ENVIRONMENT;
    }
    status = llmperf_validate(argv[1], options[0].value);
    if (status == LLMPERF_OK)
        print("%s: ok\n", argv[1]);
    else if (fail_status(status) == EXIT_ENVIRONMENT)
        return EXIT_ENVIRONMENT;
    return status == LLMPERF_OK        ? EXIT_FINE
           : status == LLMPERF_EFORMAT ? EXIT_CHECK_FAILED
                                       : EXIT_USAGE;
}
