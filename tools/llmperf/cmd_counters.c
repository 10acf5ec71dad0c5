/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf counters`: metrics of a chip, and the metrics and passes of a preset on it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "llmperf/sys.h"

struct request {
    const char *chip, *preset, *pattern, *format, *method;
};

static llmperf_counter_info info_of(const llmperf_counters *counters, size_t index)
{
    llmperf_counter_info info = LLMPERF_COUNTER_INFO_INIT;

    llmperf_counters_info(counters, index, &info);
    return info;
}

static int print_json(const struct request *request, const llmperf_counters *counters)
{
    bool pm = llmperf_counters_method(counters) == LLMPERF_COUNTERS_PM;
    uint32_t passes = llmperf_counters_passes(counters);
    json_t *metrics = json_array();
    json_t *root = json_object_of("chip:t preset:t method:t metrics:o", request->chip,
                                  request->preset, pm ? "pm" : "range", metrics);

    if (passes)
        json_object_set_new(root, "passes", json_integer(passes));
    for (size_t i = 0; i < llmperf_counters_count(counters); i++) {
        llmperf_counter_info info = info_of(counters, i);

        json_array_append_new(metrics, json_object_of("quantity:t metric:t unit:t about:t reason:t",
                                                      info.quantity, info.metric, info.unit,
                                                      info.about, info.reason));
    }
    return json_output(root);
}

static void print_text(const struct request *request, const llmperf_counters *counters)
{
    uint32_t passes = llmperf_counters_passes(counters);

    if (passes)
        print("%s on %s: %u pass%s (%s)\n\n", request->preset, request->chip, passes,
              passes > 1 ? "es" : "",
              llmperf_counters_method(counters) == LLMPERF_COUNTERS_PM ? "sampled" : "range");
    for (size_t i = 0; i < llmperf_counters_count(counters); i++) {
        llmperf_counter_info info = info_of(counters, i);

        if (!info.metric)
            print("  %-24s -  %s\n", info.quantity, info.reason);
        else if (passes && strcmp(info.quantity, info.metric) != 0)
            print("  %-24s %-8s %s\n", info.quantity, info.unit, info.metric);
        else
            print("  %-60s %-8s %s\n", info.metric, info.unit, info.about);
    }
}

static int print_counters(const struct request *request)
{
    uint32_t method =
        strcmp(request->method, "pm") == 0 ? LLMPERF_COUNTERS_PM : LLMPERF_COUNTERS_RANGE;
    llmperf_counters *counters;
    int status = request->preset
                     ? llmperf_counters_open(request->chip, request->preset, &counters)
                     : llmperf_counters_list(request->chip, request->pattern, method, &counters);

    if (status < 0)
        return fail_status(status);
    if (request->pattern && llmperf_counters_count(counters) == 0)
        fprintf(stderr, "llmperf: no metric of %s matches %s; * stands for any text\n",
                request->chip, request->pattern);
    if (strcmp(request->format, "json") == 0)
        status = print_json(request, counters);
    else
        print_text(request, counters);
    llmperf_counters_free(counters);
    return status;
}

/* Lists presets and chips. */
static int print_names(void)
{
    char *presets;
    int status = llmperf_counters_presets(&presets);
    const char *chip;

    if (status < 0)
        return fail_status(status);
    print("presets:\n%s\nchips:\n", presets);
    llmperf_text_free(presets);
    if (!llmperf_counters_chip(0))
        return fail_status(
            LLMPERF_ENODEVICE); /* A missing libcupti is a fault of the environment. */
    for (size_t i = 0; (chip = llmperf_counters_chip(i)); i++)
        print("%s\n", chip);
    return EXIT_FINE;
}

enum { CHIP, PRESET, LIST, METHOD, FORMAT };

static const struct option options[] = {
    [CHIP] = OPTION("--chip", NULL, "CHIP", NULL, "GPU die; GH100 is the H100 and H200"),
    [PRESET] = OPTION("--preset", NULL, "PRESET", NULL,
                      "a name, the path of a preset file, or metrics joined by ','"),
    [LIST] = OPTION("--list", NULL, "PATTERN", NULL,
                    "metrics by name: exact, with '*', or regex:EXPRESSION"),
    [METHOD] = OPTION("--method", NULL, "range|pm", "range",
                      "metrics that --list shows: those of range profiling or of PM sampling"),
    [FORMAT] = OPTION("--format", NULL, "text|json", "text", "text or JSON"),
    OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    struct words words;
    struct request request;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    request = (struct request){ words.values[CHIP], words.values[PRESET], words.values[LIST],
                                words.values[FORMAT], words.values[METHOD] };
    if (words.count > 0)
        return fail_usage(command, "%s: expected options only, such as --preset %s", argv[1],
                          argv[1]);
    if (!request.chip && !request.preset && !request.pattern)
        return print_names();
    if (!request.chip || (!request.preset == !request.pattern))
        return fail_usage(command, "give --chip and either --preset or --list");
    if (!llmperf_counters_chip(0))
        return fail_status(
            LLMPERF_ENODEVICE); /* A missing libcupti is a fault of the environment. */
    return print_counters(&request);
}

const struct command command_counters = {
    .name = "counters",
    .summary = "list hardware counters, presets and their passes",
    .operands = "[--chip CHIP (--preset PRESET | --list PATTERN)] [options]",
    .about = "Lists the hardware counters of a chip, or resolves a preset for it. Needs no GPU, "
             "only libcupti 12.6 or newer with libnvperf_host. Without options: names of presets "
             "and chips.",
    .options = options,
    .run = run,
};
