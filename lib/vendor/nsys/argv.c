/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of nsys. Long options use '='; lists contain no blanks. */
#include <stdio.h>
#include <string.h>

#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/vendor/commands.h"

#define CLI "pipeline.nsys.nsys_cli"

/* Releases with changed options */
#define NSYS_REP          202104u /* run.nsys-rep; run.qdrep before */
#define REPORT_UNDERSCORE 202302u /* cuda_gpu_kern_sum; gpukernsum before */
#define DISCARD           202501u /* --discard-environment */
#define METRICS_DEVICES   202501u /* --gpu-metrics-devices; without the last s before */

static const struct report {
    const char *now, *before;
} reports[] = {
    { "cuda_gpu_kern_sum", "gpukernsum" },
    { "cuda_api_sum", "cudaapisum" },
    { "cuda_gpu_trace", "gputrace" },
    { "cuda_api_trace", "cudaapitrace" },
    { "nvtx_sum", "nvtxsum" },
    { "nvtx_pushpop_sum", "nvtxppsum" },
    { "cuda_gpu_mem_time_sum", "gpumemtimesum" },
    { "cuda_gpu_mem_size_sum", "gpumemsizesum" },
    { "cuda_kern_exec_sum", "kernexecsum" },
    { "osrt_sum", "osrtsum" },
};

static int add_words(llmperf_commands *commands, const llmperf_config *config)
{
    const struct {
        const char *key, *option, *usual;
    } options[] = { { CLI ".sample", "sample", "none" },
                    { CLI ".cpuctxsw", "cpuctxsw", "none" },
                    { CLI ".cuda_graph_trace", "cuda-graph-trace", NULL } };
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++) {
        /* By default nsys samples the CPU and traces context switches. */
        const char *word = options[i].usual;

        status = lp_config_take_text(config, options[i].key, &word);
        if (status == 0 && word)
            lp_commands_add(commands, "--%s=%s", options[i].option, word);
    }
    return status;
}

/* until: "stop", "repeat:5", … */
static int check_end(const llmperf_config *config, const char *end)
{
    static const char *const words[] = { "none", "stop", "stop-shutdown", "repeat", NULL };

    for (size_t i = 0; words[i]; i++)
        if (strcmp(end, words[i]) == 0)
            return 0;
    if (strncmp(end, "repeat:", 7) == 0 || strncmp(end, "repeat-shutdown:", 16) == 0)
        return 0;
    return lp_config_refuse(
        config, CLI ".capture_range_end",
        "%s is unknown; use none, stop, stop-shutdown, repeat, repeat:N or repeat-shutdown:N", end);
}

static int add_nvtx_capture(llmperf_commands *commands, const llmperf_config *config)
{
    const char *key =
        llmperf_config_has(config, CLI ".nvtx_capture") ? CLI ".nvtx_capture" : "run.stage";
    const char *label = NULL, *range;
    int status = lp_config_take_text(config, key, &label);

    if (status < 0)
        return status;
    if (!label)
        return lp_config_refuse(
            config, CLI ".capture_range",
            "capture range nvtx needs a region: set run.stage, such as LLM@decode_all");
    if (strpbrk(label, "*") || !(range = lp_nsys_range(commands, label)))
        return lp_config_refuse(
            config, key,
            "\"%s\" must be one region such as LLM@prefill: nsys accepts no path and no pattern",
            label);
    lp_commands_add(commands, "--nvtx-capture=%s", range);
    /* By default only registered strings can start the capture, which PyTorch does not use. */
    lp_commands_add(commands, "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0");
    return 0;
}

static int add_capture(llmperf_commands *commands, const llmperf_config *config)
{
    const char *range = "none", *end = "stop";
    int status;

    if ((status = lp_config_take_text(config, CLI ".capture_range", &range)) < 0 ||
        (status = lp_config_take_text(config, CLI ".capture_range_end", &end)) < 0 ||
        (status = check_end(config, end)) < 0 || strcmp(range, "none") == 0)
        return status;
    lp_commands_add(commands, "--capture-range=%s", range);
    lp_commands_add(commands, "--capture-range-end=%s", end);
    return strcmp(range, "nvtx") == 0 ? add_nvtx_capture(commands, config) : 0;
}

static int add_switches(llmperf_commands *commands, const llmperf_config *config)
{
    bool memory = false, discard = true, overwrite = true;
    const char *devices = "none";
    int status;

    if ((status = lp_config_take_truth(config, CLI ".cuda_memory_usage", &memory)) < 0 ||
        (status = lp_config_take_truth(config, CLI ".discard_environment", &discard)) < 0 ||
        (status = lp_config_take_truth(config, CLI ".force_overwrite", &overwrite)) < 0 ||
        (status = lp_config_take_text(config, CLI ".gpu_metrics_devices", &devices)) < 0)
        return status;
    if (memory)
        lp_commands_add(commands, "--cuda-memory-usage=true");
    if (strcmp(devices, "none") != 0)
        lp_commands_add(commands, "--gpu-metrics-device%s=%s",
                        commands->release >= METRICS_DEVICES ? "s" : "", devices);
    if (discard && commands->release >= DISCARD)
        lp_commands_add(commands, "--discard-environment=true");
    else if (discard)
        lp_commands_note(commands,
                         "nsys %s has no --discard-environment: its report will contain the "
                         "program's environment variables",
                         commands->version);
    if (overwrite)
        lp_commands_add(commands, "--force-overwrite=true");
    return 0;
}

static int add_profile(llmperf_commands *commands, const llmperf_config *config,
                       const llmperf_tool_request *request, const char *tool, const char *report)
{
    const char *trace;
    int status;

    lp_commands_begin(commands, "profile", tool, report);
    lp_commands_add(commands, "profile");
    if ((status = lp_commands_join(commands, config, CLI ".trace", &trace)) < 0)
        return status;
    lp_commands_add(commands, "--trace=%s", *trace ? trace : "cuda,nvtx");
    if ((status = add_words(commands, config)) < 0 ||
        (status = add_capture(commands, config)) < 0 ||
        (status = add_switches(commands, config)) < 0)
        return status;
    lp_commands_add(commands, "--output=%s", lp_commands_file(commands, request->folder, "run"));
    if ((status = lp_commands_add_extra(commands, config, CLI ".args")) < 0)
        return status;
    lp_commands_add_program(commands, request);
    return 0;
}

static const char *add_export(llmperf_commands *commands, const llmperf_tool_request *request,
                              const char *tool, const char *report)
{
    const char *file = lp_commands_text(commands, "%s/run.sqlite", request->folder);

    lp_commands_begin(commands, "export", tool, file);
    lp_commands_add(commands, "export");
    lp_commands_add(commands, "--type=sqlite");
    lp_commands_add(commands, "--output=%s", file);
    lp_commands_add(commands, "--force-overwrite=true");
    lp_commands_add(commands, "%s", report);
    return file;
}

static const char *report_name(const llmperf_commands *commands, const char *name)
{
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        if (strcmp(reports[i].now, name) == 0 && commands->release < REPORT_UNDERSCORE)
            return reports[i].before;
    return name;
}

/* With "repeat" each range has its own report; the first one is read. */
static const char *report_file(llmperf_commands *commands, const llmperf_config *config,
                               const char *folder)
{
    const char *type = commands->release >= NSYS_REP ? "nsys-rep" : "qdrep", *end;
    bool repeat = llmperf_config_has(config, CLI ".capture_range_end") &&
                  llmperf_config_text(config, CLI ".capture_range_end", &end) == 0 &&
                  strncmp(end, "repeat", 6) == 0;

    if (repeat)
        lp_commands_note(
            commands,
            "nsys writes one report per range (run.1.%s, run.2.%s, …); only the first is imported",
            type, type);
    return lp_commands_text(commands, "%s/run.%s%s", folder, repeat ? "1." : "", type);
}

/* One command for each report: nsys ends at a report without data. */
static int add_stats(llmperf_commands *commands, const llmperf_config *config,
                     const llmperf_tool_request *request, const char *tool, const char *report,
                     const char *exported)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, CLI ".export.stats"); i++) {
        char key[64];
        const char *name;

        snprintf(key, sizeof(key), CLI ".export.stats.%zu", i);
        if ((status = llmperf_config_text(config, key, &name)) < 0)
            break;
        name = report_name(commands, name);
        lp_commands_begin(commands, "stats", tool,
                          lp_commands_text(commands, "%s/run_%s.csv", request->folder, name));
        lp_commands_add(commands, "stats");
        lp_commands_add(commands, "--report=%s", name);
        lp_commands_add(commands, "--format=csv");
        lp_commands_add(commands, "--output=%s/run", request->folder);
        /* By default an old export beside the report is used silently. */
        if (!exported)
            lp_commands_add(commands, "--force-export=true");
        lp_commands_add(commands, "--force-overwrite=true");
        lp_commands_add(commands, "%s", exported ? exported : report);
    }
    return status;
}

int lp_nsys_commands(llmperf_commands *commands, const llmperf_config *config,
                     const llmperf_tool_request *request)
{
    const char *tool = request->path ? request->path : "nsys";
    const char *report = report_file(commands, config, request->folder);
    bool sqlite = true;
    int status;

    if ((status = lp_options_check_map(config, CLI)) < 0 ||
        (status = lp_config_take_truth(config, CLI ".export.sqlite", &sqlite)) < 0 ||
        (status = add_profile(commands, config, request, tool, report)) < 0)
        return status;
    return add_stats(commands, config, request, tool, report,
                     sqlite ? add_export(commands, request, tool, report) : NULL);
}
