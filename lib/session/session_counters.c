/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/output.h"
#include "lib/session/counter_presets.h"
#include "lib/session/session_counters.h"

#define INCLUDES_MOST 64u

/* What the words of llmperf_session_options.counters come to; all text is in `copy`. */
struct wish {
    char *copy;
    const char *preset;
    const char *includes[INCLUDES_MOST];
    size_t include_count;
    uint32_t replay, passes, group;
    uint64_t interval_us;
};

static int read_number(const char *word, const char *value, uint64_t most, uint64_t *number_out)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 10);

    if (*value < '0' || *value > '9' || *end || number == 0 || number > most)
        return lp_error(LLMPERF_EINVAL, "counters: \"%s\" needs a number from 1 to %" PRIu64, word,
                        most);
    *number_out = number;
    return 0;
}

static int read_replay(struct wish *wish, const char *value)
{
    static const char *const names[] = { "none", "user", "kernel" };

    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            wish->replay = i;
            return 0;
        }
    return lp_error(LLMPERF_EINVAL, "counters: replay=%s is not known; it is none, user or kernel",
                    value);
}

static int read_word(struct wish *wish, const char *word)
{
    uint64_t number;
    int status;

    if (strncmp(word, "replay=", 7) == 0)
        return read_replay(wish, word + 7);
    if (strncmp(word, "include=", 8) == 0) {
        if (wish->include_count == INCLUDES_MOST)
            return lp_error(LLMPERF_EINVAL, "counters: more than %u patterns", INCLUDES_MOST);
        wish->includes[wish->include_count++] = word + 8;
        return 0;
    }
    if (strncmp(word, "passes=", 7) == 0) {
        if ((status = read_number(word, word + 7, 1000, &number)) == 0)
            wish->passes = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "group=", 6) == 0) {
        if ((status = read_number(word, word + 6, 1000, &number)) == 0)
            wish->group = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "interval_us=", 12) == 0)
        return read_number(word, word + 12, 1000000, &wish->interval_us);
    if (strchr(word, '=') || wish->preset)
        return lp_error(LLMPERF_EINVAL,
                        "counters: \"%s\" is not known; give one preset, then replay=, include=, "
                        "passes=, group= or interval_us=",
                        word);
    wish->preset = word;
    return 0;
}

static int read_wish(struct wish *wish, const char *text)
{
    char *rest = NULL;
    int status = 0;

    *wish = (struct wish){ .copy = lp_text_copy(text ? text : "light") };
    if (!wish->copy)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    for (char *word = strtok_r(wish->copy, " \t\n", &rest); word && status == 0;
         word = strtok_r(NULL, " \t\n", &rest))
        status = read_word(wish, word);
    if (!wish->preset)
        wish->preset = "light";
    if (wish->include_count == 0)
        wish->includes[wish->include_count++] = "LLM@*";
    return status;
}

static int start_counting(struct llmperf_session *session, const struct wish *wish)
{
    const struct lp_counters_options options = {
        .preset = session->counter_preset,
        .include = session->counter_include,
        .replay = (enum lp_counter_replay)wish->replay,
        .most_passes = wish->passes,
        .group = wish->group,
        .interval_ns = wish->interval_us * 1000,
        .names = &session->names,
    };
    int status = lp_counters_open(&options, &session->counters);

    if (status < 0)
        snprintf(session->counters_reason, sizeof(session->counters_reason),
                 "no hardware counters: %s", llmperf_last_error());
    return status == LLMPERF_ENOMEM ? status : 0;
}

int lp_session_counters_open(struct llmperf_session *session)
{
    struct wish wish;
    int status;

    if (session->options.tier != LLMPERF_TIER_COUNTERS)
        return 0;
    status = read_wish(&wish, session->options.counters);
    if (status == 0)
        status = lp_counter_preset_find(wish.preset, &session->counter_preset);
    if (status == 0)
        status = lp_patterns_open(wish.includes, wish.include_count, &session->counter_include);
    if (status == 0 && strcmp(session->source_name, "cupti") == 0)
        status = start_counting(session, &wish);
    else if (status == 0 && (!session->source || session->source->ops->live))
        snprintf(session->counters_reason, sizeof(session->counters_reason),
                 "no hardware counters: device activity is not collected");
    free(wish.copy);
    return status;
}

void lp_session_counters_deliver(struct llmperf_session *session)
{
    if (session->counters)
        lp_counters_deliver(session->counters, &session->sink);
}

void lp_session_counters_stop(struct llmperf_session *session, bool driver)
{
    if (!session->counters)
        return;
    if (driver)
        lp_counters_stop(session->counters);
    else
        lp_counters_abandon(session->counters);
    lp_session_counters_deliver(session);
}

static void put_columns(struct lp_json *json, const struct lp_counter_plan *plan)
{
    lp_json_open(json, "quantities", '[');
    for (size_t i = 0; i < plan->count; i++) {
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "quantity", plan->columns[i].quantity);
        lp_json_string(json, "metric", plan->columns[i].metric);
        lp_json_string(json, "unit", plan->columns[i].unit);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

/* What the chip lacks, as far as it was asked here; a recording does not know. */
static void put_missing(struct lp_json *json, const struct llmperf_session *session)
{
    const struct lp_counter_set *set =
        session->counters ? lp_counters_set(session->counters) : NULL;

    lp_json_open(json, "missing", '[');
    for (size_t i = 0; set && i < set->missing.count; i++) {
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "quantity", set->missing.items[i].quantity);
        lp_json_string(json, "reason", set->missing.items[i].reason);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static int add_fact(const struct llmperf_session *session, const struct lp_counter_plan *plan,
                    const struct lp_counters_state *state, llmperf_profile *profile)
{
    struct lp_json json = { 0 };
    int status;

    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "chip", plan->chip);
    lp_json_string(&json, "preset", plan->preset);
    lp_json_string(&json, "method", plan->method);
    lp_json_string(&json, "replay", plan->replay);
    lp_json_count(&json, "passes", plan->passes);
    lp_json_count(&json, "interval_ns", plan->interval_ns ? plan->interval_ns : LLMPERF_UNKNOWN);
    lp_json_count(&json, "groups", state->groups ? state->groups : LLMPERF_UNKNOWN);
    if (session->counters) {
        lp_json_count(&json, "boundaries", state->boundaries);
        lp_json_number(&json, "cost_ms", (double)state->cost_ns / 1e6);
        lp_json_count(&json, "samples", state->samples);
        lp_json_count(&json, "overflows", state->overflows);
    }
    put_columns(&json, plan);
    put_missing(&json, session);
    lp_json_close(&json, '}');
    lp_text_puts(&json.text, "");
    status = json.text.failed ? lp_error(LLMPERF_ENOMEM, "out of memory")
                              : lp_profile_set_fact(profile, "counters", json.text.bytes);
    lp_text_clear(&json.text);
    return status;
}

static int add_cost(const struct lp_counters_state *state, llmperf_profile *profile)
{
    char line[300];

    if (state->boundaries == 0)
        return 0;
    snprintf(line, sizeof(line),
             "counters: the program waited %.3f ms at the ends of %" PRIu64
             " ranges; the GPU is drained there, so wall times are longer than without counters.",
             (double)state->cost_ns / 1e6, state->boundaries);
    return lp_profile_note(profile, line);
}

/* What kernel replay does to the rest of the profile. */
static int add_replay(const struct llmperf_session *session, llmperf_profile *profile)
{
    const struct lp_counter_plan *plan = lp_counter_totals_told(session->counter_totals);

    if (!plan || strcmp(plan->method, "kernel") != 0)
        return 0;
    return lp_profile_note(profile,
                           "counters: CUPTI gives no times of kernels that it repeats; their time "
                           "is gpu_time of the counters, and region times are of all passes.");
}

static int add_lines(struct llmperf_session *session, const struct lp_counters_state *state,
                     llmperf_profile *profile)
{
    const char *problem = state->problem[0] ? state->problem : session->counters_reason;
    char line[200];
    int status = 0;

    if (*problem)
        status = lp_profile_note(profile, problem);
    if (status == 0 && state->overflows > 0) {
        snprintf(line, sizeof(line),
                 "counters: the GPU's buffer overflowed %" PRIu64
                 " times, samples are missing; take a longer interval_us",
                 state->overflows);
        status = lp_profile_problem(profile, line);
    }
    if (status == 0)
        status = add_replay(session, profile);
    return status < 0 ? status : add_cost(state, profile);
}

/* How often the program has to run, for the one who repeats it. */
static int add_groups(const struct lp_counters_state *state, llmperf_profile *profile)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", state->groups);
    return state->groups > 0 ? lp_profile_set_fact(profile, "counter_groups", text) : 0;
}

int lp_session_counters_add(struct llmperf_session *session, uint32_t process_id,
                            llmperf_profile *profile)
{
    const struct lp_counter_plan *plan = lp_counter_totals_told(session->counter_totals);
    struct lp_counters_state state = { 0 };
    int status;

    if (session->counters)
        lp_counters_state(session->counters, &state);
    if ((status = add_lines(session, &state, profile)) < 0 ||
        (status = add_groups(&state, profile)) < 0 || !plan)
        return status;
    if ((status = add_fact(session, plan, &state, profile)) < 0 ||
        (status = lp_counter_totals_add(session->counter_totals, process_id, profile)) < 0)
        return status;
    return lp_profile_finish(profile);
}

void lp_session_counters_close(struct llmperf_session *session)
{
    lp_counters_close(session->counters);
    session->counters = NULL;
    lp_patterns_free(session->counter_include);
    session->counter_include = NULL;
    lp_counter_preset_free(session->counter_preset);
    session->counter_preset = NULL;
}
