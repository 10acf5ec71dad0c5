/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/counting.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "lib/session/options/counter_request.h"
#include "llmperf/llmperf.h"
#include "lib/counters/counters.h"
#include "lib/device/device.h"

const struct mock_cupti *mock;
struct counted counting_result;

static struct lp_names names;
static struct lp_counter_request request;
static void (*set_context)(void *context);

static void *load(const char *file)
{
    char path[1024];
    void *library;

    snprintf(path, sizeof(path), "%s/%s", getenv("LLMPERF_MOCK"), file);
    if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        fail_msg("%s", dlerror());
    return library;
}

static void load_all(void)
{
    mock_cupti_get *get;
    void *address;

    assert_non_null(getenv("LLMPERF_MOCK"));
    setenv("LLMPERF_CUPTI_PATH", getenv("LLMPERF_MOCK"), 1);
    address = dlsym(load("libcuda.so.1"), "mock_context");
    memcpy(&set_context, &address, sizeof(address));
    address = dlsym(load("libcupti.so.13"), "mock_cupti");
    memcpy(&get, &address, sizeof(address));
    mock = get();
}

void counting_begin(void)
{
    if (!mock)
        load_all();
    mock->reset();
    memset(&counting_result, 0, sizeof(counting_result));
    counting_context(&names);
}

void counting_context(void *context)
{
    set_context(context);
}

static struct lp_counters *open_counters(const char *words, bool attached)
{
    struct lp_counters_options options = { .attached = attached, .names = &names };
    struct lp_counters *counters = NULL;

    if (lp_counter_request_read(words, NULL, LLMPERF_TIER_COUNTERS, &request) < 0)
        fail_msg("%s", llmperf_last_error());
    options.preset = request.preset;
    options.include = request.include;
    options.replay = request.replay;
    options.most_passes = request.passes;
    options.budget = request.budget;
    options.interval_ns = request.interval_ns ? request.interval_ns : COUNTING_INTERVAL_NS;
    if (lp_counters_open(&options, &counters) < 0)
        fail_msg("%s", llmperf_last_error());
    return counters;
}

struct lp_counters *counting_open(const char *words)
{
    return open_counters(words, true);
}

struct lp_counters *counting_open_early(const char *words)
{
    return open_counters(words, false);
}

static void take_plan(void *context, const struct lp_counter_plan *plan)
{
    struct counted *counted = context;

    counted->plans++;
    counted->plan = *plan;
}

static void take_fact(void *context, const struct lp_counter_fact *fact, const double *values)
{
    struct counted *counted = context;

    assert_true(counted->count < FACTS_MOST);
    counted->facts[counted->count] = *fact;
    counted->values[counted->count++] = fact->kind == LP_COUNTER_SKIP ? 0
                                        : counted->plan.count > 1     ? values[1]
                                                                      : values[0];
}

static const struct lp_device_sink sink = { .context = &counting_result,
                                            .plan = take_plan,
                                            .counter = take_fact };

void counting_deliver(struct lp_counters *counters)
{
    usleep(2 * 64 * COUNTING_INTERVAL_NS / 1000); /* Samples are looked at once there are some. */
    lp_counters_deliver(counters, &sink);
}

void counting_resample(struct lp_counters *counters, uint64_t interval_ns)
{
    lp_counters_resample(counters, interval_ns, &sink);
}

const char *counting_close(struct lp_counters *counters)
{
    static struct lp_counters_state state;

    lp_counters_stop(counters);
    lp_counters_deliver(counters, &sink);
    lp_counters_state(counters, &state);
    lp_counters_close(counters);
    lp_counter_request_clear(&request);
    return state.problem;
}

static const struct lp_counter_fact *find(uint32_t kind, const char *label, size_t nth,
                                          size_t *at_out)
{
    for (size_t i = 0; i < counting_result.count; i++) {
        const struct lp_counter_fact *fact = &counting_result.facts[i];

        if (fact->kind != kind || (label && strcmp(lp_path_get(fact->node)->label, label) != 0))
            continue;
        if (nth-- == 0) {
            *at_out = i;
            return fact;
        }
    }
    return NULL;
}

size_t counted_facts(uint32_t kind, const char *label)
{
    size_t count = 0, at;

    while (find(kind, label, count, &at))
        count++;
    return count;
}

double counted_value(uint32_t kind, const char *label, size_t nth)
{
    size_t at = 0;

    if (!find(kind, label, nth, &at))
        fail_msg("no fact %zu of kind %u about %s", nth, kind, label ? label : "anything");
    return counting_result.values[at];
}

const char *counted_reason(const char *label)
{
    size_t at;
    const struct lp_counter_fact *fact = find(LP_COUNTER_SKIP, label, 0, &at);

    return fact ? lp_names_text(&names, fact->name) : "";
}
