/* SPDX-License-Identifier: Apache-2.0 */
/* The result of one query: the table's values for a listed GPU, or values computed from the
 * driver's attributes; values given by the user override both. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/hardware/hardware.h"
#include "lib/hardware/gpu_peaks.h"
#include "lib/hardware/match.h"
#include "lib/hardware/table.h"
#include "lib/hardware/user.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/hardware.h"

/* A query, its parsed name, and the matching row of the table. */
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
                                           "no data for compute capability %d.%d in "
                                           "conf/hardware/rates.yaml; set LLMPERF_PEAK_TFLOPS",
                                           hardware->capability / 10, hardware->capability % 10));
    else if (!(rate > 0))
        lp_hardware_unset(&hardware->peaks[dtype],
                          lp_hardware_text(hardware, "compute capability %d.%d has no %s unit",
                                           hardware->capability / 10, hardware->capability % 10,
                                           llmperf_hardware_dtype((size_t)dtype)));
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
    bool holds = request->match.row->formula_holds;

    for (int i = 0; i < LP_PEAKS; i++) {
        uint32_t clock = lp_peak_is_tensor(i) ? LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ
                                              : LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ;

        if (hardware->peaks[i].origin != LLMPERF_ORIGIN_NONE)
            continue;
        if (rates->known && rates->rate[i] > 0 && !holds)
            lp_hardware_unset(&hardware->peaks[i],
                              "not published, and SMs x rate x clock is not valid for this part");
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
        lp_hardware_unset(memory,
                          "sold with several memory sizes, and this device was not queried");
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
            lp_hardware_set(peak, peak->value * share, LLMPERF_ORIGIN_COMPUTED,
                            LLMPERF_CONFIDENCE_MEDIUM,
                            lp_hardware_text(hardware, "%d of %d SMs of the whole GPU (%s)",
                                             request->query.sm_count, request->match.row->sm_count,
                                             peak->source));
        else
            lp_hardware_unset(peak, "the SM count of the MIG slice is unknown");
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
        lp_hardware_unset(bandwidth, "the memory of the MIG slice is unknown");
}

static void fill_slice(struct request *request)
{
    llmperf_hardware *hardware = request->hardware;
    int32_t sm_count = request->query.sm_count, whole = request->match.row->sm_count;

    hardware->sweep.count = 0;
    hardware->read_source = NULL;
    scale_peaks(request, sm_count <= whole ? (double)sm_count / whole : 0);
    scale_bandwidth(request, quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB)->value);
    hardware->name = lp_hardware_text(hardware, "%s (MIG slice)", hardware->name);
    lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB), request->name.mig_memory_gb,
                    LLMPERF_ORIGIN_DEVICE, LLMPERF_CONFIDENCE_HIGH, "name of the MIG slice");
    if (isnan(request->name.mig_memory_gb))
        lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB),
                          "the memory of the MIG slice is unknown");
    if (sm_count > 0)
        lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_SMS), sm_count, LLMPERF_ORIGIN_DEVICE,
                        LLMPERF_CONFIDENCE_HIGH, "the driver");
    else
        lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_SMS),
                          "the SM count of the MIG slice is unknown");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_L2_MB),
                      "a MIG slice has a part of the L2 cache");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_LINK_GBS), "a MIG slice has no NVLink");
    lp_hardware_warn(
        hardware, "A MIG slice: peaks scaled by its share of SMs, bandwidth by its memory slices");
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

/* HBM and GDDR transfer twice per memory clock as reported by CUDA. */
static void compute_bandwidth(struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    llmperf_hardware_value *value = quantity(request->hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS);
    double gbs = 2.0 * query->memory_clock_khz * query->bus_width_bits / 8 / 1e6;

    if (request->name.mig)
        lp_hardware_unset(value,
                          "MIG slice of a GPU that is not in the table; set LLMPERF_BANDWIDTH_GBS");
    else if (query->memory_clock_khz > 0 && query->bus_width_bits > 0)
        lp_hardware_set(value, gbs, LLMPERF_ORIGIN_COMPUTED, LLMPERF_CONFIDENCE_MEDIUM,
                        lp_hardware_text(request->hardware, "2 x %g MHz x %d bit / 8",
                                         query->memory_clock_khz / 1e3, query->bus_width_bits));
    else
        lp_hardware_unset(value, "memory clock or bus width is unknown; set LLMPERF_BANDWIDTH_GBS");
}

/* No peak can be computed; `reason` says why. */
static const char *no_formula(const struct request *request)
{
    const llmperf_hardware_query *query = &request->query;
    const struct lp_gpu_row *near = request->match.near;

    if (near && !near->formula_holds)
        return "the name matches a part with peaks capped below SMs x rate x clock; set "
               "LLMPERF_PEAK_TFLOPS";
    if (query->cc_major <= 0)
        return "the compute capability is unknown; set LLMPERF_PEAK_TFLOPS";
    if (query->sm_count <= 0 || query->clock_khz <= 0)
        return "SM count or clock is unknown; set LLMPERF_PEAK_TFLOPS";
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
                     clock_mhz * (lp_peak_is_tensor(i) ? rates.tensor_clock : 1),
                     LLMPERF_CONFIDENCE_MEDIUM);
    lp_hardware_set(quantity(hardware, LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ),
                    clock_mhz * rates.tensor_clock, LLMPERF_ORIGIN_COMPUTED,
                    LLMPERF_CONFIDENCE_MEDIUM, "fraction of the driver's clock (rates.yaml)");
    lp_hardware_warn(hardware,
                     "Peaks are computed from SMs x rate x clock, accurate to about 10 %%");
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
                       "not reported by the driver");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ),
                       query->clock_khz / 1e3, "not reported by the driver");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB),
                       (double)query->memory_bytes / 1e9, "not reported by the driver");
    fill_device_number(quantity(hardware, LLMPERF_HARDWARE_L2_MB),
                       query->l2_bytes / (double)(1 << 20), "not reported by the driver");
    lp_hardware_unset(quantity(hardware, LLMPERF_HARDWARE_LINK_GBS),
                      "not reported by the driver, and the GPU is not in the table");
    return 0;
}

static int not_found(const struct request *request)
{
    const char *name = request->query.name;

    if (!name || !*name)
        return lp_error(LLMPERF_EINVAL,
                        "name a GPU, or describe it by compute capability, SM count and clock");
    if (request->match.several)
        return lp_error(LLMPERF_EINVAL,
                        "%.100s matches several GPUs; be more specific, for example with the "
                        "memory size: llmperf hardware --list",
                        name);
    return lp_error(LLMPERF_ENOENT, "unknown GPU %.100s%s%s; see llmperf hardware --list", name,
                    request->match.why[0] ? ": " : "", request->match.why);
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
        lp_hardware_read_peaks(request->hardware, query->uuid, query->driver);
    lp_gpu_table_free(table);
    if (status == 0 && request->hardware->failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    return status;
}

int llmperf_hardware_find(const llmperf_hardware_query *query, const llmperf_config *config,
                          llmperf_hardware **hardware_out)
{
    struct request request = { .query = LLMPERF_HARDWARE_QUERY_INIT, .config = config };
    int status;

    if (!query || !hardware_out)
        return lp_error(LLMPERF_EINVAL, "query and hardware_out are required");
    if ((status = lp_sized_in(&request.query, query, sizeof(*query))) < 0)
        return status;
    if (query->name && strlen(query->name) >= LP_GPU_NAME_BYTES)
        return lp_error(LLMPERF_EINVAL, "the name of a GPU can have at most %d characters",
                        LP_GPU_NAME_BYTES - 1);
    if (!(request.hardware = lp_hardware_create()))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if ((status = look_up(&request)) < 0)
        llmperf_hardware_free(request.hardware);
    else
        *hardware_out = request.hardware;
    return status;
}
