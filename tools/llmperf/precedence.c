/* SPDX-License-Identifier: Apache-2.0 */
#include "precedence.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *variable;
    const char *keys[2];
} settings[] = {
    { "LLMPERF_TIER", { "run.mode", "session.tier" } },
    { "LLMPERF_OUT", { "artifacts.dir", NULL } },
    { "LLMPERF_TRACE", { "artifacts.keep_trace", NULL } },
    { "LLMPERF_DTYPE", { "run.dtype", "infer.dtype" } },
    { "LLMPERF_COUNTERS", { "session.counters", "pipeline.counters" } },
    { "LLMPERF_RULES", { "session.rules", NULL } },
    { "LLMPERF_SAMPLE_REGIONS", { "session.sample_regions", NULL } },
    { "LLMPERF_DETACH", { "session.detach", NULL } },
    { "LLMPERF_TENSOR_PARALLEL", { "session.tensor_parallel", NULL } },
    { "LLMPERF_EXPERT_PARALLEL", { "session.expert_parallel", NULL } },
    { "LLMPERF_PEAK_TFLOPS", { "hardware.peak_tflops", NULL } },
    { "LLMPERF_BANDWIDTH_GBS", { "hardware.bandwidth_gbs", NULL } },
};

/* Is `file` the option that "GROUP[@KEY]=OPTION" chooses, GROUP/OPTION.yaml? */
static bool chooses(const char *override, const char *file)
{
    const char *group = override + strspn(override, "+"), *equal = strchr(group, '=');
    size_t group_length = strcspn(group, "@="), option_length = equal ? strlen(equal + 1) : 0;
    size_t length = group_length + 1 + option_length, file_length = strlen(file);
    const char *end = file + file_length - strlen(".yaml");

    if (option_length == 0 || file_length <= length + strlen("/.yaml") || strcmp(end, ".yaml") != 0)
        return false;
    return end[-(ptrdiff_t)length - 1] == '/' && strncmp(end - length, group, group_length) == 0 &&
           end[-(ptrdiff_t)option_length - 1] == '/' &&
           strncmp(end - option_length, equal + 1, option_length) == 0;
}

static bool is_of_command_line(const llmperf_config *config, const char *key,
                               const char *const *overrides, size_t count)
{
    const char *file;
    uint32_t line;

    if (!key || llmperf_config_origin(config, key, &file, &line) < 0)
        return false;
    for (size_t i = 0; line > 0 && i < count; i++)
        if (chooses(overrides[i], file))
            return true;
    return line == 0;
}

void precedence_apply(const llmperf_config *config, const char *const *overrides, size_t count)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        for (size_t k = 0; k < 2; k++)
            if (is_of_command_line(config, settings[i].keys[k], overrides, count))
                unsetenv(settings[i].variable);
}

static bool is_given(const char *word)
{
    return word && *word;
}

const char *precedence_choose(const char *option, const char *variable, const char *configured,
                              const char *usual)
{
    const char *word = getenv(variable);

    return option ? option : is_given(word) ? word : is_given(configured) ? configured : usual;
}
