/* SPDX-License-Identifier: Apache-2.0 */
/** What the configuration says about a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "llmperf/llmperf.h"
#include "precedence.h"
#include "run.h"

static bool take_text(const llmperf_config *config, const char *key, char *text, size_t size)
{
    const char *value;

    return llmperf_config_has(config, key) && llmperf_config_text(config, key, &value) == 0 &&
           snprintf(text, size, "%s", value) < (int)size;
}

/* Words, or the preset that was chosen as a group: its file, because a composed configuration does
 * not know any more where its parts came from. */
static void take_counters(const llmperf_config *config, char *text, size_t size)
{
    const char *file;
    uint32_t line;

    if (take_text(config, "session.counters", text, size) && *text)
        return;
    if (llmperf_config_length(config, "pipeline.counters") > 0 &&
        llmperf_config_origin(config, "pipeline.counters", &file, &line) == 0)
        snprintf(text, size, "%s", file);
}

int run_compose(const char *name, char **overrides, int count, struct run_config *config_out)
{
    llmperf_config *config;
    bool asked = name || count > 0;
    const char *const *changes = (const char *const *)overrides;
    int status = llmperf_config_compose(name ? name : "config", changes, (size_t)count, &config);

    *config_out = (struct run_config){ .text = NULL };
    if (status < 0) /* A folder of data files without a configuration is as good as none. */
        return asked ? fail_status(status) : EXIT_FINE;
    precedence_apply(config, changes, (size_t)count);
    if ((status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &config_out->text)) ==
        0) {
        take_text(config, "run.mode", config_out->tier, sizeof(config_out->tier));
        take_text(config, "session.tier", config_out->session_tier,
                  sizeof(config_out->session_tier));
        take_text(config, "session.rules", config_out->rules, sizeof(config_out->rules));
        take_counters(config, config_out->counters, sizeof(config_out->counters));
        take_text(config, "run.id", config_out->run_id, sizeof(config_out->run_id));
        take_text(config, "artifacts.dir", config_out->out, sizeof(config_out->out));
    }
    llmperf_config_free(config);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}

int run_keep_config(const struct run_config *config, const char *path)
{
    size_t length = config->text ? strlen(config->text) : 0;
    FILE *file = config->text ? folder_new_file(path, 0666) : NULL;
    bool written = file && fwrite(config->text, 1, length, file) == length;

    written = !file || fclose(file) == 0 ? written : false;
    if (written || !config->text)
        return EXIT_FINE;
    fprintf(stderr, "llmperf run: cannot write %s\n", path);
    return EXIT_ENVIRONMENT;
}
