/* SPDX-License-Identifier: Apache-2.0 */
/** Sampled counters of a recorded H200 that worked and rested by turns, 20 ms a period: what each
 * region reads, and how far the clock of the samples is from that of the kernel records. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/facts.h"
#include "tests/support/play.h"
#include "lib/device/device.h"

#define US        1000.0
#define REST_NS   3e6 /* gaps of the wave; those between kernels are shorter */
#define BEFORE_NS 1e6 /* looked at around the begin of work */
#define AFTER_NS  5e5

static const char *recording(void)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/h200/square_wave.llmrec", getenv("LLMPERF_TEST_DATA"));
    return path;
}

static llmperf_metric_stats metric_of(const llmperf_profile *profile, const char *region,
                                      const char *name)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
        llmperf_profile_metric(profile, i, &metric);
        if (metric.region && strcmp(metric.region, region) == 0 && strcmp(metric.name, name) == 0)
            return metric;
    }
    fail_msg("no %s of %s", name, region);
    return metric;
}

/* Steady work says what the tensor pipe reads while it multiplies. */
static void each_region_reads_what_ran_in_it(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;
    double steady;

    (void)state;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = recording();
    profile = play_options(&options);
    steady = metric_of(profile, "LLM@steady", "tensor_active").mean;
    assert_true(steady > 3);
    assert_true(fabs(metric_of(profile, "LLM@busy", "tensor_active").mean - steady) < 3);
    assert_true(fabs(metric_of(profile, "LLM@busy", "sm_active").mean -
                     metric_of(profile, "LLM@steady", "sm_active").mean) < 3);
    assert_true(metric_of(profile, "LLM@rest", "sm_active").mean < 3);
    assert_true(metric_of(profile, "LLM@rest", "tensor_active").mean < 3);
    assert_string_equal(metric_of(profile, "LLM@short", "sm_active").text, "too short to sample");
    llmperf_profile_free(profile);
}

/* Everything in it, as it was recorded. */
struct wave {
    struct facts facts;
    LP_VECTOR(struct lp_counter_fact) samples;
    LP_VECTOR(double) active; /* of each sample, 0 to 1 */
    size_t column;
};

static void take_plan(void *context, const struct lp_counter_plan *plan)
{
    struct wave *wave = context;

    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->columns[i].quantity, "sm_active") == 0)
            wave->column = i;
}

static void take_sample(void *context, const struct lp_counter_fact *fact, const double *values)
{
    struct wave *wave = context;

    if (fact->kind != LP_COUNTER_SAMPLE)
        return;
    assert_int_equal(lp_vector_push(&wave->samples, *fact), 0);
    assert_int_equal(lp_vector_push(&wave->active, values[wave->column] / 100), 0);
}

static int by_start(const void *a, const void *b)
{
    const struct lp_activity *left = a, *right = b;

    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void read_wave(struct wave *wave)
{
    struct lp_device_sink sink = { .context = wave,
                                   .host = take_fact_host,
                                   .activities = take_fact_activities,
                                   .plan = take_plan,
                                   .counter = take_sample };
    struct lp_device_options options = { .path = recording(), .names = &wave->facts.names };
    struct lp_device_source *source;

    memset(wave, 0, sizeof(*wave));
    assert_int_equal(lp_device_open_replay(&options, &source), 0);
    while (source->ops->deliver(source, &sink) > 0)
        ;
    source->ops->close(source);
    qsort(wave->facts.activities.items, wave->facts.activities.count, sizeof(struct lp_activity),
          by_start);
    assert_true(wave->samples.count > 1000);
    for (size_t i = 1; i < wave->samples.count; i++) {
        const struct lp_counter_fact *sample = &wave->samples.items[i];

        assert_true(sample->start_ns - sample[-1].end_ns < (sample->end_ns - sample->start_ns) / 2);
    }
}

static double overlap(double start, double end, double from, double to)
{
    return fmax(fmin(end, to) - fmax(start, from), 0);
}

/* How much longer the samples were busy than the kernels, within a span; NaN: samples are missing.
 */
static double excess(const struct wave *wave, double from, double to)
{
    double sampled = 0, recorded = 0, covered = 0;

    for (size_t i = 0; i < wave->samples.count; i++) {
        double common = overlap((double)wave->samples.items[i].start_ns,
                                (double)wave->samples.items[i].end_ns, from, to);

        covered += common;
        sampled += wave->active.items[i] * common;
    }
    for (size_t i = 0; i < wave->facts.activities.count; i++)
        recorded += overlap((double)wave->facts.activities.items[i].start_ns,
                            (double)wave->facts.activities.items[i].end_ns, from, to);
    return covered < 0.999 * (to - from) ? NAN : sampled - recorded;
}

/* Where work begins after a rest, all SMs are busy from its first microseconds on; at its end they
 * stop one by one. So the beginnings tell how late samples are: by what is missing in them. */
static size_t sum_lateness(const struct wave *wave, double *late_out)
{
    const struct lp_activity *kernels = wave->facts.activities.items;
    size_t count = 0;

    *late_out = 0;
    for (size_t i = 1; i < wave->facts.activities.count; i++) {
        double rise = (double)kernels[i].start_ns, late;

        if (rise - (double)kernels[i - 1].end_ns < REST_NS)
            continue;
        late = -excess(wave, rise - BEFORE_NS, rise + AFTER_NS);
        if (isnan(late))
            continue;
        *late_out += late;
        count++;
    }
    return count;
}

static void samples_and_kernel_records_are_on_one_clock(void **state)
{
    struct wave wave;
    double late;
    size_t count;

    (void)state;
    read_wave(&wave);
    count = sum_lateness(&wave, &late);
    assert_true(count >= 3);
    late /= (double)count;
    print_message("samples are %.1f us late, mean of %zu beginnings\n", late / US, count);
    assert_true(fabs(late) < 20 * US); /* A sample is 100 us. */
    lp_vector_clear(&wave.samples);
    lp_vector_clear(&wave.active);
    clear_facts(&wave.facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_region_reads_what_ran_in_it),
        cmocka_unit_test(samples_and_kernel_records_are_on_one_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
