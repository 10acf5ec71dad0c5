/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"

struct lp_machine {
    json_t *root;
};

struct lp_machine *lp_machine_open(const llmperf_profile *profile)
{
    const char *text = llmperf_profile_fact(profile, "env");
    struct lp_machine *machine;
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;

    if (!root)
        return NULL;
    if (!(machine = malloc(sizeof(*machine))))
        json_decref(root);
    else
        machine->root = root;
    return machine;
}

void lp_machine_free(struct lp_machine *machine)
{
    if (machine)
        json_decref(machine->root);
    free(machine);
}

static const json_t *find(const json_t *at, const char *key)
{
    char part[64];

    while (at && *key) {
        size_t length = strcspn(key, ".");

        if (length >= sizeof(part))
            return NULL;
        memcpy(part, key, length);
        part[length] = '\0';
        at = json_object_get(at, part);
        key += length + (key[length] == '.');
    }
    return at;
}

static const json_t *gpu_at(const struct lp_machine *machine, size_t gpu)
{
    return machine ? json_array_get(json_object_get(machine->root, "gpus"), gpu) : NULL;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *lp_machine_text(const struct lp_machine *machine, const char *key)
{
    return machine ? json_string_value(find(machine->root, key)) : NULL;
}

const char *lp_machine_member(const struct lp_machine *machine, const char *key, size_t index,
                              const char **text_out)
{
    json_t *object = machine ? (json_t *)find(machine->root, key) : NULL;
    void *at = json_object_iter(object);

    while (at && index-- > 0)
        at = json_object_iter_next(object, at);
    *text_out = at ? json_string_value(json_object_iter_value(at)) : NULL;
    return at ? json_object_iter_key(at) : NULL;
}

const char *lp_machine_gpu_text(const struct lp_machine *machine, size_t gpu, const char *key)
{
    return json_string_value(find(gpu_at(machine, gpu), key));
}

double lp_machine_gpu_number(const struct lp_machine *machine, size_t gpu, const char *key)
{
    return number_of(find(gpu_at(machine, gpu), key));
}

size_t lp_machine_gpu_count(const struct lp_machine *machine)
{
    return machine ? json_array_size(json_object_get(machine->root, "gpus")) : 0;
}

uint32_t lp_shown_process(const llmperf_profile *profile, uint32_t process_id)
{
    return lp_profile_of_processes(profile) ? process_id : 0;
}

static bool is_fact(const llmperf_profile *profile, const char *key, const char *word)
{
    const char *text = llmperf_profile_fact(profile, key);

    return text && strcmp(text, word) == 0;
}

double lp_fact_number(const llmperf_profile *profile, const char *key)
{
    const char *text = llmperf_profile_fact(profile, key);
    /* jansson reads JSON numbers; strtod() would depend on the locale */
    json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    double number = number_of(value);

    json_decref(value);
    return number;
}

static double bound_of(const json_t *step, double peak_tflops, double bandwidth_gbs)
{
    return fmax(number_of(json_array_get(step, 1)) / (peak_tflops * 1e9),
                number_of(json_array_get(step, 2)) / (bandwidth_gbs * 1e6));
}

double lp_batch_at(const llmperf_profile *profile, double peak_tflops, double bandwidth_gbs,
                   double growth, double *batch_out, double *context_out)
{
    const char *text = llmperf_profile_fact(profile, LP_SWEEP_FACT);
    json_t *sweep = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *steps = json_object_get(sweep, "steps");
    double most, found, last_batch, last;

    *batch_out = last_batch = found = number_of(json_array_get(json_array_get(steps, 0), 0));
    *context_out = number_of(json_object_get(sweep, "context"));
    last = bound_of(json_array_get(steps, 0), peak_tflops, bandwidth_gbs);
    most = growth * last;
    for (size_t i = 1; i < json_array_size(steps) && last < most; i++) {
        double batch = number_of(json_array_get(json_array_get(steps, i), 0));
        double bound = bound_of(json_array_get(steps, i), peak_tflops, bandwidth_gbs);

        /* Between two batches the bound grows about linearly. */
        found = bound <= most ? batch
                              : last_batch + (batch - last_batch) * (most - last) / (bound - last);
        last_batch = batch;
        last = bound;
    }
    json_decref(sweep);
    return isnan(last) ? (double)NAN : found;
}

double lp_duration_ms(const llmperf_profile *profile)
{
    /* A script has its own clock, so its duration means nothing. */
    return is_fact(profile, "source", "fake") ? (double)NAN
                                              : lp_fact_number(profile, "duration_ms");
}

bool lp_is_sampled(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    return llmperf_profile_ledger(profile, &ledger) == 0 && ledger.sampled_fraction < 1;
}

bool lp_counters_delay(const llmperf_profile *profile)
{
    const char *text = llmperf_profile_fact(profile, "counters");
    json_t *plan = text ? json_loads(text, 0, NULL) : NULL;
    const char *method = json_string_value(json_object_get(plan, "method"));
    bool delay = method && strcmp(method, "pm") != 0;

    json_decref(plan);
    return delay || is_fact(profile, "source", "ncu");
}

bool lp_device_known(const llmperf_ledger *ledger)
{
    return ledger->verdict != LLMPERF_VERDICT_NO_DEVICE && ledger->verdict != LLMPERF_VERDICT_DEAD;
}

double lp_coverage(const llmperf_ledger *ledger)
{
    double coverage = ledger->attributed_gpu_time_share;
    double expected = (double)ledger->launches_expected;
    /* Kernels of single launches with valid times and a known launch. */
    double usable = (double)ledger->kernels_attributed - (double)ledger->graph_kernels_seen;

    if (ledger->launches_expected > 0 && ledger->launches_expected != LLMPERF_UNKNOWN)
        coverage = fmin(coverage, fmax(usable, 0) / expected);
    return coverage;
}

static void add_kernel(struct lp_aggregates *sums, const llmperf_kernel_stats *kernel)
{
    double *time = kernel->kind == LLMPERF_ACTIVITY_MEMCPY   ? &sums->memcpy_ms
                   : kernel->kind == LLMPERF_ACTIVITY_MEMSET ? &sums->memset_ms
                                                             : &sums->kernel_ms;
    uint64_t *count = kernel->kind == LLMPERF_ACTIVITY_MEMCPY   ? &sums->memcpy_count
                      : kernel->kind == LLMPERF_ACTIVITY_MEMSET ? &sums->memset_count
                                                                : &sums->kernel_count;

    if (kernel->kind != LLMPERF_ACTIVITY_GRAPH) {
        *time += kernel->total_ms;
        *count += kernel->calls;
    }
    if (!kernel->region)
        sums->unknown_launch_ms += kernel->total_ms;
    else if (!*kernel->region)
        sums->outside_ms += kernel->total_ms;
}

void lp_aggregates_read(struct lp_aggregates *sums, const llmperf_profile *profile)
{
    *sums = (struct lp_aggregates){ 0 };
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);

        add_kernel(sums, kernel);
    }
    sums->device_ms = sums->kernel_ms + sums->memcpy_ms + sums->memset_ms;
}

const char *lp_model_fact(const llmperf_profile *profile)
{
    const char *name = llmperf_profile_fact(profile, "model_name");

    return name ? name : llmperf_profile_fact(profile, "model");
}

bool lp_region_is_in(const char *path, const char *region)
{
    size_t length = strlen(region);

    return path && strncmp(path, region, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}
