/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of ncu. Option values are separate arguments. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/vendor/commands.h"

#define CLI "pipeline.ncu.ncu_cli"

#define REGEX_PREFIX 202101u /* --kernel-name regex:X; --kernel-regex X before */

/* A selected kernel may run thousands of times, and each call needs several passes. */
#define LAUNCHES_EACH 10

static void add_option(llmperf_commands *commands, const char *option, const char *value)
{
    lp_commands_add(commands, "%s", option);
    lp_commands_add(commands, "%s", value);
}

static int add_range(llmperf_commands *commands, const llmperf_config *config, const char *key,
                     const char *option, const char *text)
{
    const char *problem = NULL, *range = lp_ncu_range(commands, text, &problem);

    if (!range)
        return lp_config_refuse(config, key, "\"%s\" %s", text, problem);
    add_option(commands, option, range);
    return 0;
}

/* A text or a list; the number of added elements is added to *count_out. */
static int add_ranges(llmperf_commands *commands, const llmperf_config *config, const char *key,
                      const char *option, size_t *count_out)
{
    size_t count = llmperf_config_length(config, key);
    const char *text = NULL;
    int status = 0;

    if (count == 0) {
        const char *joined;

        if ((status = lp_commands_join(commands, config, key, &joined)) < 0 || !*joined)
            return status;
        ++*count_out;
        return add_range(commands, config, key, option, joined);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        char element[128];

        snprintf(element, sizeof(element), "%s.%zu", key, i);
        if ((status = llmperf_config_text(config, element, &text)) == 0)
            status = add_range(commands, config, element, option, text);
        ++*count_out;
    }
    return status;
}

/* --nvtx is needed for filters and for ranges in tables. */
static int add_nvtx(llmperf_commands *commands, const llmperf_config *config, bool ranges)
{
    size_t included = 0, excluded = 0;
    int status;

    lp_commands_add(commands, "--nvtx");
    if ((status = add_ranges(commands, config, CLI ".nvtx.include", "--nvtx-include", &included)) <
        0)
        return status;
    if (included == 0 &&
        (status = add_ranges(commands, config, "run.stage", "--nvtx-include", &included)) < 0)
        return status;
    if (ranges && included == 0)
        return lp_config_refuse(config, CLI ".replay_mode",
                                "range replay needs a range: set run.stage, or " CLI
                                ".nvtx.include");
    return add_ranges(commands, config, CLI ".nvtx.exclude", "--nvtx-exclude", &excluded);
}

/* ncu accepts the metric names of nvprof, but prints "n/a" for them. */
static int check_metrics(const llmperf_config *config, const char *metrics)
{
    if (strncmp(metrics, "flop_count_", 11) != 0 && !strstr(metrics, ",flop_count_"))
        return 0;
    return lp_config_refuse(config, CLI ".metrics",
                            "flop_count_… is an nvprof metric, for which ncu reports \"n/a\"; use "
                            "sm__sass_thread_inst_executed_op_ffma_pred_on.sum and similar, or "
                            "sm__ops_path_tensor_src_….sum");
}

static int add_selection(llmperf_commands *commands, const llmperf_config *config)
{
    const char *set = NULL, *metrics, *sections;
    char *rest;
    int status;

    if ((status = lp_config_take_text(config, CLI ".set", &set)) < 0 ||
        (status = lp_commands_join(commands, config, CLI ".sections", &sections)) < 0 ||
        (status = lp_commands_join(commands, config, CLI ".metrics", &metrics)) < 0 ||
        (status = check_metrics(config, metrics)) < 0)
        return status;
    if (set)
        add_option(commands, "--set", set);
    rest = (char *)lp_commands_text(commands, "%s", sections);
    for (char *section; *sections && (section = strsep(&rest, ","));)
        add_option(commands, "--section", section);
    if (*metrics)
        add_option(commands, "--metrics", metrics);
    return 0;
}

static void add_kernel_pattern(llmperf_commands *commands, const char *base, const char *pattern)
{
    bool old = commands->release < REGEX_PREFIX && strncmp(pattern, "regex:", 6) == 0;

    add_option(commands, old ? "--kernel-regex-base" : "--kernel-name-base", base);
    add_option(commands, old ? "--kernel-regex" : "--kernel-name", old ? pattern + 6 : pattern);
}

static int add_configured_kernel(llmperf_commands *commands, const llmperf_config *config)
{
    const char *name = NULL, *base = "function";
    int status;

    if ((status = lp_config_take_text(config, CLI ".kernel_name", &name)) < 0 ||
        (status = lp_config_take_text(config, CLI ".kernel_name_base", &base)) < 0)
        return status;
    if (name && strncmp(name, "regex:", 6) != 0 && (strstr(name, ".*") || strpbrk(name, "^$|*")))
        return lp_config_refuse(
            config, CLI ".kernel_name",
            "\"%s\" would match only a kernel of exactly that name; write regex:%s", name, name);
    if ((status = lp_excluding(commands, config, name, &name)) == 0 && name)
        add_kernel_pattern(commands, base, name);
    return status;
}

static int add_number(llmperf_commands *commands, const llmperf_config *config, const char *key,
                      const char *option, int64_t value)
{
    int status = lp_config_take_integer(config, key, &value);

    if (status == 0 && value >= 0) {
        lp_commands_add(commands, "%s", option);
        lp_commands_add(commands, "%" PRId64, value);
    }
    return status;
}

/* Launches to profile: of the longest kernels, or from the configuration. */
static int add_kernels(llmperf_commands *commands, const llmperf_config *config,
                       const llmperf_profile *profile)
{
    const char *pattern = NULL;
    size_t count = 0;
    int status;

    if (profile && (status = lp_top_kernels(commands, config, profile, &pattern, &count)) < 0)
        return status;
    if (pattern)
        add_kernel_pattern(commands, "function", pattern);
    else if ((status = add_configured_kernel(commands, config)) < 0)
        return status;
    if ((status = add_number(commands, config, CLI ".launch_skip", "--launch-skip", -1)) < 0)
        return status;
    return add_number(commands, config, CLI ".launch_count", "--launch-count",
                      pattern ? (int64_t)count * LAUNCHES_EACH : -1);
}

static int add_words(llmperf_commands *commands, const llmperf_config *config)
{
    const struct {
        const char *key, *option;
    } options[] = { { CLI ".target_processes", "--target-processes" },
                    { CLI ".clock_control", "--clock-control" },
                    { CLI ".cache_control", "--cache-control" } };
    const char *graph = NULL;
    bool from_start = true;
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++) {
        const char *word = NULL;

        status = lp_config_take_text(config, options[i].key, &word);
        if (status == 0 && word)
            add_option(commands, options[i].option, word);
    }
    if (status < 0 || (status = lp_config_take_text(config, CLI ".graph_profiling", &graph)) < 0 ||
        (status = lp_config_take_truth(config, CLI ".profile_from_start", &from_start)) < 0)
        return status;
    /* Older versions profile nodes only and lack the option. */
    if (graph && strcmp(graph, "node") != 0)
        add_option(commands, "--graph-profiling", graph);
    if (!from_start)
        add_option(commands, "--profile-from-start", "off");
    return 0;
}

/* The table is written where the log is; page raw with base units has all digits. */
static int add_output(llmperf_commands *commands, const llmperf_config *config,
                      const llmperf_tool_request *request)
{
    bool csv = true, overwrite = true;
    int status;

    if ((status = lp_config_take_truth(config, CLI ".export.csv", &csv)) < 0 ||
        (status = lp_config_take_truth(config, CLI ".force_overwrite", &overwrite)) < 0)
        return status;
    if (csv) {
        lp_commands_add(commands, "--csv");
        add_option(commands, "--page", "raw");
        add_option(commands, "--print-units", "base");
        lp_commands_add(commands, "--print-fp");
        add_option(commands, "--log-file", lp_commands_file(commands, request->folder, "raw.csv"));
    }
    add_option(commands, "--export", lp_commands_file(commands, request->folder, "run"));
    if (overwrite)
        lp_commands_add(commands, "--force-overwrite");
    return 0;
}

int lp_ncu_commands(llmperf_commands *commands, const llmperf_config *config,
                    const llmperf_tool_request *request, const llmperf_profile *profile)
{
    const char *replay = "kernel";
    bool ranges;
    int status;

    if ((status = lp_options_check_map(config, CLI)) < 0 ||
        (status = lp_options_check_map(config, CLI ".nvtx")) < 0 ||
        (status = lp_config_take_text(config, CLI ".replay_mode", &replay)) < 0)
        return status;
    ranges = strstr(replay, "range") != NULL;
    lp_commands_begin(commands, "profile", request->path ? request->path : "ncu",
                      lp_commands_text(commands, "%s/raw.csv", request->folder));
    add_option(commands, "--replay-mode", replay);
    if ((status = add_words(commands, config)) < 0 ||
        (status = add_nvtx(commands, config, ranges)) < 0 ||
        (status = add_selection(commands, config)) < 0 ||
        (!ranges && (status = add_kernels(commands, config, profile)) < 0) ||
        (status = add_output(commands, config, request)) < 0 ||
        (status = lp_commands_add_extra(commands, config, CLI ".args")) < 0)
        return status;
    lp_commands_add_program(commands, request);
    return 0;
}
