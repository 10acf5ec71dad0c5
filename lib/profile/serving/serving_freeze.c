/* SPDX-License-Identifier: Apache-2.0 */
/** Requests to rows of a profile, and what follows from others in these rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "lib/profile/serving/serving_state.h"

const char *const lp_latency_names[LP_LATENCIES] = {
    [LP_LATENCY_QUEUE] = "queue",
    [LP_LATENCY_TTFT] = "ttft",
    [LP_LATENCY_TPOT] = "tpot",
    [LP_LATENCY_ITL] = "itl",
    [LP_LATENCY_E2E] = "e2e",
    [LP_LATENCY_STEP] = "step",
    [LP_LATENCY_STEP_PREFILL] = "step_prefill",
};

static const char *const slow_names[] = { "ttft", "tpot", "e2e" };

static double given(int64_t value)
{
    return value > 0 ? (double)value : (double)NAN;
}

static int add_totals(const struct lp_serving *serving, llmperf_profile *profile)
{
    const struct lp_serving_options *options = &serving->options;
    llmperf_requests row = serving->totals;

    row.duration_ms = (double)(serving->last_ns - serving->first_ns) / 1e6;
    row.slo_ttft_ms = given(options->slo_ttft_ms);
    row.slo_tpot_ms = given(options->slo_tpot_ms);
    if (options->slo_ttft_ms <= 0 && options->slo_tpot_ms <= 0)
        row.good = LLMPERF_UNKNOWN;
    row.gpu_hour_cents =
        options->gpu_hour_cents > 0 ? (uint64_t)options->gpu_hour_cents : LLMPERF_UNKNOWN;
    return lp_vector_push(&profile->requests, row);
}

static int add_latency(const struct lp_distribution *distribution, const char *name,
                       llmperf_profile *profile)
{
    struct lp_latency_row row = { .stats = LLMPERF_LATENCY_INIT };

    row.stats.quantity = name;
    row.stats.count = distribution->count;
    row.stats.sum_ms = (double)distribution->sum_ns / 1e6;
    row.stats.min_ms = (double)distribution->min_ns / 1e6;
    row.stats.max_ms = (double)distribution->max_ns / 1e6;
    if (lp_profile_histogram(profile, &distribution->histogram, &row.histogram) < 0)
        return lp_out_of_memory();
    return lp_vector_push(&profile->latencies, row);
}

static int add_slow(const struct lp_slow_list *list, const char *name, uint32_t process_id,
                    llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < list->count && status == 0; i++) {
        llmperf_slow_request row = list->rows[i];

        row.slow_in = name;
        row.process_id = process_id;
        status = lp_vector_push(&profile->slow_requests, row);
    }
    return status;
}

/* 0 is not known: a step that counted nothing. */
static double mean_of(uint64_t sum, uint64_t count)
{
    return sum > 0 ? (double)sum / (double)count : (double)NAN;
}

static int add_load(const struct lp_load_series *series, uint32_t process_id,
                    llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i <= series->last && status == 0; i++) {
        const struct lp_load_point *point = &series->points[i];
        llmperf_load row = LLMPERF_LOAD_INIT;

        row.begin_ns = series->begin_ns + i * series->width_ns;
        row.length_ms = (double)series->width_ns / 1e6;
        row.begun = point->begun;
        row.ended = point->ended;
        row.prompt_tokens = point->prompt_tokens;
        row.output_tokens = point->output_tokens;
        row.running_max = point->running_max;
        row.steps = point->steps;
        row.batch_max = point->batch_max ? point->batch_max : LLMPERF_UNKNOWN;
        row.context_max = point->context_max ? point->context_max : LLMPERF_UNKNOWN;
        row.batch_mean = mean_of(point->batch, point->steps);
        row.context_mean = mean_of(point->context, point->steps);
        row.process_id = process_id;
        status = lp_vector_push(&profile->load, row);
    }
    return status;
}

int lp_serving_freeze(const struct lp_serving *serving, uint32_t process_id,
                      llmperf_profile *profile)
{
    const llmperf_requests *totals = &serving->totals;
    int status;

    if (totals->requests + totals->over_limit == 0)
        return 0;
    status = add_totals(serving, profile);
    for (size_t i = 0; i < LP_LATENCIES && status == 0; i++)
        if (serving->latencies[i].count > 0)
            status = add_latency(&serving->latencies[i], lp_latency_names[i], profile);
    for (size_t i = 0; i < 3 && status == 0; i++)
        status = add_slow(&serving->slow[i], slow_names[i], process_id, profile);
    if (status == 0)
        status = add_load(&serving->load, process_id, profile);
    if (status == 0 && serving->failed)
        status = lp_profile_problem(profile, "out of memory: requests are missing");
    return status < 0 ? status : lp_profile_derive_requests(profile);
}

static int derive_latency(struct lp_latency_row *row)
{
    struct lp_histogram histogram = { 0 };
    llmperf_latency *stats = &row->stats;
    const struct {
        double *value, fraction;
    } percentiles[] = { { &stats->p50_ms, 0.5 },
                        { &stats->p90_ms, 0.9 },
                        { &stats->p99_ms, 0.99 } };
    int status = lp_histogram_decode(&histogram, row->histogram.bytes, row->histogram.size);

    stats->mean_ms = stats->sum_ms / (double)stats->count;
    for (size_t i = 0; i < 3; i++)
        *percentiles[i].value = NAN;
    for (size_t i = 0; i < 3 && status == 0; i++)
        *percentiles[i].value = lp_histogram_percentile(&histogram, percentiles[i].fraction,
                                                        stats->min_ms, stats->max_ms);
    lp_histogram_clear(&histogram);
    return status == LLMPERF_ENOMEM ? status : 0; /* of a damaged file they are not known */
}

static void derive_rates(llmperf_requests *row)
{
    double seconds = row->duration_ms > 0 ? row->duration_ms / 1e3 : (double)NAN;

    row->requests_per_s = (double)row->finished / seconds;
    row->prompt_tokens_per_s = (double)row->prompt_tokens / seconds;
    row->output_tokens_per_s = (double)row->output_tokens / seconds;
    row->goodput_per_s = row->good == LLMPERF_UNKNOWN ? (double)NAN : (double)row->good / seconds;
}

static double value_of(const llmperf_slow_request *row)
{
    return strcmp(row->slow_in, "ttft") == 0   ? row->ttft_ms
           : strcmp(row->slow_in, "tpot") == 0 ? row->tpot_ms
                                               : row->e2e_ms;
}

static int compare_slow(const void *left, const void *right)
{
    const llmperf_slow_request *a = left, *b = right;
    int order = strcmp(b->slow_in, a->slow_in);

    if (order || value_of(a) != value_of(b))
        return order ? order : value_of(a) > value_of(b) ? -1 : 1;
    return LP_ORDER(a->begin_ns, b->begin_ns);
}

/* Of several runs there are more of them. */
static void cut_slow(llmperf_profile *profile)
{
    size_t kept = 0, run = 0;

    for (size_t i = 0; i < profile->slow_requests.count; i++) {
        llmperf_slow_request row = profile->slow_requests.items[i];

        run = kept > 0 && strcmp(profile->slow_requests.items[kept - 1].slow_in, row.slow_in) == 0
                  ? run + 1
                  : 0;
        if (run < LP_SLOW_KEPT)
            profile->slow_requests.items[kept++] = row;
    }
    profile->slow_requests.count = kept;
}

int lp_profile_derive_requests(llmperf_profile *profile)
{
    int status = 0;

    if (profile->requests.count == 0)
        return 0;
    derive_rates(&profile->requests.items[0]);
    for (size_t i = 0; i < profile->latencies.count && status == 0; i++)
        status = derive_latency(&profile->latencies.items[i]);
    lp_vector_sort(&profile->slow_requests, compare_slow);
    cut_slow(profile);
    return status;
}
