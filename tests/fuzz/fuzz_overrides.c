/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as overrides of the usual configuration: it is composed, and what was composed is read
 * again, or they are refused with one line. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define LINES_MOST 16

static void check_error(int status)
{
    if (status < 0 && (strlen(llmperf_last_error()) < 5 || strchr(llmperf_last_error(), '\n')))
        abort();
}

/* The document of a configuration is a configuration. */
static void check_document(const llmperf_config *config)
{
    llmperf_config *again = NULL;
    char *text = NULL;

    if (llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &text) < 0)
        return;
    if (llmperf_config_parse(text, &again) < 0)
        abort();
    llmperf_config_free(again);
    llmperf_text_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[4096];
    const char *overrides[LINES_MOST];
    llmperf_config *config = NULL;
    size_t count = 0;

    if (size >= sizeof(text) || memchr(bytes, 0, size))
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    for (char *rest = text, *line; count < LINES_MOST && (line = strsep(&rest, "\n"));)
        overrides[count++] = line;
    check_error(llmperf_config_compose("config", overrides, count, NULL, &config));
    if (config)
        check_document(config);
    llmperf_config_free(config);
    return 0;
}
