/* SPDX-License-Identifier: Apache-2.0 */
/* What the builders of nsys and ncu read from the configuration. */
#include <stdio.h>
#include <string.h>

#include "lib/config/config.h"
#include "lib/vendor/commands.h"

int lp_commands_add_extra(llmperf_commands *commands, const llmperf_config *config, const char *key)
{
    size_t count = llmperf_config_length(config, key);
    int status = 0;

    for (size_t i = 0; status == 0 && i < count; i++) {
        char element[128];
        const char *text;

        snprintf(element, sizeof(element), "%s.%zu", key, i);
        if ((status = llmperf_config_text(config, element, &text)) == 0)
            lp_commands_add(commands, "%s", text);
    }
    return status;
}

int lp_commands_join(llmperf_commands *commands, const llmperf_config *config, const char *key,
                     const char **joined_out)
{
    size_t count = llmperf_config_length(config, key);
    const char *text = "";
    int status = count ? 0 : lp_config_take_text(config, key, &text);

    *joined_out = "";
    if (llmperf_config_key(config, key, 0))
        return lp_config_refuse(config, key, "must be a list of strings");
    if (count == 0 && llmperf_config_has(config, key)) {
        char *empty_list = NULL;

        /* An empty list is valid and gives no text. */
        if (status == LLMPERF_EFORMAT &&
            llmperf_config_document(config, key, LLMPERF_CONFIG_JSON, &empty_list) == 0 &&
            strcmp(empty_list, "[]\n") == 0)
            status = 0;
        llmperf_text_free(empty_list);
        *joined_out = lp_commands_text(commands, "%s", text);
        return status;
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        char element[128];

        snprintf(element, sizeof(element), "%s.%zu", key, i);
        if ((status = llmperf_config_text(config, element, &text)) == 0)
            *joined_out = lp_commands_text(commands, "%s%s%s", *joined_out, i ? "," : "", text);
    }
    return status;
}
