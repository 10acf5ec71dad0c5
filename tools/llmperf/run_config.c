/* SPDX-License-Identifier: Apache-2.0 */
/** Values of the configuration that llmperf run needs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "llmperf/sys.h"
#include "run.h"

static bool take_text(const llmperf_config *config, const char *key, char *text, size_t size)
{
    const char *value;

    return llmperf_config_has(config, key) && llmperf_config_text(config, key, &value) == 0 &&
           snprintf(text, size, "%s", value) < (int)size;
}

/* Words for the counters; "" also if a preset was chosen as a group, which has its own name. */
static bool take_counters(const llmperf_config *config, struct run_config *config_out)
{
    const char *method;

    config_out->sampled = llmperf_config_has(config, "pipeline.counters.method") &&
                          llmperf_config_text(config, "pipeline.counters.method", &method) == 0 &&
                          strcmp(method, "pm") == 0;
    return take_text(config, "session.counters", config_out->counters,
                     sizeof(config_out->counters)) ||
           llmperf_config_length(config, "pipeline.counters") > 0;
}

int run_compose(struct configured *configured, struct run_config *config_out)
{
    const llmperf_config *config;
    int status = configured_compose(configured);

    *config_out = (struct run_config){ .text = configured->text };
    if (status != EXIT_FINE || !(config = configured->config))
        return status;
    config_out->counted = take_counters(config, config_out);
    if (llmperf_config_has(config, "artifacts.keep_runs"))
        llmperf_config_integer(config, "artifacts.keep_runs", &config_out->keep_runs);
    take_text(config, "run.id", config_out->run_id, sizeof(config_out->run_id));
    return EXIT_FINE;
}

int run_keep_config(const struct run_config *config, const char *path)
{
    FILE *file = config->text ? folder_new_file(path, 0666) : NULL;
    bool written = file && fputs(config->text, file) >= 0;

    if (!config->text)
        return EXIT_FINE;
    if (file && (fclose(file) != 0 || !written)) {
        fprintf(stderr, "llmperf run: cannot write %s: %s\n", path, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    return file ? EXIT_FINE : EXIT_ENVIRONMENT;
}
