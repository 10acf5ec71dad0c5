/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/analysis/hardware.h"
#include "lib/base/status.h"
#include "lib/base/text.h"

static const char *const dtypes[LP_PEAKS] = { "fp64", "fp64_tc", "fp32", "tf32", "fp16",
                                              "bf16", "fp8",     "int8", "fp4" };

/* Other spellings, and formats of weights that a unit computes in. */
static const struct {
    const char *name, *dtype;
} aliases[] = {
    { "float64", "fp64" },   { "double", "fp64" },     { "fp64_tensor", "fp64_tc" },
    { "float32", "fp32" },   { "float", "fp32" },      { "float16", "fp16" },
    { "half", "fp16" },      { "bfloat16", "bf16" },   { "fp8_block128", "fp8" },
    { "fp8_e4m3", "fp8" },   { "fp8_e5m2", "fp8" },    { "float8_e4m3fn", "fp8" },
    { "fp8_tensor", "fp8" }, { "float8_e5m2", "fp8" }, { "fp6", "fp8" },
    { "nvfp4", "fp4" },      { "mxfp4", "fp4" },       { "float4_e2m1fn", "fp4" },
};

/* Formats that weights are kept in, while the products are computed in their activations' dtype. */
static const char *const stored[] = { "int4", "int4_g128", "nf4",  "q4_0",
                                      "q4_k", "q6_k",      "q8_0", "w4a16" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int lp_hardware_dtype_index(const char *name)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].dtype;
    for (int i = 0; i < LP_PEAKS; i++)
        if (strcmp(dtypes[i], name) == 0)
            return i;
    return -1;
}

bool lp_hardware_is_tensor(int dtype)
{
    return dtype != LP_PEAK_FP64 && dtype != LP_PEAK_FP64_TC && dtype != LP_PEAK_FP32;
}

const char *llmperf_hardware_dtype(size_t index)
{
    return index < LP_PEAKS ? dtypes[index] : NULL;
}

const char *llmperf_origin_name(uint32_t origin)
{
    static const char *const names[] = { "none", "table", "computed", "user", "device" };

    return origin < COUNT(names) ? names[origin] : "none";
}

const char *llmperf_confidence_name(uint32_t confidence)
{
    static const char *const names[] = { "none", "low", "medium", "high" };

    return confidence < COUNT(names) ? names[confidence] : "none";
}

static const char *add_text(llmperf_hardware *hardware, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static const char *add_text(llmperf_hardware *hardware, const char *format, va_list args)
{
    char *text = NULL;
    const char *kept =
        vasprintf(&text, format, args) < 0 ? NULL : lp_strings_add(&hardware->pool, text);

    if (kept)
        free(text);
    hardware->failed |= !kept;
    return kept;
}

const char *lp_hardware_text(llmperf_hardware *hardware, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = add_text(hardware, format, args);
    va_end(args);
    return text;
}

void lp_hardware_warn(llmperf_hardware *hardware, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = add_text(hardware, format, args);
    va_end(args);
    if (text)
        hardware->failed |= lp_vector_push(&hardware->warnings, text) < 0;
}

void lp_hardware_set(llmperf_hardware_value *value, double number, uint32_t origin,
                     uint32_t confidence, const char *source)
{
    *value = (llmperf_hardware_value){ sizeof(*value), number, source, NULL, origin, confidence };
}

void lp_hardware_unset(llmperf_hardware_value *value, const char *reason)
{
    *value =
        (llmperf_hardware_value){ sizeof(*value),         NAN, NULL, reason, LLMPERF_ORIGIN_NONE,
                                  LLMPERF_CONFIDENCE_NONE };
}

static llmperf_hardware *create(void)
{
    llmperf_hardware *hardware = calloc(1, sizeof(*hardware));

    for (size_t i = 0; hardware && i < LP_PEAKS; i++)
        lp_hardware_unset(&hardware->peaks[i], "not published");
    for (size_t i = 0; hardware && i < LP_QUANTITIES; i++)
        lp_hardware_unset(&hardware->quantities[i], "not known");
    return hardware;
}

void llmperf_hardware_free(llmperf_hardware *hardware)
{
    if (hardware) {
        lp_vector_clear(&hardware->warnings);
        lp_strings_clear(&hardware->pool);
    }
    free(hardware);
}

/* A query, its name taken apart, and what the table has for it. */
struct request {
    llmperf_hardware_query query;
    const llmperf_config *config;
    struct lp_gpu_name name;
    struct lp_gpu_match match;
    llmperf_hardware *hardware;
};

static llmperf_hardware_value *quantity(llmperf_hardware *hardware, uint32_t which)
{
    return &hardware->quantities[which - 1];
}

static bool is_geforce(const struct request *request, const struct lp_gpu_rates *rates)
{
    return rates->geforce_word[0] && strstr(request->name.words, rates->geforce_word);
}

/* A peak from the rates; `sm_count` and clocks are positive. */
static void compute_peak(struct request *request, const struct lp_gpu_rates *rates, int dtype,
                         double sm_count, double clock_mhz, uint32_t confidence)
{
    llmperf_hardware *hardware = request->hardware;
    double rate = rates->rate[dtype];

    if (rate > 0 && rates->geforce_half[dtype] && is_geforce(request, rates))
        rate /= 2;
    if (!rates->known)
        lp_hardware_unset(&hardware->peaks[dtype],
                          lp_hardware_text(hardware,
                                           "compute capability %d.%d is not in "
                                           "conf/hardware/rates.yaml; set LLMPERF_PEAK_TFLOPS",
                                           hardware->capability / 10, hardware->capability % 10));
    else if (!(rate > 0))
        lp_hardware_unset(&hardware->peaks[dtype],
                          lp_hardware_text(hardware, "compute capability %d.%d has no %s unit",
                                           hardware->capability / 10, hardware->capability % 10,
                                           dtypes[dtype]));
    else
        lp_hardware_set(&hardware->peaks[dtype], sm_count * rate * clock_mhz / 1e6,
                        LLMPERF_ORIGIN_COMPUTED, confidence,
                        lp_hardware_text(hardware, "%g SMs x %g per clock x %.6g MHz", sm_count,
                                         rate, clock_mhz));
}

/* What is not published for a listed GPU: no such unit, or the formula at the row's clocks. */
static void complete_peaks(struct request *request, const struct lp_gpu_rates *rates)
{
    llmperf_hardware *hardware = request->hardware;
    bool holds = lp_gpu_row_formula_holds(request->match.row);

    for (int i = 0; i < LP_PEAKS; i++) {
        uint32_t clock = lp_hardware_is_tensor(i) ? LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ
                                                  : LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ;

        if (hardware->peaks[i].origin != LLMPERF_ORIGIN_NONE)
            continue;
        if (rates->known && rates->rate[i] > 0 && !holds)
            lp_hardware_unset(&hardware->peaks[i],
                              "not published, and SMs x rate x clock does not hold for this part");
        else
            compute_peak(request, rates, i, quantity(hardware, LLMPERF_HARDWARE_SMS)->value,
                         quantity(hardware, clock)->value, LLMPERF_CONFIDENCE_MEDIUM);
    }
}

static void fill_memory(struct request *request)
{
    llmperf_hardware_value *memory = quantity(request->hardware, LLMPERF_HARDWARE_MEMORY_GB);
    double size =
        lp_gpu_row_memory(request->match.row, &request->name, request->query.memory_bytes);

    if (isnan(size))
        lp_hardware_unset(memory, "sold with several sizes, and the device is not at hand");
    else
        lp_hardware_set(memory, size, LLMPERF_ORIGIN_TABLE, LLMPERF_CONFIDENCE_HIGH,
                        "conf/hardware");
}

/* A slice has its share of SMs, and of memory in eighths. */
static void scale_peaks(struct request *request, double share)
{
    llmperf_hardware *hardware = request->hardware;

    for (size_t i = 0; i < LP_PEAKS; i++) {
        llmperf_hardware_value *peak = &hardware->peaks[i];

        if (peak->origin == LLMPERF_ORIGIN_NONE)
            continue;
        if (share > 0)
            lp_hardware_set(
                peak, peak->value * share, LLMPERF_ORIGIN_COMPUTED, LLMPERF_CONFIDENCE_MEDIUM,
                lp_hardware_text(hardware, "%d of %d SMs of the whole GPU (%s)",
                                 request->query.sm_count, lp_gpu_row_sm_count(request->match.row),
                                 peak->source));
        else
            lp_hardware_unset(peak, "the SM count of the MIG slice is not known");
    }
}

static void scale_bandwidth(struct request *request, double whole_gb)
{
    llmperf_hardware_value *bandwidth = quantity(request->hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS);
    double eighths = round(8 * request->name.mig_memory_gb / whole_gb);

    if (eighths >= 1 && eighths <= 8)
        lp_hardware_set(bandwidth, bandwidth->value * eighths / 8, LLMPERF_ORIGIN_COMPUTED,
                        LLMPERF_CONFIDENCE_LOW,
                        lp_hardware_text(request->hardware,
                                         "%g of 8 memory slices of the whole GPU (%s)", eighths,
                                         bandwidth->source));
    else
        lp_hardware_unset(bandwidth, "the memory of the MIG slice is not known");
}

static void fill_slice(struct request *request)
{
    llmperf_hardware *hardware = request->hardware;
    int32_t sm_count = request->query.sm_count, whole = lp_gpu_row_sm_count(request->match.row);

    scale_peaks(request, sm_count <= whole ? (double)sm_count / whole : 0);
    scale_bandwidth(request, quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB)->value);
    hardware->name = lp_hardware_text(hardware, "%s (MIG slice)", hardware->name);
    lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB), request->name.mig_memory_gb,
                    LLMPERF_ORIGIN_DEVICE, LLMPERF_CONFIDENCE_HIGH, "name of the MIG slice");
    if (isnan(request->name.mig_memory_gb))
        lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB),
                          "the memory of the MIG slice is not known");
    if (sm_count > 0)
        lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_SMS), sm_count, LLMPERF_ORIGIN_DEVICE,
                        LLMPERF_CONFIDENCE_HIGH, "the driver");
    else
        lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_SMS),
                          "the SM count of the MIG slice is not known");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_L2_MB),
                      "a MIG slice has a part of the L2 cache");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_LINK_GBS), "a MIG slice has no NVLink");
    lp_hardware_warn(hardware,
                     "A MIG slice: peaks by its share of SMs, bandwidth by its memory slices");
}

static int fill_listed(struct request *request)
{
    struct lp_gpu_rates rates;
    int status;

    if ((status = lp_gpu_row_fill(request->match.row, request->hardware)) < 0 ||
        (status = lp_gpu_rates_read(request->hardware->capability, &rates)) < 0)
        return status;
    fill_memory(request);
    complete_peaks(request, &rates);
    if (request->name.mig)
        fill_slice(request);
    return 0;
}

static void fill_device_number(llmperf_hardware_value *value, double number, const char *missing)
{
    if (number > 0)
        lp_hardware_set(value, number, LLMPERF_ORIGIN_DEVICE, LLMPERF_CONFIDENCE_HIGH,
                        "the driver");
    else
        lp_hardware_unset(value, missing);
}

/* HBM and GDDR transfer twice a clock as CUDA reports it. */
static void compute_bandwidth(struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    llmperf_hardware_value *value = quantity(request->hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS);
    double gbs = 2.0 * query->memory_clock_khz * query->bus_width_bits / 8 / 1e6;

    if (request->name.mig)
        lp_hardware_unset(value, "a MIG slice of a GPU that is not listed; set "
                                 "LLMPERF_BANDWIDTH_GBS");
    else if (query->memory_clock_khz > 0 && query->bus_width_bits > 0)
        lp_hardware_set(value, gbs, LLMPERF_ORIGIN_COMPUTED, LLMPERF_CONFIDENCE_MEDIUM,
                        lp_hardware_text(request->hardware, "2 x %g MHz x %d bit / 8",
                                         query->memory_clock_khz / 1e3, query->bus_width_bits));
    else
        lp_hardware_unset(value, "memory clock and bus width are not known; set "
                                 "LLMPERF_BANDWIDTH_GBS");
}

/* No peak can be computed; `reason` says why. */
static const char *no_formula(const struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    const struct lp_gpu_row *near = request->match.near;

    if (near && !lp_gpu_row_formula_holds(near))
        return "named like a part whose peaks are capped below SMs x rate x clock; set "
               "LLMPERF_PEAK_TFLOPS";
    if (query->cc_major <= 0)
        return "the compute capability is not known; set LLMPERF_PEAK_TFLOPS";
    if (query->sm_count <= 0 || query->clock_khz <= 0)
        return "SM count and clock are not known; set LLMPERF_PEAK_TFLOPS";
    return NULL;
}

static int compute_peaks(struct request *request)
{
    llmperf_hardware *hardware = request->hardware;
    const char *reason = no_formula(request);
    double clock_mhz = request->query.clock_khz / 1e3;
    struct lp_gpu_rates rates;
    int status;

    for (size_t i = 0; reason && i < LP_PEAKS; i++)
        lp_hardware_unset(&hardware->peaks[i], reason);
    if (reason)
        return 0;
    if ((status = lp_gpu_rates_read(hardware->capability, &rates)) < 0)
        return status;
    for (int i = 0; i < LP_PEAKS; i++)
        compute_peak(request, &rates, i, request->query.sm_count,
                     clock_mhz * (lp_hardware_is_tensor(i) ? rates.tensor_clock : 1),
                     LLMPERF_CONFIDENCE_MEDIUM);
    lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ),
                    clock_mhz * rates.tensor_clock, LLMPERF_ORIGIN_COMPUTED,
                    LLMPERF_CONFIDENCE_MEDIUM, "share of the driver's clock, rates.yaml");
    lp_hardware_warn(hardware, "Peaks are computed from SMs x rate x clock, within 10 %%");
    return 0;
}

static int fill_unlisted(struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    llmperf_hardware *hardware = request->hardware;
    int status;

    hardware->name =
        query->name && *query->name ? lp_hardware_text(hardware, "%s", query->name) : "unknown GPU";
    hardware->capability = query->cc_major > 0 ? 10 * query->cc_major + query->cc_minor : 0;
    lp_hardware_warn(hardware, "Not in the table of GPUs%s%s", request->match.why[0] ? ": " : "",
                     request->match.why);
    if ((status = compute_peaks(request)) < 0)
        return status;
    compute_bandwidth(request);
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_SMS), query->sm_count,
                       "the driver did not say");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ),
                       query->clock_khz / 1e3, "the driver did not say");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB),
                       (double)query->memory_bytes / 1e9, "the driver did not say");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_L2_MB),
                       query->l2_bytes / (double)(1 << 20), "the driver did not say");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_LINK_GBS),
                      "the driver does not say, and the GPU is not in the table");
    return 0;
}

static int not_found(const struct request *request)
{
    const char *name = request->query.name;

    if (!name || !*name)
        return lp_error(LLMPERF_EINVAL, "name a GPU, or describe it with compute capability, SM "
                                        "count and clock");
    if (request->match.several)
        return lp_error(LLMPERF_EINVAL,
                        "%.100s is the name of several GPUs; say which, for example by its memory: "
                        "llmperf hardware --list",
                        name);
    return lp_error(LLMPERF_ENOENT, "no data for the GPU %.100s%s%s; see llmperf hardware --list",
                    name, request->match.why[0] ? ": " : "", request->match.why);
}

static int look_up(struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    bool described = query->cc_major > 0 || query->sm_count > 0, user;
    struct lp_gpu_table *table;
    int status;

    if ((status = lp_gpu_table_open(&table)) < 0)
        return status;
    lp_gpu_name_parse(&request->name, query->name);
    lp_gpu_table_find(table, query, &request->name, &request->match);
    if (request->match.row)
        status = fill_listed(request);
    else
        status = fill_unlisted(request);
    if (status == 0 &&
        (status = lp_hardware_user(request->hardware, request->config, &user)) == 0 &&
        !request->match.row && !described && !user)
        status = not_found(request);
    if (status == 0)
        lp_hardware_read_ceilings(request->hardware, query->uuid, query->driver);
    lp_gpu_table_free(table);
    if (status == 0 && request->hardware->failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    return status;
}

int llmperf_hardware_find(const llmperf_hardware_query *query, const llmperf_config *config,
                          llmperf_hardware **hardware_out)
{
    struct request request = { .query = LLMPERF_HARDWARE_QUERY_INIT, .config = config };
    size_t size;
    int status;

    if (!query || !hardware_out)
        return lp_error(LLMPERF_EINVAL, "query and hardware_out are required");
    if (query->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise with LLMPERF_HARDWARE_QUERY_INIT");
    size = query->struct_size < sizeof(*query) ? query->struct_size : sizeof(*query);
    memcpy(&request.query, query, size);
    if (query->name && strlen(query->name) >= LP_GPU_NAME_BYTES)
        return lp_error(LLMPERF_EINVAL, "the name of a GPU has at most %d characters",
                        LP_GPU_NAME_BYTES - 1);
    if (!(request.hardware = create()))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if ((status = look_up(&request)) < 0)
        llmperf_hardware_free(request.hardware);
    else
        *hardware_out = request.hardware;
    return status;
}

const char *llmperf_hardware_name(const llmperf_hardware *hardware)
{
    return hardware ? hardware->name : "unknown GPU";
}

int32_t llmperf_hardware_capability(const llmperf_hardware *hardware)
{
    return hardware ? hardware->capability : 0;
}

const char *llmperf_hardware_warning(const llmperf_hardware *hardware, size_t index)
{
    return hardware && index < hardware->warnings.count ? hardware->warnings.items[index] : NULL;
}

/* Callers built against an older header have a shorter struct: they get the fields they know. */
static int copy_value(const llmperf_hardware_value *value, llmperf_hardware_value *value_out)
{
    size_t wanted = value_out->struct_size;

    if (wanted < sizeof(wanted))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise with LLMPERF_HARDWARE_VALUE_INIT");
    memcpy(value_out, value, wanted < sizeof(*value) ? wanted : sizeof(*value));
    value_out->struct_size = wanted;
    return 0;
}

int llmperf_hardware_peak(const llmperf_hardware *hardware, const char *dtype,
                          llmperf_hardware_value *value_out)
{
    int index;

    if (!hardware || !dtype || !value_out)
        return lp_error(LLMPERF_EINVAL, "hardware, dtype and value_out are required");
    for (size_t i = 0; i < COUNT(stored); i++)
        if (strcmp(stored[i], dtype) == 0)
            return lp_error(LLMPERF_EINVAL,
                            "weights in %s are computed in the dtype of their activations: ask for "
                            "the peak of that (bf16, fp16 or fp8)",
                            dtype);
    if ((index = lp_hardware_dtype_index(dtype)) < 0)
        return lp_error(LLMPERF_EINVAL,
                        "there is no dtype %.40s; use fp64, fp64_tc, fp32, tf32, fp16, bf16, fp8, "
                        "int8 or fp4",
                        dtype);
    return copy_value(&hardware->peaks[index], value_out);
}

int llmperf_hardware_quantity(const llmperf_hardware *hardware, uint32_t which,
                              llmperf_hardware_value *value_out)
{
    if (!hardware || !value_out)
        return lp_error(LLMPERF_EINVAL, "hardware and value_out are required");
    if (which == 0 || which > LP_QUANTITIES)
        return lp_error(LLMPERF_EINVAL, "there is no quantity %u; use LLMPERF_HARDWARE_…", which);
    return copy_value(&hardware->quantities[which - 1], value_out);
}
