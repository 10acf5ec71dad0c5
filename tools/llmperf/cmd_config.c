/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf config`: a configuration as it is composed. */
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"

int cmd_config(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--config", NULL, "config" },
                                     { "--format", NULL, "yaml" },
                                     { "--model", NULL, NULL } };
    llmperf_config *config = NULL;
    bool json;
    char *text;
    int count, code, status;

    if ((code = parse_options(command, argc, argv, options, 3, &count)) >= 0)
        return code;
    json = strcmp(options[1].value, "json") == 0;
    if (!json && strcmp(options[1].value, "yaml") != 0)
        return fail_usage(command, "unknown format %s; use yaml or json", options[1].value);
    status = llmperf_config_compose_model(options[0].value, (const char *const *)(argv + 1),
                                          (size_t)count, options[2].value, &config);
    if (status == 0)
        status = llmperf_config_document(config, "",
                                         json ? LLMPERF_CONFIG_JSON : LLMPERF_CONFIG_YAML, &text);
    if (status == 0) {
        print("%s", text);
        llmperf_text_free(text);
    }
    llmperf_config_free(config);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}
