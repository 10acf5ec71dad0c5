/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf hardware`: the peaks that MFU, MBU and floors are computed from, and their sources. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "llmperf/sys.h"
#include "progress.h"

#define NAME_BYTES 256

static const struct {
    const char *key, *words, *unit;
    uint32_t quantity;
} quantities[] = {
    { "bandwidth_gbs", "memory bandwidth", "GB/s", LLMPERF_HARDWARE_BANDWIDTH_GBS },
    { "memory_gb", "memory", "GB", LLMPERF_HARDWARE_MEMORY_GB },
    { "l2_mb", "L2 cache", "MB", LLMPERF_HARDWARE_L2_MB },
    { "link_gbs", "NVLink, both directions", "GB/s", LLMPERF_HARDWARE_LINK_GBS },
    { "sm_count", "SMs", "", LLMPERF_HARDWARE_SMS },
    { "tensor_clock_mhz", "clock of tensor cores", "MHz", LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ },
    { "vector_clock_mhz", "clock of fp32 and fp64", "MHz", LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ },
};
#define QUANTITIES (sizeof(quantities) / sizeof(quantities[0]))

static llmperf_hardware_value peak_of(const llmperf_hardware *hardware, const char *dtype)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    llmperf_hardware_peak(hardware, dtype, &value);
    return value;
}

static llmperf_hardware_value quantity_of(const llmperf_hardware *hardware, uint32_t quantity)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    llmperf_hardware_quantity(hardware, quantity, &value);
    return value;
}

/* FLOPs per byte; NaN if one of the two is unknown. */
static double ridge_of(const llmperf_hardware *hardware, const char *dtype)
{
    return 1e3 * peak_of(hardware, dtype).value /
           quantity_of(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).value;
}

static void print_number(int width, double number)
{
    if (isnan(number))
        print("%*s", width, "-");
    else
        print("%*.5g", width, number);
}

static void print_origin(const llmperf_hardware_value *value)
{
    if (isnan(value->value))
        print("  %s\n", value->reason);
    else
        print("  %-8s  %-10s  %s\n", llmperf_name(LLMPERF_NAME_ORIGIN, value->origin),
              llmperf_name(LLMPERF_NAME_CONFIDENCE, value->confidence), value->source);
}

/* Theoretical peak that belongs to a measured one: of a dtype, or the bandwidth. NaN: a cost. */
static double published(const llmperf_hardware *hardware, const char *name)
{
    llmperf_hardware_value peak = LLMPERF_HARDWARE_VALUE_INIT;

    if (strcmp(name, "copy") == 0 || strcmp(name, "read") == 0)
        return quantity_of(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).value;
    return llmperf_hardware_peak(hardware, name, &peak) < 0 ? NAN : peak.value;
}

static void print_peaks(const llmperf_hardware *hardware)
{
    const char *name;

    if (!llmperf_hardware_measured(hardware))
        return;
    print("\n  %s\n  %-18s  %9s  %9s  %7s  %6s  %s\n", llmperf_hardware_measured(hardware), "peak",
          "best", "median", "% peak", "MHz", "how it was measured (GB/s, TFLOP/s, us)");
    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++) {
        llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;

        llmperf_hardware_measured_peak(hardware, name, &measured_peak);
        print("  %-18s", name);
        print_number(11, measured_peak.best);
        print_number(11, measured_peak.median);
        print_number(9, 100 * measured_peak.best / published(hardware, name));
        print_number(7, measured_peak.clock_mhz);
        print("  %s\n", measured_peak.how ? measured_peak.how : measured_peak.reason);
    }
}

static void print_text(const llmperf_hardware *hardware, int32_t device)
{
    int32_t capability = llmperf_hardware_capability(hardware);
    const char *text;

    if (device >= 0)
        print("GPU %d: ", device);
    print("%s", llmperf_hardware_name(hardware));
    if (capability > 0)
        print(", compute capability %d.%d", capability / 10, capability % 10);
    print("\n\n  %-7s  %9s  %9s  %-8s  %-10s  %s\n", "dtype", "TFLOP/s", "ridge", "from",
          "confidence", "source (dense peaks; ridge in FLOPs per byte)");
    for (size_t i = 0; (text = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = peak_of(hardware, text);

        print("  %-7s", text);
        print_number(11, value.value);
        print_number(11, ridge_of(hardware, text));
        print_origin(&value);
    }
    print("\n");
    for (size_t i = 0; i < QUANTITIES; i++) {
        llmperf_hardware_value value = quantity_of(hardware, quantities[i].quantity);

        print("  %-23s", quantities[i].words);
        print_number(8, value.value);
        print(" %-4s", quantities[i].unit);
        print_origin(&value);
    }
    print_peaks(hardware);
    for (size_t i = 0; (text = llmperf_hardware_warning(hardware, i)); i++)
        print("%s  Note: %s.\n", i == 0 ? "\n" : "", text);
}

static json_t *value_of(const llmperf_hardware_value *value)
{
    return json_object_of("value:d origin:t confidence:t source:t reason:t", value->value,
                          llmperf_name(LLMPERF_NAME_ORIGIN, value->origin),
                          llmperf_name(LLMPERF_NAME_CONFIDENCE, value->confidence), value->source,
                          value->reason);
}

static json_t *peaks_of(const llmperf_hardware *hardware)
{
    json_t *peaks = json_object();
    const char *dtype;

    for (size_t i = 0; (dtype = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = peak_of(hardware, dtype);
        double ridge = ridge_of(hardware, dtype);
        json_t *peak = value_of(&value);

        if (ridge >= 0)
            json_object_set_new(peak, "ridge", json_double(ridge));
        json_object_set_new(peaks, dtype, peak);
    }
    return peaks;
}

static json_t *measured_of(const llmperf_hardware *hardware)
{
    json_t *peaks = json_object();
    const char *name;

    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++) {
        llmperf_measured_peak peak = LLMPERF_MEASURED_PEAK_INIT;

        llmperf_hardware_measured_peak(hardware, name, &peak);
        json_object_set_new(peaks, name,
                            json_object_of("best:d median:d clock_mhz:d repeats:u how:t reason:t",
                                           peak.best, peak.median, peak.clock_mhz,
                                           peak.repeats ? peak.repeats : LLMPERF_UNKNOWN, peak.how,
                                           peak.reason));
    }
    return peaks;
}

static json_t *gpu_of(const llmperf_hardware *hardware, int32_t device)
{
    json_t *warnings = json_array();
    json_t *gpu = json_object_of(
        "name:t device:o compute_capability:o peak_tflops:o measured:o "
        "measured_source:t warnings:o",
        llmperf_hardware_name(hardware), device >= 0 ? json_integer(device) : json_null(),
        json_capability(llmperf_hardware_capability(hardware)), peaks_of(hardware),
        measured_of(hardware), llmperf_hardware_measured(hardware), warnings);
    const char *text;

    for (size_t i = 0; i < QUANTITIES; i++) {
        llmperf_hardware_value value = quantity_of(hardware, quantities[i].quantity);

        json_object_set_new(gpu, quantities[i].key, value_of(&value));
    }
    for (size_t i = 0; (text = llmperf_hardware_warning(hardware, i)); i++)
        json_add_text(warnings, text);
    return gpu;
}

struct request {
    bool measure;
    json_t *gpus;   /* the array of --format json; NULL: text */
    double seconds; /* of each measured peak; 0: the default */
    char name[NAME_BYTES];
    llmperf_config *config;
};

static void print_gpu(const struct request *request, const llmperf_hardware *hardware,
                      int32_t device)
{
    if (request->gpus) {
        json_array_append_new(request->gpus, gpu_of(hardware, device));
    } else {
        print("%s", device > 0 ? "\n" : "");
        print_text(hardware, device);
    }
}

static int print_named(const struct request *request)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;
    int status;

    query.name = request->name;
    if ((status = llmperf_hardware_find(&query, request->config, &hardware)) < 0)
        return fail_status(status);
    print_gpu(request, hardware, -1);
    llmperf_hardware_free(hardware);
    return EXIT_FINE;
}

/* For every GPU that is visible to this process. */
static int measure_all(double seconds)
{
    llmperf_measure_options options = LLMPERF_MEASURE_OPTIONS_INIT;
    int32_t device = 0;
    int status;

    options.seconds = seconds;
    progress_begin();
    while ((status = llmperf_hardware_measure(device, &options, NULL)) == LLMPERF_OK)
        device++;
    progress_end();
    /* Past the last device. */
    return status == LLMPERF_ENOENT && device > 0 ? LLMPERF_OK : status;
}

static int print_local(const struct request *request)
{
    llmperf_hardware *hardware;
    int32_t device = 0;
    int status;

    if (request->measure && (status = measure_all(request->seconds)) < 0) {
        fprintf(stderr, "llmperf: cannot measure: %s\n", llmperf_last_error());
        return status == LLMPERF_EINVAL ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    while ((status = llmperf_hardware_local(device, request->config, &hardware)) == LLMPERF_OK) {
        print_gpu(request, hardware, device++);
        llmperf_hardware_free(hardware);
    }
    if (status == LLMPERF_ENODEVICE) {
        fprintf(stderr,
                "llmperf: no GPU found: %s; give the name of a GPU, see llmperf hardware --list\n",
                llmperf_last_error());
        return EXIT_ENVIRONMENT;
    }
    /* Past the last device. */
    return status != LLMPERF_ENOENT || device == 0 ? fail_status(status) : EXIT_FINE;
}

static int print_list(bool json)
{
    char *names = NULL, *rest = NULL;
    json_t *list;
    int status = llmperf_hardware_names(&names);

    if (status < 0)
        return fail_status(status);
    list = json ? json_array() : NULL;
    if (!json)
        print("%s", names);
    for (char *line = json ? strtok_r(names, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        json_add_text(list, line);
    llmperf_text_free(names);
    return json ? json_output(json_object_of("schema_version:i names:o", 1, list)) : EXIT_FINE;
}

/* Words of a name need no quotes: llmperf hardware RTX 4090. */
static bool join_name(struct request *request, int count, char **argv)
{
    size_t used = 0;

    for (int i = 1; i <= count && used < NAME_BYTES; i++)
        used += (size_t)snprintf(request->name + used, NAME_BYTES - used, "%s%s", i > 1 ? " " : "",
                                 argv[i]);
    for (size_t i = 0; i < used && used < NAME_BYTES; i++)
        if (request->name[i] < 0x20 || request->name[i] > 0x7e)
            return false;
    return used < NAME_BYTES;
}

static bool take_seconds(const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds >= 0.01 && *seconds <= 60;
}

enum { LIST, MEASURE, SECONDS, CONFIG, FORMAT };

static const struct option options[] = {
    [LIST] = OPTION("--list", NULL, NULL, NULL, "names of all known GPUs"),
    [MEASURE] = OPTION(
        "--measure", NULL, NULL, NULL,
        "measure bandwidth, matrix products, copies by size and the cost of profiling on this "
        "machine's GPUs and keep the results in $XDG_CACHE_HOME/llmperf (default "
        "~/.cache/llmperf); the GPUs must be "
        "otherwise idle"),
    [SECONDS] = OPTION("--seconds", NULL, "S", NULL, "time for each measured peak (default: 0.5)"),
    [CONFIG] = OPTION("--config", NULL, "FILE", NULL,
                      "YAML with hardware.peak_tflops and hardware.bandwidth_gbs"),
    [FORMAT] = OPTION("--format", NULL, "text|json", "text", "text or JSON"),
    OPTIONS_END
};

static int check_options(const struct command *command, const struct words *words,
                         struct request *request)
{
    request->measure = words->values[MEASURE];
    if (request->measure && (words->values[LIST] || words->count > 0))
        return fail_usage(command, "--measure measures the GPUs of this machine; omit %s",
                          words->values[LIST] ? "--list" : "the name");
    if (words->values[SECONDS] &&
        !(request->measure && take_seconds(words->values[SECONDS], &request->seconds)))
        return fail_usage(command, "--seconds must be between 0.01 and 60 and needs --measure");
    if (words->values[LIST] && words->count > 0)
        return fail_usage(command, "--list takes no name");
    return EXIT_FINE;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct request request = { .measure = false };
    const char *config;
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0 ||
        (status = check_options(command, &words, &request)) != EXIT_FINE)
        return status;
    if (words.values[LIST])
        return print_list(choice_of(command, &words, FORMAT));
    if (!join_name(&request, words.count, argv))
        return fail_usage(command, "the name of a GPU must be ASCII and shorter than %d characters",
                          NAME_BYTES);
    config = words.values[CONFIG];
    if (config && (status = llmperf_config_open(config, &request.config)) < 0)
        return fail_status(status);
    request.gpus = choice_of(command, &words, FORMAT) ? json_array() : NULL;
    status = words.count > 0 ? print_named(&request) : print_local(&request);
    llmperf_config_free(request.config);
    if (request.gpus && status == EXIT_FINE)
        return json_output(json_object_of("schema_version:i gpus:o", 1, request.gpus));
    json_decref(request.gpus);
    return status;
}

const struct command command_hardware = {
    .name = "hardware",
    .summary = "show the peaks of a GPU and their sources",
    .operands = "[NAME] [options]",
    .about = "Prints the peaks that MFU and MBU are computed from: dense peaks, bandwidth and "
             "ridge points, each with its source. NAME is a GPU as the driver names it; default: "
             "the GPUs of this machine.",
    .options = options,
    .after = "LLMPERF_PEAK_TFLOPS (one number, or bf16=989,fp8=1979) and LLMPERF_BANDWIDTH_GBS "
             "override all other sources.",
    .run = run,
};
