/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a serving engine: latencies, goodput, interference and cost against planted times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/support/compared.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

#define MS       UINT64_C(1000000)
#define REQUESTS 100u

static void say(struct lp_text *script, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    lp_text_puts(script, line);
}

/* Request i of 100 arrives at i seconds, waits i steps, has its first token after i steps more and
 * four tokens after that, i steps apart. */
static void plant_at(struct lp_text *script, uint64_t step_ns)
{
    for (unsigned i = 1; i <= REQUESTS; i++) {
        unsigned long long arrival = 1000 * MS * i, step = step_ns * i;

        say(script, "at %llu\nrequest begin %u tokens=10 arrival=%llu id=%u\n", arrival + step, i,
            arrival, 7000 + i);
        say(script, "at %llu\nrequest first %u\n", arrival + 2 * step, i);
        for (unsigned k = 3; k <= 6; k++)
            say(script, "at %llu\nrequest tokens %u\n", arrival + k * step, i);
        say(script, "at %llu\nrequest %s %u\n", arrival + 6 * step, i % 2 ? "stop" : "length", i);
    }
}

static void plant_requests(struct lp_text *script)
{
    plant_at(script, MS);
}

static llmperf_profile *play_text(struct lp_text *script, const char *settings)
{
    llmperf_session_options options = script_options(script->bytes);
    llmperf_profile *profile;

    options.settings = settings;
    profile = play_options(&options);
    lp_text_clear(script);
    return profile;
}

static llmperf_profile *play_planted(const char *settings)
{
    struct lp_text script = { NULL, 0, 0, false };

    plant_requests(&script);
    return play_text(&script, settings);
}

static llmperf_requests requests_of(const llmperf_profile *profile)
{
    llmperf_requests requests = LLMPERF_REQUESTS_INIT;

    assert_int_equal(llmperf_profile_requests(profile, &requests), 0);
    return requests;
}

static llmperf_latency latency_of(const llmperf_profile *profile, const char *quantity)
{
    llmperf_latency latency = LLMPERF_LATENCY_INIT;

    for (size_t i = 0; llmperf_profile_latency(profile, i, &latency) == 0; i++)
        if (strcmp(latency.quantity, quantity) == 0)
            return latency;
    return (llmperf_latency){ .count = 0 };
}

static void check_near(double value, double truth)
{
    if (!(fabs(value - truth) <= 0.02 * truth))
        fail_msg("%g is not %g", value, truth);
}

static void check_latency(const llmperf_profile *profile, const char *quantity, uint64_t count,
                          double step_ms)
{
    llmperf_latency latency = latency_of(profile, quantity);

    assert_int_equal(latency.count, count);
    check_close(latency.mean_ms, 50.5 * step_ms);
    check_close(latency.sum_ms, 50.5 * step_ms * (double)count);
    check_close(latency.min_ms, step_ms);
    check_close(latency.max_ms, 100 * step_ms);
    check_near(latency.p50_ms, 50 * step_ms);
    check_near(latency.p90_ms, 90 * step_ms);
    check_near(latency.p99_ms, 99 * step_ms);
}

static void check_planted(const llmperf_profile *profile)
{
    check_latency(profile, "queue", 100, 1);
    check_latency(profile, "ttft", 100, 2);
    check_latency(profile, "tpot", 100, 1);
    check_latency(profile, "itl", 400, 1);
    check_latency(profile, "e2e", 100, 6);
}

static void latencies_are_those_that_were_planted(void **state)
{
    llmperf_profile *profile = play_planted(NULL);
    llmperf_requests requests = requests_of(profile);

    (void)state;
    check_planted(profile);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_LATENCIES), 5);
    assert_int_equal(requests.requests, 100);
    assert_int_equal(requests.finished, 100);
    assert_int_equal(requests.open + requests.aborted + requests.failed + requests.abandoned, 0);
    assert_int_equal(requests.stray_calls + requests.over_limit, 0);
    assert_int_equal(requests.prompt_tokens, 1000);
    assert_int_equal(requests.output_tokens, 500);
    check_close(requests.duration_ms, 99600);
    check_close(requests.requests_per_s, 100 / 99.6);
    check_close(requests.prompt_tokens_per_s, 1000 / 99.6);
    check_close(requests.output_tokens_per_s, 500 / 99.6);
    assert_int_equal(requests.good, LLMPERF_UNKNOWN);
    assert_true(isnan(requests.goodput_per_s));
    llmperf_profile_free(profile);
}

/* TTFT is 2i ms and TPOT i ms. */
static void goodput_counts_requests_that_meet_both_limits(void **state)
{
    static const struct {
        const char *settings;
        uint64_t good;
    } cases[] = { { "session.slo_ttft_ms=100", 50 },
                  { "session.slo_tpot_ms=40", 40 },
                  { "session.slo_ttft_ms=60\nsession.slo_tpot_ms=40", 30 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_profile *profile = play_planted(cases[i].settings);

        assert_int_equal(requests_of(profile).good, cases[i].good);
        check_close(requests_of(profile).goodput_per_s, (double)cases[i].good / 99.6);
        llmperf_profile_free(profile);
    }
}

static void the_slowest_requests_keep_the_programs_number(void **state)
{
    static const char *const lists[] = { "ttft", "tpot", "e2e" };
    llmperf_profile *profile = play_planted(NULL);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_SLOW_REQUESTS), 30);
    for (size_t i = 0; i < 30; i++) {
        llmperf_slow_request row = LLMPERF_SLOW_REQUEST_INIT;
        uint64_t number = 100 - i % 10;

        assert_int_equal(llmperf_profile_slow_request(profile, i, &row), 0);
        assert_string_equal(row.slow_in, lists[i / 10]);
        assert_int_equal(row.request, number);
        assert_int_equal(row.id, 7000 + number);
        assert_int_equal(row.output_tokens, 5);
        check_close(row.itl_max_ms, (double)number);
        check_close(row.e2e_ms, 6 * (double)number);
        assert_int_equal(row.reason, number % 2 ? LLMPERF_FINISH_STOP : LLMPERF_FINISH_LENGTH);
    }
    llmperf_profile_free(profile);
}

static void outcomes_and_late_counts_add_up(void **state)
{
    llmperf_profile *profile = play_script("at 1000000000\n"
                                           "request begin 1 tokens=7\n"
                                           "request begin 2 tokens=7\n"
                                           "request begin 3 tokens=7\n"
                                           "request begin 4 tokens=7\n"
                                           "request begin 5\n"
                                           "at 1010000000\nrequest first 1\n"
                                           "at 1020000000\nrequest first 1\nrequest first 2\n"
                                           "at 1050000000\nrequest finish 1 tokens=5\n"
                                           "request abort 2\nrequest fail 3\n"
                                           "request tokens 99 tokens=4\nrequest stop 1\n"
                                           "request finish 4 tokens=2\n");
    llmperf_requests requests = requests_of(profile);

    (void)state;
    assert_int_equal(requests.requests, 5);
    assert_int_equal(requests.finished, 2);
    assert_int_equal(requests.aborted, 1);
    assert_int_equal(requests.failed, 1);
    assert_int_equal(requests.open, 1);
    assert_int_equal(requests.stray_calls, 2);
    assert_int_equal(requests.prompt_tokens, 21);
    assert_int_equal(requests.output_tokens, 5 + 1 + 2);
    /* Four tokens in 40 ms that were reported at the end; of request 4 no first one. */
    assert_int_equal(latency_of(profile, "tpot").count, 1);
    check_close(latency_of(profile, "tpot").mean_ms, 10);
    assert_int_equal(latency_of(profile, "ttft").count, 2);
    assert_int_equal(latency_of(profile, "queue").count, 0);
    assert_int_equal(latency_of(profile, "itl").count, 0);
    assert_int_equal(latency_of(profile, "e2e").count, 2);
    llmperf_profile_free(profile);
}

/* 40 steps of 10 ms; before each fourth one, a prefill of 30 ms on another thread. */
static void plant_steps(struct lp_text *script, uint64_t from_ns)
{
    uint64_t now = from_ns;

    say(script, "at %llu\nrequest begin 1 tokens=5\nrequest first 1\n", (unsigned long long)now);
    for (unsigned i = 0; i < 40; i++) {
        if (i % 4 == 3) {
            say(script, "thread 1\nat %llu\nbegin LLM@prefill\nat %llu\nend\nthread 0\n",
                (unsigned long long)now + MS, (unsigned long long)now + 29 * MS);
            now += 30 * MS;
        }
        say(script, "at %llu\nbegin LLM@decode_step sequences=%u context=100\n",
            (unsigned long long)now + MS, i % 2 ? 1 : 3);
        now += 10 * MS;
        say(script, "at %llu\nend\n", (unsigned long long)now);
    }
    say(script, "at %llu\nrequest stop 1\n", (unsigned long long)now);
}

static void steps_with_a_prefill_are_told_from_those_without(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    llmperf_profile *profile;
    llmperf_latency plain, delayed;

    (void)state;
    plant_steps(&script, 1000 * MS);
    profile = play_text(&script, NULL);
    plain = latency_of(profile, "step");
    delayed = latency_of(profile, "step_prefill");
    assert_int_equal(plain.count, 29); /* the first has none before it */
    assert_int_equal(delayed.count, 10);
    check_close(plain.mean_ms, 10);
    check_close(delayed.mean_ms, 40);
    llmperf_profile_free(profile);
}

/* Nobody waits for tokens between two requests. */
static void a_pause_between_requests_is_no_step(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    plant_steps(&script, 1000 * MS);
    plant_steps(&script, 90000 * MS);
    profile = play_text(&script, NULL);
    assert_int_equal(latency_of(profile, "step").count, 58);
    check_close(latency_of(profile, "step").max_ms, 10);
    check_close(latency_of(profile, "step_prefill").max_ms, 40);
    llmperf_profile_free(profile);
}

static void load_has_batch_and_context_over_time(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    uint64_t steps = 0, begun = 0, ended = 0, output = 0;
    size_t count;
    llmperf_profile *profile;
    llmperf_load load = LLMPERF_LOAD_INIT;

    (void)state;
    plant_steps(&script, 1000 * MS);
    profile = play_text(&script, NULL);
    count = llmperf_profile_count(profile, LLMPERF_ROWS_LOAD);
    assert_int_equal(count, 8); /* 700 ms; the end is in the last one */
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(llmperf_profile_load(profile, i, &load), 0);
        check_close(load.length_ms, 100);
        assert_int_equal(load.begin_ns, (1000 + 100 * i) * MS);
        assert_int_equal(load.running_max, 1);
        steps += load.steps;
        begun += load.begun;
        ended += load.ended;
        output += load.output_tokens;
        assert_int_equal(load.context_max, 100);
        check_close(load.context_mean, 100);
        assert_true(load.batch_mean >= 1 && load.batch_mean <= 3);
    }
    assert_int_equal(steps, 40);
    assert_int_equal(begun, 1);
    assert_int_equal(ended, 1);
    assert_int_equal(output, 1);
    llmperf_profile_free(profile);
}

/* 2 GPUs x 3.60 an hour x 99.6 s = 0.1992, for 500 and 1500 tokens. */
static void cost_needs_a_price_and_gpus(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    char *text = NULL;
    llmperf_profile *profile;

    (void)state;
    say(&script, "launch a device=0\nlaunch a device=1\n");
    plant_requests(&script);
    profile = play_text(&script, "session.gpu_hour_cents=360");
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    assert_text_has(text, "\"per_million_output_tokens\": 398.4");
    assert_text_has(text, "\"per_million_tokens\": 132.8");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    profile = play_planted("session.gpu_hour_cents=360");
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    assert_text_has(text, "\"cost\": null");
    assert_text_has(text, "requests.cost is null");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void reports_have_a_section_only_with_requests(void **state)
{
    static const uint32_t documents[] = { LLMPERF_DOCUMENT_REPORT_MD,
                                          LLMPERF_DOCUMENT_REPORT_HTML };
    llmperf_profile *profile = play_planted("session.slo_ttft_ms=100");
    llmperf_profile *without = play_script("begin LLM@prefill\nend\n");
    char *text = NULL;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(llmperf_document_text(profile, documents[i], &text), 0);
        assert_text_has(text, "Goodput");
        assert_text_has(text, "Queue time");
        assert_text_has(text, "Slowest");
        llmperf_text_free(text);
        assert_int_equal(llmperf_document_text(without, documents[i], &text), 0);
        if (documents[i] == LLMPERF_DOCUMENT_REPORT_MD) /* the script of a page has all titles */
            assert_text_lacks(text, "Requests");
        llmperf_text_free(text);
    }
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "100 requests in 99.60 s: 100 finished, 0 aborted, 0 failed");
    assert_text_has(text, "50.00 % of the requests met the SLO (TTFT up to 100.0 ms).");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    llmperf_profile_free(without);
}

static void prometheus_has_histograms_with_fixed_limits(void **state)
{
    llmperf_profile *profile = play_planted(NULL);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_text_has(text, "llmperf_requests_finished_total{} 100\n");
    assert_text_has(text, "llmperf_request_output_tokens_total{} 500\n");
    assert_text_has(text, "llmperf_request_ttft_seconds_bucket{le=\"0.0010\"} 0\n");
    assert_text_has(text, "llmperf_request_ttft_seconds_bucket{le=\"0.15\"} 75\n");
    assert_text_has(text, "llmperf_request_ttft_seconds_bucket{le=\"700\"} 100\n");
    assert_text_has(text, "llmperf_request_ttft_seconds_bucket{le=\"+Inf\"} 100\n");
    assert_text_has(text, "llmperf_request_ttft_seconds_sum{} 10.1\n");
    assert_text_has(text, "llmperf_request_itl_seconds_count{} 400\n");
    assert_text_has(text, "llmperf_request_e2e_seconds_count{} 100\n");
    assert_text_lacks(text, "7001"); /* ids are no labels */
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void a_recording_and_a_run_file_have_the_same_requests(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    llmperf_session_options options;
    llmperf_profile *live;
    char path[512];

    (void)state;
    plant_requests(&script);
    options = script_options(script.bytes);
    snprintf(path, sizeof(path), "%s", in_test_folder("requests.llmrec"));
    options.record_path = path;
    live = play_options(&options);
    lp_text_clear(&script);
    check_lasts(live, path);
    llmperf_profile_free(live);
}

static void merged_ranks_have_all_requests(void **state)
{
    llmperf_profile *parts[2] = { play_planted("session.slo_ttft_ms=100"),
                                  play_script("at 1000000\nrequest begin 1 tokens=3 arrival=1\n"
                                              "at 1001000000\nrequest tokens 1 tokens=4\n"
                                              "request stop 1\n") };
    llmperf_profile *merged = NULL;
    llmperf_latency ttft;

    (void)state;
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    assert_int_equal(requests_of(merged).requests, 101);
    assert_int_equal(requests_of(merged).prompt_tokens, 1003);
    assert_int_equal(requests_of(merged).output_tokens, 504);
    assert_int_equal(requests_of(merged).good, LLMPERF_UNKNOWN); /* of one no SLO was given */
    check_close(requests_of(merged).duration_ms, 99600);
    ttft = latency_of(merged, "ttft");
    assert_int_equal(ttft.count, 101);
    check_close(ttft.max_ms, 1000.999999);
    check_close(ttft.mean_ms, (10100 + 1000.999999) / 101);
    check_near(ttft.p50_ms, 102);
    assert_int_equal(llmperf_profile_count(merged, LLMPERF_ROWS_SLOW_REQUESTS), 30);
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
}

/* The API on threads: one begins requests, another one ends them. */

#define EACH  500u
#define PAIRS 3u

struct pair {
    pthread_t threads[2];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t requests[EACH];
    size_t begun;
};

static void *begin_requests(void *context)
{
    struct pair *pair = context;

    for (size_t i = 0; i < EACH; i++) {
        llmperf_request_attr attr = LLMPERF_REQUEST_ATTR_INIT;

        attr.prompt_tokens = 2;
        attr.arrival_ns = lp_clock_now() - 5 * MS;
        attr.id = i + 1;
        pthread_mutex_lock(&pair->lock);
        pair->requests[i] = llmperf_request_begin(&attr);
        pair->begun = i + 1;
        pthread_cond_signal(&pair->changed);
        pthread_mutex_unlock(&pair->lock);
    }
    return NULL;
}

static void *end_requests(void *context)
{
    struct pair *pair = context;

    for (size_t i = 0; i < EACH; i++) {
        pthread_mutex_lock(&pair->lock);
        while (pair->begun <= i)
            pthread_cond_wait(&pair->changed, &pair->lock);
        pthread_mutex_unlock(&pair->lock);
        llmperf_region_begin("LLM@decode_step");
        llmperf_request_first_token(pair->requests[i]);
        llmperf_requests_token(&pair->requests[i], 1);
        llmperf_region_end();
        llmperf_request_end(pair->requests[i], LLMPERF_FINISH_STOP, 0);
    }
    return NULL;
}

static llmperf_session *start_live(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_REGIONS;
    options.device_source = LLMPERF_SOURCE_NONE;
    return start_options(&options);
}

static void calls_of_many_threads_find_their_requests(void **state)
{
    static struct pair pairs[PAIRS];
    llmperf_session *session = start_live();
    llmperf_profile *profile;
    llmperf_requests requests;

    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        pthread_mutex_init(&pairs[i].lock, NULL);
        pthread_cond_init(&pairs[i].changed, NULL);
        pthread_create(&pairs[i].threads[0], NULL, begin_requests, &pairs[i]);
        pthread_create(&pairs[i].threads[1], NULL, end_requests, &pairs[i]);
    }
    for (size_t i = 0; i < 2 * PAIRS; i++)
        pthread_join(pairs[i / 2].threads[i % 2], NULL);
    profile = stop_session(session);
    requests = requests_of(profile);
    assert_int_equal(requests.requests, EACH * PAIRS);
    assert_int_equal(requests.finished, EACH * PAIRS);
    assert_int_equal(requests.stray_calls, 0);
    assert_int_equal(requests.output_tokens, 2 * EACH * PAIRS);
    assert_int_equal(requests.prompt_tokens, 2 * EACH * PAIRS);
    assert_int_equal(latency_of(profile, "itl").count, EACH * PAIRS);
    assert_true(latency_of(profile, "queue").min_ms >= 5);
    llmperf_profile_free(profile);
}

static void requests_outside_of_a_session_or_in_a_pause_are_not_recorded(void **state)
{
    uint64_t before = llmperf_request_begin(NULL), paused;
    llmperf_session *session = start_live();
    llmperf_request_attr attr = LLMPERF_REQUEST_ATTR_INIT;
    llmperf_profile *profile = NULL;
    uint64_t first = llmperf_request_begin(&attr), second;

    (void)state;
    assert_int_equal(before, 0);
    assert_int_not_equal(first, 0);
    assert_int_equal(llmperf_session_pause(session), 0);
    paused = llmperf_request_begin(&attr);
    assert_int_equal(paused, 0);
    assert_int_equal(llmperf_session_resume(session), 0);
    second = llmperf_request_begin(&attr);
    llmperf_request_tokens(second, 3);
    llmperf_request_tokens(paused, 3);
    llmperf_request_end(first, LLMPERF_FINISH_STOP, 0);
    assert_int_equal(llmperf_session_snapshot(session, &profile), 0);
    assert_int_equal(requests_of(profile).requests, 2);
    assert_int_equal(requests_of(profile).abandoned, 1);
    assert_int_equal(requests_of(profile).open, 1);
    assert_int_equal(requests_of(profile).stray_calls, 1);
    assert_int_equal(requests_of(profile).output_tokens, 3);
    llmperf_profile_free(profile);
    llmperf_request_end(second, 77, 0);
    profile = stop_session(session);
    assert_int_equal(requests_of(profile).finished, 1);
    llmperf_profile_free(profile);
}

static void a_comparison_has_the_latencies_of_requests(void **state)
{
    struct lp_text slow = { NULL, 0, 0, false }, fast = { NULL, 0, 0, false };
    llmperf_profile *base, *fresh;
    struct lp_comparison comparison;
    char *text = NULL;

    (void)state;
    plant_requests(&slow);
    plant_at(&fast, MS / 2);
    base = play_text(&fast, NULL);
    fresh = play_text(&slow, NULL);
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "requests", "tpot").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(compared_row(&comparison, "requests", "ttft").verdict, LP_COMPARE_SLOWER);
    check_near(compared_row(&comparison, "requests", "tpot").change, 1);
    /* One run does not show how much a p99 varies. */
    assert_int_equal(compared_row(&comparison, "requests", "tpot p99").verdict, LP_COMPARE_SINGLE);
    lp_compare_clear(&comparison);
    compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL);
    if (!strstr(text, "tpot of requests is 25.3 ms (100 %) slower, 50.50 instead of 25.25 ms"))
        fail_msg("%s", text);
    assert_non_null(strstr(text, "| Finished requests | 100.0 | 100.0 | 0 |"));
    llmperf_text_free(text);
    comparison = compare_profiles(fresh, fresh);
    assert_int_equal(compared_row(&comparison, "requests", "tpot").verdict, LP_COMPARE_SAME);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_run_without_requests_has_none(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@decode_step\nend\n");
    llmperf_requests requests = LLMPERF_REQUESTS_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_requests(profile, &requests), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REQUESTS), 0);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_LOAD), 0);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_those_that_were_planted),
        cmocka_unit_test(goodput_counts_requests_that_meet_both_limits),
        cmocka_unit_test(the_slowest_requests_keep_the_programs_number),
        cmocka_unit_test(outcomes_and_late_counts_add_up),
        cmocka_unit_test(steps_with_a_prefill_are_told_from_those_without),
        cmocka_unit_test(a_pause_between_requests_is_no_step),
        cmocka_unit_test(load_has_batch_and_context_over_time),
        cmocka_unit_test(cost_needs_a_price_and_gpus),
        cmocka_unit_test(reports_have_a_section_only_with_requests),
        cmocka_unit_test(prometheus_has_histograms_with_fixed_limits),
        cmocka_unit_test(a_recording_and_a_run_file_have_the_same_requests),
        cmocka_unit_test(merged_ranks_have_all_requests),
        cmocka_unit_test(calls_of_many_threads_find_their_requests),
        cmocka_unit_test(requests_outside_of_a_session_or_in_a_pause_are_not_recorded),
        cmocka_unit_test(a_comparison_has_the_latencies_of_requests),
        cmocka_unit_test(a_run_without_requests_has_none),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
